/** Copies an installation to another database: all rows and the signing key. It only reads the source. */
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { SecretError, secretKeyPath } from '../../base/secret-keys.ts'
import { openSecrets } from '../../base/secrets.ts'
import type { HostConfig } from '../../config/config.ts'
import { describeDatabase } from '../../config/database-url.ts'
import { databaseClock } from '../../storage/clock.ts'
import { type Copied, type CopyProgress, copyRows, openSource, openTarget, stayIdle } from '../../storage/copy.ts'
import type { Schema } from '../../storage/schema.ts'
import type { SealedValue } from '../../storage/sealed-columns.ts'
import { type Reads, reads, type Storage, writes } from '../../storage/storage.ts'
import { connections } from '../../storage/workspaces.ts'
import { SigningError } from '../log/signing/key-store.ts'
import { createStoredKeys } from '../log/signing/key-vault.ts'
import { sealedRows } from './sealed-values.ts'

export interface CopyOptions {
  /** Must have the same SECRET_KEY as `to`: encrypted credentials are copied unchanged. */
  readonly from: HostConfig
  readonly to: HostConfig
  readonly schema: Schema
  readonly onProgress?: CopyProgress
}

/** The current private key. Retired keys never sign again, and are not copied. */
interface SigningKey {
  readonly keyId: string
  readonly pem: string
}

/**
 * Copies everything or nothing. A server may use the source at the same time; the copy has the state at the start.
 * @throws ServiceError `conflict` when both are the same database; StorageError, SecretError, SigningError
 */
export async function copyInstallation({ from, to, schema, onProgress }: CopyOptions): Promise<Copied> {
  if (describeDatabase(from.databaseUrl) === describeDatabase(to.databaseUrl))
    throw new ServiceError('conflict', 'source and target are the same database')
  return using(await openSource(from.databaseUrl, schema), (source) =>
    source.snapshot(async (snapshot) => {
      await stayIdle(snapshot)
      // Checks the key before it writes to the target: a copy whose secrets cannot be decrypted is useless.
      const sourceReads = reads(snapshot)
      await requireSecretKey(sourceReads, schema, from)
      const signingKey = await readSigningKey(sourceReads, source, from)
      return using(await openTarget(to.databaseUrl, schema), (target) =>
        target.transaction(async (tx) => {
          const copied = await copyRows(snapshot, tx, schema, onProgress)
          if (signingKey) await storedKeys(target, to).insert(writes(tx, schema), signingKey.keyId, signingKey.pem)
          await writes(tx, schema).log.unbind()
          const at = await databaseClock(tx)()
          const details = { from: describeDatabase(from.databaseUrl), to: describeDatabase(to.databaseUrl) }
          const { audit } = writes(tx, schema)
          audit.record({ event: 'database.copied', at: Math.floor(at), by: byCommand(), details })
          await audit.flush()
          return copied
        }),
      )
    }),
  )
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

async function using<R extends { close(): Promise<void> }, T>(resource: R, work: (resource: R) => Promise<T>) {
  try {
    return await work(resource)
  } finally {
    await resource.close()
  }
}
