/** The quickest SHA-256 there is here, for what core would hash with one that runs anywhere. */
import { hash } from 'node:crypto'
import type { HashFunction } from '@claimcheck/core'

// As bytes in a latin1 string, which costs no stream object.
export const sha256: HashFunction = (data) => Buffer.from(hash('sha256', data, 'binary'), 'binary')
