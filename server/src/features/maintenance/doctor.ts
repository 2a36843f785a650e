/**
 * Checks the stored data by deriving it again: receipts from claims and checks, leaves from receipts, tiles and roots from leaves,
 * signatures from keys. `doctor/README.md` lists the data that cannot be derived: their changes stay unnoticed.
 */
import type { AnchorExaminer } from '@claimcheck/core/hosting'
import { createProblems, type Problems } from '../../base/problems.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { SigningKeyRow } from '../../storage/log.ts'
import type { LogRow, TreeHeadRow } from '../../storage/log-state.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import type { SealedKeyFile } from '../log/signing/key-files.ts'
import { checkArchive, type ReadArchives } from './doctor/archives.ts'
import { chunkChecker } from './doctor/chunk.ts'
import { type Database, startChunkThreads } from './doctor/chunk-threads.ts'
import { checkKeys, checkLogRow, checkStrays } from './doctor/ending.ts'
import { type Ending, type Step, walkHeads } from './doctor/heads.ts'
import { createKeyRing } from './doctor/key-ring.ts'
import { checkSealed } from './doctor/sealed.ts'
import { createTree } from './doctor/tree.ts'
import { checkUndecided } from './doctor/undecided.ts'

export interface Diagnosis {
  readonly ok: boolean
  /** One sentence for each problem, which names the row. */
  readonly problems: readonly string[]
  /** What is to be known, and is no damage. */
  readonly notices: readonly string[]
  readonly leaves: number
}

export interface DiagnosisOptions {
  readonly schema: Schema
  /** Verify the signature of each receipt, too. */
  readonly signatures?: boolean
  /** What the storage is opened from: with it, all processors work on a large log. */
  readonly database?: Database
  readonly onProgress?: (leaves: number, treeSize: number) => void
  /** Opens everything that is sealed; without this it is not checked. */
  readonly secrets?: Pick<Secrets, 'open'>
  /** The sealed signing keys that are files, which `secrets` must open. */
  readonly keyFiles?: readonly SealedKeyFile[]
  /** The archives of logs; without this they are not checked. */
  readonly archives?: ReadArchives
  /** Reads what was signed for anchors; without this it is not checked. */
  readonly examineAnchor?: AnchorExaminer
}

/** Of fewer leaves, threads cost more than they gain. */
const LEAVES_FOR_THREADS = 20_000

/** A server may append to the log at the same time. Uses memory for some chunks, not for the whole log. */
export async function diagnose(storage: Storage, options: DiagnosisOptions): Promise<Diagnosis> {
  const problems = createProblems()
  const notices: string[] = []
  const { schema, examineAnchor = () => [] } = options
  const { read } = storage
  const [leaves] = await Promise.all([
    checkLogs(storage, problems, notices, options),
    checkUndecided(read.doctor, problems),
    ...(options.secrets ? [checkSealed(read, schema, problems, options.secrets, options.keyFiles)] : []),
    checkStrays(read, schema, problems),
    ...schema.examinations.map((examine) => examine({ read, problems, examineAnchor })),
  ])
  return { ok: problems.list.length === 0, problems: problems.list, notices, leaves }
}

/** Returns how many leaves all logs have. */
async function checkLogs(
  { read, shared }: Storage,
  problems: Problems,
  notices: string[],
  options: DiagnosisOptions,
): Promise<number> {
  const firstHeads = new Map<string, TreeHeadRow>()
  const logs = await read.log.all()
  let leaves = 0
  let keys: readonly SigningKeyRow[] = []
  for (const log of logs) {
    const checked = await checkLog(read, log, firstHeads, problems, options)
    leaves += checked.leaves
    const isElsewhere = shared !== undefined && checked.leaves > 0 && options.archives?.has(log.logId) === false
    if (log.archivedAt !== null && isElsewhere) notices.push(archiveElsewhere(log))
    else if (log.archivedAt !== null && options.archives)
      await checkArchive(read, options.archives, log, checked.ring, problems)
    keys = checked.keys
  }
  const isArchived = logs.some(({ archivedAt }) => archivedAt !== null)
  checkKeys(keys, firstHeads, isArchived, problems)
  if (logs.length > 0 && logs.every(({ endedAt }) => endedAt !== null)) problems.add('log: no log is open')
  return leaves
}

async function checkLog(
  read: Reads,
  log: LogRow,
  firstHeads: Map<string, TreeHeadRow>,
  problems: Problems,
  { signatures = false, database, onProgress }: DiagnosisOptions,
) {
  const { logId } = log
  const ring = signatures ? createKeyRing(await read.log.signingKeys()) : undefined
  const tree = createTree(read.doctor, logId, problems)
  const expected = await read.doctor.receiptReach(logId)
  let ending: Ending = { keys: [], first: undefined, newest: undefined }
  const onEnd = (end: Ending) => {
    ending = end
  }
  const threads = database && expected >= LEAVES_FOR_THREADS ? startChunkThreads(database) : undefined
  const { check, count } = threads ?? { check: chunkChecker(read), count: 1 }
  const checkSteps = (steps: readonly Step[]) =>
    check({ logId, signatures, segments: steps.map(({ head, ...segment }) => segment) })
  try {
    for await (const [steps, chunk] of inOrder(walkHeads(read, log, problems, firstHeads, onEnd), count, checkSteps)) {
      for (const problem of chunk.problems) problems.add(problem)
      await tree.add(steps, chunk)
      onProgress?.(tree.treeSize, Math.max(tree.treeSize, expected))
    }
  } finally {
    await threads?.close()
  }
  checkLogRow(log, ending, problems)
  await tree.checkStrayTiles(await read.doctor.receiptReach(logId))
  return { leaves: tree.treeSize, keys: ending.keys, ring }
}

/** Works on so many items at a time, and yields each with its result, in the order of the items. */
async function* inOrder<T, R>(items: AsyncIterable<T>, atOnce: number, work: (item: T) => Promise<R>) {
  const begun: { item: T; result: Promise<R> }[] = []
  const first = async () => {
    const { item, result } = begun.shift()!
    return [item, await result] as const
  }
  for await (const item of items) {
    const result = work(item)
    // An error is thrown when it is this item's turn.
    result.catch(() => {})
    begun.push({ item, result })
    if (begun.length >= atOnce) yield await first()
  }
  while (begun.length > 0) yield await first()
}

/** Of a database that hosts share: another one has the archive, and what this one serves is still in the tables. */
function archiveElsewhere({ logId }: LogRow): string {
  return `Notice: the archive of the log ${logId} is not on this host, which serves the log from the database: before its rows leave the tables, make DATA_DIR/logs one folder for all hosts.`
}
