/**
 * Stores private signing keys as files, one for each key, in a folder that only their owner can read. Where SECRET_KEY comes from outside
 * the data folder, each file is sealed under it: a copy of the folder signs nothing.
 */
import { createPrivateKey } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivateFile, replaceFile, writeNewFile } from '../../../base/files.ts'
import { secretKeyPath } from '../../../base/secret-keys.ts'
import { isSealed, type Secrets } from '../../../base/secrets.ts'
import type { HostConfig } from '../../../config/config.ts'
import { signingKeyContext } from '../../../storage/sealed-contexts.ts'
import { createVault, type KeyStore, missing, unusable } from './key-store.ts'
import { createSigner } from './signer.ts'
import type { KeyVault } from './signing-keys.ts'

export interface KeyFilesOptions {
  readonly config: Pick<HostConfig, 'dataDir' | 'secretKey'>
  /** Read where a file is sealed, or has to be: opening the secrets may create the key file. */
  readonly secrets: Secrets
}

export interface SealedKeyFile {
  readonly keyId: string
  readonly path: string
  readonly sealed: string
}

export function createKeyFiles(options: KeyFilesOptions): KeyVault & KeyStore {
  const { dataDir, secretKey } = options.config
  const pathOf = (keyId: string) => join(folderOf(dataDir), `${keyId.slice(PREFIX.length)}.pem`)
  const toContent = (keyId: string, pem: string) =>
    secretKey ? `${options.secrets.seal(pem, signingKeyContext(keyId))}\n` : pem

  function readFile(keyId: string, path: string): string {
    try {
      return readPrivateFile(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw missing(keyId, path, error)
      throw unusable(path, (error as Error).message, error)
    }
  }

  /** @throws SigningError that says which key to configure */
  function unseal(keyId: string, path: string, sealed: string): string {
    // Does not create the key file: a new key opens nothing.
    if (!secretKey && !existsSync(secretKeyPath(dataDir))) {
      throw unusable(
        path,
        'it is sealed under SECRET_KEY, which is not set: set SECRET_KEY to the key of this installation',
      )
    }
    try {
      return options.secrets.open(sealed, signingKeyContext(keyId))
    } catch (error) {
      throw unusable(path, `${(error as Error).message}. Nothing is changed, and no other key is made`, error)
    }
  }

  return createVault({
    locationOf: pathOf,
    async insert(_tx, keyId, pem) {
      const path = pathOf(keyId)
      try {
        writeNewFile(path, toContent(keyId, pem))
      } catch (cause) {
        throw unusable(path, `cannot write the file: ${(cause as Error).message}`, cause)
      }
    },
    async read(keyId) {
      const path = pathOf(keyId)
      const content = readFile(keyId, path)
      const text = content.trim()
      return isSealed(text) ? unseal(keyId, path, text) : content
    },
    async secure() {
      if (!secretKey) return
      for (const { keyId, path } of keyFiles(dataDir)) {
        const content = readFile(keyId, path)
        if (isSealed(content.trim()) || idOf(content) !== keyId) continue
        try {
          replaceFile(path, toContent(keyId, content))
        } catch (cause) {
          throw unusable(path, `cannot seal the file under SECRET_KEY: ${(cause as Error).message}`, cause)
        }
      }
    },
  })
}

/** The files that are sealed, of the key that signs and of retired ones. */
export function sealedKeyFiles(dataDir: string): readonly SealedKeyFile[] {
  return keyFiles(dataDir)
    .map((file) => ({ ...file, sealed: readPrivateFile(file.path).trim() }))
    .filter(({ sealed }) => isSealed(sealed))
}

function keyFiles(dataDir: string): readonly Omit<SealedKeyFile, 'sealed'>[] {
  const folder = folderOf(dataDir)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^[A-Za-z0-9_-]{43}\.pem$/.test(name))
    .map((name) => ({ path: join(folder, name), keyId: `${PREFIX}${name.replace('.pem', '')}` }))
}

/** Undefined for what is no key: it stays as it is. */
function idOf(pem: string): string | undefined {
  try {
    return createSigner(createPrivateKey(pem), null).keyId
  } catch {
    return undefined
  }
}

const PREFIX = 'ed25519:'

function folderOf(dataDir: string): string {
  return join(dataDir, 'signing-keys')
}
