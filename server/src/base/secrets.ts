/** Encrypts the secrets that are stored: AES-256-GCM under the installation's secret key, each value bound to its context. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { openSecretKeys, SecretError, type SecretKey, type SecretKeysOptions } from './secret-keys.ts'

export interface Secrets {
  /** Seals under the current key. @param context names the place of the value, such as its row: the value opens only with the same context */
  seal(value: string, context: string): string
  /** @throws SecretError `wrong_key` when none of the keys sealed the value, when it was sealed with another context, or was changed */
  open(sealed: string, context: string): string
  /** The value under the current key; undefined when it is sealed under that already. @throws SecretError, as above */
  reseal(sealed: string, context: string): string | undefined
  /** The id of the key that a value is sealed under, one of the known ones or not; undefined when nothing tells. */
  keyIdOf(sealed: string, context: string): string | undefined
  /** The ids of all keys, the current one first. */
  keyIds(): readonly string[]
  /** A key of 32 bytes for one purpose: the same on every host with the same current key. */
  derive(purpose: string): Buffer
  /** The same from each key, the current one first: what another key than the current one has made must be accepted for a while. */
  deriveAll(purpose: string): readonly Buffer[]
  /** The same from the key that sealed this value; from the current key when that is not known. */
  deriveAs(sealed: string | undefined, context: string, purpose: string): Buffer
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** `v2.KEY_ID.BYTES`. Before it was `v1.BYTES`, which names no key. */
const SEALED = /^(?:v1|v2\.([0-9a-f]{8}))\.([A-Za-z0-9_-]+)$/

/** @throws SecretError `unusable_key_file` */
export function openSecrets(options: SecretKeysOptions): Secrets {
  const keys = openSecretKeys(options)
  const current = () => keys()[0]

  /** The value, and the key that sealed it. */
  function unseal(sealed: string, context: string): { readonly key: SecretKey; readonly value: string } {
    const [, keyId, text = ''] = SEALED.exec(sealed) ?? []
    const bytes = Buffer.from(text, 'base64url')
    const fitting = keys().filter(({ id }) => keyId === undefined || id === keyId)
    if (keyId !== undefined && fitting.length === 0) throw wrongKey(notConfigured(keyId))
    let cause: unknown
    for (const key of fitting) {
      try {
        return { key, value: decrypt(bytes, key, context) }
      } catch (error) {
        cause = error
      }
    }
    throw wrongKey('SECRET_KEY is not the key that encrypted it, or the row was changed', cause)
  }

  function seal(value: string, context: string): string {
    const { id, sealing } = current()
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(context))
    const bytes = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `v2.${id}.${bytes.toString('base64url')}`
  }

  function keyOf(sealed: string, context: string): SecretKey | undefined {
    try {
      return unseal(sealed, context).key
    } catch {
      return undefined
    }
  }

  return {
    seal,
    open: (sealed, context) => unseal(sealed, context).value,
    reseal(sealed, context) {
      const { value } = unseal(sealed, context)
      return SEALED.exec(sealed)![1] === current().id ? undefined : seal(value, context)
    },
    keyIdOf: (sealed, context) => SEALED.exec(sealed)?.[1] ?? keyOf(sealed, context)?.id,
    keyIds: () => keys().map(({ id }) => id),
    derive: (purpose) => current().derive(purpose),
    deriveAll: (purpose) => keys().map((key) => key.derive(purpose)),
    deriveAs: (sealed, context, purpose) =>
      ((sealed === undefined ? undefined : keyOf(sealed, context)) ?? current()).derive(purpose),
  }
}

/** Whether a text has the form of a sealed value. */
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

/** What to do about a value under a key that is not there. */
function notConfigured(keyId: string): string {
  return `it is sealed under the key ${keyId}, which is not configured: set SECRET_KEY, or SECRET_KEY_ALSO, to that key`
}

function wrongKey(reason: string, cause?: unknown): SecretError {
  return new SecretError('wrong_key', `a stored secret cannot be decrypted: ${reason}`, { cause })
}
