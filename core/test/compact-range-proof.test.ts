/** Inclusion proofs from a compact range, compared with the definition of RFC 6962. */
import {
  appendLeaves,
  completeTile,
  EMPTY_RANGE,
  fullTilesAbove,
  nodeAt,
  partialTiles,
  proveConsistency,
  proveInclusion,
  proveInRange,
  restoreRange,
  type Tile,
  type TileId,
} from '@claimcheck/core/log'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'
import { hasher, leafOf, naiveTree, same } from './naive-tree.ts'

const BOUNDARIES = [1, 2, 3, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 65_791, 65_792, 65_793, 131_072]
const LARGE_BOUNDARIES = [2 ** 24, 2 ** 32, 2 ** 40].flatMap((size) => [
  size - 1,
  size,
  size + 1,
  size + 255,
  size + 256,
])

const sizes = fc.oneof(
  fc.constantFrom(...BOUNDARIES, ...LARGE_BOUNDARIES),
  fc.integer({ min: 1, max: 140_000 }),
  fc.integer({ min: 2 ** 24 - 300, max: 2 ** 24 + 300 }),
  fc.integer({ min: 2 ** 34, max: 2 ** 52 }),
)

/** A tree in which this leaf differs from the others, with its range and its tiles. */
function treeWith(leafIndex: number, treeSize: number) {
  const tree = naiveTree(new Map([0, leafIndex, treeSize - 1].map((at) => [at, leafOf(`special ${at}`)])))
  const range = restoreRange(treeSize, partialTiles(treeSize).map(tree.tile), hasher)
  return { tree, range, read: async (tiles: readonly TileId[]) => tiles.map(tree.tile) }
}

async function proofsAgree(leafIndex: number, treeSize: number): Promise<boolean> {
  const { tree, range, read } = treeWith(leafIndex, treeSize)
  const full = fullTilesAbove(leafIndex, treeSize)
  const nodes = full.map((tile) => completeTile(tile.width, tree.tile(tile), hasher))
  const proven = proveInRange(leafIndex, range, nodes)
  const plain = await proveInclusion(leafIndex, treeSize, read, hasher)
  const defined = [tree.leaf(leafIndex), tree.root(treeSize), ...tree.path(leafIndex, treeSize)]
  return (
    same([proven.leafHash, proven.rootHash, ...proven.path], defined) &&
    same([plain.leafHash, plain.rootHash, ...plain.path], defined) &&
    full.every(({ index, level, width }) => width === 256 && (index + 1) * 256 ** (level + 1) <= treeSize) &&
    full.every(({ level }, index) => level === index)
  )
}

t.test('at tile boundaries, a proof from the range is the one that RFC 6962 defines', async (t) => {
  const wrong: string[] = []
  for (const size of [...BOUNDARIES, ...LARGE_BOUNDARIES]) {
    const leaves = [0, 1, 254, 255, 256, size >> 1, size - 257, size - 256, size - 2, size - 1]
    for (const leaf of new Set(leaves.filter((index) => index >= 0 && index < size))) {
      if (!(await proofsAgree(leaf, size))) wrong.push(`${leaf} of ${size}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('up to 300 leaves, every proof from the range is the one that RFC 6962 defines', async (t) => {
  const wrong: string[] = []
  let range = EMPTY_RANGE
  const stored: Tile[] = []
  const tree = naiveTree(new Map(Array.from({ length: 300 }, (_, index) => [index, leafOf(`leaf ${index}`)])))
  for (let size = 1; size <= 300; size++) {
    const appended = appendLeaves(range, [tree.leaf(size - 1)], hasher)
    range = appended.range
    stored.push(...appended.tiles)
    const nodesOf = (tile: TileId) => stored.find((other) => sameTile(other, tile))!.hashes
    for (let leaf = 0; leaf < size; leaf++) {
      const { path } = proveInRange(leaf, range, fullTilesAbove(leaf, size).map(nodesOf))
      if (!same(path, tree.path(leaf, size))) wrong.push(`${leaf} of ${size}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test("a leaf's full tile has the lower part of its path, at any size of the tree", async (t) => {
  const property = fc.property(sizes, fc.nat(), (size, pick) => {
    const leafIndex = pick % size
    const { tree } = treeWith(leafIndex, size)
    const [tile] = fullTilesAbove(leafIndex, size)
    if (!tile) return true
    const nodes = completeTile(256, tree.tile(tile), hasher)
    const index = leafIndex % 256
    const siblings = Array.from({ length: 8 }, (_, height) => nodeAt(nodes, height, (index >> height) ^ 1))
    return same(
      [nodeAt(nodes, 0, index), ...siblings],
      [tree.leaf(leafIndex), ...tree.path(leafIndex, size).slice(0, 8)],
    )
  })
  t.doesNotThrow(() => fc.assert(property, runs(40)))
})

t.test('at any size, a proof from the range is that from tiles, and needs one full tile a level at most', async (t) => {
  const property = fc.asyncProperty(sizes, fc.nat(), (size, pick) => proofsAgree(pick % size, size))
  await t.resolves(fc.assert(property, runs(40)))
})

t.test('proofs are the same from tiles with their nodes and from tiles without', async (t) => {
  const property = fc.asyncProperty(sizes, sizes, fc.nat(), async (one, other, pick) => {
    const [first, size] = one < other ? [one, other] : [other, one]
    const { tree, read: plainRead } = treeWith(pick % size, size)
    // As a host reads them after the tree has grown: full tiles with their nodes.
    const read = async (tiles: readonly TileId[]) =>
      tiles.map((tile) => completeTile(256, tree.tile({ ...tile, width: 256 }), hasher))
    const inclusion = await proveInclusion(pick % size, size, plainRead, hasher)
    const consistency = await proveConsistency(first, size, plainRead, hasher)
    const leafOnly = await proveInclusion(pick % first, first, read, hasher)
    return (
      same(inclusion.path, tree.path(pick % size, size)) &&
      same(consistency.path, tree.proof(first, size)) &&
      same(leafOnly.path, tree.path(pick % first, first)) &&
      same((await proveConsistency(first, first, read, hasher)).path, [])
    )
  })
  await t.resolves(fc.assert(property, runs(40)))
})

t.test('a leaf that is not in the tree has no proof from its range', async (t) => {
  const { range } = treeWith(0, 10)
  t.throws(() => proveInRange(10, range, []), RangeError)
  t.throws(() => proveInRange(-1, range, []), RangeError)
  t.throws(() => proveInRange(0, EMPTY_RANGE, []), RangeError)
})

function sameTile(a: TileId, b: TileId): boolean {
  return a.level === b.level && a.index === b.index && a.width === b.width
}
