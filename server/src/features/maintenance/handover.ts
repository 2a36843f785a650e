/** What an installation hands over besides its rows: the key that signs its log. */
import { ServiceError } from '../../base/errors.ts'
import { SecretError, secretKeyPath } from '../../base/secret-keys.ts'
import { openSecrets } from '../../base/secrets.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Schema } from '../../storage/schema.ts'
import type { SealedValue } from '../../storage/sealed-columns.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import { connections } from '../../storage/workspaces.ts'
import { SigningError } from '../log/signing/key-store.ts'
import { createStoredKeys } from '../log/signing/key-vault.ts'
import { sealedRows } from './sealed-values.ts'

/** The current private key. Retired keys never sign again, and are not copied. */
export interface SigningKey {
  readonly keyId: string
  readonly pem: string
}

/** @throws SecretError when the credentials of a connection cannot be decrypted */
export async function requireSecretKey(reads: Reads, schema: Schema, config: HostConfig): Promise<void> {
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

export async function readSigningKey(
  { log }: Reads,
  storage: Storage,
  config: HostConfig,
): Promise<SigningKey | undefined> {
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

export function storedKeys(storage: Storage, config: HostConfig) {
  return createStoredKeys({
    storage,
    config,
    get secrets() {
      return openSecrets(config)
    },
  })
}

/** The file system's errors in words for people, such as of a full disk; others as they are. */
export function toFileError(what: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException
  return syscall === undefined ? error : new ServiceError('unavailable', `${what}: ${message}`, { cause: error })
}

export async function using<R extends { close(): Promise<void> }, T>(resource: R, work: (resource: R) => Promise<T>) {
  try {
    return await work(resource)
  } finally {
    await resource.close()
  }
}
