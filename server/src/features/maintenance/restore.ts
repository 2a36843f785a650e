/**
 * Restores a backup into an empty installation, on either database. Its log stays closed, as what was signed since may be missing in it; that
 * of a last backup goes on.
 */
import { createPrivateKey, randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, renameSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { examineAnchor } from '@claimcheck/cli/verify/anchor-check'
import { ServiceError } from '../../base/errors.ts'
import { syncFolder } from '../../base/files.ts'
import { SecretError, secretKeyPath } from '../../base/secret-keys.ts'
import { openSecrets, type Secrets } from '../../base/secrets.ts'
import type { HostConfig } from '../../config/config.ts'
import { type Copied, type CopyProgress, copyRows, openTarget, type RowSource } from '../../storage/copy.ts'
import type { Db } from '../../storage/db.ts'
import { copiedTables, type Schema } from '../../storage/schema.ts'
import { signingKeyContext } from '../../storage/sealed-contexts.ts'
import { type Storage, writes } from '../../storage/storage.ts'
import type { Cells } from '../../storage/table.ts'
import { movesOfRestored } from '../log/closing.ts'
import { archivesIn, createLogArchives } from '../log/log-archives.ts'
import { fileLock } from '../log/memory/folder-memories.ts'
import { locksOf } from '../log/memory/log-moves.ts'
import { type MemorySettings, openMemories } from '../log/memory/memories.ts'
import { sealedKeyFiles } from '../log/signing/key-files.ts'
import { createSigner } from '../log/signing/signer.ts'
import { ARCHIVES, checkFiles, type Manifest, RESTORED, readLines, readManifest } from './backup-format.ts'
import { diagnose } from './doctor.ts'
import { forgetArchives, type SigningKey, takeOver, toFileError, using, withRestored } from './handover.ts'

/** A backup with sound files. */
export interface OpenedBackup {
  readonly folder: string
  readonly manifest: Manifest
  readonly signingKey: SigningKey | undefined
}

export interface RestoreOptions {
  /** The folder of the backup. */
  readonly from: string
  readonly config: HostConfig & MemorySettings
  readonly schema: Schema
  /** The operator says that its log goes on nowhere else: needed where a last backup is old. */
  readonly move?: boolean
  readonly onProgress: CopyProgress
}

export interface Restored {
  readonly manifest: Manifest
  readonly copied: Copied
  /** What doctor finds; empty where all is sound. */
  readonly problems: readonly string[]
  /** Of a last backup that no other restore had before. */
  readonly goesOn: boolean
  /** A last backup whose log may go on elsewhere by now. */
  readonly isOld: boolean
}

/** After it, a copy of a last backup may have been restored elsewhere long ago. */
const LAST_FOR_MS = 86_400_000

/**
 * Restores everything or nothing.
 * @throws ServiceError `bad_request` for a backup that is not sound or not whole; StorageError `not_empty`, SecretError
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, schema } = options
  const { dataDir, databaseUrl } = config
  const from = resolve(options.from)
  const backup = await openBackup(from, config, schema)
  if (backup.manifest.last && from.endsWith('.partial'))
    throw new ServiceError('bad_request', `${from} is of a last backup that did not end: run its command again`)
  refuseArchives(dataDir)
  const restored = await restoredBefore(backup, options)
  if (restored) return restored
  return using(await openTarget(databaseUrl, schema), async (target) => {
    const copied = await target
      .transaction((tx) => restoreAll(backup, options, target, tx))
      .catch((error) => {
        rmSync(draftOf(dataDir), { recursive: true, force: true })
        throw error
      })
    return finish(backup, options, target, copied)
  })
}

/** Ends a restore of this backup that committed the rows and then ended before the archives were in their place, or the log was open. */
async function restoredBefore(backup: OpenedBackup, options: RestoreOptions): Promise<Restored | undefined> {
  const { config, schema } = options
  const { epoch, files, last } = backup.manifest
  if (files[ARCHIVES]!.rows === 0 && !last) return undefined
  return withRestored(config.databaseUrl, schema, epoch, async (target) => {
    await draftArchives(backup, config.dataDir)
    const copied = copiedTables(schema).map(({ name }) => [name, files[name]!.rows])
    return finish(backup, options, target, Object.fromEntries(copied))
  })
}

async function finish(
  { folder, manifest }: OpenedBackup,
  { config, schema, move = false, onProgress }: RestoreOptions,
  target: Storage,
  copied: Copied,
): Promise<Restored> {
  const { dataDir } = config
  placeArchives(dataDir)
  let reached: Parameters<CopyProgress> = [0, 0]
  const update: CopyProgress = (...step) => {
    reached = step
    onProgress(...step)
  }
  const problems = await diagnoseRestored(target, { schema, dataDir, secrets: openSecrets(config), onProgress: update })
  const log = await target.read.log.state()
  const restore = log?.closedBy?.restore
  const isLast = manifest.last === true && problems.length === 0 && restore !== undefined
  const isOld = isLast && !move && Math.abs(Date.now() - Date.parse(manifest.made_at)) > LAST_FOR_MS
  // Who stops the command until now keeps the log closed.
  if (isLast) onProgress(...reached)
  const goesOn = isLast && !isOld && (await takeLast(config, target, folder, manifest, restore, move))
  if (goesOn) await target.write((tx) => tx.log.close(null))
  return { manifest, copied, problems, goesOn, isOld }
}

/**
 * A log goes on from its last backup once: who restores it a second time, from the same folder or with the same HEAD_MEMORY, gets a log that
 * is closed. A folder that cannot be written says that to nobody: HEAD_MEMORY does, or the operator.
 * @returns false where another restore had it before
 */
async function takeLast(
  config: MemorySettings,
  storage: Storage,
  folder: string,
  { epoch }: Manifest,
  restore: string,
  isMoved: boolean,
): Promise<boolean> {
  const inFolder = fileLock(join(folder, RESTORED))
  const memories = locksOf(openMemories({ config, storage }), epoch)
  try {
    // The default memory is of this machine alone: another one would restore the same folder.
    const isSaidElsewhere = isMoved || config.remoteMemory !== undefined || config.headMemory?.isDefault === false
    const locks = isSaidElsewhere && !isWritable(folder) && inFolder.read() === undefined ? [] : [inFolder]
    for (const lock of [...locks, ...memories]) if (!(await lock.take(restore))) return false
    return true
  } catch (error) {
    const detail = `the log stays closed, as it cannot be written down that it goes on here: ${(error as Error).message}. Run this command again`
    throw new ServiceError('unavailable', detail, { cause: error })
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function restoreAll(
  backup: OpenedBackup,
  { config, schema, onProgress }: RestoreOptions,
  target: Storage,
  db: Db,
): Promise<Copied> {
  const { signingKey, manifest } = backup
  const { epoch, made_at } = manifest
  const copied = await restoreRows(backup, { tx: db, dataDir: config.dataDir, schema, onProgress })
  const { log, events } = writes(db, schema)
  await events.jump(Date.now())
  const state = await log.state()
  // A file is of one host.
  const hosts = state?.agreedOn.startsWith('file:') ? [] : manifest.hosts
  const restore = randomUUID()
  await log.close({ epoch, madeAt: Date.parse(made_at), restore, hosts })
  if (state && manifest.last === true) await log.move(movesOfRestored(state, epoch, restore))
  const entry = { event: 'database.restored', subject: epoch, details: { made_at } } as const
  await takeOver(target, db, { config, schema, signingKey }, entry)
  return copied
}

/** Checks each file before anything is written. @throws ServiceError `bad_request`; SecretError `wrong_key` */
export async function openBackup(folder: string, config: HostConfig, schema: Schema): Promise<OpenedBackup> {
  const secrets = secretsOf(config)
  const manifest = readManifest(folder, secrets)
  const migrations = Object.keys(schema.migrations)
  if (manifest.schema.join() !== migrations.join()) {
    const detail = `the backup is of version ${manifest.version}, which stores other tables: restore it with that version, and update then`
    throw new ServiceError('bad_request', detail)
  }
  await checkFiles(folder, manifest)
  return { folder, manifest, signingKey: openKey(manifest, secrets) }
}

interface RowsOptions {
  readonly tx: Db
  /** Where the archives of logs are written. */
  readonly dataDir: string
  readonly schema: Schema
  readonly onProgress: CopyProgress
}

/** Writes the rows, and the archives of logs as a draft, which `placeArchives` puts into its place after the commit. */
export async function restoreRows(
  backup: OpenedBackup,
  { tx, dataDir, schema, onProgress }: RowsOptions,
): Promise<Copied> {
  const { folder, manifest } = backup
  const source: RowSource = {
    count: async ({ name }) => manifest.files[name]!.rows,
    pages: ({ name }) => readLines(folder, name) as AsyncGenerator<Cells[]>,
  }
  const copied = await copyRows(source, tx, schema, onProgress)
  await draftArchives(backup, dataDir)
  await forgetArchives(tx, schema, draftOf(dataDir))
  return copied
}

async function draftArchives({ folder }: OpenedBackup, dataDir: string): Promise<void> {
  const draft = draftOf(dataDir)
  rmSync(draft, { recursive: true, force: true })
  const folders = new Set<string>()
  try {
    for await (const lines of readLines(folder, ARCHIVES)) {
      for (const [path, content] of lines as [string, string][]) {
        const file = join(draft, path)
        if (!file.startsWith(draft + sep))
          throw new ServiceError(
            'bad_request',
            `nothing was restored: an archive of the backup is outside of its folder, ${path}`,
          )
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        await writeFile(file, content, { encoding: 'base64', mode: 0o600, flush: true })
        folders.add(dirname(file))
      }
    }
    for (const made of folders) for (let at = made; at.startsWith(draft); at = dirname(at)) syncFolder(at)
  } catch (error) {
    throw toFileError(`nothing was restored, as archives cannot be written to ${dataDir}`, error)
  }
}

export function placeArchives(dataDir: string): void {
  if (!existsSync(draftOf(dataDir))) return
  renameSync(draftOf(dataDir), archivesIn(dataDir))
  syncFolder(dataDir)
}

interface RestoredOptions extends Omit<RowsOptions, 'tx'> {
  readonly secrets: Secrets
}

/** With the same examinations as `claimcheck doctor`. */
export async function diagnoseRestored(
  storage: Storage,
  { schema, dataDir, secrets, onProgress }: RestoredOptions,
): Promise<readonly string[]> {
  const archives = createLogArchives({ storage, config: { dataDir } })
  const keyFiles = sealedKeyFiles(dataDir)
  return (await diagnose(storage, { schema, secrets, keyFiles, archives, examineAnchor, onProgress })).problems
}

/** Makes no key where there is none: a new one opens nothing. */
function secretsOf(config: HostConfig): Secrets {
  const path = secretKeyPath(config.dataDir)
  if (config.secretKey || existsSync(path)) return openSecrets(config)
  const message = `the backup is sealed, and nothing was restored: set SECRET_KEY to the key of the installation, or put its secret.key back to ${path}`
  throw new SecretError('wrong_key', message)
}

function openKey({ signing_key }: Manifest, secrets: Secrets): SigningKey | undefined {
  if (!signing_key) return undefined
  const { key_id: keyId, sealed } = signing_key
  const pem = secrets.open(sealed, signingKeyContext(keyId))
  if (createSigner(createPrivateKey(pem), null).keyId !== keyId)
    throw new SecretError('wrong_key', `${keyId} is another key`)
  return { keyId, pem }
}

function refuseArchives(dataDir: string): void {
  const archives = archivesIn(dataDir)
  if (!existsSync(archives)) return
  const detail = `there are archives of logs in ${archives} already, and nothing was restored: move them away, or name another DATA_DIR`
  throw new ServiceError('conflict', detail)
}

function draftOf(dataDir: string): string {
  return join(dataDir, 'logs.restoring')
}
