/** Checks a receipt, check by check, from its text and the issuer's published keys alone. */
import {
  type AnchorChecker,
  type AnchorFinding,
  type AnchorProblem,
  checkAnchor,
  type ReadConsistency,
} from '../anchor/checker.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type KeySet, keyInUse, type PublishedKey } from '../signing/key-set.ts'
import { DOMAINS, verifySignature } from '../signing/message.ts'
import { formatInstant, parseInstant } from '../time.ts'
import type { VerdictValue } from '../verdict.ts'
import { digestOf } from './digest.ts'
import { checkInclusion } from './inclusion.ts'
import { isAnchoredProof, isChangeEntry, isReceipt } from './schema.ts'
import { integerJson, parseStrictJson, type StrictJson } from './strict-json.ts'

export interface CheckOptions {
  readonly keys: KeySet
  /** The text of the pipeline document that an entry's policy names. */
  readonly pipeline?: string
  /** Checkers of anchors, one kind each. The first that knows the anchor of a valid entry checks it. */
  readonly anchorCheckers?: readonly AnchorChecker[]
  /** Fetches consistency proofs, which are needed if an anchor and the proof have different tree sizes. */
  readonly readConsistency?: ReadConsistency
}

/** The result of each check of a receipt, in their order. */
export interface Checks {
  readonly spec_version: boolean
  readonly schema: boolean
  readonly integers_only: boolean
  /** Tells whether the signature's key is the one that the body names, is published, and was in use when the entry was issued. */
  readonly key: boolean
  readonly signature: boolean
  /** Tells whether the digest of the claim is the one in the body. Absent in change entries. */
  readonly claim_digest?: boolean
  readonly inclusion: boolean | 'absent'
  /** Tells whether the pipeline document is the one that the entry's policy names. Absent if the entry names none. */
  readonly policy?: boolean | 'not_checked'
  /** The anchor, which never makes an entry invalid. */
  readonly anchor: 'anchored' | AnchorProblem | 'absent' | 'not_checked_offline'
}

export interface Report {
  readonly valid: boolean
  readonly checks: Checks
  /** The trust level that was proven, at most the one that the entry states; 0 if it is not valid. */
  readonly achieved_trust_level: number
  readonly verdict: VerdictValue | null
  readonly entry_kind?: 'change'
  /** The time of the anchor: the entry existed by then. */
  readonly proven_by?: string
}

const UNREADABLE: Report = {
  valid: false,
  checks: {
    spec_version: false,
    schema: false,
    integers_only: false,
    key: false,
    signature: false,
    claim_digest: false,
    inclusion: 'absent',
    anchor: 'absent',
  },
  achieved_trust_level: 0,
  verdict: null,
}

/** Checks a receipt or a change entry. Any text gives a report. It throws only the errors of checkers of anchors. */
export async function checkReceipt(text: string, options: CheckOptions): Promise<Report> {
  const entry = readEntry(text)
  if (!entry) return UNREADABLE
  const { document, body, isChange } = entry
  const key = findKey(entry, options.keys)

  const checks = {
    spec_version: isSupported(body.spec_version),
    schema: isChange ? isChangeEntry(document) : isReceipt(document),
    integers_only: entry.integersOnly,
    key: key !== undefined,
    signature: key !== undefined && isSigned(entry, key),
    ...(isChange ? {} : { claim_digest: hasItsDigest(body.claim) }),
    inclusion: checkInclusion(document),
    ...('policy' in body ? { policy: checkPolicy(body.policy, options.pipeline) } : {}),
  }
  const valid = !Object.values(checks).includes(false)
  const found = await findAnchor(document, valid, options)

  return {
    valid,
    checks: { ...checks, anchor: found.anchor },
    achieved_trust_level: valid ? Math.min(Number(body.trust_level), found.anchor === 'anchored' ? 2 : 1) : 0,
    verdict: valid && isReceipt(document) ? document.body.verdict.value : null,
    ...(isChange ? { entry_kind: 'change' } : {}),
    ...(found.anchor === 'anchored' ? { proven_by: formatInstant(found.provenBy) } : {}),
  }
}

interface Entry {
  readonly document: JsonObject
  readonly body: JsonObject
  readonly signature: JsonObject
  readonly isChange: boolean
  readonly integersOnly: boolean
}

/** Reads an entry; undefined if the text is not a JSON object, read strictly. */
function readEntry(text: string): Entry | undefined {
  const read = tryParse(text)
  if (!read || !isJsonObject(read.value)) return undefined
  const document = read.value
  const body = isJsonObject(document.body) ? document.body : {}
  const signature = isJsonObject(document.signature) ? document.signature : {}
  return { document, body, signature, isChange: body.entry_kind === 'change', integersOnly: read.integersOnly }
}

function tryParse(text: string): StrictJson | undefined {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}

function isSupported(specVersion: JsonValue | undefined): boolean {
  return typeof specVersion === 'string' && /^poaw\/0\.\d+$/.test(specVersion)
}

/** The published key that the body and the signature both name, if it was in use at `issued_at`. */
function findKey({ body, signature }: Entry, keys: KeySet): PublishedKey | undefined {
  const issuer = isJsonObject(body.issuer) ? body.issuer : {}
  const issuedAt = typeof body.issued_at === 'string' ? parseInstant(body.issued_at) : undefined
  if (typeof signature.key_id !== 'string' || signature.key_id !== issuer.key_id || issuedAt === undefined) {
    return undefined
  }
  return keyInUse(keys, signature.key_id, issuedAt)
}

function isSigned({ body, signature, isChange }: Entry, { publicKey }: PublishedKey): boolean {
  if (typeof signature.value !== 'string') return false
  return verifySignature(publicKey, isChange ? DOMAINS.change : DOMAINS.receipt, body, signature.value)
}

function hasItsDigest(claim: JsonValue | undefined): boolean {
  if (!isJsonObject(claim)) return false
  const { claim_digest, ...digested } = claim
  return claim_digest === digestOf(digested)
}

function checkPolicy(policy: JsonValue | undefined, pipeline: string | undefined): boolean | 'not_checked' {
  if (pipeline === undefined) return 'not_checked'
  const document = integerJson(pipeline)
  if (!isJsonObject(document) || !isJsonObject(policy)) return false
  const { id, version } = document
  return policy.pipeline_id === id && policy.pipeline_version === version && policy.digest === digestOf(document)
}

async function findAnchor(
  { proof }: JsonObject,
  valid: boolean,
  { anchorCheckers = [], ...options }: CheckOptions,
): Promise<AnchorFinding | { readonly anchor: 'absent' | 'not_checked_offline' }> {
  if (!isJsonObject(proof) || !('anchor' in proof)) return { anchor: 'absent' }
  if (!valid || anchorCheckers.length === 0 || !isAnchoredProof(proof)) return { anchor: 'not_checked_offline' }
  return checkAnchor(proof, { ...options, anchorCheckers })
}
