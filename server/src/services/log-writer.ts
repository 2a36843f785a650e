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
  TileError,
  type TreeEdge,
} from '@claimcheck/core'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import type { SigningKeys } from '../signing/signing-keys.ts'
import type { LogState, ReceiptRow } from '../storage/log.ts'
import type { Writes } from '../storage/storage.ts'
import type { LogGuard } from './log-guard.ts'
import type { ReceiptContent } from './receipt-content.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

/** A signed receipt that has no place in the log yet. */
export interface Draft extends Omit<ReceiptRow, 'leafIndex'> {
  readonly keyId: string
  readonly content: ReceiptContent
}

export interface LogWriter {
  /** Signs before the log is held: of what an append costs, this is the most. */
  draft(claimId: string, content: ReceiptContent): Promise<Draft>
  /**
   * Appends to the log as it was locked. A draft that another key or an earlier time has signed than the log has come to
   * meanwhile is signed again. The size of the log is compared and swapped: a second writer fails, it never forks.
   * @returns the log as it is once the transaction is committed, when the guard has to remember it; undefined when nothing was appended
   * @throws LogConflict when another writer has moved the log on; the transaction must not be committed then
   * @throws ServiceError `read_only` when this would be a fork
   */
  append(tx: Writes, log: LogState, drafts: readonly Draft[]): Promise<LogState | undefined>
}

export class LogConflict extends Error {
  override readonly name = 'LogConflict'
}

interface LogWriterOptions {
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly now: () => Instant
  readonly config: Pick<Config, 'issuerName'>
}

export function createLogWriter({ signingKeys, logGuard, now, config }: LogWriterOptions): LogWriter {
  // Taken only when its root is the log's: after a transaction that failed, or another host's append, it is not.
  let known: { readonly edge: TreeEdge; readonly rootHash: Uint8Array } | undefined

  async function edgeAt(tx: Writes, log: LogState): Promise<TreeEdge> {
    if (known && bytesEqual(known.rootHash, log.rootHash)) return known.edge
    try {
      return await storedEdge(tx, log)
    } catch (error) {
      // A tile is missing or damaged: then this host is read-only, and says so.
      if (error instanceof TileError) await logGuard.checkStored(log, tx.log)
      throw error
    }
  }

  async function storedEdge(tx: Writes, log: LogState): Promise<TreeEdge> {
    const edge = restoreEdge(log.treeSize, await tileReader(tx.log)(edgeTiles(log.treeSize)), SHA256_TREE)
    logGuard.checkRoot(log, edge.suffixes[0] ?? SHA256_TREE.empty)
    return edge
  }

  type Unsigned = Pick<Draft, 'claimId' | 'receiptId' | 'issuedAt' | 'content'>

  async function sign({ claimId, receiptId, issuedAt, content }: Unsigned, signer: Signer): Promise<Draft> {
    const { keyId } = signer
    const { issuerName: name } = config
    const { agentId, claim, observation, verdict } = content
    const issuer = name === undefined ? { keyId } : { keyId, name }
    const text = canonicalize(receiptBody({ receiptId, issuedAt, issuer, agentId, claim, observation, verdict }))
    const entry = entryOf(text, await signer.sign(DOMAINS.receipt, text))
    return { claimId, receiptId, issuedAt, content, keyId, entry, leafHash: SHA256_TREE.leaf(Buffer.from(entry)) }
  }

  return {
    async draft(claimId, content) {
      // The check may have been stamped by another thread's reading of the clock.
      const issuedAt = Math.max(now(), content.observation.observedAt)
      return sign({ claimId, receiptId: newId('rcpt_', issuedAt), issuedAt, content }, await signingKeys.latest())
    },

    async append(tx, log, drafts) {
      if (drafts.length === 0) return undefined
      await logGuard.check(log, tx.log)
      const signer = await signingKeys.signer(log.keyId)
      const current = await Promise.all(
        drafts.map((draft) =>
          draft.keyId === log.keyId && draft.issuedAt >= log.issuedAt
            ? draft
            : // Receipts and heads are in time order, whatever the clock does.
              sign({ ...draft, issuedAt: Math.max(now(), log.issuedAt, draft.issuedAt) }, signer),
        ),
      )
      const receipts = current
        .sort((one, other) => one.issuedAt - other.issuedAt)
        .map(({ receiptId, claimId, leafHash, issuedAt, entry }, index) => {
          return { leafIndex: log.treeSize + index, receiptId, claimId, leafHash, issuedAt, entry }
        })
      const { edge, rootHash, tiles } = appendLeaves(
        await edgeAt(tx, log),
        receipts.map(({ leafHash }) => leafHash),
        SHA256_TREE,
      )
      const head = { ...log, treeSize: edge.treeSize, rootHash, issuedAt: receipts.at(-1)!.issuedAt }
      const signed = JSON.stringify(await signTreeHead(signer, head))
      const [grown] = await Promise.all([
        tx.log.grow(log.treeSize, head),
        tx.log.insertReceipts(receipts),
        tx.log.insertTiles(tiles),
        tx.log.insertHead({ ...head, signed }),
      ])
      if (!grown) throw new LogConflict('the log has moved on')
      known = { edge, rootHash }
      return head
    },
  }
}
