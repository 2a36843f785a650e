/**
 * Checks the stored data by deriving it again: receipts from claims and checks, leaves from receipts, tiles and roots from leaves,
 * signatures from keys. `doctor/README.md` lists the data that cannot be derived, whose changes stay unnoticed.
 */
import type { AnchorExaminer } from '@claimcheck/core'
import type { Secrets } from '../base/secrets.ts'
import type { SealedKeyFile } from '../log/signing/key-files.ts'
import type { Storage } from '../storage/storage.ts'
import { checkAccounts } from './doctor/accounts.ts'
import { checkAnchors } from './doctor/anchors.ts'
import { checkAuditTrail } from './doctor/audit-trail.ts'
import { chunkChecker } from './doctor/chunk.ts'
import type { ChunkWorkers } from './doctor/chunk-workers.ts'
import { checkEnding, checkStrays } from './doctor/ending.ts'
import { checkErasures } from './doctor/erasures.ts'
import { type Ending, walkHeads } from './doctor/heads.ts'
import { inOrder } from './doctor/in-order.ts'
import { createProblems, type Problems } from './doctor/problems.ts'
import { checkSealed } from './doctor/sealed.ts'
import { createTree } from './doctor/tree.ts'
import { checkUndecided } from './doctor/undecided.ts'

export interface Diagnosis {
  readonly ok: boolean
  /** One sentence for each problem, which names the row. */
  readonly problems: readonly string[]
  readonly leaves: number
}

export interface DiagnosisOptions {
  /** Verify the signature of each receipt, too. */
  readonly signatures?: boolean
  readonly onProgress?: (leaves: number, treeSize: number) => void
  /** Opens everything that is sealed; without this it is not checked. */
  readonly secrets?: Pick<Secrets, 'open'>
  /** The sealed signing keys that are files, which `secrets` must open. */
  readonly keyFiles?: readonly SealedKeyFile[]
  /** Reads what was signed for anchors; without this it is not checked. */
  readonly examineAnchor?: AnchorExaminer
  /** Checks chunks of leaves in worker threads; without this they are checked in this thread. */
  readonly chunks?: Pick<ChunkWorkers, 'check' | 'concurrency'>
}

/** While this thread checks one chunk, the database reads the next. */
const CHUNKS_AT_A_TIME = 2

/** A server may append to the log at the same time. Uses memory for some chunks, not for the whole log. */
export async function diagnose(storage: Storage, options: DiagnosisOptions = {}): Promise<Diagnosis> {
  const problems = createProblems()
  const [leaves] = await Promise.all([
    checkLog(storage, problems, options),
    checkUndecided(storage.read.doctor, problems),
    checkAccounts(storage.read.doctor, problems),
    ...(options.secrets ? [checkSealed(storage.read, problems, options.secrets, options.keyFiles)] : []),
    checkStrays(storage.read, problems),
    checkAnchors(storage.read, problems, options.examineAnchor ?? (() => [])),
    checkAuditTrail(storage.read.audit, problems),
    checkErasures(storage.read.doctor, problems),
  ])
  return { ok: problems.list.length === 0, problems: problems.list, leaves }
}

async function checkLog({ read }: Storage, problems: Problems, options: DiagnosisOptions): Promise<number> {
  const { signatures = false, onProgress } = options
  const { check, concurrency } = options.chunks ?? { check: chunkChecker(read), concurrency: CHUNKS_AT_A_TIME }
  const tree = createTree(read.doctor, problems)
  const treeSize = await read.doctor.reach()
  let ending: Ending | undefined
  const chunks = walkHeads(read, problems, (end) => {
    ending = end
  })
  for await (const [steps, report] of inOrder(chunks, concurrency, (segments) => check({ segments, signatures }))) {
    for (const problem of report.problems) problems.add(problem)
    await tree.add(steps, report)
    onProgress?.(tree.treeSize, Math.max(tree.treeSize, treeSize))
  }
  if (ending) await checkEnding(ending, problems)
  await tree.checkStrayTiles(await read.doctor.reach())
  return tree.treeSize
}
