/** Compares the log in the database with what was signed of it. */
import { rootAt, TileError } from '@claimcheck/core/log'
import { bytesEqual } from '@claimcheck/core/receipts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import { SHA256_TREE, tileReader } from './log-rows.ts'
import type { Head } from './memory/head-record.ts'
import { behind, DAMAGED, FORKED, OTHER_LOG, readOnly } from './standing.ts'

/** A state of the log that something outside of the database knows. */
type KnownState = Pick<Head, 'treeSize' | 'rootHash'>

/** @returns what the database lacks of the first head of which it lacks something; also where it has another log */
export async function lackingOf(
  heads: readonly Head[],
  log: LogState,
  rows: Reads['log'],
): Promise<string | undefined> {
  for (const head of heads) {
    if (head.logId !== log.logId) {
      const all = await rows.all()
      if (!all.some(({ logId, endedAt }) => logId === head.logId && endedAt !== null)) return OTHER_LOG
    } else if (log.treeSize < head.treeSize) return behind(log, head.treeSize)
    else if (!(await includes(log, head, rows))) return FORKED
  }
  return undefined
}

/** Tells whether the log has all that was in it in a state. @throws ServiceError `read_only` where the stored tree is damaged */
export async function includes(log: LogState, known: KnownState, rows: Reads['log']): Promise<boolean> {
  if (log.treeSize < known.treeSize) return false
  const root = log.treeSize === known.treeSize ? log.rootHash : await rootOf(log.logId, known.treeSize, rows)
  return bytesEqual(root, known.rootHash)
}

/** @throws ServiceError `read_only` */
export function compareRoot({ rootHash }: LogState, storedRoot: Uint8Array): void {
  if (!bytesEqual(storedRoot, rootHash)) throw readOnly(DAMAGED)
}

/** Derives the root of the stored tree. @throws ServiceError `read_only` */
export async function compareStored(log: LogState, rows: Reads['log']): Promise<void> {
  compareRoot(log, await rootOf(log.logId, log.treeSize, rows))
}

async function rootOf(logId: string, treeSize: number, rows: Reads['log']): Promise<Uint8Array> {
  try {
    return await rootAt(treeSize, tileReader(rows, logId), SHA256_TREE)
  } catch (error) {
    if (!(error instanceof TileError)) throw error
    throw readOnly(DAMAGED, error)
  }
}
