/** Checks a receipt with everything that its issuer publishes about it: keys, evidence, rules, and a signed head of the log. */
import type { JsonObject, JsonValue } from '../json.ts'
import { bindToHead, type TreeHeadFinding } from '../log/head-binding.ts'
import { type KeySet, parseKeySet } from '../signing/key-set.ts'
import type { Receipt, WireSource, WireVerifier } from './body.ts'
import { type CheckOptions, checkReceipt, type Report } from './checker.ts'
import { checkEvidence, type EvidenceFinding } from './evidence-checker.ts'
import { publishedRules } from './published-rules.ts'
import { isReceipt } from './schema.ts'

/** Documents as their issuer sent them, each as text. Only the receipt has to be there. */
export interface Bundle {
  readonly receipt: string
  /** `/.well-known/poaw-keys.json` */
  readonly keys?: string
  /** `/v1/receipts/{receipt_id}/evidence` */
  readonly evidence?: string
  /** `/v1/log/head`, or the signed tree head in it. */
  readonly tree_head?: string
  /** `/v1/log/consistency`, from the size of the receipt's proof to that of the tree head. */
  readonly consistency?: string
  /** `/v1/profiles` */
  readonly profiles?: string
}

export interface BundleOptions extends Partial<CheckOptions> {
  /** The keys to trust, in place of those in the bundle: who makes a bundle can put any key into it. */
  readonly keys?: KeySet
  /** The id of the one key that must have signed. With the keys of the bundle it must have signed the tree head, too. */
  readonly pinnedKey?: string
}

/** The report of `checkReceipt`; the other members are there for a valid receipt alone, as far as the bundle has what they need. */
export interface BundleReport extends Report {
  readonly evidence?: EvidenceFinding
  readonly tree_head?: TreeHeadFinding
  /** Whether the pinned key signed it. Absent when none was pinned. */
  readonly key_pinned?: boolean
  readonly source?: WireSource
  readonly verifier?: WireVerifier
}

/** @throws KeySetError when there are no keys to check with; what `checkAnchor` throws */
export async function checkBundle(bundle: Bundle, options: BundleOptions = {}): Promise<BundleReport> {
  const { keys = parseKeySet(bundle.keys ?? ''), pinnedKey, pipeline, checkAnchor } = options
  const report = await checkReceipt(bundle.receipt, {
    keys,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(checkAnchor ? { checkAnchor } : {}),
  })
  const document = report.valid ? (JSON.parse(bundle.receipt) as JsonValue) : null
  if (document === null) return report
  const { signature, proof } = document as Pick<Receipt, 'signature' | 'proof'>
  return {
    ...report,
    ...(pinnedKey === undefined ? {} : { key_pinned: signature.key_id === pinnedKey }),
    ...(proof && bundle.tree_head !== undefined
      ? { tree_head: bindToHead(proof, bundle.tree_head, keysOfHeads(keys, options), bundle.consistency) }
      : {}),
    ...(isReceipt(document) ? ofReceipt(document, bundle) : {}),
  }
}

/** Of the keys in a bundle the pinned one alone is trusted: with another, whoever made the bundle could sign a head of their own log. */
function keysOfHeads(keys: KeySet, { keys: trusted, pinnedKey }: BundleOptions): KeySet {
  if (trusted || pinnedKey === undefined) return keys
  return { ...keys, keys: new Map([...keys.keys].filter(([id]) => id === pinnedKey)) }
}

function ofReceipt({ body }: Receipt, bundle: Bundle): Pick<BundleReport, 'evidence' | 'source' | 'verifier'> {
  const { source, verifier, evidence_digest } = body.observation
  const rules = publishedRules(bundle.profiles ?? '')
  return {
    ...(evidence_digest === undefined && bundle.evidence === undefined
      ? {}
      : { evidence: checkEvidence(body as unknown as JsonObject, bundle.evidence, rules) }),
    ...(source ? { source } : {}),
    ...(verifier.package === undefined ? {} : { verifier }),
  }
}
