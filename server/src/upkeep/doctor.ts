/**
 * Re-derives everything from what is stored: receipts from claims and checks, leaves from receipts, tiles and roots from leaves,
 * signatures from keys. `doctor/README.md` tells what follows from nothing, so that its change is not seen.
 */
import type { Secrets } from '../base/secrets.ts'
import type { Storage } from '../storage/storage.ts'
import { checkAccounts } from './doctor/accounts.ts'
import { checkAnchors } from './doctor/anchors.ts'
import { type CheckChunk, chunkChecker } from './doctor/chunk.ts'
import { checkEnding, checkStrays } from './doctor/ending.ts'
import { type Ending, walkHeads } from './doctor/heads.ts'
import { inOrder } from './doctor/in-order.ts'
import { createProblems, type Problems } from './doctor/problems.ts'
import { createTree } from './doctor/tree.ts'
import { checkUndecided } from './doctor/undecided.ts'

export interface Diagnosis {
  readonly ok: boolean
  /** A sentence each, naming the row. */
  readonly problems: readonly string[]
  readonly leaves: number
}

export interface DiagnosisOptions {
  /** Verify each receipt's own signature, too. */
  readonly signatures?: boolean
  readonly onProgress?: (leaves: number, treeSize: number) => void
  /** Open the credentials of connections; without, that these open is not looked at. */
  readonly secrets?: Pick<Secrets, 'open'>
  /** Where chunks of leaves are checked, and how many at a time. Here, unless there are workers for that. */
  readonly chunks?: { readonly check: CheckChunk; readonly most: number }
}

/** One is looked at while the database reads the next. */
const STRETCHES_HERE = 2

/** A server may go on appending meanwhile. Takes memory for what is looked at, not for the whole log. */
export async function diagnose(storage: Storage, options: DiagnosisOptions = {}): Promise<Diagnosis> {
  const problems = createProblems()
  const [leaves] = await Promise.all([
    checkLog(storage, problems, options),
    checkUndecided(storage.read.audit, problems),
    checkAccounts(storage.read.audit, problems, options.secrets),
    checkStrays(storage.read, problems),
    checkAnchors(storage.read, problems),
  ])
  return { ok: problems.list.length === 0, problems: problems.list, leaves }
}

async function checkLog({ read }: Storage, problems: Problems, options: DiagnosisOptions): Promise<number> {
  const { signatures = false, onProgress } = options
  const { check, most } = options.chunks ?? { check: chunkChecker(read), most: STRETCHES_HERE }
  const tree = createTree(read.audit, problems)
  const treeSize = await read.audit.reach()
  let ending: Ending | undefined
  const chunks = walkHeads(read, problems, (end) => {
    ending = end
  })
  for await (const [steps, report] of inOrder(chunks, most, (segments) => check({ segments, signatures }))) {
    for (const problem of report.problems) problems.complain(problem)
    await tree.add(steps, report)
    onProgress?.(tree.treeSize, Math.max(tree.treeSize, treeSize))
  }
  if (ending) await checkEnding(ending, problems)
  await tree.checkStrayTiles(await read.audit.reach())
  return tree.treeSize
}
