/** The Merkle tree of RFC 6962: its hashes, and the verification of its proofs. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesEqual } from '../encoding.ts'

export type HashFunction = (data: Uint8Array) => Uint8Array

export const HASH_BYTES = 32

/** RFC 6962 2.1. Leaves and nodes are hashed apart, or a node could pass for a leaf. */
export interface TreeHasher {
  /** The root of the tree without leaves. */
  readonly empty: Uint8Array
  leaf(entry: Uint8Array): Uint8Array
  node(left: Uint8Array, right: Uint8Array): Uint8Array
}

/** @param hash SHA-256; a host may have a faster one than the default, which runs anywhere */
export function treeHasher(hash: HashFunction = sha256): TreeHasher {
  return {
    empty: hash(new Uint8Array()),
    leaf(entry) {
      const data = new Uint8Array(1 + entry.length)
      data.set(entry, 1)
      return hash(data)
    },
    node(left, right) {
      const data = new Uint8Array(1 + left.length + right.length)
      data[0] = 1
      data.set(left, 1)
      data.set(right, 1 + left.length)
      return hash(data)
    },
  }
}

const SHA_256 = treeHasher()

/** The root over these leaf hashes. */
export function treeRoot(leafHashes: readonly Uint8Array[], hasher: TreeHasher = SHA_256): Uint8Array {
  let row = leafHashes
  while (row.length > 1) row = rowAbove(row, hasher)
  return row[0] ?? hasher.empty
}

/** A node without a right sibling moves up as it is. */
function rowAbove(row: readonly Uint8Array[], hasher: TreeHasher): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let index = 0; index < row.length; index += 2) {
    const left = row[index]!
    const right = row[index + 1]
    above.push(right ? hasher.node(left, right) : left)
  }
  return above
}

export interface Inclusion {
  readonly leafIndex: number
  readonly treeSize: number
  readonly leafHash: Uint8Array
  readonly rootHash: Uint8Array
  readonly path: readonly Uint8Array[]
}

export interface Consistency {
  readonly first: number
  readonly second: number
  readonly firstRoot: Uint8Array
  readonly secondRoot: Uint8Array
  readonly path: readonly Uint8Array[]
}

/** RFC 9162 2.1.3.2 */
export function verifyInclusion(
  { leafIndex, treeSize, leafHash, rootHash, path }: Inclusion,
  hasher: TreeHasher = SHA_256,
): boolean {
  if (!isSize(leafIndex) || !isSize(treeSize) || leafIndex >= treeSize || leafHash.length !== HASH_BYTES) return false
  let hash = leafHash
  let place: Place | undefined = { index: leafIndex, last: treeSize - 1 }
  for (const sibling of path) {
    place = toSibling(place)
    if (!place) return false
    hash = isRight(place) ? hasher.node(sibling, hash) : hasher.node(hash, sibling)
    place = parent(place)
  }
  return place.last === 0 && bytesEqual(hash, rootHash)
}

/** RFC 9162 2.1.4.2. Size 0 is refused: that every tree begins with the empty one needs no proof. */
export function verifyConsistency(
  { first, second, firstRoot, secondRoot, path }: Consistency,
  hasher: TreeHasher = SHA_256,
): boolean {
  if (!isSize(first) || !isSize(second) || first === 0 || first > second) return false
  if (first === second) return path.length === 0 && bytesEqual(firstRoot, secondRoot)

  let place: Place = { index: first - 1, last: second - 1 }
  while (isRight(place)) place = parent(place)
  // The walk starts at the largest subtree that ends where the first tree does. It is the first tree itself when that is a perfect one.
  const [start, ...siblings] = place.index === 0 ? [firstRoot, ...path] : path
  if (!start) return false
  let firstHash = start
  let secondHash = start
  for (const sibling of siblings) {
    const from = toSibling(place)
    if (!from) return false
    if (isRight(from)) {
      firstHash = hasher.node(sibling, firstHash)
      secondHash = hasher.node(sibling, secondHash)
    } else {
      secondHash = hasher.node(secondHash, sibling)
    }
    place = parent(from)
  }
  return place.last === 0 && bytesEqual(firstHash, firstRoot) && bytesEqual(secondHash, secondRoot)
}

/** A node's index in its row, and the index of the row's last node. */
interface Place {
  readonly index: number
  readonly last: number
}

/** Climbs from a node without a sibling to the first ancestor that has one; `undefined` at the root. */
function toSibling(place: Place): Place | undefined {
  let at = place
  while (at.last > 0 && at.index === at.last && !isRight(at)) at = parent(at)
  return at.last > 0 ? at : undefined
}

function isRight({ index }: Place): boolean {
  return index % 2 === 1
}

// By division: shifts would cut sizes to 32 bits.
function parent({ index, last }: Place): Place {
  return { index: Math.floor(index / 2), last: Math.floor(last / 2) }
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
