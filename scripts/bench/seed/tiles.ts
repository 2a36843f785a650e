/** A large log by its hashes alone: the tiles and heads are real, and of what its leaves hash nothing is there. */
import { randomFillSync } from 'node:crypto'
import { appendLeaves, EMPTY_RANGE, signTreeHead, TILE_WIDTH } from '@claimcheck/core/log'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { SHA256_TREE } from '@claimcheck/server/features/log/log-rows'
import { seedReceipts } from './receipts.ts'

const HASH_BYTES = 32
const BATCH = 256 * TILE_WIDTH

/** The newest leaves are in no full tile yet: they are receipts, as in every log. */
export async function seedLog(claimcheck: Claimcheck, workspaceId: string, treeSize: number): Promise<void> {
  const inTiles = treeSize - (treeSize % TILE_WIDTH)
  await seedTiles(claimcheck, inTiles)
  await seedReceipts(claimcheck, workspaceId, treeSize - inTiles)
}

/** @param treeSize a multiple of the tiles' width */
async function seedTiles({ storage, signingKeys, now }: Claimcheck, treeSize: number): Promise<void> {
  const signer = await signingKeys.latest()
  let from = (await storage.read.log.state())!
  let range = EMPTY_RANGE
  while (range.treeSize < treeSize) {
    const count = Math.min(BATCH, treeSize - range.treeSize)
    const bytes = randomFillSync(Buffer.alloc(count * HASH_BYTES))
    const hashes = Array.from({ length: count }, (_, index) =>
      bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    )
    const appended = appendLeaves(range, hashes, SHA256_TREE)
    const to = {
      ...from,
      number: from.number + 1,
      treeSize: appended.range.treeSize,
      rootHash: appended.rootHash,
      issuedAt: now(),
    }
    const signed = JSON.stringify(await signTreeHead(signer, to))
    const tiles = appended.tiles.map((tile) => ({ logId: from.logId, ...tile }))
    await storage.apply({ log: from, head: { ...to, signed }, tiles })
    from = to
    range = appended.range
  }
}
