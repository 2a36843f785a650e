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
  /** The published keys, as `/.well-known/poaw-keys.json` has them. */
  readonly keys?: string
  /** The receipt's evidence, as `/v1/receipts/{receipt_id}/evidence` has it. */
  readonly evidence?: string
  /** The signed tree head, alone or in the answer of `/v1/log/head`. */
  readonly tree_head?: string
  /** The answer of `/v1/log/consistency`, from the size of the receipt's proof to that of the tree head. */
  readonly consistency?: string
  /** The answer of `/v1/profiles`, with the rules of verdicts. */
  readonly profiles?: string
}

export interface BundleOptions extends Partial<CheckOptions> {
  /** The keys to trust instead of those in the bundle: anyone can put any key into a bundle. */
  readonly keys?: KeySet
  /** Tells that the keys were fetched from the issuer's own address, which then vouches for them. */
  readonly fromIssuer?: boolean
  /** The id of the one key that must have signed: nothing else vouches then. With the keys of the bundle it must have signed the tree head, too. */
  readonly pinnedKey?: string
}

/**
 * The voucher that the key is the issuer's: the id that the reader pinned, the keys that the reader gave, or the address from which they were
 * fetched. `nothing` if the keys came with the bundle, which anyone can make in any issuer's name, or another key than the pinned one signed.
 */
export type VouchedBy = 'pin' | 'keys' | 'issuer' | 'nothing'

/**
 * The report of `checkReceipt`, in which `valid` also needs that something vouches for the key. The optional members are there for a receipt
 * whose checks all hold, as far as the bundle has what they need.
 */
export interface BundleReport extends Report {
  readonly vouched_by: VouchedBy
  /** Tells whether the key document names accounts that anchor. If it names none, no anchor will follow. */
  readonly issuer_anchors?: boolean
  readonly evidence?: EvidenceFinding
  readonly tree_head?: TreeHeadFinding
  /** Tells whether the pinned key signed the receipt. Absent if none was pinned. */
  readonly key_pinned?: boolean
  readonly source?: WireSource
  readonly verifier?: WireVerifier
}

/** Checks a receipt with the documents of a bundle. @throws KeySetError if there are no keys to check with, and the errors of checkers of anchors */
export async function checkBundle(bundle: Bundle, options: BundleOptions = {}): Promise<BundleReport> {
  const { keys = parseKeySet(bundle.keys ?? ''), pinnedKey, pipeline, anchorCheckers, readConsistency } = options
  const checked = await checkReceipt(bundle.receipt, {
    keys,
    ...(pipeline === undefined ? {} : { pipeline }),
    // The accounts that anchor are as good as the key document that names them, and a bundle's may name anyone's.
    ...(anchorCheckers && keysVouchedBy(options) !== 'nothing' ? { anchorCheckers } : {}),
    ...(readConsistency ? { readConsistency } : {}),
  })
  const document = checked.valid ? (JSON.parse(bundle.receipt) as JsonValue) : null
  if (document === null) return { ...checked, vouched_by: keysVouchedBy(options) }
  const { signature, proof } = document as Pick<Receipt, 'signature' | 'proof'>
  const voucher = vouchedBy(options, signature.key_id)
  return {
    ...(voucher === 'nothing' ? { ...checked, ...UNPROVEN } : checked),
    vouched_by: voucher,
    issuer_anchors: keys.anchorAddresses.length > 0,
    ...(pinnedKey === undefined ? {} : { key_pinned: voucher === 'pin' }),
    ...(proof && bundle.tree_head !== undefined
      ? { tree_head: bindToHead(proof, bundle.tree_head, keysOfHeads(keys, options), bundle.consistency) }
      : {}),
    ...(isReceipt(document) ? ofReceipt(document, bundle) : {}),
  }
}

/** Tells whether every check holds, but nothing vouches for the key: the author of the documents can have made it. */
export function isUnvouched({ vouched_by, checks }: BundleReport): boolean {
  return vouched_by === 'nothing' && !Object.values(checks).includes(false)
}

const UNPROVEN = { valid: false, achieved_trust_level: 0, verdict: null } as const

function vouchedBy(options: BundleOptions, keyId: string): VouchedBy {
  if (options.pinnedKey === undefined) return keysVouchedBy(options)
  return options.pinnedKey === keyId ? 'pin' : 'nothing'
}

function keysVouchedBy({ keys, fromIssuer }: BundleOptions): VouchedBy {
  if (fromIssuer) return 'issuer'
  return keys ? 'keys' : 'nothing'
}

/** Trusts the pinned key alone: with another key in a bundle, its author could sign a head of another log. */
function keysOfHeads(keys: KeySet, options: BundleOptions): KeySet {
  const { pinnedKey } = options
  if (keysVouchedBy(options) !== 'nothing' || pinnedKey === undefined) return keys
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
