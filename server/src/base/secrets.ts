/** Seals what a database must not tell: AES-256-GCM under the installation's secret key, each value bound to the place it belongs to. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivateFile, writeNewFile } from './files.ts'

export interface Secrets {
  /** @param context where the value belongs: it opens nowhere else */
  seal(value: string, context: string): string
  /** @throws SecretError `wrong_key` when it was sealed under another key or for another place, or was changed */
  open(sealed: string, context: string): string
  /** 32 bytes for one purpose: the same on every host, and telling nothing about those of other purposes. */
  derive(purpose: string): Buffer
}

export type SecretErrorCode = 'wrong_key' | 'unusable_key_file'

export class SecretError extends Error {
  override readonly name = 'SecretError'
  readonly code: SecretErrorCode

  constructor(code: SecretErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Tells how a value was sealed, should that ever change. */
const VERSION = 'v1'

export interface SecretsOptions {
  /** 32 bytes. Undefined: the key in `dataDir`, made at the first use. */
  readonly secretKey: Buffer | undefined
  readonly dataDir: string
}

/** @throws SecretError */
export function openSecrets({ secretKey, dataDir }: SecretsOptions): Secrets {
  const master = secretKey ?? keptKey(secretKeyPath(dataDir))
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
        if (version !== VERSION) throw new Error('sealed in an unknown way')
        const bytes = Buffer.from(text, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        const message =
          'a stored secret does not open: SECRET_KEY is not the key it was sealed under, or the row was changed'
        throw new SecretError('wrong_key', message, { cause })
      }
    },
  }
}

/** Where the key is kept that an installation made for itself. */
export function secretKeyPath(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/** Made at the first use, and kept. */
function keptKey(path: string): Buffer {
  try {
    if (!existsSync(path)) writeNewFile(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`)
    const text = readPrivateFile(path).trim()
    if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  } catch (cause) {
    throw new SecretError('unusable_key_file', `cannot read or make ${path}: ${(cause as Error).message}`, { cause })
  }
  throw new SecretError('unusable_key_file', `${path} does not hold a key of ${KEY_BYTES} bytes in hex`)
}
