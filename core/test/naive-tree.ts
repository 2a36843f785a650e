/** The definitions of RFC 6962 2.1, written as they are there. Most leaves are equal, so that a tree can be as large as a test needs. */
import { hash } from 'node:crypto'
import { type TileId, treeHasher } from '@claimcheck/core/log'

export const hasher = treeHasher((data) => hash('sha256', data, 'buffer'))

const COMMON_LEAF = hasher.leaf(Buffer.from('like all others'))

export function leafOf(name: string): Uint8Array {
  return hasher.leaf(Buffer.from(name))
}

/** @param special the leaves that differ, by index */
export function naiveTree(special: ReadonlyMap<number, Uint8Array>) {
  const specialIndexes = [...special.keys()].sort((a, b) => a - b)
  const known = new Map<string, Uint8Array>()
  const equalRoots = [COMMON_LEAF]

  function areEqual(start: number, end: number): boolean {
    return !specialIndexes.some((index) => index >= start && index < end)
  }

  /** MTH(D[start:end]) */
  function root(start: number, end: number): Uint8Array {
    const width = end - start
    if (width === 0) return hasher.empty
    if (width === 1) return special.get(start) ?? COMMON_LEAF
    // Math.log2 is not exact near 2^48: only the comparison shows whether the width is a power of two.
    const level = Math.round(Math.log2(width))
    if (2 ** level === width && areEqual(start, end)) return rootOfEqual(level)
    const key = `${start}-${end}`
    const middle = start + split(width)
    const hash = known.get(key) ?? hasher.node(root(start, middle), root(middle, end))
    known.set(key, hash)
    return hash
  }

  function rootOfEqual(level: number): Uint8Array {
    while (equalRoots.length <= level) equalRoots.push(hasher.node(equalRoots.at(-1)!, equalRoots.at(-1)!))
    return equalRoots[level]!
  }

  /** PATH(m, D[start:end]) */
  function path(m: number, start: number, end: number): Uint8Array[] {
    if (end - start === 1) return []
    const middle = start + split(end - start)
    return m < middle ? [...path(m, start, middle), root(middle, end)] : [...path(m, middle, end), root(start, middle)]
  }

  /** SUBPROOF(m, D[start:end], whole) */
  function subproof(m: number, start: number, end: number, whole: boolean): Uint8Array[] {
    if (m === end) return whole ? [] : [root(start, end)]
    const middle = start + split(end - start)
    return m <= middle
      ? [...subproof(m, start, middle, whole), root(middle, end)]
      : [...subproof(m, middle, end, false), root(start, middle)]
  }

  return {
    root: (size: number) => root(0, size),
    path: (leafIndex: number, size: number) => path(leafIndex, 0, size),
    proof: (first: number, second: number) => subproof(first, 0, second, true),
    leaf: (index: number) => root(index, index + 1),
    tile({ level, index, width }: TileId): Uint8Array {
      const span = 256 ** level
      const start = index * 256
      const hashes = Array.from({ length: width }, (_, i) => root((start + i) * span, (start + i + 1) * span))
      return Buffer.concat(hashes)
    },
  }
}

/** The largest power of two below n. */
function split(n: number): number {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

export function same(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  return actual.length === expected.length && actual.every((hash, index) => Buffer.from(hash).equals(expected[index]!))
}
