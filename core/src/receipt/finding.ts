/**
 * Findings: entries of the log of Claimcheck's own kind, which say that what a receipt verified has changed since. Not a second receipt with
 * `supersedes`: checkers take that member as any text and go by the verdict, so a second receipt would be a valid `failed` on the agent's name, with a
 * deadline that its claim never had. And not the published change entry, which tells of what nobody claimed. A finding has another `spec_version`,
 * another form and a signing domain of its own, so each check of a checker that does not know it fails: none takes it for a receipt. It names no
 * agent, target or content: there is nothing in it to blame by, and nothing to erase.
 */
import { isJsonObject, type JsonValue } from '../json.ts'
import { type KeySet, keyInUse } from '../signing/key-set.ts'
import { DOMAINS, type Signature, verifySignature } from '../signing/message.ts'
import { formatInstant, parseInstant } from '../time.ts'
import type { DecidedClaim, Proof, WireVerifier } from './body.ts'
import { checkInclusion } from './inclusion.ts'
import { parseStrictJson } from './strict-json.ts'

export const FINDING_VERSION = 'claimcheck-finding/1'
export const FINDING_KIND = 'claimcheck.finding'

/** The form in which the looks of a revisit saw the change: nothing was there, or something else. */
export const CHANGES = ['absent', 'differs'] as const
export type Change = (typeof CHANGES)[number]

/** The content of a finding, before the log adds its id, time and issuer. */
export type FindingContent = {
  readonly receiptId: string
  readonly change: Change
  readonly beganAt: number
  readonly observedAt: number
  readonly looks: number
  readonly verifier: WireVerifier
  readonly evidenceDigest: string
}

export type FindingBody = {
  readonly entry_kind: typeof FINDING_KIND
  readonly evidence_digest: string
  readonly finding: 'changed'
  readonly finding_id: string
  readonly found: Change
  readonly issued_at: string
  readonly issuer: { readonly key_id: string; readonly name?: string }
  readonly looks: number
  readonly looks_since: string
  readonly observed_at: string
  readonly receipt_id: string
  readonly spec_version: typeof FINDING_VERSION
  readonly verifier: WireVerifier
}

export type Finding = { readonly body: FindingBody; readonly signature: Signature; readonly proof?: Proof }

/** Makes the body of a finding. @param issued its id, in place of a receipt's, its time and its issuer */
export function findingBody(
  { receiptId, change, beganAt, observedAt, looks, verifier, evidenceDigest }: FindingContent,
  issued: Pick<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'>,
): FindingBody {
  const { keyId, name } = issued.issuer
  return {
    entry_kind: FINDING_KIND,
    evidence_digest: evidenceDigest,
    finding: 'changed',
    finding_id: issued.receiptId,
    found: change,
    issued_at: formatInstant(issued.issuedAt),
    issuer: name === undefined ? { key_id: keyId } : { key_id: keyId, name },
    looks,
    looks_since: formatInstant(beganAt),
    observed_at: formatInstant(observedAt),
    receipt_id: receiptId,
    spec_version: FINDING_VERSION,
    verifier,
  }
}

const TIMES = ['issued_at', 'looks_since', 'observed_at'] as const
const TEXTS = ['evidence_digest', 'finding_id', 'receipt_id'] as const

/** Tells whether a value has the form of a finding, with or without its proof. */
export function isFinding(value: JsonValue | undefined): value is Finding {
  if (!isJsonObject(value) || !isJsonObject(value.body) || !isJsonObject(value.signature)) return false
  const { body, signature } = value
  const { issuer, verifier, found, looks } = body
  return (
    body.spec_version === FINDING_VERSION &&
    body.entry_kind === FINDING_KIND &&
    body.finding === 'changed' &&
    (CHANGES as readonly JsonValue[]).includes(found!) &&
    Number.isSafeInteger(looks) &&
    TEXTS.every((name) => typeof body[name] === 'string') &&
    TIMES.every((name) => typeof body[name] === 'string' && parseInstant(body[name]) !== undefined) &&
    isJsonObject(issuer) &&
    isJsonObject(verifier) &&
    typeof issuer.key_id === 'string' &&
    signature.alg === 'Ed25519' &&
    signature.key_id === issuer.key_id &&
    typeof signature.value === 'string' &&
    Object.keys(value).every((name) => ['body', 'signature', 'proof'].includes(name))
  )
}

export interface FindingReport {
  readonly valid: boolean
  readonly checks: {
    readonly schema: boolean
    readonly key: boolean
    readonly signature: boolean
    readonly inclusion: boolean | 'absent'
  }
}

/** Checks a finding from its text and the issuer's published keys alone. Any text gives a report. */
export function checkFinding(text: string, keys: KeySet): FindingReport {
  const finding = readFinding(text)
  if (!finding) return { valid: false, checks: { schema: false, key: false, signature: false, inclusion: 'absent' } }
  const { body, signature } = finding
  const key = keyInUse(keys, signature.key_id, parseInstant(body.issued_at)!)
  const isSigned = key !== undefined && verifySignature(key.publicKey, DOMAINS.finding, body, signature.value)
  const checks = { schema: true, key: key !== undefined, signature: isSigned, inclusion: checkInclusion(finding) }
  return { valid: !Object.values(checks).includes(false), checks }
}

function readFinding(text: string): Finding | undefined {
  try {
    const { value, integersOnly } = parseStrictJson(text)
    return integersOnly && isFinding(value) ? value : undefined
  } catch {
    return undefined
  }
}
