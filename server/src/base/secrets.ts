/** Encrypts stored secrets: AES-256-GCM under the installation's secret key, each value bound to its context. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { openSecretKeys, SecretError, type SecretKey, type SecretKeysOptions } from './secret-keys.ts'

export interface Secrets {
  /** Seals under the current key. @param context names the place of the value, such as its row: the value opens only with the same context */
  seal(value: string, context: string): string
  /**
   * Opens a sealed value.
   * @throws SecretError `wrong_key` when none of the keys sealed the value, when it was sealed with another context, or was changed
   */
  open(sealed: string, context: string): string
  /**
   * Seals a value again under the current key; undefined when it is sealed under that already.
   * @throws SecretError as `open` does
   */
  reseal(sealed: string, context: string): string | undefined
  /** The id of the key that a value is sealed under, whether the key is known or not; undefined when the value does not tell. */
  keyIdOf(sealed: string): string | undefined
  /** Lists the ids of all secret keys, the current one first. */
  keyIds(): readonly string[]
  /** Derives a key of 32 bytes for one purpose: the same on every host with the same current key. */
  derive(purpose: string): Buffer
  /** Derives a key for one purpose from each secret key, the current one first: what an earlier key made must be accepted for a while. */
  deriveAll(purpose: string): readonly Buffer[]
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Matches a sealed value: `v2.KEY_ID.BYTES`. */
const SEALED = /^v2\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

/**
 * Opens the means to seal and open secrets.
 * @throws SecretError `unusable_key_file`
 */
export function openSecrets(options: SecretKeysOptions): Secrets {
  const keys = openSecretKeys(options)
  const current = () => keys()[0]

  function open(sealed: string, context: string): string {
    const [, keyId, text = ''] = SEALED.exec(sealed) ?? []
    const key = keys().find(({ id }) => id === keyId)
    if (keyId !== undefined && !key) throw wrongKey(notConfigured(keyId))
    try {
      if (key) return decrypt(Buffer.from(text, 'base64url'), key, context)
    } catch (cause) {
      throw wrongKey(CHANGED, cause)
    }
    throw wrongKey(CHANGED)
  }

  function seal(value: string, context: string): string {
    const { id, sealing } = current()
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(context))
    const bytes = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `v2.${id}.${bytes.toString('base64url')}`
  }

  return {
    seal,
    open,
    reseal(sealed, context) {
      const value = open(sealed, context)
      return SEALED.exec(sealed)![1] === current().id ? undefined : seal(value, context)
    },
    keyIdOf: (sealed) => SEALED.exec(sealed)?.[1],
    keyIds: () => keys().map(({ id }) => id),
    derive: (purpose) => current().derive(purpose),
    deriveAll: (purpose) => keys().map((key) => key.derive(purpose)),
  }
}

const CHANGED = 'SECRET_KEY is not the key that encrypted it, or the row was changed'

/** Tells whether a text has the form of a sealed value. */
export function isSealed(text: string): boolean {
  return SEALED.test(text)
}

function decrypt(bytes: Buffer, { sealing }: SecretKey, context: string): string {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', sealing, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}

/** Says what to do about a value whose key is not configured. */
function notConfigured(keyId: string): string {
  return `it is sealed under the key ${keyId}, which is not configured: set SECRET_KEY, or SECRET_KEY_ALSO, to that key`
}

function wrongKey(reason: string, cause?: unknown): SecretError {
  return new SecretError('wrong_key', `a stored secret cannot be decrypted: ${reason}`, { cause })
}
