/** The public log: heads, entries, proofs. It tells leaf indexes, leaf hashes and times, never what a leaf holds. */
import { type Anchor, type Instant, type ProvenInclusion, toBase64url } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import type { AnchoredLogState } from '../storage/log-state.ts'
import type { Storage } from '../storage/storage.ts'
import { createStoredLog, type LogView } from './log-view.ts'
import { type PathText, pathText, toTexts } from './path-texts.ts'

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

/** That a leaf is in the log, at the size of the earliest anchor that covers it: the strongest evidence of its age, and it never changes. */
export interface AnchoredPath extends PathText, Pick<InclusionProof, 'logId' | 'treeSize' | 'rootHash'> {
  /** null: no landed anchor covers it, and the size is what the log has now. */
  readonly anchor: Anchor | null
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
  /** For each of these leaves, at a state that was just read or a newer one. @throws RangeError when one of them is not in the log */
  inclusions(state: AnchoredLogState, leafIndexes: readonly number[]): Promise<readonly AnchoredPath[]>
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
  const { anchors } = storage.read
  const log = createStoredLog(storage.read)

  async function landed(before: number, limit: number): Promise<readonly Anchor[]> {
    const { logId } = (await rows.state())!
    return anchors.landed(logId, before, limit)
  }

  async function proveAnchored(
    view: LogView,
    leafIndexes: readonly number[],
  ): Promise<readonly (readonly [leafIndex: number, proof: AnchoredPath])[]> {
    if (leafIndexes.length === 0) return []
    const { logId } = view.state
    const found = await anchors.covering(logId, leafIndexes)
    return Promise.all(
      [...found].map(async ([leafIndex, anchor]) => {
        const { treeSize, rootHash } = anchor
        const { leafHash, path, rootHash: root } = await view.proveInclusion(leafIndex, treeSize)
        if (toBase64url(root) !== rootHash) throw new Error('the log has not the root that was anchored')
        return [leafIndex, { leafHash, path: pathText(path), logId, treeSize, rootHash, anchor }] as const
      }),
    )
  }

  return {
    async head() {
      // The anchor first: the head is of no smaller tree.
      const [anchor = null] = await landed(Number.MAX_SAFE_INTEGER, 1)
      return { treeHead: JSON.stringify(await log.head()), anchor }
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
      const { logId, treeSize, anchoredSize } = view.state
      const rootHash = toBase64url(view.state.rootHash)
      const recent = leafIndexes.filter((leafIndex) => leafIndex >= anchoredSize)
      const covered = leafIndexes.filter((leafIndex) => leafIndex < anchoredSize)
      const [paths, anchored] = await Promise.all([view.pathTexts(recent), proveAnchored(view, covered)])
      const proven = new Map(anchored)
      let used = 0
      return leafIndexes.map((leafIndex) => {
        if (leafIndex < anchoredSize) return proven.get(leafIndex)!
        const { leafHash, path } = paths[used++]!
        return { leafHash, path, logId, treeSize, rootHash, anchor: null }
      })
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

    async anchors(limit, before = Number.MAX_SAFE_INTEGER) {
      const found = await landed(before, limit + 1)
      const page = found.slice(0, limit)
      return { anchors: page, next: found.length > limit ? page.at(-1)!.treeSize : null }
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
