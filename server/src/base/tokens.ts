/** Secrets that stand in a key, a cookie or a link: 32 random bytes, of which the database knows the hash. */
import { hash, randomBytes } from 'node:crypto'

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Looked up by the hash of 32 random bytes: how long that takes tells nothing about any token. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** 32 bytes in base64url. Anything else is no token, and not worth asking a store for. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

/** What is kept under a token's hash is sealed for that place, and opens nowhere else. */
export function recordContext(kind: string, idHash: string): string {
  return `record:${kind}:${idHash}`
}
