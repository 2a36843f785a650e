/** The mathematics of the log: `@claimcheck/core/log`. Leaves, tiles, proofs and tree heads. */

export { checkConsistency, checkInclusion, checkTreeHead, type TreeHeadReport } from './log/checker.ts'
export { appendLeaves, type CompactRange, EMPTY_RANGE, restoreRange } from './log/compact-range.ts'
export { fullTilesAbove, proveInRange } from './log/compact-range-proof.ts'
export { type Contradiction, checkContradiction } from './log/contradiction.ts'
export { treeSizeIn } from './log/head-binding.ts'
export { headField, LONGEST_HEAD_FIELD, newerHeadField, readHeadField, TREE_HEAD_FIELD } from './log/head-field.ts'
export { HASH_BYTES, type TreeHasher, treeHasher, treeRoot, verifyConsistency, verifyInclusion } from './log/merkle.ts'
export {
  completeTile,
  nodeAt,
  TILE_NODES_BYTES,
  TILE_WIDTH,
  type TileNodes,
} from './log/tile-nodes.ts'
export {
  joinTile,
  type ProvenConsistency,
  type ProvenInclusion,
  partialTiles,
  proveConsistency,
  proveInclusion,
  type ReadTiles,
  rootAt,
  type Tile,
  TileError,
  type TileId,
} from './log/tiles.ts'
export { type ConsistencyDocument, logIdOf, type SignedTreeHead, signTreeHead, treeHeadBody } from './log/tree-head.ts'
