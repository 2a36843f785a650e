/**
 * Copies an installation to another database: all rows and the signing key. Its log is closed at the source, and goes on in the copy: two
 * that append to one log fork it.
 */
import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { HostConfig } from '../../config/config.ts'
import { describeDatabase } from '../../config/database-url.ts'
import { databaseClock } from '../../storage/clock.ts'
import { type Copied, type CopyProgress, copyRows, openSource, openTarget, rowsOfDatabase } from '../../storage/copy.ts'
import type { OpenedStorage } from '../../storage/pools.ts'
import { countRows } from '../../storage/rows.ts'
import { copiedTables, type Schema } from '../../storage/schema.ts'
import { type Storage, writes } from '../../storage/storage.ts'
import { type LogCloser, movesOfRestored, type Successor } from '../log/closing.ts'
import { archivesIn } from '../log/log-archives.ts'
import { forgetArchives, handOver, takeOver, undoClosing, using, withRestored } from './handover.ts'

export interface CopyOptions {
  /** Must have the same SECRET_KEY as `to`: encrypted credentials are copied unchanged. */
  readonly from: HostConfig
  readonly to: HostConfig
  readonly schema: Schema
  /** Closes the log first. A log that is closed stays so in the copy. */
  readonly close?: LogCloser
  readonly onProgress?: CopyProgress
}

/**
 * Copies everything or nothing. A server may use the source at the same time; the copy has the state at the start.
 * @throws ServiceError `conflict` when both are the same database; StorageError, SecretError, SigningError
 */
export async function copyInstallation(options: CopyOptions): Promise<Copied> {
  const { from, to, schema } = options
  if (describeDatabase(from.databaseUrl) === describeDatabase(to.databaseUrl))
    throw new ServiceError('conflict', 'source and target are the same database')
  return using(
    await openSource(from.databaseUrl, schema),
    async (source) => (await copiedBefore(options, source)) ?? (await copyAll(options, source)),
  )
}

async function copyAll(options: CopyOptions, source: OpenedStorage): Promise<Copied> {
  const { to, schema } = options
  const log = await source.read.log.state()
  const isOpen = log && (log.closedBy === null || log.closedBy.last === 'making')
  const close = isOpen ? options.close : undefined
  if (!close) return copySnapshot(options, source)
  const madeAt = Math.floor(await databaseClock(source.read.db)())
  const successor = { epoch: newId('bkp_', madeAt), madeAt }
  const copied = await close
    .begin(successor)
    .then(() => copySnapshot(options, source, successor))
    .catch(async (error) => {
      await undoClosing(close, successor, source)
      throw error
    })
  // Where it ends here, the same command goes on.
  await using(await openSource(to.databaseUrl, schema), (target) => moveLog(close, successor, target))
  return copied
}

async function copySnapshot(
  { from, to, schema, onProgress }: CopyOptions,
  source: OpenedStorage,
  successor?: Successor,
): Promise<Copied> {
  return source.snapshot(async (snapshot) => {
    const { signingKey } = await handOver(source, snapshot, { config: from, schema })
    return using(await openTarget(to.databaseUrl, schema), (target) =>
      target.transaction(async (tx) => {
        const copied = await copyRows(rowsOfDatabase(snapshot), tx, schema, onProgress)
        await forgetArchives(tx, schema, archivesIn(to.dataDir))
        const details = { from: describeDatabase(from.databaseUrl), to: describeDatabase(to.databaseUrl) }
        const { log } = writes(tx, schema)
        const state = await log.state()
        if (successor && state) {
          const restore = randomUUID()
          await log.close({ ...successor, restore })
          await log.move(movesOfRestored(state, successor.epoch, restore))
        }
        await takeOver(target, tx, { config: to, schema, signingKey }, { event: 'database.copied', details })
        source.requireUnchanged()
        return copied
      }),
    )
  })
}

/** Ends a copy that had all rows, and ended before the log went on in it. */
async function copiedBefore({ to, schema, close }: CopyOptions, source: Storage): Promise<Copied | undefined> {
  const closing = (await source.read.log.state())?.closedBy
  if (!close || !closing) return undefined
  return withRestored(to.databaseUrl, schema, closing.epoch, async (target) => {
    await moveLog(close, closing, target)
    const tables = copiedTables(schema)
    const counts = tables.map(async ({ name }) => [name, await countRows(target.read.db, name)] as const)
    return Object.fromEntries(await Promise.all(counts))
  })
}

/** At the source first: until it is closed there for good, the log goes on nowhere. */
async function moveLog(close: LogCloser, successor: Successor, target: Storage): Promise<void> {
  await close.end(successor)
  await target.write((tx) => tx.log.close(null))
}
