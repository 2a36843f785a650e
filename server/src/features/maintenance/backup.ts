/** Makes backups of an installation, of either database, while hosts run. It holds no lock: it reads one snapshot. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { opendir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { formatInstant } from '@claimcheck/core/rules'
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { syncFolder } from '../../base/files.ts'
import { newId } from '../../base/ids.ts'
import { openSecrets, type Secrets } from '../../base/secrets.ts'
import { VERSION } from '../../base/version.ts'
import type { HostConfig } from '../../config/config.ts'
import { fileUrl } from '../../config/database-url.ts'
import { databaseClock } from '../../storage/clock.ts'
import { type CopyProgress, countedPages, openSource, openTarget, rowsOfDatabase } from '../../storage/copy.ts'
import type { Db } from '../../storage/db.ts'
import { COMMAND } from '../../storage/log-hosts.ts'
import { copiedTables, type Schema } from '../../storage/schema.ts'
import { signingKeyContext } from '../../storage/sealed-contexts.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import type { LogCloser } from '../log/closing.ts'
import { archivesIn } from '../log/log-archives.ts'
import { createLogMoves } from '../log/memory/log-moves.ts'
import { type MemorySettings, openMemories } from '../log/memory/memories.ts'
import {
  ARCHIVES,
  type BackupFile,
  FORMAT,
  MANIFEST,
  type Manifest,
  readManifest,
  writeLines,
  writeManifest,
} from './backup-format.ts'
import { handOver, type SigningKey, toFileError, undoClosing, using } from './handover.ts'
import { insertBackup } from './last-backup.ts'
import { diagnoseRestored, openBackup, placeArchives, restoreRows } from './restore.ts'

export interface BackupOptions {
  readonly config: HostConfig & MemorySettings
  readonly schema: Schema
  /** The folder to make. */
  readonly to: string
  /** False: the backup is not restored as a trial. */
  readonly verify?: boolean
  /** Closes the log first: it goes on in this backup. */
  readonly close?: LogCloser | undefined
  readonly onProgress: CopyProgress
}

export interface Backup {
  readonly manifest: Manifest
  /** Why the installation could not write down that there is a backup. */
  readonly unrecorded: string | undefined
}

/**
 * Writes a backup whole or not at all.
 * @throws ServiceError `conflict` where the folder is there, or the backup is not sound; StorageError, SecretError, SigningError
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { config, schema, close } = options
  const to = resolve(options.to)
  const partial = `${to}.partial`
  return using(await openSource(config.databaseUrl, schema), async (source) => {
    const made = await madeBefore(options, source, partial)
    if (made) return place(options, source, made, { partial, to })
    // Before the snapshot: what was acknowledged by then is in it.
    const madeAt = Math.floor(await databaseClock(source.read.db)())
    const epoch = newId('bkp_', madeAt)
    makePartial(partial)
    try {
      // Not before the other folder is there, which keeps another backup from making it meanwhile.
      if (existsSync(to)) throw isThere(to, 'name another')
      await close?.begin({ epoch, madeAt })
      const manifest = await source.snapshot((snapshot) =>
        writeBackup(options, { partial, epoch, madeAt, source, snapshot }),
      )
      source.requireUnchanged()
      if (options.verify !== false) await tryBackup(options, partial)
      // From then on the log goes on in it alone.
      await close?.end({ epoch, madeAt })
      return await place(options, source, manifest, { partial, to })
    } catch (error) {
      await (close && undoClosing(close, { epoch, madeAt }, source))?.catch((undone: Error) => {
        const detail = `whether the log is closed by the backup in ${partial} is not known: keep that folder, and run this command again (${undone.message})`
        throw new ServiceError('unavailable', detail, { cause: error })
      })
      rmSync(partial, { recursive: true, force: true })
      throw toFileError('the backup was not made', error)
    }
  })
}

/** A last backup that closed the log, or was about to and told memories so, and ended before its folder had its name. */
async function madeBefore(
  { config, close }: BackupOptions,
  source: Storage,
  partial: string,
): Promise<Manifest | undefined> {
  const log = close && (await source.read.log.state())
  if (!log?.closedBy?.last || !existsSync(join(partial, MANIFEST))) return undefined
  const manifest = readManifest(partial, openSecrets(config))
  const { epoch, last } = log.closedBy
  if (manifest.epoch !== epoch) return undefined
  const isMade = async () =>
    (await createLogMoves(openMemories({ config, storage: source })).after(log)).includes(epoch)
  if (last === 'making' && !(await isMade())) return undefined
  await close!.end(log.closedBy)
  return manifest
}

async function place(
  { config, close }: BackupOptions,
  source: Storage,
  made: Manifest,
  { partial, to }: { readonly partial: string; readonly to: string },
): Promise<Backup> {
  const manifest: Manifest = close ? { ...made, last: true } : made
  // Not before the log is closed: what is left of a backup that did not end is closed wherever it is restored.
  if (close) writeManifest(partial, manifest, openSecrets(config))
  if (existsSync(to))
    throw isThere(to, `the backup is complete, and stays in ${partial}: move it to a place of its own`)
  renameSync(partial, to)
  syncFolder(dirname(to))
  return { manifest, unrecorded: await record(source, manifest) }
}

/** Only the backup that makes it removes it. */
function makePartial(partial: string): void {
  try {
    mkdirSync(dirname(partial), { recursive: true })
    mkdirSync(partial, { mode: 0o700 })
    // The log goes on in it alone, before it has its name.
    syncFolder(dirname(partial))
  } catch (error) {
    if (existsSync(partial)) throw isThere(partial, 'another backup is under way, or did not end: remove it then')
    throw toFileError('the backup was not made', error)
  }
}

function isThere(folder: string, hint: string): ServiceError {
  return new ServiceError('conflict', `${folder} is there already, and nothing was changed: ${hint}`)
}

interface Writing {
  readonly partial: string
  readonly epoch: string
  readonly madeAt: number
  readonly source: Storage
  readonly snapshot: Db
}

async function writeBackup(
  { config, schema, close, onProgress }: BackupOptions,
  { partial: folder, epoch, madeAt, source, snapshot }: Writing,
): Promise<Manifest> {
  const { read, signingKey } = await handOver(source, snapshot, { config, schema })
  const secrets = openSecrets(config)
  const files: Record<string, BackupFile> = {}
  const tables = copiedTables(schema)
  const { pages } = await countedPages(rowsOfDatabase(snapshot), tables, onProgress)
  for (const table of tables) files[table.name] = await writeLines(folder, table.name, pages(table))
  files[ARCHIVES] = await writeLines(folder, ARCHIVES, archivedFiles(archivesIn(config.dataDir), await archived(read)))
  const manifest: Manifest = {
    format: FORMAT,
    epoch,
    made_at: formatInstant(madeAt),
    version: VERSION,
    schema: Object.keys(schema.migrations),
    log: await logOf(read),
    hosts: await hostsOf(source),
    last: close ? 'making' : undefined,
    signing_key: signingKey ? sealedKey(signingKey, secrets) : null,
    files,
  }
  writeManifest(folder, manifest, secrets)
  return manifest
}

async function logOf({ log }: Reads): Promise<Manifest['log']> {
  const head = await log.newestHead()
  return head ? { log_id: head.logId, tree_size: head.treeSize, tree_head: head.signed } : null
}

/** Each with its process, where the database knows it. */
async function hostsOf({ shared }: Storage): Promise<Manifest['hosts']> {
  const hosts = ((await shared?.logHosts.all()) ?? []).filter(({ process }) => process !== COMMAND)
  return hosts.length > 0 ? hosts.map(({ hostId, process }) => [hostId, process].filter(Boolean).join('/')) : undefined
}

function sealedKey({ keyId, pem }: SigningKey, secrets: Secrets): Manifest['signing_key'] {
  return { key_id: keyId, sealed: secrets.seal(pem, signingKeyContext(keyId)) }
}

async function archived({ log }: Reads): Promise<readonly string[]> {
  return (await log.all()).flatMap(({ logId, archivedAt }) => (archivedAt === null ? [] : logId))
}

/** Doctor says which are missing. */
async function* archivedFiles(root: string, logIds: readonly string[]) {
  for (const logId of logIds) {
    for await (const path of filesIn(join(root, logId))) {
      yield [[relative(root, path), (await readFile(path)).toString('base64')]]
    }
  }
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  if (!existsSync(folder)) return
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else yield path
  }
}

/** Restores it within its own folder, and derives everything again. */
async function tryBackup({ config, schema, onProgress }: BackupOptions, folder: string): Promise<void> {
  const backup = await openBackup(folder, config, schema)
  const trial = join(folder, 'trial')
  try {
    const dataDir = join(trial, 'data')
    const problems = await using(await openTarget(fileUrl(join(trial, 'claimcheck.db')), schema), async (target) => {
      await target.transaction((tx) => restoreRows(backup, { tx, dataDir, schema, onProgress }))
      placeArchives(dataDir)
      return diagnoseRestored(target, { schema, dataDir, secrets: openSecrets(config), onProgress })
    })
    if (problems.length === 0) return
    const all = problems.map((problem) => `\n  ${problem}`).join('')
    const detail = `the backup is not sound, and was removed: claimcheck doctor says whether the installation is. With --no-verify it is kept. Found in it:${all}`
    throw new ServiceError('conflict', detail)
  } finally {
    rmSync(trial, { recursive: true, force: true })
  }
}

async function record(source: Storage, { epoch, made_at }: Manifest): Promise<string | undefined> {
  try {
    await insertBackup(source, { epoch, madeAt: Date.parse(made_at) }, byCommand())
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
