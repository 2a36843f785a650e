/** Brings digests into one form: that of Subresource Integrity, an algorithm and base64. */
const HEX = /^(?:sha256:)?([0-9a-f]{64})$/i

/** Brings a digest into the one form. @param text a digest in a form that claims may have */
export function normalizeIntegrity(text: string): string {
  const hex = HEX.exec(text)?.[1]
  if (hex !== undefined) return sha256Integrity(hex)
  const [algorithm, digest] = text.split('-', 2) as [string, string]
  // The last digit has bits without a meaning, so that one digest could be written in several ways.
  return `${algorithm}-${Buffer.from(digest, 'base64').toString('base64')}`
}

/** Writes a SHA-256 digest in the one form. @param hex 64 hexadecimal characters */
export function sha256Integrity(hex: string): string {
  return `sha256-${Buffer.from(hex, 'hex').toString('base64')}`
}

export function algorithmOf(integrity: string): 'sha256' | 'sha512' {
  return integrity.startsWith('sha512-') ? 'sha512' : 'sha256'
}
