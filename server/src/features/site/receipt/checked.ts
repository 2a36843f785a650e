/**
 * Checks a receipt once for the badge, the page and the file that are asked for one after the other, and serves the checked documents, byte for byte:
 * with the inclusion path and the tree head of that time. Parts that may change are read each time, and the receipt is checked again when they did:
 * the row, the evidence, the keys with their revocations, the profiles, and the anchor.
 */
import type { ProfileList } from '@claimcheck/core/api'
import { type Bundle, checkBundle, type Receipt } from '@claimcheck/core/receipts'
import type { JsonValue } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { sha256Text } from '../../../base/sha256.ts'
import { type ReceiptView, viewOf } from '../../../web/receipt-view/view.ts'
import { ErasedError } from '../../receipts/erased.ts'
import type { SiteDependencies } from '../dependencies.ts'

/** The most by which a served tree head is older than the log. */
const KEPT_MS = 60_000
const MOST_CHECKED = 2000
const MOST_CHARACTERS = 32 * 1024 * 1024

export interface CheckedReceipt {
  readonly bundle: Bundle
  readonly view: ReceiptView
}

type BundleSources = Pick<SiteDependencies, 'receipts' | 'log' | 'keyDocument' | 'published'>

export function createCheckedReceipts(sources: BundleSources) {
  const known = new LRUCache<string, { readonly digest: string; readonly checked: CheckedReceipt }>({
    max: MOST_CHECKED,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ checked }) => Object.values(checked.bundle).join('').length,
    ttl: KEPT_MS,
  })

  async function check(receiptId: string, bundle: Bundle): Promise<CheckedReceipt | undefined> {
    const digest = digestOf(bundle)
    const before = known.get(receiptId)
    if (before?.digest === digest) return before.checked
    const view = viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))
    if (!view) return undefined
    const checked = { bundle, view }
    // A failing proof may be the log's fault, which is read again.
    if (view.tone !== 'doubtful') known.set(receiptId, { digest, checked })
    return checked
  }

  return {
    /**
     * Finds a receipt and checks it; undefined for an unknown id.
     * @throws ErasedError
     */
    async find(receiptId: string): Promise<CheckedReceipt | undefined> {
      try {
        const bundle = await bundleOf(receiptId, sources)
        return bundle && (await check(receiptId, bundle))
      } catch (error) {
        if (error instanceof ErasedError) known.delete(receiptId)
        throw error
      }
    },
  }
}

/**
 * Computes the digest of the parts that may change. The inclusion path and the head are left out: the log grows, and those that were checked stay
 * true.
 */
function digestOf({ receipt, evidence, keys, profiles }: Bundle): string {
  const { proof } = JSON.parse(receipt) as Receipt
  const signed = receipt.slice(0, receipt.lastIndexOf(',"proof":'))
  const place = [proof?.log_id, proof?.leaf_index, proof?.anchor]
  return sha256Text(JSON.stringify([signed, place, evidence, keys, profiles]))
}

/** Bundles a receipt with everything that this service publishes about it; undefined for an unknown id. */
async function bundleOf(
  receiptId: string,
  { receipts, log, keyDocument, published }: BundleSources,
): Promise<Bundle | undefined> {
  const receipt = await receipts.get(receiptId)
  if (receipt === undefined) return undefined
  const { body, proof } = JSON.parse(receipt) as Receipt
  const [evidence, keys, { treeHead, consistency }, { profiles, settings = [] }] = await Promise.all([
    receipts.evidence(receiptId),
    keyDocument(),
    log.headAbove(proof),
    published(),
  ])
  const { id, version } = body.observation.verifier
  const judging = <P extends Pick<ProfileList['profiles'][number], 'action' | 'version'>>(all: readonly P[]) =>
    all.filter((profile) => profile.action === id && profile.version === version)
  return {
    receipt,
    keys: textOf(keys),
    ...(evidence === undefined ? {} : { evidence }),
    tree_head: treeHead,
    ...(consistency ? { consistency: textOf(consistency) } : {}),
    profiles: textOf({ profiles: judging(profiles), settings: judging(settings) }),
  }
}

function textOf(document: object | string | JsonValue): string {
  return typeof document === 'string' ? document : JSON.stringify(document)
}
