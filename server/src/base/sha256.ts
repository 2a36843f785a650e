/** SHA-256 by node:crypto, for core to use in place of its slower portable one. */
import { hash } from 'node:crypto'
import type { HashFunction } from '@claimcheck/core'

// The 'binary' output is a latin1 string of the bytes, which is faster than a Hash object.
export const sha256: HashFunction = (data) => Buffer.from(hash('sha256', data, 'binary'), 'binary')
