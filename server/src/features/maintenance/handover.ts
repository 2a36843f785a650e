/** What an installation hands over besides its rows: the key that signs its log. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { SecretError, secretKeyPath } from '../../base/secret-keys.ts'
import { openSecrets } from '../../base/secrets.ts'
import type { HostConfig } from '../../config/config.ts'
import type { NewAuditEntry } from '../../storage/audit-trail.ts'
import { databaseClock } from '../../storage/clock.ts'
import { openSource, stayIdle } from '../../storage/copy.ts'
import type { Db } from '../../storage/db.ts'
import type { Schema } from '../../storage/schema.ts'
import type { SealedValue } from '../../storage/sealed-columns.ts'
import { type Reads, reads, type Storage, StorageError, writes } from '../../storage/storage.ts'
import { connections } from '../../storage/workspaces.ts'
import type { LogCloser, Successor } from '../log/closing.ts'
import { bindingOf } from '../log/file-binding.ts'
import { SigningError } from '../log/signing/key-store.ts'
import { createStoredKeys } from '../log/signing/key-vault.ts'
import { sealedRows } from './sealed-values.ts'

/** The current private key. Retired keys never sign again, and are not copied. */
export interface SigningKey {
  readonly keyId: string
  readonly pem: string
}

interface Installation {
  readonly config: HostConfig
  readonly schema: Schema
}

/**
 * What a snapshot of an installation has to give, before anything is written: rows with secrets that cannot be decrypted are useless.
 * @throws SecretError, SigningError
 */
export async function handOver(source: Storage, snapshot: Db, { config, schema }: Installation) {
  await stayIdle(snapshot)
  const read = reads(snapshot)
  await requireSecretKey(read, schema, config)
  return { read, signingKey: await readSigningKey(read, source, config) }
}

interface TakenOver extends Installation {
  readonly signingKey: SigningKey | undefined
}

/** Completes what got all rows: the key that signs its log, which is bound to the file that it is in, and an entry of the audit trail. */
export async function takeOver(
  target: Storage,
  db: Db,
  { config, schema, signingKey }: TakenOver,
  entry: Pick<NewAuditEntry, 'event' | 'subject' | 'details'>,
): Promise<void> {
  const tx = writes(db, schema)
  if (signingKey) await storedKeys(target, config).insert(tx, signingKey.keyId, signingKey.pem)
  await tx.log.rebind(target.file === undefined ? undefined : bindingOf(target.file))
  const at = Math.floor(await databaseClock(db)())
  tx.audit.record({ ...entry, at, by: byCommand() })
  await tx.audit.flush()
}

/**
 * Forgets archives that the host of a new file does not have: only hosts that share a database have them elsewhere. Their logs are served from the
 * tables, if those have their rows.
 * @param folder the folder of the archives
 */
export async function forgetArchives(db: Db, schema: Schema, folder: string): Promise<void> {
  if (db.dialect.shared) return
  const { log, doctor } = reads(db)
  for (const { logId, archivedAt } of await log.all()) {
    const isMissing = archivedAt !== null && !existsSync(join(folder, logId))
    if (isMissing && (await doctor.receiptReach(logId)) > 0) await writes(db, schema).log.forgetArchive(logId)
  }
}

/** @throws SecretError when the credentials of a connection cannot be decrypted */
async function requireSecretKey(reads: Reads, schema: Schema, config: HostConfig): Promise<void> {
  const ofConnections = schema.sealed.filter(({ table }) => table === connections)
  const sealed: SealedValue[] = []
  for await (const rows of sealedRows(reads, ofConnections)) sealed.push(...rows.flatMap(({ values = [] }) => values))
  if (sealed.length === 0) return
  const secrets = openSecrets(config)
  try {
    for (const { sealed: value, context } of sealed) secrets.open(value, context)
  } catch (cause) {
    const message = `the credentials of the source cannot be decrypted: set SECRET_KEY to the key of the source; when it generated one, that is in ${secretKeyPath(config.dataDir)}`
    throw new SecretError('wrong_key', message, { cause })
  }
}

async function readSigningKey({ log }: Reads, storage: Storage, config: HostConfig): Promise<SigningKey | undefined> {
  const state = await log.state()
  if (!state) return undefined
  const keys = storedKeys(storage, config)
  try {
    const { keyId } = await keys.load(state.keyId)
    return { keyId, pem: await keys.read(keyId) }
  } catch (error) {
    // A key in a signing backend stays there.
    const isInBackend = config.signer && error instanceof SigningError && error.code === 'missing_key'
    if (isInBackend) return undefined
    throw error
  }
}

function storedKeys(storage: Storage, config: HostConfig) {
  return createStoredKeys({
    storage,
    config,
    get secrets() {
      return openSecrets(config)
    },
  })
}

/** Undoes a closing that began. One that did not is left alone: undoing opens the installation, may fail in the same way, and would hide why. */
export async function undoClosing(
  close: Pick<LogCloser, 'undo'>,
  successor: Successor,
  { read }: Pick<Storage, 'read'>,
): Promise<void> {
  const log = await read.log.state().catch(() => null)
  if (log === null || log?.closedBy?.epoch === successor.epoch) await close.undo(successor)
}

/** The file system's errors in words for people, such as of a full disk; others as they are. */
export function toFileError(what: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException
  return syscall === undefined ? error : new ServiceError('unavailable', `${what}: ${message}`, { cause: error })
}

/**
 * Goes on with a database that has all rows of a backup or a copy, where the command ended before its log was open.
 * @returns undefined where the database is another one, or empty @throws StorageError where it is away
 */
export async function withRestored<T>(
  databaseUrl: string,
  schema: Schema,
  epoch: string,
  work: (target: Storage) => Promise<T>,
): Promise<T | undefined> {
  const target = await openSource(databaseUrl, schema).catch((error: unknown) => {
    if (error instanceof StorageError && !error.mayReturn) return undefined
    throw error
  })
  if (!target) return undefined
  return using(target, async () => {
    const closedBy = (await target.read.log.state())?.closedBy
    return closedBy?.epoch === epoch && !closedBy.last ? work(target) : undefined
  })
}

export async function using<R extends { close(): Promise<void> }, T>(resource: R, work: (resource: R) => Promise<T>) {
  try {
    return await work(resource)
  } finally {
    await resource.close()
  }
}
