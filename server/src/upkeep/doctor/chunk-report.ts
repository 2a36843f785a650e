/** What is found of a chunk of leaves, gathered leaf by leaf. */
import { HASH_BYTES } from '@claimcheck/core'
import { createProblems, type Problems } from './problems.ts'

export interface ChunkReport {
  /** The leaves' hashes, one after the other, made from the entries. */
  readonly hashes: Uint8Array
  /** Which leaves are stored with another hash, and with which. */
  readonly stored: readonly (readonly [leaf: number, hash: Uint8Array])[]
  readonly missing: readonly number[]
  readonly problems: readonly string[]
}

export interface ReportDraft {
  readonly problems: Problems
  /** The leaf is of this chunk, and nothing was found of it yet. */
  lacks(leaf: number): boolean
  /** Hashes in hex. */
  add(leaf: number, hash: string, storedHash?: string): void
  finish(): ChunkReport
}

export function draftReport(start: number, end: number): ReportDraft {
  const hashes = Buffer.alloc((end - start) * HASH_BYTES)
  const seen = new Uint8Array(end - start)
  const stored: [number, Uint8Array][] = []
  const problems = createProblems()
  return {
    problems,
    lacks: (leaf) => seen[leaf - start] === 0,
    add(leaf, hash, storedHash = hash) {
      seen[leaf - start] = 1
      hashes.write(hash, (leaf - start) * HASH_BYTES, 'hex')
      if (storedHash !== hash) stored.push([leaf, Buffer.from(storedHash, 'hex')])
    },
    finish() {
      const missing = [...seen.keys()].filter((index) => seen[index] === 0).map((index) => start + index)
      return { hashes, stored, missing, problems: problems.list }
    },
  }
}
