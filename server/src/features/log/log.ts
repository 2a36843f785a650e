/** The public log: heads, entries and proofs. It reveals leaf indexes, leaf hashes and times, and never the content of a leaf. */

import type { ConsistencyProof, InclusionProof } from '@claimcheck/core/api'
import type { Anchor } from '@claimcheck/core/hosting'
import { HASH_BYTES, type ProvenConsistency, treeSizeIn } from '@claimcheck/core/log'
import { fromBase64url, type Proof } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogArchives } from './log-archives.ts'
import { readAgain } from './log-rows.ts'
import { createStoredLog, type LogView, type StoredLog } from './stored-log.ts'

/** Of the logs that have ended, those that are kept open: each has a cache of tiles. */
const MAX_ENDED = 4

/** Hashes in this module are base64url, as in the API. */
export interface LogEntry {
  readonly leafIndex: number
  readonly leafHash: string
  readonly createdAt: Instant
}

export interface EntriesPage {
  readonly treeSize: number
  readonly entries: readonly LogEntry[]
  /** The `start` of the next page, or null. */
  readonly next: number | null
}

/**
 * Proves that a leaf is in the log, at the tree size of the earliest anchor that covers it. That anchor is the strongest evidence of the
 * leaf's age, and once it exists the proof never changes.
 */
export interface AnchoredPath {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: string
  /** The path as JSON text. */
  readonly inclusion: string
  /** In bytes. */
  readonly leafHash: Uint8Array
  /** null when no landed anchor covers the leaf; the tree size is then the current one. */
  readonly anchor: Anchor | null
}

export interface HeadAbove {
  /** As JSON text. */
  readonly treeHead: string
  /** Undefined where it is of the same size. */
  readonly consistency: ConsistencyProof | undefined
}

export type LogService = ReturnType<typeof createLogService>

interface LogServiceOptions {
  readonly storage: Pick<Storage, 'read' | 'published'>
  readonly archives: Pick<LogArchives, 'open'>
}

export function createLogService({ storage, archives }: LogServiceOptions) {
  const { read, published: rows } = storage
  const log = createStoredLog(rows, async () => (await read.log.anchoredState())!)
  const ended = new LRUCache<string, Promise<StoredLog>>({ max: MAX_ENDED })

  async function landedAnchors(before: number, limit: number): Promise<readonly Anchor[]> {
    const { logId } = (await read.log.state())!
    return read.anchors.landed(logId, before, limit)
  }

  async function proveAnchored(
    view: LogView,
    leafIndexes: readonly number[],
  ): Promise<ReadonlyMap<number, AnchoredPath>> {
    if (leafIndexes.length === 0) return new Map()
    const { logId } = view.state
    const found = await read.anchors.covering(logId, leafIndexes)
    const proven = [...found].map(async ([leafIndex, anchor]) => {
      const { treeSize, rootHash } = anchor
      const { leafHash, path } = await readAgain(rows, async () => {
        const proven = await view.proveInclusion(leafIndex, treeSize)
        if (toText(proven.rootHash) !== rootHash) throw new Error('the root of the log differs from the anchored root')
        return proven
      })
      return [leafIndex, { leafHash, inclusion: pathText(path), logId, treeSize, rootHash, anchor }] as const
    })
    return new Map(await Promise.all(proven))
  }

  function endedLog(logId: string): Promise<StoredLog> {
    const known = ended.get(logId)
    if (known) return known
    const opened = openEnded(logId)
    ended.set(logId, opened)
    opened.catch(() => ended.delete(logId))
    return opened
  }

  async function openEnded(logId: string): Promise<StoredLog> {
    const state = await read.log.anchoredState(logId)
    if (state) return createStoredLog(rows, async () => state)
    const archive = await archives.open(logId)
    const anchoredSize = (await read.anchors.newestFinal(logId))?.treeSize ?? 0
    return createStoredLog(archive.rows, async () => ({ ...archive.state, anchoredSize }))
  }

  return {
    /** The newest signed tree head of the open log as JSON text, with its newest landed anchor. */
    async head(): Promise<{ readonly treeHead: string; readonly anchor: Anchor | null }> {
      // Reads the anchor before the head, so that the head's tree is at least as large.
      const [anchor = null] = await landedAnchors(Number.MAX_SAFE_INTEGER, 1)
      return { treeHead: JSON.stringify(await log.head()), anchor }
    },
    /** In ascending order; without `start` the newest entries. @throws ServiceError `not_found` when start is beyond the tree */
    async entries(start: number | undefined, limit: number): Promise<EntriesPage> {
      const { logId, treeSize } = (await log.view()).state
      if (start !== undefined && start > treeSize) {
        throw new ServiceError('not_found', `start is beyond the log, which has ${treeSize} entries`)
      }
      const from = start ?? Math.max(0, treeSize - limit)
      const end = Math.min(treeSize, from + limit)
      const leaves = await rows.leaves(logId, from, end)
      const entries = leaves.map(({ leafIndex, leafHash, issuedAt }) => {
        return { leafIndex, leafHash: toText(leafHash), createdAt: issuedAt }
      })
      return { treeSize, entries, next: end < treeSize ? end : null }
    },
    /** Undefined when the log has no leaf with this hash. @param leafHash base64url */
    async leafIndexOf(leafHash: string): Promise<number | undefined> {
      const bytes = fromBase64url(leafHash)
      return bytes && (await rows.leafByHash((await log.view()).state, bytes))?.leafIndex
    },
    /** @throws ServiceError `bad_request` when the leaf is not in a tree of that size, `not_found` when the size is beyond the tree */
    async inclusion(leafIndex: number, requestedSize?: number): Promise<InclusionProof> {
      const view = await log.view()
      const { logId, treeSize: current } = view.state
      const treeSize = requestedSize ?? current
      if (treeSize > current) throw beyondTheLog('tree_size', current)
      if (leafIndex >= treeSize) {
        throw new ServiceError('bad_request', `leaf_index must be below tree_size, which is ${treeSize}`)
      }
      const { leafHash, rootHash, path } = await view.proveInclusion(leafIndex, treeSize)
      return {
        log_id: logId,
        leaf_index: leafIndex,
        tree_size: treeSize,
        leaf_hash: toText(leafHash),
        root_hash: toText(rootHash),
        inclusion: path.map(toText),
      }
    },
    /**
     * One proof for each leaf: in the open log at its newest size, in another log as it ended.
     * @throws RangeError when a leaf is not in the log; ServiceError `unavailable`
     */
    async inclusions(logId: string, leafIndexes: readonly number[]): Promise<readonly AnchoredPath[]> {
      const open = await log.view()
      const view = open.state.logId === logId ? open : await (await endedLog(logId)).view()
      const { treeSize, anchoredSize } = view.state
      const rootHash = toText(view.state.rootHash)
      const covered = leafIndexes.filter((leafIndex) => leafIndex < anchoredSize)
      const anchored = await proveAnchored(view, covered)
      return Promise.all(
        leafIndexes.map(async (leafIndex) => {
          if (leafIndex < anchoredSize) return anchored.get(leafIndex)!
          const { leafHash, path } = await view.proveInclusion(leafIndex, treeSize)
          return { leafHash, inclusion: pathText(path), logId, treeSize, rootHash, anchor: null }
        }),
      )
    },
    /** The newest head of the log that a receipt is proven in, and the path to it from the tree of the proof. */
    async headAbove(proof: Pick<Proof, 'log_id' | 'tree_size'> | undefined): Promise<HeadAbove> {
      const isOpen = !proof || (await log.view()).state.logId === proof.log_id
      const proven = isOpen ? log : await endedLog(proof.log_id)
      // The head is read after the receipt, so that its tree is not smaller than that of the proof.
      const treeHead = JSON.stringify(await proven.head())
      const [first, second] = [proof?.tree_size ?? 0, treeSizeIn(treeHead) ?? 0]
      if (first === 0 || first >= second) return { treeHead, consistency: undefined }
      const view = await proven.view()
      const path = await view.proveConsistency(first, second)
      return { treeHead, consistency: toConsistency(view.state.logId, first, second, path) }
    },
    /** @throws ServiceError `bad_request` when first is 0 or above second, `not_found` when either is beyond the tree */
    async consistency(first: number, requestedSecond?: number): Promise<ConsistencyProof> {
      const view = await log.view()
      const { logId, treeSize: current } = view.state
      const second = requestedSecond ?? current
      if (first === 0)
        throw new ServiceError('bad_request', 'first must be at least 1: every log begins with the empty tree')
      if (requestedSecond !== undefined && first > second) {
        throw new ServiceError('bad_request', 'first must not be above second')
      }
      if (first > current) throw beyondTheLog('first', current)
      if (second > current) throw beyondTheLog('second', current)
      return toConsistency(logId, first, second, await view.proveConsistency(first, second))
    },
    /** Newest first. */
    async anchors(
      limit: number,
      before = Number.MAX_SAFE_INTEGER,
    ): Promise<{ readonly anchors: readonly Anchor[]; readonly next: number | null }> {
      const found = await landedAnchors(before, limit + 1)
      const page = found.slice(0, limit)
      return { anchors: page, next: found.length > limit ? page.at(-1)!.treeSize : null }
    },
  }
}

export function toConsistency(
  logId: string,
  first: number,
  second: number,
  { firstRoot, secondRoot, path }: ProvenConsistency,
): ConsistencyProof {
  return {
    log_id: logId,
    first,
    second,
    first_root: toText(firstRoot),
    second_root: toText(secondRoot),
    proof: path.map(toText),
  }
}

/** base64url, by Node's own encoder: core's portable one would take most of the time of a proof. */
function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64url')
}

// A byte of zero after each hash: 33 bytes are 44 letters, of which the first 43 are the hash's own.
const PADDED_BYTES = HASH_BYTES + 1
const LETTERS = 43
const PADDED_LETTERS = 44

/** JSON text of the hashes in base64url, encoded by one call: a call for each takes a tenth of the time that a receipt does. */
function pathText(path: readonly Uint8Array[]): string {
  if (path.length === 0) return '[]'
  const bytes = Buffer.alloc(path.length * PADDED_BYTES)
  for (const [index, hash] of path.entries()) bytes.set(hash, index * PADDED_BYTES)
  const letters = bytes.toString('base64url')
  const texts = path.map((_, index) => letters.slice(index * PADDED_LETTERS, index * PADDED_LETTERS + LETTERS))
  return `["${texts.join('","')}"]`
}

function beyondTheLog(parameter: string, treeSize: number): ServiceError {
  return new ServiceError('not_found', `${parameter} is beyond the log, which has ${treeSize} entries`)
}
