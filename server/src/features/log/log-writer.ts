/** Plans appends to the log: the signed receipts, the tiles and the signed head, which one transaction writes. */

import {
  appendLeaves,
  type CompactRange,
  partialTiles,
  restoreRange,
  signTreeHead,
  TileError,
} from '@claimcheck/core/log'
import {
  aroundBody,
  bytesEqual,
  canonicalize,
  DOMAINS,
  receiptBody,
  type Signature,
  type Signer,
} from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '../../base/ids.ts'
import { LEAF_BEGINNING, sha256 } from '../../base/sha256.ts'
import type { Changes } from '../../storage/changes.ts'
import type { NewReceipt } from '../../storage/log.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import type { LogConfig } from './config.ts'
import type { LogGuard } from './log-guard.ts'
import type { ReceiptContent } from './receipt-content.ts'
import type { SigningKeys } from './signing/signing-keys.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

/** A signed receipt that has no index in the log yet. */
export interface Draft extends Omit<NewReceipt, 'logId' | 'leafIndex'> {
  readonly keyId: string
  readonly content: ReceiptContent
  /** What is published beside the receipt. */
  readonly evidence: string | undefined
}

/** The changes of an append, without those to claims. */
export type Append = Pick<Changes, 'log' | 'head' | 'receipts' | 'evidence' | 'tiles'> & {
  /** The tree as it will be; undefined where it stays. */
  readonly range?: CompactRange
}

export interface LogWriter {
  /**
   * Signs a receipt before the log is locked, because signing is most of the cost of an append.
   * @param evidence is published beside it
   * @param decidedAt when the check behind it was answered: by then the receipt is issued
   */
  draft(claimId: string, content: ReceiptContent, evidence?: string, decidedAt?: Instant): Promise<Draft>
  /**
   * Plans to append the drafts to the locked log, and signs the new head. Signs a draft again when another key signed it than the log's
   * current one, or when its time is before the log's.
   * @throws ServiceError `read_only` when this would be a fork
   */
  plan(rows: Reads['log'], log: LogState, drafts: readonly Draft[]): Promise<Append>
  /**
   * Plans without a lock, for the state in which this host last wrote the log. If that state is not current, the database refuses the
   * append, and what was signed for it is never published. Undefined when this host has not written the log yet.
   */
  planOptimistically(drafts: readonly Draft[]): Promise<Append | undefined>
  /**
   * Remembers an append. Call it when the append is on disk, before anyone else learns of it.
   * @throws ServiceError `read_only`
   */
  committed(append: Append): void
}

interface LogWriterOptions {
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly config: LogConfig
}

export function createLogWriter({ signingKeys, logGuard, config }: LogWriterOptions): LogWriter {
  /** The state in which this host last wrote the log. */
  let lastWritten: LogState | undefined
  // Used only when its root is the root of the log: it is not after an append of another host.
  let known: { readonly range: CompactRange; readonly rootHash: Uint8Array } | undefined

  async function rangeAt(rows: Reads['log'], log: LogState): Promise<CompactRange> {
    if (known && bytesEqual(known.rootHash, log.rootHash)) return known.range
    try {
      return await storedRange(rows, log)
    } catch (error) {
      // A missing or damaged tile makes this host read-only: the check throws.
      if (error instanceof TileError) await logGuard.checkStored(log, rows)
      throw error
    }
  }

  async function storedRange(rows: Reads['log'], log: LogState): Promise<CompactRange> {
    const range = restoreRange(log.treeSize, await tileReader(rows, log.logId)(partialTiles(log.treeSize)), SHA256_TREE)
    logGuard.checkRoot(log, range.suffixes[0] ?? SHA256_TREE.empty)
    return range
  }

  async function append(
    log: LogState,
    from: CompactRange,
    drafts: readonly Draft[],
    rows?: Reads['log'],
  ): Promise<Append> {
    const signer = await signingKeys.signer(log.keyId, rows)
    // The times of receipts and heads must be in order, whichever host signs them.
    const isCurrent = ({ keyId, issuedAt }: Draft) => keyId === log.keyId && issuedAt >= log.issuedAt
    const madeCurrent = (draft: Draft) =>
      isCurrent(draft) ? draft : sign({ ...draft, issuedAt: Math.max(log.issuedAt, draft.issuedAt) }, signer)
    // Nearly always all are: a promise for each would be in vain.
    const signedNow = drafts.every(isCurrent) ? drafts : await Promise.all(drafts.map(madeCurrent))
    const current = signedNow.toSorted((one, other) => one.issuedAt - other.issuedAt)
    const { logId } = log
    const receipts = current.map(({ receiptId, claimId, leafHash, issuedAt, entry }, index) => {
      return { logId, leafIndex: log.treeSize + index, receiptId, claimId, leafHash, issuedAt, entry }
    })
    const evidence = current.flatMap(({ receiptId, evidence }) =>
      evidence === undefined ? [] : [{ logId, receiptId, document: evidence }],
    )
    const leafHashes = receipts.map(({ leafHash }) => leafHash)
    const { range, rootHash, tiles } = appendLeaves(from, leafHashes, SHA256_TREE)
    const head = {
      ...log,
      number: log.number + 1,
      treeSize: range.treeSize,
      rootHash,
      issuedAt: receipts.at(-1)!.issuedAt,
    }
    const signed = JSON.stringify(await signTreeHead(signer, head))
    return {
      log,
      head: { ...head, signed },
      receipts,
      evidence,
      tiles: tiles.map((tile) => ({ logId, ...tile })),
      range,
    }
  }

  type Unsigned = Pick<Draft, 'claimId' | 'receiptId' | 'issuedAt' | 'content' | 'evidence'>

  async function sign(unsigned: Unsigned, signing: Signer | Promise<Signer>): Promise<Draft> {
    const { claimId, receiptId, issuedAt, content, evidence } = unsigned
    const signer = await signing
    const { keyId } = signer
    const { issuerName: name } = config
    const { agentId, agentBound = false, claim, observation, verdict } = content
    const issuer = name === undefined ? { keyId } : { keyId, name }
    const decided = { receiptId, issuedAt, issuer, agentId, agentBound, claim, observation, verdict }
    const body = Buffer.from(canonicalize(receiptBody(decided)))
    const leaf = leafOf(body, await signer.sign(DOMAINS.receipt, body))
    return {
      claimId,
      receiptId,
      issuedAt,
      content,
      evidence,
      keyId,
      entry: leaf.subarray(LEAF_BEGINNING.length),
      leafHash: sha256(leaf),
    }
  }

  return {
    draft(claimId, content, evidence, decidedAt = content.observation.observedAt) {
      // Not by the clock of this thread: the checks are admitted and dated by another one, which knows when the time is in doubt.
      const issuedAt = Math.max(content.observation.observedAt, decidedAt)
      return sign({ claimId, receiptId: newId('rcpt_', issuedAt), issuedAt, content, evidence }, signingKeys.latest())
    },

    async plan(rows, log, drafts) {
      if (drafts.length === 0) return { log }
      await logGuard.check(log, rows)
      return append(log, await rangeAt(rows, log), drafts, rows)
    },

    async planOptimistically(drafts) {
      if (!lastWritten) return undefined
      if (drafts.length === 0) return { log: lastWritten }
      const isKnown = known && bytesEqual(known.rootHash, lastWritten.rootHash) && logGuard.isRemembered(lastWritten)
      return isKnown ? append(lastWritten, known!.range, drafts) : undefined
    },

    committed({ log, head, range }) {
      lastWritten = head ? { ...log, ...head } : log
      if (range) known = { range, rootHash: lastWritten.rootHash }
      if (head) logGuard.remember(lastWritten)
    },
  }
}

/** As bytes, made once of the body that was signed: a text would be put together again for the hash and for the database. */
function leafOf(body: Uint8Array, signature: Signature): Buffer {
  const [before, after] = aroundBody(signature)
  return Buffer.concat([Buffer.from(LEAF_BEGINNING + before), body, Buffer.from(after)])
}
