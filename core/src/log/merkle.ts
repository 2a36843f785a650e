/** The Merkle tree of RFC 6962: its hashes, and the verification of its inclusion and consistency proofs. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesEqual } from '../encoding.ts'

type HashFunction = (data: Uint8Array) => Uint8Array

export const HASH_BYTES = 32

/** The hashes of RFC 6962 2.1. Leaves and nodes are hashed with different prefixes, so that a node cannot be passed off as a leaf. */
export interface TreeHasher {
  /** The root of the tree without leaves. */
  readonly empty: Uint8Array
  leaf(entry: Uint8Array): Uint8Array
  node(left: Uint8Array, right: Uint8Array): Uint8Array
}

/** Creates a hasher. @param hash SHA-256. A host can give a faster one than the default, which runs in browsers, too. */
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

/** The root of a tree with these leaf hashes. */
export function treeRoot(leafHashes: readonly Uint8Array[], hasher: TreeHasher = SHA_256): Uint8Array {
  let row = leafHashes
  while (row.length > 1) row = rowAbove(row, hasher)
  return row[0] ?? hasher.empty
}

/** The last node of a row moves up as it is if it has no sibling. */
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

/** Verifies an inclusion proof by RFC 9162 2.1.3.2. */
export function verifyInclusion(
  { leafIndex, treeSize, leafHash, rootHash, path }: Inclusion,
  hasher: TreeHasher = SHA_256,
): boolean {
  if (!isSize(leafIndex) || !isSize(treeSize) || leafIndex >= treeSize || leafHash.length !== HASH_BYTES) return false
  let hash = leafHash
  let position: Position | undefined = { index: leafIndex, last: treeSize - 1 }
  for (const sibling of path) {
    position = withSibling(position)
    if (!position) return false
    hash = isRight(position) ? hasher.node(sibling, hash) : hasher.node(hash, sibling)
    position = parent(position)
  }
  return position.last === 0 && bytesEqual(hash, rootHash)
}

/** Verifies a consistency proof by RFC 9162 2.1.4.2. A `first` of 0 is refused: the empty tree is consistent with every tree, without a proof. */
export function verifyConsistency(
  { first, second, firstRoot, secondRoot, path }: Consistency,
  hasher: TreeHasher = SHA_256,
): boolean {
  if (!isSize(first) || !isSize(second) || first === 0 || first > second) return false
  if (first === second) return path.length === 0 && bytesEqual(firstRoot, secondRoot)

  let position: Position = { index: first - 1, last: second - 1 }
  while (isRight(position)) position = parent(position)
  // The climb starts at the largest perfect subtree at the end of the first tree. Its hash is the first root if that subtree is the whole first tree.
  const [start, ...siblings] = position.index === 0 ? [firstRoot, ...path] : path
  if (!start) return false
  let firstHash = start
  let secondHash = start
  for (const sibling of siblings) {
    const child = withSibling(position)
    if (!child) return false
    if (isRight(child)) {
      firstHash = hasher.node(sibling, firstHash)
      secondHash = hasher.node(sibling, secondHash)
    } else {
      secondHash = hasher.node(secondHash, sibling)
    }
    position = parent(child)
  }
  return position.last === 0 && bytesEqual(firstHash, firstRoot) && bytesEqual(secondHash, secondRoot)
}

/** A node's index in its level, and the index of the level's last node (`fn` and `sn` in RFC 9162). */
interface Position {
  readonly index: number
  readonly last: number
}

/** The node itself or its lowest ancestor that has a sibling; `undefined` at the root. */
function withSibling(position: Position): Position | undefined {
  let at = position
  while (at.last > 0 && at.index === at.last && !isRight(at)) at = parent(at)
  return at.last > 0 ? at : undefined
}

function isRight({ index }: Position): boolean {
  return index % 2 === 1
}

// Division replaces a shift, which would cut the index to 32 bits.
function parent({ index, last }: Position): Position {
  return { index: Math.floor(index / 2), last: Math.floor(last / 2) }
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
