/** The bearer secrets in keys, cookies and links: 32 random bytes, of which the database stores only the hash. */
import { hash, randomBytes } from 'node:crypto'

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Hashes a token. Tokens are looked up by this hash, so the time of a lookup reveals nothing about a stored token. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** Tells whether a text is 32 bytes in base64url. Callers skip the lookup for any other text. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

/** The context under which the record of a token is sealed: moved to another row, the record does not open. */
export function recordContext(kind: string, idHash: string): string {
  return `record:${kind}:${idHash}`
}
