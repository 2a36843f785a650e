/** Plans what is appended to the log: signed receipts, tiles and a signed head, which are written all or none. */
import {
  appendLeaves,
  bytesEqual,
  type CompactRange,
  canonicalize,
  DOMAINS,
  entryOf,
  type Instant,
  partialTiles,
  receiptBody,
  restoreRange,
  type Signer,
  signTreeHead,
  TileError,
} from '@claimcheck/core'
import { newId } from '../base/ids.ts'
import type { Config } from '../config/config.ts'
import type { Changes } from '../storage/changes.ts'
import type { ReceiptRow } from '../storage/log.ts'
import type { LogState } from '../storage/log-state.ts'
import type { Reads } from '../storage/storage.ts'
import type { LogGuard } from './log-guard.ts'
import type { ReceiptContent } from './receipt-content.ts'
import type { SigningKeys } from './signing/signing-keys.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

/** A signed receipt that has no place in the log yet. */
export interface Draft extends Omit<ReceiptRow, 'leafIndex'> {
  readonly keyId: string
  readonly content: ReceiptContent
}

/** What an append changes, but for the claims. */
export type Growth = Pick<Changes, 'log' | 'receipts' | 'tiles' | 'heads'>

export interface LogWriter {
  /** Signs before the log is held: of what an append costs, this is the most. */
  draft(claimId: string, content: ReceiptContent): Promise<Draft>
  /**
   * What appends these to the log as it was just locked, signed head included. A draft that another key or an earlier time has signed
   * than the log has come to is signed again.
   * @throws ServiceError `read_only` when this would be a fork
   */
  plan(rows: Reads['log'], log: LogState, drafts: readonly Draft[]): Promise<Growth>
  /**
   * The same for the log as this host left it, which is often as it is; the database refuses it where it is not, and what was signed
   * for it is seen by nobody. Undefined when this host does not know how it left it.
   */
  planAsLeft(drafts: readonly Draft[]): Promise<Growth | undefined>
  /** To be told of each growth when it is on disk, and before anybody else is. @throws ServiceError `read_only` */
  grown(growth: Growth): void
}

interface LogWriterOptions {
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly now: () => Instant
  readonly config: Pick<Config, 'issuerName'>
}

export function createLogWriter({ signingKeys, logGuard, now, config }: LogWriterOptions): LogWriter {
  let left: LogState | undefined
  // Taken only when its root is the log's: after an append that failed, or another host's, it is not.
  let known: { readonly range: CompactRange; readonly rootHash: Uint8Array } | undefined

  async function rangeAt(rows: Reads['log'], log: LogState): Promise<CompactRange> {
    if (known && bytesEqual(known.rootHash, log.rootHash)) return known.range
    try {
      return await storedRange(rows, log)
    } catch (error) {
      // A tile is missing or damaged: then this host is read-only, and says so.
      if (error instanceof TileError) await logGuard.checkStored(log, rows)
      throw error
    }
  }

  async function storedRange(rows: Reads['log'], log: LogState): Promise<CompactRange> {
    const range = restoreRange(log.treeSize, await tileReader(rows)(partialTiles(log.treeSize)), SHA256_TREE)
    logGuard.checkRoot(log, range.suffixes[0] ?? SHA256_TREE.empty)
    return range
  }

  async function grow(log: LogState, from: CompactRange, drafts: readonly Draft[]): Promise<Growth> {
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
    const leafHashes = receipts.map(({ leafHash }) => leafHash)
    const { range, rootHash, tiles } = appendLeaves(from, leafHashes, SHA256_TREE)
    const to = { ...log, treeSize: range.treeSize, rootHash, issuedAt: receipts.at(-1)!.issuedAt }
    const signed = JSON.stringify(await signTreeHead(signer, to))
    known = { range, rootHash }
    return { log: { from: log, to }, receipts, tiles, heads: [{ ...to, signed }] }
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

    async plan(rows, log, drafts) {
      if (drafts.length === 0) return { log: { from: log, to: log } }
      await logGuard.check(log, rows)
      return grow(log, await rangeAt(rows, log), drafts)
    },

    async planAsLeft(drafts) {
      if (!left) return undefined
      if (drafts.length === 0) return { log: { from: left, to: left } }
      const isKnown = known && bytesEqual(known.rootHash, left.rootHash) && logGuard.isRemembered(left)
      return isKnown ? grow(left, known!.range, drafts) : undefined
    },

    grown({ log: { from, to } }) {
      left = to
      if (to !== from) logGuard.remember(to)
    },
  }
}
