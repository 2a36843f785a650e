/** SHA-256 by node:crypto, in place of core's slower portable one. */
import { hash } from 'node:crypto'
import type { HashFunction } from '@claimcheck/core'

// The 'binary' output is a latin1 string of the bytes, which is faster than a Hash object.
export const sha256: HashFunction = (data) => Buffer.from(hash('sha256', data, 'binary'), 'binary')

/** base64url(SHA-256(UTF-8(text))) */
export const sha256Text = (text: string): string => hash('sha256', text, 'base64url')

/** The hash of a leaf of the log, whose entry is this text. The NUL is the prefix of a leaf in RFC 6962. */
export const leafHash = (entry: string): Buffer => Buffer.from(hash('sha256', `\0${entry}`, 'binary'), 'binary')
