/** Compares the log in the database with what was signed, anchored or attested of it, and says in words what the database lacks. */
import { rootAt, TileError } from '@claimcheck/core/log'
import { bytesEqual } from '@claimcheck/core/receipts'
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { Closing, LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import type { Head } from './memory/head-record.ts'
import { isClosing } from './memory/memory.ts'
import { toHead } from './signing/signed-heads.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

/** A state of the log that something outside of the database knows. */
export type KnownState = Pick<Head, 'treeSize' | 'rootHash'>

export const RECOVERY = 'Restore the newest database, or begin another log with: claimcheck log new'
const ACKNOWLEDGE =
  'Where you know why, as after a rehearsal that signed with the same key, claimcheck log acknowledge goes on with this log'
const OTHER_LOG = `the database has another log than the one that this host signed last: check DATABASE_URL and DATA_DIR. ${RECOVERY}`
const FORKED = `the entries in the database differ from those that were signed. ${RECOVERY}`
export const MOVED =
  'the log goes on in another data folder of this machine, by claimcheck log resume there. Begin another log here with: claimcheck log new'
const CLOSED_SINCE =
  'the database is from before the log was closed here: it goes on where its last backup is restored, or where it was copied to'
const DAMAGED = 'the root of the stored tree differs from the signed root: run claimcheck doctor to find the damage'

export function readOnly(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('read_only', reason, { cause })
}

export function behind({ treeSize }: LogState, signed: number): string {
  return `the database is an old one: its log has ${treeSize} entries, and ${signed} were signed`
}

/** Why nothing is signed where the log lacks what a transaction attests. */
export function attestedProblem(log: LogState, { treeSize, transaction, issuedAt }: Head): string {
  const where = `by the transaction ${transaction} of ${formatInstant(issuedAt)}`
  if (log.treeSize < treeSize) return `${behind(log, treeSize)} and anchored ${where}. ${RECOVERY}`
  return `the entries in the database differ from those that were anchored ${where}. ${RECOVERY}`
}

/** Why a log is closed that nothing contradicts. */
export function closedProblem({ treeSize }: LogState, { madeAt, last }: Closing): string {
  const at = formatInstant(madeAt)
  if (last === 'making')
    return `the last backup of the log, or its copy, has been under way since ${at}, or did not end: make it again with claimcheck backup FOLDER --last, or claimcheck copy. Where none is to be made, claimcheck log reopen goes on`
  if (last === 'made')
    return `the log goes on where its last backup, of ${at}, is restored or copied to, and is closed here. Begin another log here with: claimcheck log new`
  return `the database was restored from the backup of ${at}, with ${treeSize} entries: claims and receipts since then may be missing, and its log stays closed. Begin another log with: claimcheck log new`
}

/** Why nothing is signed where the log was moved since. */
export function movedProblem(move: string): string {
  return isClosing(move) ? `${CLOSED_SINCE} (${move}). Begin another log here with: claimcheck log new` : MOVED
}

/** Tells whether it was a client that stopped the log, and no host that remembers more: the same head, once acknowledged, is a host's. */
export function isStoppedByClient({ contradictedBy, witnessed }: LogState): boolean {
  return contradictedBy !== null && witnessed?.head === contradictedBy && witnessed.acknowledgedAt === undefined
}

/** @throws ServiceError `read_only` where a host has written a head into the database that it lacks */
export function compareWritten(log: LogState): void {
  if (log.contradictedBy === null) return
  const { treeSize } = toHead(log.contradictedBy)
  const isBehind = log.treeSize < treeSize
  if (!isStoppedByClient(log)) throw readOnly(isBehind ? `${behind(log, treeSize)}. ${RECOVERY}` : FORKED)
  const lacking = isBehind
    ? behind(log, treeSize)
    : `the log has other entries than the first ${treeSize} that were signed`
  throw readOnly(`a client has a signed head that the log does not contain: ${lacking}. ${RECOVERY}. ${ACKNOWLEDGE}`)
}

/** @throws ServiceError `read_only` where the database lacks what is in the head, or has another log */
export async function compareHead(head: Head, log: LogState, rows: Reads['log']): Promise<void> {
  if (head.logId !== log.logId) {
    const all = await rows.all()
    if (!all.some(({ logId, endedAt }) => logId === head.logId && endedAt !== null)) throw readOnly(OTHER_LOG)
    return
  }
  if (log.treeSize < head.treeSize) throw readOnly(`${behind(log, head.treeSize)}. ${RECOVERY}`)
  if (!(await includes(log, head, rows))) throw readOnly(FORKED)
}

/** Whether the log has all that was in it in a state. @throws ServiceError `read_only` where the stored tree is damaged */
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
