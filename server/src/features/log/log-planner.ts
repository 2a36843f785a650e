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
  type DecidedClaim,
  DOMAINS,
  type FindingContent,
  findingBody,
  type ReceiptBody,
  receiptBody,
  type Signer,
} from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '../../base/ids.ts'
import { LEAF_BEGINNING, sha256 } from '../../base/sha256.ts'
import type { Changes } from '../../storage/changes.ts'
import type { ReceiptRow } from '../../storage/log.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import type { LogConfig } from './config.ts'
import type { LogGuard } from './log-guard.ts'
import { SHA256_TREE, tileReader } from './log-rows.ts'
import type { ReceiptContent } from './receipt-content.ts'
import type { SignedReceipts } from './signing/signed-receipts.ts'
import type { SigningKeys } from './signing/signing-keys.ts'

/** A signed receipt, or a finding under its id in place of a receipt's, that has no index in the log yet. */
export interface Draft extends Omit<ReceiptRow, 'logId' | 'leafIndex'> {
  readonly keyId: string
  readonly content: ReceiptContent | FindingContent
  /** What is published with the receipt. */
  readonly evidence: string | undefined
}

/** The changes of an append, without those to claims. */
export type Append = Pick<Changes, 'log' | 'head' | 'receipts' | 'evidence' | 'tiles'> & {
  /** The tree as it will be; undefined where it stays. */
  readonly range?: CompactRange
}

export type LogPlanner = ReturnType<typeof createLogPlanner>

interface LogPlannerOptions {
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly signedReceipts: Pick<SignedReceipts, 'add'>
  readonly config: Pick<LogConfig, 'issuerName'>
}

type Unsigned = Pick<Draft, 'claimId' | 'receiptId' | 'issuedAt' | 'content' | 'evidence'>

export function createLogPlanner({ signingKeys, logGuard, signedReceipts, config }: LogPlannerOptions) {
  /** The state in which this host last wrote the log. */
  let lastWritten: Append['log'] | undefined
  /** Used only when its root is the root of the log: it is not after an append of another host. */
  let known: { readonly range: CompactRange; readonly rootHash: Uint8Array } | undefined

  async function rangeAt(rows: Reads['log'], log: LogState): Promise<CompactRange> {
    if (known && bytesEqual(known.rootHash, log.rootHash)) return known.range
    try {
      const tiles = await tileReader(rows, log.logId)(partialTiles(log.treeSize))
      const range = restoreRange(log.treeSize, tiles, SHA256_TREE)
      logGuard.checkRoot(log, range.suffixes[0] ?? SHA256_TREE.empty)
      return range
    } catch (error) {
      // A missing or damaged tile makes this host read-only: the check throws.
      if (error instanceof TileError) await logGuard.checkStored(log, rows)
      throw error
    }
  }

  async function append(
    log: Append['log'],
    from: CompactRange,
    drafts: readonly Draft[],
    rows?: Reads['log'],
  ): Promise<Append> {
    const signer = await signingKeys.signer(log.keyId, rows)
    const current = await inOrder(drafts, log, (draft) => sign(config, draft, signer))
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

  return {
    /**
     * Signs a receipt before the log is locked, because signing is most of the cost of an append.
     * @param evidence is published with it
     * @param decidedAt when its checks decided, and it can be signed: then the receipt is issued
     */
    draft(
      claimId: string,
      content: ReceiptContent,
      evidence?: string,
      decidedAt: Instant = content.observation.observedAt,
    ): Promise<Draft> {
      // Takes the time of the checks, which is vouched for, and not now(): the clock may be in doubt.
      const issuedAt = Math.max(content.observation.observedAt, decidedAt)
      const unsigned = { claimId, receiptId: newId('rcpt_', issuedAt), issuedAt, content, evidence }
      return sign(config, unsigned, signingKeys.latest())
    },
    /** Signs a finding about a claim's receipt. */
    draftFinding(claimId: string, content: FindingContent, issuedAt: Instant): Promise<Draft> {
      const unsigned = { claimId, receiptId: newId('fnd_', issuedAt), issuedAt, content, evidence: undefined }
      return sign(config, unsigned, signingKeys.latest())
    },
    /**
     * Plans to append the drafts to the locked log, and signs the new head. Signs a draft again when another key signed it than the log's
     * current one, or when its time is before the log's.
     * @throws ServiceError `read_only` when this would be a fork
     */
    async plan(rows: Reads['log'], log: LogState, drafts: readonly Draft[]): Promise<Append> {
      if (drafts.length === 0) {
        // Where the database is an old one, claims are not stored either.
        await logGuard.checkOpen(log, rows)
        return { log }
      }
      await logGuard.check(log, rows)
      return append(log, await rangeAt(rows, log), drafts, rows)
    },
    /**
     * Plans without a lock, for the state in which this host last wrote the log. If that state is not current, the database refuses the
     * append, and what was signed for it is never published. Undefined when this host has not written the log yet.
     */
    async planOptimistically(drafts: readonly Draft[]): Promise<Append | undefined> {
      if (!lastWritten || logGuard.problem() !== undefined) return undefined
      if (drafts.length === 0) return { log: lastWritten }
      const isKnown = known && bytesEqual(known.rootHash, lastWritten.rootHash) && logGuard.isRemembered(lastWritten)
      return isKnown ? append(lastWritten, known!.range, drafts) : undefined
    },
    /**
     * Remembers an append. Call it when the append is on disk, before anyone else learns of it.
     * @throws ServiceError `read_only`
     */
    committed({ log, head, range, receipts = [] }: Append): void {
      const written = head ? { ...log, ...head } : log
      lastWritten = written
      if (range) known = { range, rootHash: written.rootHash }
      if (!head) return
      signedReceipts.add(receipts)
      logGuard.remember(written)
    },
  }
}

/** The times of receipts and heads must be in order, whichever host signs them: a draft that the log has passed is signed again. */
async function inOrder(
  drafts: readonly Draft[],
  { keyId, issuedAt }: Append['log'],
  signAgain: (draft: Draft) => Promise<Draft>,
): Promise<Draft[]> {
  const signed = await Promise.all(
    drafts.map((draft) => {
      const isCurrent = draft.keyId === keyId && draft.issuedAt >= issuedAt
      return isCurrent ? draft : signAgain({ ...draft, issuedAt: Math.max(issuedAt, draft.issuedAt) })
    }),
  )
  return signed.toSorted((one, other) => one.issuedAt - other.issuedAt)
}

async function sign(
  { issuerName: name }: Pick<LogConfig, 'issuerName'>,
  { claimId, receiptId, issuedAt, content, evidence }: Unsigned,
  signing: Signer | Promise<Signer>,
): Promise<Draft> {
  const signer = await signing
  const { keyId } = signer
  const isFinding = 'change' in content
  const made = { receiptId, issuedAt, issuer: name === undefined ? { keyId } : { keyId, name } }
  const body = canonicalize(isFinding ? findingBody(content, made) : receiptBodyOf(content, made))
  const [before, after] = aroundBody(
    await signer.sign(isFinding ? DOMAINS.finding : DOMAINS.receipt, Buffer.from(body)),
  )
  const entry = before + body + after
  const leafHash = sha256(LEAF_BEGINNING + entry)
  return { claimId, receiptId, issuedAt, content, evidence, keyId, entry, leafHash }
}

function receiptBodyOf(
  { agentId, agentBound = false, agentNames, claim, observation, verdict }: ReceiptContent,
  { receiptId, issuedAt, issuer }: Pick<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'>,
): ReceiptBody {
  return receiptBody({ receiptId, issuedAt, issuer, agentId, agentBound, agentNames, claim, observation, verdict })
}
