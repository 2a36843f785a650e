/** The log from tiles: appending, roots and proofs, compared with the definition of RFC 6962. */
import {
  appendLeaves,
  type CompactRange,
  completeTile,
  EMPTY_RANGE,
  partialTiles,
  proveConsistency,
  proveInclusion,
  restoreRange,
  rootAt,
  TILE_NODES_BYTES,
  TILE_WIDTH,
  type Tile,
  TileError,
  type TileId,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from '@claimcheck/core/log'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'
import { hasher, leafOf, naiveTree, same } from './naive-tree.ts'

const MAX_SIZE = 600
const LEAVES = Array.from({ length: 2000 }, (_, index) => leafOf(`leaf ${index}`))
const naive = naiveTree(new Map(LEAVES.entries()))

/** Stores tiles as a host does: each once, the newest leaves elsewhere, and reads the narrowest one that is wide enough. */
function tileStore(leaves: readonly Uint8Array[]) {
  const stored: Tile[] = []
  return {
    add(tiles: readonly Tile[]) {
      for (const tile of tiles) {
        const again = stored.some((other) => sameTile(other, tile) && other.width === tile.width)
        if (again) throw new Error('a tile is written twice')
        stored.push(tile)
      }
    },
    async read(wanted: readonly TileId[]): Promise<Uint8Array[]> {
      return wanted.map((tile) => {
        const wide = stored.filter((other) => sameTile(other, tile) && other.width >= tile.width)
        const [narrowest] = wide.sort((a, b) => a.width - b.width)
        if (narrowest) return narrowest.hashes
        if (tile.level > 0) return new Uint8Array()
        return Buffer.concat(leaves.slice(tile.index * 256, tile.index * 256 + tile.width))
      })
    },
  }
}

function sameTile(a: TileId, b: TileId): boolean {
  return a.level === b.level && a.index === b.index
}

function filledStore(size: number) {
  const store = tileStore(LEAVES)
  store.add(appendLeaves(EMPTY_RANGE, LEAVES.slice(0, size), hasher).tiles)
  return store
}

t.test('up to 600 leaves, roots and proofs from tiles are those that RFC 6962 defines', async (t) => {
  const store = tileStore(LEAVES)
  let range = EMPTY_RANGE
  const wrong: string[] = []
  for (let size = 1; size <= MAX_SIZE; size++) {
    const appended = appendLeaves(range, [LEAVES[size - 1]!], hasher)
    range = appended.range
    store.add(appended.tiles)
    if (!same([appended.rootHash], [naive.root(size)])) wrong.push(`root ${size}`)

    for (const index of new Set([0, size >> 1, (size * 7919) % size, size - 1, Math.min(255, size - 1)])) {
      const { leafHash, rootHash, path } = await proveInclusion(index, size, store.read, hasher)
      const right = same([leafHash, rootHash, ...path], [LEAVES[index]!, naive.root(size), ...naive.path(index, size)])
      const accepted = verifyInclusion({ leafIndex: index, treeSize: size, leafHash, rootHash, path }, hasher)
      if (!right || !accepted) wrong.push(`inclusion ${index} ${size}`)
    }
    for (const first of new Set([1, Math.max(1, size >> 1), Math.min(256, size), (size * 31) % size || 1, size])) {
      const { firstRoot, secondRoot, path } = await proveConsistency(first, size, store.read, hasher)
      const expected = [naive.root(first), naive.root(size), ...naive.proof(first, size)]
      const accepted = verifyConsistency({ first, second: size, firstRoot, secondRoot, path }, hasher)
      if (!same([firstRoot, secondRoot, ...path], expected) || !accepted) wrong.push(`consistency ${first} ${size}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('up to 70 leaves, every inclusion and consistency proof is the one that RFC 6962 defines', async (t) => {
  const { read } = filledStore(70)
  const wrong: string[] = []
  for (let size = 1; size <= 70; size++) {
    for (let other = 1; other <= size; other++) {
      const inclusion = await proveInclusion(other - 1, size, read, hasher)
      if (!same(inclusion.path, naive.path(other - 1, size))) wrong.push(`inclusion ${other - 1} ${size}`)
      const consistency = await proveConsistency(other, size, read, hasher)
      if (!same(consistency.path, naive.proof(other, size))) wrong.push(`consistency ${other} ${size}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('the root does not depend on how leaves are batched, and there are proofs at every size', async (t) => {
  const batches = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 6 })
  const property = fc.asyncProperty(batches, fc.nat(), fc.nat(), async (sizes, pickSize, pickLeaf) => {
    const store = tileStore(LEAVES)
    let range = EMPTY_RANGE
    for (const count of sizes) {
      const appended = appendLeaves(range, LEAVES.slice(range.treeSize, range.treeSize + count), hasher)
      store.add(appended.tiles)
      range = appended.range
      if (!same([appended.rootHash], [naive.root(range.treeSize)])) return false
    }
    if (range.treeSize === 0) return true
    const size = 1 + (pickSize % range.treeSize)
    const { rootHash, path } = await proveInclusion(pickLeaf % size, size, store.read, hasher)
    return same([rootHash, ...path], [naive.root(size), ...naive.path(pickLeaf % size, size)])
  })
  await t.resolves(fc.assert(property, runs(60)))
})

const sizes = fc.oneof(
  fc.integer({ min: 1, max: 70_000 }),
  fc.integer({ min: 2 ** 16 - 300, max: 2 ** 16 + 300 }),
  fc.integer({ min: 2 ** 24 - 300, max: 2 ** 24 + 300 }),
  fc.integer({ min: 2 ** 24, max: 2 ** 34 }),
  fc.integer({ min: 2 ** 34, max: 2 ** 52 }),
)

t.test('proofs beyond 2^16, 2^24 and 2^32 leaves are those of RFC 6962, and read few tiles', async (t) => {
  const property = fc.asyncProperty(sizes, sizes, fc.nat(), async (one, other, pick) => {
    const [first, size] = one < other ? [one, other] : [other, one]
    const leafIndex = pick % size
    const tree = naiveTree(new Map([0, leafIndex, first - 1, size - 1].map((at) => [at, leafOf(`special ${at}`)])))
    let tilesRead = 0
    let reads = 0
    const read = async (tiles: readonly TileId[]) => {
      reads++
      tilesRead = Math.max(tilesRead, tiles.length)
      return tiles.map(tree.tile)
    }
    const inclusion = await proveInclusion(leafIndex, size, read, hasher)
    const consistency = await proveConsistency(first, size, read, hasher)
    const levels = Math.ceil(Math.log2(size + 1) / 8)
    return (
      reads === 2 &&
      tilesRead <= 4 * levels &&
      same([inclusion.leafHash, inclusion.rootHash], [tree.leaf(leafIndex), tree.root(size)]) &&
      same(inclusion.path, tree.path(leafIndex, size)) &&
      same([consistency.firstRoot, consistency.secondRoot], [tree.root(first), tree.root(size)]) &&
      same(consistency.path, tree.proof(first, size)) &&
      verifyInclusion({ leafIndex, treeSize: size, ...inclusion }, hasher) &&
      verifyConsistency({ first, second: size, ...consistency }, hasher)
    )
  })
  await t.resolves(fc.assert(property, runs(150)))
})

t.test('appending to a restored range gives the same tree as appending to the original', async (t) => {
  const property = fc.asyncProperty(sizes, fc.integer({ min: 0, max: 600 }), async (size, count) => {
    const added = Array.from({ length: count }, (_, index) => leafOf(`added ${index}`))
    const tree = naiveTree(new Map(added.map((leaf, index) => [size + index, leaf])))
    const restored = restoreRange(size, partialTiles(size).map(tree.tile), hasher)
    const { range, rootHash, tiles } = appendLeaves(restored, added, hasher)
    return (
      same([rootHash], [tree.root(size + count)]) &&
      tiles.every((tile) => Buffer.from(tile.hashes).equals(withNodes(tile, tree.tile(tile)))) &&
      sameRange(range, restoreRange(size + count, partialTiles(size + count).map(tree.tile), hasher))
    )
  })
  await t.resolves(fc.assert(property, { ...runs(60), examples: [[2 ** 52 - 11, 0]] }))
})

t.test('appending does not change the range that it starts from', async (t) => {
  const { range } = appendLeaves(EMPTY_RANGE, LEAVES.slice(0, 300), hasher)
  const before = structuredClone(range)
  appendLeaves(range, LEAVES.slice(300, 900), hasher)
  t.strictSame(structuredClone(range), before)
})

t.test('each level has at most one partial tile', async (t) => {
  t.strictSame(partialTiles(0), [])
  t.strictSame(partialTiles(255), [{ level: 0, index: 0, width: 255 }])
  t.strictSame(partialTiles(256), [{ level: 1, index: 0, width: 1 }])
  t.strictSame(partialTiles(65536 + 256 + 3), [
    { level: 0, index: 257, width: 3 },
    { level: 1, index: 1, width: 1 },
    { level: 2, index: 0, width: 1 },
  ])
})

t.test('the root at a size is made from tiles, and that of the empty tree is the hash of no bytes', async (t) => {
  const { read } = filledStore(600)
  t.ok(same([await rootAt(600, read, hasher)], [treeRoot(LEAVES.slice(0, 600), hasher)]))
  t.ok(same([await rootAt(0, read, hasher)], [treeRoot([], hasher)]))
  t.equal(Buffer.from(treeRoot([])).toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

t.test('a leaf or tree that does not exist has no proof', async (t) => {
  const { read } = filledStore(10)
  await t.rejects(proveInclusion(10, 10, read), RangeError)
  await t.rejects(proveInclusion(-1, 10, read), RangeError)
  await t.rejects(proveConsistency(0, 10, read), RangeError)
  await t.rejects(proveConsistency(11, 10, read), RangeError)
})

t.test('a tile with missing hashes is an error', async (t) => {
  const damaged = async (tiles: readonly TileId[]) => tiles.map(() => new Uint8Array(31))
  await t.rejects(proveInclusion(3, 10, damaged), { code: 'short_tile', tile: { level: 0, index: 0, width: 10 } })
  await t.rejects(
    proveInclusion(3, 10, async () => []),
    TileError,
  )
  t.throws(() => restoreRange(10, []), TileError)
})

t.test('an inclusion proof with any change is refused', async (t) => {
  const { read } = filledStore(MAX_SIZE)
  const property = fc.asyncProperty(
    fc.integer({ min: 2, max: MAX_SIZE }),
    fc.nat(),
    fc.nat(),
    async (treeSize, pick, flip) => {
      const leafIndex = pick % treeSize
      const proven = { leafIndex, treeSize, ...(await proveInclusion(leafIndex, treeSize, read, hasher)) }
      const at = flip % proven.path.length
      const others = [
        { ...proven, leafIndex: (leafIndex + 1) % treeSize },
        { ...proven, leafIndex: treeSize },
        { ...proven, leafIndex: -1 },
        { ...proven, leafIndex: leafIndex + 0.5 },
        { ...proven, treeSize: leafIndex },
        { ...proven, leafHash: flipped(proven.leafHash, flip) },
        { ...proven, rootHash: flipped(proven.rootHash, flip) },
        { ...proven, path: proven.path.with(at, flipped(proven.path[at]!, flip)) },
        { ...proven, path: proven.path.toSpliced(at, 1) },
        { ...proven, path: proven.path.toSpliced(at, 0, proven.path[at]!) },
      ]
      return verifyInclusion(proven, hasher) && others.every((other) => !verifyInclusion(other, hasher))
    },
  )
  await t.resolves(fc.assert(property, runs(200)))
})

t.test('a consistency proof with any change is refused', async (t) => {
  const { read } = filledStore(MAX_SIZE)
  const property = fc.asyncProperty(
    fc.integer({ min: 2, max: MAX_SIZE }),
    fc.nat(),
    fc.nat(),
    async (second, pick, flip) => {
      const first = 1 + (pick % (second - 1))
      const proven = { first, second, ...(await proveConsistency(first, second, read, hasher)) }
      const at = flip % proven.path.length
      const others = [
        { ...proven, first: 0 },
        { ...proven, first: second, second: first },
        { ...proven, first: second },
        { ...proven, firstRoot: flipped(proven.firstRoot, flip) },
        { ...proven, secondRoot: flipped(proven.secondRoot, flip) },
        { ...proven, firstRoot: proven.secondRoot, secondRoot: proven.firstRoot },
        { ...proven, path: proven.path.with(at, flipped(proven.path[at]!, flip)) },
        { ...proven, path: proven.path.toSpliced(at, 1) },
        { ...proven, path: [...proven.path, proven.path[at]!] },
        { ...proven, path: [] },
      ]
      return verifyConsistency(proven, hasher) && others.every((other) => !verifyConsistency(other, hasher))
    },
  )
  await t.resolves(fc.assert(property, runs(200)))
})

/** The hashes of a tile as it is stored: a full one with the nodes above them. */
function withNodes({ width }: TileId, hashes: Uint8Array): Uint8Array {
  return width === TILE_WIDTH ? completeTile(width, hashes, hasher) : hashes
}

/** A level whose last tile is full has no nodes in the range: one range may leave it out, and the other have it with zeros. */
function sameRange(actual: CompactRange, expected: CompactRange): boolean {
  const { length } = actual.tiles
  return (
    actual.treeSize === expected.treeSize &&
    same(actual.suffixes, expected.suffixes) &&
    same(
      actual.tiles,
      Array.from({ length }, (_, level) => expected.tiles[level] ?? new Uint8Array(TILE_NODES_BYTES)),
    )
  )
}

function flipped(hash: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(hash)
  copy[(bit >> 3) % 32]! ^= 1 << (bit & 7)
  return copy
}
