/** The public log: heads, entries, proofs. It tells leaf indexes, leaf hashes and times, never what a leaf holds. */
import { type Anchor, type Instant, type ProvenInclusion, toBase64url } from '@claimcheck/core'
import type { LogState } from '../storage/log.ts'
import type { Storage } from '../storage/storage.ts'
import { ServiceError } from './errors.ts'
import { toTexts } from './hash-text.ts'
import { createStoredLog } from './log-view.ts'
import type { PathText } from './path-texts.ts'

/** Hashes are base64url here, as on the wire. */
export interface LogEntry {
  readonly leafIndex: number
  readonly leafHash: string
  readonly createdAt: Instant
}

export interface EntriesPage {
  readonly treeSize: number
  readonly entries: readonly LogEntry[]
  /** The next page's start, or null. */
  readonly next: number | null
}

export interface InclusionProof {
  readonly logId: string
  readonly leafIndex: number
  readonly treeSize: number
  readonly leafHash: string
  readonly rootHash: string
  readonly inclusion: readonly string[]
}

/** Proofs for many leaves, all at one size. */
export interface Inclusions extends Pick<InclusionProof, 'logId' | 'treeSize' | 'rootHash'> {
  readonly leaves: readonly PathText[]
}

export interface ConsistencyProof {
  readonly logId: string
  readonly first: number
  readonly second: number
  readonly firstRoot: string
  readonly secondRoot: string
  readonly proof: readonly string[]
}

export interface LogService {
  /** The newest signed tree head as JSON text, with the newest landed anchor. */
  head(): Promise<{ readonly treeHead: string; readonly anchor: Anchor | null }>
  /** Ascending. Without `start`, the newest. @throws ServiceError `not_found` when start is beyond the tree */
  entries(start: number | undefined, limit: number): Promise<EntriesPage>
  /** @throws ServiceError `bad_request` when the leaf is not in a tree of that size, `not_found` when the size is beyond the tree */
  inclusion(leafIndex: number, treeSize?: number): Promise<InclusionProof>
  /** That these leaves are in the log, at a state that was just read or a newer one. @throws RangeError when one of them is not */
  inclusions(state: LogState, leafIndexes: readonly number[]): Promise<Inclusions>
  /** @throws ServiceError `bad_request` when first is 0 or above second, `not_found` when either is beyond the tree */
  consistency(first: number, second?: number): Promise<ConsistencyProof>
  /** Newest first. */
  anchors(
    limit: number,
    before?: number,
  ): Promise<{ readonly anchors: readonly Anchor[]; readonly next: number | null }>
}

export function createLogService({ storage }: { storage: Storage }): LogService {
  const rows = storage.read.log
  const log = createStoredLog(rows)

  return {
    async head() {
      return { treeHead: JSON.stringify(await log.head()), anchor: null }
    },

    async entries(start, limit) {
      const { treeSize } = (await log.view()).state
      if (start !== undefined && start > treeSize) {
        throw new ServiceError('not_found', `start is beyond the log, which has ${treeSize} entries`)
      }
      const from = start ?? Math.max(0, treeSize - limit)
      const end = Math.min(treeSize, from + limit)
      const leaves = await rows.leaves(from, end)
      const hashes = toTexts(leaves.map(({ leafHash }) => leafHash))
      const entries = leaves.map(({ leafIndex, issuedAt }, index) => ({
        leafIndex,
        leafHash: hashes[index]!,
        createdAt: issuedAt,
      }))
      return { treeSize, entries, next: end < treeSize ? end : null }
    },

    async inclusion(leafIndex, requestedSize) {
      const view = await log.view()
      const { logId, treeSize: current } = view.state
      const treeSize = requestedSize ?? current
      if (treeSize > current) throw beyondTheLog('tree_size', current)
      if (leafIndex >= treeSize) {
        throw new ServiceError('bad_request', `leaf_index must be below tree_size, which is ${treeSize}`)
      }
      return toProof({ logId, leafIndex, treeSize }, await view.proveInclusion(leafIndex, treeSize))
    },

    async inclusions(state, leafIndexes) {
      const view = await log.viewFrom(state)
      const { logId, treeSize, rootHash } = view.state
      return { logId, treeSize, rootHash: toBase64url(rootHash), leaves: await view.pathTexts(leafIndexes) }
    },

    async consistency(first, requestedSecond) {
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
      const { path, ...roots } = await view.proveConsistency(first, second)
      const [firstRoot, secondRoot, ...proof] = toTexts([roots.firstRoot, roots.secondRoot, ...path])
      return { logId, first, second, firstRoot: firstRoot!, secondRoot: secondRoot!, proof }
    },

    async anchors() {
      return { anchors: [], next: null }
    },
  }
}

function toProof(
  leaf: Pick<InclusionProof, 'logId' | 'leafIndex' | 'treeSize'>,
  { leafHash, rootHash, path }: ProvenInclusion,
): InclusionProof {
  const [leafText, rootText, ...inclusion] = toTexts([leafHash, rootHash, ...path])
  return { ...leaf, leafHash: leafText!, rootHash: rootText!, inclusion }
}

function beyondTheLog(parameter: string, treeSize: number): ServiceError {
  return new ServiceError('not_found', `${parameter} is beyond the log, which has ${treeSize} entries`)
}
