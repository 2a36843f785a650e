/** The findings of one chunk of leaves. */
import { HASH_BYTES } from '@claimcheck/core/log'
import { createProblems, type Problems } from './problems.ts'

export interface ChunkReport {
  /** The hashes of the leaves, concatenated, computed from the entries. */
  readonly hashes: Uint8Array
  /** The leaves whose stored hash is another one, with that hash. */
  readonly stored: readonly (readonly [leaf: number, hash: Uint8Array])[]
  readonly missing: readonly number[]
  readonly problems: readonly string[]
}

export interface ReportDraft {
  readonly problems: Problems
  /** The hashes are in hex. */
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
