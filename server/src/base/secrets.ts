/** Encrypts the secrets that the database stores: AES-256-GCM under the installation's secret key, each value bound to its context. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CodedError } from './errors.ts'
import { readPrivateFile, writeNewFile } from './files.ts'

export interface Secrets {
  /** @param context names the place of the value, such as its row: the value opens only with the same context */
  seal(value: string, context: string): string
  /** @throws SecretError `wrong_key` when the value was sealed under another key or with another context, or was changed */
  open(sealed: string, context: string): string
  /** A key of 32 bytes for one purpose: the same on every host. It reveals nothing about the keys of other purposes. */
  derive(purpose: string): Buffer
}

export type SecretErrorCode = 'wrong_key' | 'unusable_key_file'

export class SecretError extends CodedError<SecretErrorCode> {
  override readonly name = 'SecretError'
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The format of sealed values, so that a later version can use another one. */
const VERSION = 'v1'

export interface SecretsOptions {
  /** 32 bytes. Undefined: the key file in `dataDir`, which the first use creates. */
  readonly secretKey: Buffer | undefined
  readonly dataDir: string
}

/** @throws SecretError */
export function openSecrets({ secretKey, dataDir }: SecretsOptions): Secrets {
  const master = secretKey ?? readOrCreateKey(secretKeyPath(dataDir))
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', master, '', `claimcheck ${purpose}`, KEY_BYTES))
  const key = derive('connection secrets')
  return {
    derive,
    seal(value, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${sealed.toString('base64url')}`
    },
    open(sealed, context) {
      try {
        const [version, text = ''] = sealed.split('.')
        if (version !== VERSION) throw new Error('the format of the sealed value is unknown')
        const bytes = Buffer.from(text, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        const message =
          'a stored secret cannot be decrypted: SECRET_KEY is not the key that encrypted it, or the row was changed'
        throw new SecretError('wrong_key', message, { cause })
      }
    },
  }
}

/** The file of the key that an installation generates when SECRET_KEY is not set. */
export function secretKeyPath(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

function readOrCreateKey(path: string): Buffer {
  try {
    if (!existsSync(path)) writeNewFile(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`)
    const text = readPrivateFile(path).trim()
    if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  } catch (cause) {
    throw new SecretError('unusable_key_file', `cannot read or create ${path}: ${(cause as Error).message}`, { cause })
  }
  throw new SecretError('unusable_key_file', `${path} is not a secret key: it must hold ${KEY_BYTES} bytes in hex`)
}
