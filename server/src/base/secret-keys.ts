/** The secret keys of an installation: one that encrypts, and others that still decrypt. They come from the environment, or from a file. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CodedError } from './errors.ts'
import { readPrivateFile, replaceFile, writeNewFile } from './files.ts'

export interface SecretKey {
  /** The key's id: 8 hexadecimal digits, derived from the key without revealing it. It prefixes each value that the key seals. */
  readonly id: string
  /** The key for encryption, derived from the secret key. */
  readonly sealing: Buffer
  /** Derives a key of 32 bytes for one purpose. It reveals nothing about the keys of other purposes. */
  derive(purpose: string): Buffer
}

/** Secret keys, of which the first seals and all open. */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]]

export interface SecretKeysOptions {
  /** The secret key, 32 bytes. Undefined: the key file in `dataDir` holds it, which the first use creates. */
  readonly secretKey: Uint8Array | undefined
  /** Further secret keys, which open sealed values and seal nothing. */
  readonly secretKeysAlso?: readonly Uint8Array[]
  readonly dataDir: string
}

export type SecretErrorCode = 'wrong_key' | 'unusable_key_file'

export class SecretError extends CodedError<SecretErrorCode> {
  override readonly name = 'SecretError'
}

const KEY_BYTES = 32
const ID_BYTES = 4

/**
 * Opens the secret keys, and reads the key file again when it changes: a rotation shows in programs that run already.
 * @throws SecretError `unusable_key_file`
 */
export function openSecretKeys({ secretKey, secretKeysAlso = [], dataDir }: SecretKeysOptions): () => SecretKeys {
  if (!secretKey) return keysOfFile(secretKeyPath(dataDir))
  const keys: SecretKeys = [toKey(secretKey), ...secretKeysAlso.map(toKey)]
  return () => keys
}

/** The path of the file with the keys that an installation generates when SECRET_KEY is not set: a key in each line, the current one first. */
export function secretKeyPath(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/** Puts a new key before those of the file. The caller sees to it that no other process changes the file meanwhile. @throws SecretError */
export function addKeyToFile(dataDir: string): SecretKey {
  const path = secretKeyPath(dataDir)
  const added = randomBytes(KEY_BYTES)
  writeKeys(path, [added, ...readOrCreateKeys(path)])
  return toKey(added)
}

/**
 * Removes these keys from the file, but never the current one. The caller sees to it that no other process changes the file meanwhile.
 * @throws SecretError
 */
export function removeKeysFromFile(dataDir: string, ids: readonly string[]): void {
  const path = secretKeyPath(dataDir)
  const kept = readOrCreateKeys(path).filter((key, index) => index === 0 || !ids.includes(toKey(key).id))
  writeKeys(path, kept)
}

/** Returns for how long the key file has not changed, by the clock that dates files. */
export function keyFileAgeMs(dataDir: string): number {
  return Date.now() - statSync(secretKeyPath(dataDir)).mtimeMs
}

function toKey(bytes: Uint8Array): SecretKey {
  const expand = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `claimcheck ${purpose}`, length))
  return {
    id: expand('key id', ID_BYTES).toString('hex'),
    sealing: expand('connection secrets', KEY_BYTES),
    derive: (purpose) => expand(purpose, KEY_BYTES),
  }
}

function keysOfFile(path: string): () => SecretKeys {
  let keys = toKeys(readOrCreateKeys(path))
  let version = versionOf(path)
  return () => {
    const found = versionOf(path)
    if (found === undefined || found === version) return keys
    keys = toKeys(readOrCreateKeys(path))
    version = found
    return keys
  }
}

/** Returns a text that changes when the key file is replaced; undefined when the file is gone, which changes nothing for a running program. */
function versionOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeNs}`
}

function toKeys(all: readonly Buffer[]): SecretKeys {
  return all.map(toKey) as [SecretKey, ...SecretKey[]]
}

function readOrCreateKeys(path: string): readonly Buffer[] {
  let text: string
  try {
    if (!existsSync(path)) writeNewFile(path, toText([randomBytes(KEY_BYTES)]))
    text = readPrivateFile(path)
  } catch (cause) {
    throw new SecretError('unusable_key_file', `cannot read or create ${path}: ${(cause as Error).message}`, { cause })
  }
  const lines = text.trim().split(/\s*\n\s*/)
  if (lines.every((line) => /^[0-9a-f]{64}$/i.test(line))) return lines.map((line) => Buffer.from(line, 'hex'))
  throw new SecretError(
    'unusable_key_file',
    `${path} is not a file of secret keys: each line must hold ${KEY_BYTES} bytes in hex`,
  )
}

function writeKeys(path: string, keys: readonly Buffer[]): void {
  try {
    replaceFile(path, toText(keys))
  } catch (cause) {
    throw new SecretError('unusable_key_file', `cannot write ${path}: ${(cause as Error).message}`, { cause })
  }
}

function toText(keys: readonly Buffer[]): string {
  return keys.map((key) => `${key.toString('hex')}\n`).join('')
}
