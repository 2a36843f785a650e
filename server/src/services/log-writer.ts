/** Appends to the log within a transaction: signed receipts, tiles and a signed head, all or none. */
import {
  appendLeaves,
  bytesEqual,
  canonicalize,
  DOMAINS,
  edgeTiles,
  entryOf,
  type Instant,
  receiptBody,
  restoreEdge,
  type Signer,
  signTreeHead,
  type TreeEdge,
} from '@claimcheck/core'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import type { SigningKeys } from '../signing/signing-keys.ts'
import type { ReceiptRow } from '../storage/log.ts'
import type { Writes } from '../storage/storage.ts'
import type { ReceiptContent } from './receipt-content.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

export interface Leaf {
  readonly claimId: string
  readonly content: ReceiptContent
}

export interface LogWriter {
  /**
   * The receipt id of each claim. The size of the log is compared and swapped: a second writer fails, it never forks.
   * @throws LogConflict when another writer has moved the log on; the transaction must not be committed then
   */
  append(tx: Writes, leaves: readonly Leaf[]): Promise<ReadonlyMap<string, string>>
}

export class LogConflict extends Error {
  override readonly name = 'LogConflict'
}

interface LogWriterOptions {
  readonly signingKeys: SigningKeys
  readonly now: () => Instant
  readonly config: Pick<Config, 'issuerName'>
}

export function createLogWriter({ signingKeys, now, config }: LogWriterOptions): LogWriter {
  // Taken only when its root is the log's: after a transaction that failed, or another host's append, it is not.
  let known: { readonly edge: TreeEdge; readonly rootHash: Uint8Array } | undefined

  async function edgeAt(tx: Writes, treeSize: number, rootHash: Uint8Array): Promise<TreeEdge> {
    if (known && bytesEqual(known.rootHash, rootHash)) return known.edge
    return restoreEdge(treeSize, await tileReader(tx.log)(edgeTiles(treeSize)), SHA256_TREE)
  }

  async function toReceipt(
    signer: Signer,
    issuedAt: Instant,
    leafIndex: number,
    { claimId, content }: Leaf,
  ): Promise<ReceiptRow> {
    const receiptId = newId('rcpt_', now())
    const { issuerName: name } = config
    const issuer = { keyId: signer.keyId, ...(name === undefined ? {} : { name }) }
    const body = receiptBody({ ...content, receiptId, issuedAt, issuer })
    const text = canonicalize(body)
    const entry = entryOf(text, await signer.sign(DOMAINS.receipt, text))
    return { leafIndex, receiptId, claimId, leafHash: SHA256_TREE.leaf(Buffer.from(entry)), issuedAt, entry }
  }

  return {
    async append(tx, leaves) {
      if (leaves.length === 0) return new Map()
      const { logId, treeSize, rootHash: currentRoot, signer, notBefore } = await signingKeys.current(tx)
      // Receipts and heads are in time order, whatever the clock does.
      const issuedAt = Math.max(now(), notBefore)
      const receipts = await Promise.all(
        leaves.map((leaf, index) => toReceipt(signer, issuedAt, treeSize + index, leaf)),
      )
      const { edge, rootHash, tiles } = appendLeaves(
        await edgeAt(tx, treeSize, currentRoot),
        receipts.map(({ leafHash }) => leafHash),
        SHA256_TREE,
      )
      const head = { logId, treeSize: edge.treeSize, rootHash, issuedAt }

      if (!(await tx.log.grow(treeSize, edge.treeSize))) throw new LogConflict('the log has moved on')
      await tx.log.insertReceipts(receipts)
      await tx.log.insertTiles(tiles)
      await tx.log.insertHead({ ...head, signed: JSON.stringify(await signTreeHead(signer, head)) })
      known = { edge, rootHash }
      return new Map(receipts.map(({ claimId, receiptId }) => [claimId, receiptId]))
    },
  }
}
