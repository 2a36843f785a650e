/** SHA-256 by node:crypto, which is faster than core's portable one. */
import { hash } from 'node:crypto'

/** Hashes bytes, or the UTF-8 of a text. */
// The 'binary' output is a latin1 string of the bytes, which is faster than a Hash object.
export const sha256 = (data: Uint8Array | string): Buffer => Buffer.from(hash('sha256', data, 'binary'), 'binary')

/** Computes base64url(SHA-256(UTF-8(text))). */
export const sha256Text = (text: string): string => hash('sha256', text, 'base64url')

/** The byte that RFC 6962 2.1 hashes before the entry of a leaf. */
export const LEAF_BEGINNING = '\0'
