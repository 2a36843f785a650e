/** THE CHECKER: whether a receipt holds, step by step, from the receipt and the issuer's published keys alone. */
import type { AnchorFinding, AnchorProblem } from '../anchor/anchorer.ts'
import { fromBase64url, utf8 } from '../encoding.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { treeHasher, verifyInclusion } from '../log/merkle.ts'
import { type KeySet, keyInUse, type PublishedKey } from '../signing/key-set.ts'
import { DOMAINS, verifySignature } from '../signing/message.ts'
import { formatInstant, parseInstant } from '../time.ts'
import type { VerdictValue } from '../verdict.ts'
import type { AnchoredProof } from './body.ts'
import { digestOf } from './digest.ts'
import { canonicalize } from './jcs.ts'
import { isAnchoredProof, isChangeEntry, isInclusion, isReceipt } from './schema.ts'
import { parseStrictJson, type StrictJson } from './strict-json.ts'

export { checkConsistency, checkTreeHead, type TreeHeadReport } from '../log/checker.ts'
export { type KeySet, KeySetError, parseKeySet } from '../signing/key-set.ts'
export { checkEvidence, type EvidenceFinding, type PublishedRules } from './evidence-checker.ts'

export interface CheckOptions {
  readonly keys: KeySet
  /** The text of the pipeline document that the entry's policy names. */
  readonly pipeline?: string
  /**
   * Looks the anchor up on its chain. Asked only about an entry that holds so far.
   * It does not throw: a chain that can not be read is `unreadable`.
   */
  readonly checkAnchor?: (proof: AnchoredProof, keys: KeySet) => Promise<AnchorFinding>
}

/** In the order of the checks. `true` and `false`: it holds, it does not. */
export interface Checks {
  readonly spec_version: boolean
  readonly schema: boolean
  readonly integers_only: boolean
  /** Known, the one that the body names, and in use when the entry was issued. */
  readonly key: boolean
  readonly signature: boolean
  /** Receipts only. */
  readonly claim_digest?: boolean
  readonly inclusion: boolean | 'absent'
  /** Only where the entry names a policy. */
  readonly policy?: boolean | 'not_checked'
  /** The one check that never makes an entry invalid. */
  readonly anchor: 'anchored' | AnchorProblem | 'absent' | 'not_checked_offline'
}

export interface Report {
  readonly valid: boolean
  readonly checks: Checks
  /** The lower of what the entry states and what was found to hold; 0 when it is not valid. */
  readonly achieved_trust_level: number
  readonly verdict: VerdictValue | null
  readonly entry_kind?: 'change'
  /** The anchor's time: the entry existed by then. */
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

/** Checks a receipt or change entry. Whatever the text, the answer is a report. */
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

/** `undefined` when it is not I-JSON, or not an object. */
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

/** The key that the body and the signature both name, if it was in use at `issued_at`. */
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

/** That the log's root covers the entry. Whether the root is the log's own is for the anchor, or a signed tree head, to say. */
function checkInclusion({ body, signature, proof }: JsonObject): boolean | 'absent' {
  if (proof === undefined) return 'absent'
  if (body === undefined || signature === undefined || !isInclusion(proof)) return false
  const hasher = treeHasher()
  return verifyInclusion(
    {
      leafIndex: proof.leaf_index,
      treeSize: proof.tree_size,
      leafHash: hasher.leaf(utf8(canonicalize({ body, signature }))),
      rootHash: fromBase64url(proof.root_hash)!,
      path: proof.inclusion.map((hash) => fromBase64url(hash)!),
    },
    hasher,
  )
}

function checkPolicy(policy: JsonValue | undefined, pipeline: string | undefined): boolean | 'not_checked' {
  if (pipeline === undefined) return 'not_checked'
  const read = tryParse(pipeline)
  if (!read?.integersOnly || !isJsonObject(read.value) || !isJsonObject(policy)) return false
  const { id, version } = read.value
  return policy.pipeline_id === id && policy.pipeline_version === version && policy.digest === digestOf(read.value)
}

async function findAnchor(
  { proof }: JsonObject,
  valid: boolean,
  { keys, checkAnchor }: CheckOptions,
): Promise<AnchorFinding | { readonly anchor: 'absent' | 'not_checked_offline' }> {
  if (!isJsonObject(proof) || !('anchor' in proof)) return { anchor: 'absent' }
  if (!valid || !checkAnchor || !isAnchoredProof(proof)) return { anchor: 'not_checked_offline' }
  return checkAnchor(proof, keys)
}
