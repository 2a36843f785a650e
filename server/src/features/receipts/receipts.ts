/** Serves receipts: the stored bytes, with the proof that they are in the log. */

import type { Anchor } from '@claimcheck/core/hosting'
import { bytesEqual, toBase64url } from '@claimcheck/core/receipts'
import { createBatch, Failed } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import type { ReceiptPlace, ReceiptRow } from '../../storage/log.ts'
import type { LostReceiptRow } from '../../storage/lost-receipts.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import type { AnchoredPath, LogService } from '../log/log.ts'
import type { LogArchives } from '../log/log-archives.ts'
import { ErasedError } from './erased.ts'

export interface ReceiptService {
  /**
   * Reads a receipt as JSON text: the exact stored body and signature, and a proof at the anchored tree size or, before an anchor covers it, at the
   * current size.
   * @throws ErasedError
   */
  get(receiptId: string): Promise<string | undefined>
  /**
   * Reads the evidence, exactly the text whose digest the receipt signs; undefined for a receipt without evidence, and for an unknown id.
   * @throws ErasedError
   */
  evidence(receiptId: string): Promise<string | undefined>
}

interface ReceiptServiceOptions {
  readonly storage: Pick<Storage, 'read' | 'published'>
  readonly log: Pick<LogService, 'inclusions'>
  readonly archives: Pick<LogArchives, 'receipt'>
}

const MAX_PER_READ = 100
const NO_CONTENT = 'a receipt has no content, and no erasure says why'

export function createReceiptService({ storage, log, archives }: ReceiptServiceOptions): ReceiptService {
  // Requests that arrive together share one lookup and one tree size.
  const lookups = createBatch<string, string | undefined>(
    async (receiptIds) => {
      const { receipts, elsewhere } = await storage.published.receiptsByIds(receiptIds)
      const whole = receipts.filter(({ entry }) => entry !== '')
      const found = new Map<string, string | Failed>()
      for (const logId of new Set(whole.map((receipt) => receipt.logId))) {
        const ofLog = whole.filter((receipt) => receipt.logId === logId)
        for (const [receiptId, text] of await prove(logId, ofLog)) found.set(receiptId, text)
      }
      const empty = receipts.filter(({ entry }) => entry === '')
      for (const { receiptId } of empty) found.set(receiptId, new Failed(new Error(NO_CONTENT)))
      const others = [...empty, ...elsewhere].map(({ receiptId }) => receiptId)
      const erased = await whyErased(others)
      const readable = elsewhere.filter(({ receiptId }) => !erased.has(receiptId))
      for (const place of readable) found.set(place.receiptId, (await archived(place))!)
      for (const [receiptId, why] of erased) found.set(receiptId, why)
      const missing = receiptIds.filter((receiptId) => !found.has(receiptId))
      for (const [receiptId, why] of await whyLost(storage.read, missing)) found.set(receiptId, why)
      return receiptIds.map((receiptId) => found.get(receiptId))
    },
    { maxItems: MAX_PER_READ },
  )

  /** Proves receipts of one log. Each log has a call of its own, so that a fault in one does not affect others. */
  async function prove(logId: string, receipts: readonly ReceiptRow[]): Promise<Map<string, string | Failed>> {
    try {
      const leafIndexes = receipts.map(({ leafIndex }) => leafIndex)
      return withProofs(receipts, await log.inclusions(logId, leafIndexes))
    } catch (error) {
      return new Map(receipts.map(({ receiptId }) => [receiptId, new Failed(error)]))
    }
  }

  /** Reads a receipt that is in no table from its log's archive. */
  async function archived({ receiptId, logId }: ReceiptPlace): Promise<string | Failed | undefined> {
    try {
      const receipt = await archives.receipt(logId, receiptId)
      if (receipt.entry === '') throw new Error(NO_CONTENT)
      return (await prove(logId, [receipt])).get(receiptId)
    } catch (error) {
      return new Failed(error)
    }
  }

  async function whyErased(receiptIds: readonly string[]): Promise<Map<string, Failed>> {
    if (receiptIds.length === 0) return new Map()
    const rows = await storage.read.erasures.byReceiptIds(receiptIds)
    return new Map(rows.map((row) => [row.receiptId, new Failed(new ErasedError(row))]))
  }

  return {
    get: async (receiptId) => (isReceiptId(receiptId) ? lookups.add(receiptId) : undefined),
    async evidence(receiptId) {
      if (!isReceiptId(receiptId)) return undefined
      const document = await storage.published.evidenceOf(receiptId)
      if (document !== undefined) return document
      const [erased] = await storage.read.erasures.byReceiptIds([receiptId])
      if (erased) throw new ErasedError(erased)
      const { elsewhere } = await storage.published.receiptsByIds([receiptId])
      if (!elsewhere[0]) {
        const lost = (await whyLost(storage.read, [receiptId])).get(receiptId)
        if (lost) throw lost.error
        return undefined
      }
      return (await archives.receipt(elsewhere[0].logId, receiptId)).evidence
    },
  }
}

/** Tells whether an id is a receipt's. The log has other entries beside receipts, which are no receipts for anyone. */
function isReceiptId(id: string): boolean {
  return id.startsWith('rcpt_')
}

/** Finds out why some of these receipts are in no log: they were lost with the newest entries of theirs. */
async function whyLost({ lost, log }: Reads, receiptIds: readonly string[]): Promise<Map<string, Failed>> {
  const rows = receiptIds.length === 0 ? [] : await lost.byIds(receiptIds)
  if (rows.length === 0) return new Map()
  const logs = await log.all()
  const isOpen = (id: string) => logs.some(({ logId, endedAt }) => logId === id && endedAt === null)
  return new Map(rows.map((row) => [row.receiptId, new Failed(isOpen(row.logId) ? LACKING : lostError(row))]))
}

const LACKING = new ServiceError(
  'unavailable',
  'this receipt is among the newest entries, which the database lacks since it was restored or replaced',
)

function lostError({ receiptId, logId, leafIndex, leafHash }: LostReceiptRow): ServiceError {
  const detail = `this receipt is of a log that ended, and was lost with its newest entries: it was entry ${leafIndex} of the log ${logId}. Its signature still verifies on a copy that you kept; submit the claim again for a receipt that stays`
  const body = { receipt_id: receiptId, log_id: logId, leaf_index: leafIndex, leaf_hash: toBase64url(leafHash) }
  return new ServiceError('gone', detail, { more: { lost: body } })
}

/** Adds proofs to the receipts' texts, by receipt id. */
export function withProofs(receipts: readonly ReceiptRow[], proofs: readonly AnchoredPath[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [index, { receiptId, leafIndex, leafHash, entry }] of receipts.entries()) {
    const { logId, treeSize, rootHash, leafHash: inTree, inclusion, anchor } = proofs[index]!
    if (!bytesEqual(leafHash, inTree))
      throw new Error('the leaf hash of the stored receipt differs from the leaf in the tree')
    // Adds the proof to the stored text, so that the signed bytes stay unchanged. Nothing in a proof needs escaping.
    const proof = `{"log_id":"${logId}","leaf_index":${leafIndex},"tree_size":${treeSize},"root_hash":"${rootHash}","inclusion":${inclusion}${anchorMember(anchor)}}`
    texts.set(receiptId, `${entry.slice(0, -1)},"proof":${proof}}`)
  }
  return texts
}

function anchorMember(anchor: Anchor | null): string {
  if (!anchor) return ''
  const { chain, scheme, uid, txHash, treeSize } = anchor
  return `,"anchor":${JSON.stringify({ chain, scheme, uid, tx_hash: txHash, tree_size: treeSize })}`
}
