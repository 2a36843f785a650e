/** Seals as versions did whose values named no key. */
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'

export function sealV1(secretKey: Buffer, value: string, context: string): string {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'claimcheck connection secrets', 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const bytes = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `v1.${bytes.toString('base64url')}`
}
