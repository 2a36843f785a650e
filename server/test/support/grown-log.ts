/** A log that grows by leaves of its own, for whoever reads it: what its receipts say does not matter, and nobody signs. */
import { appendLeaves, partialTiles, restoreRange } from '@claimcheck/core/log'
import { SHA256_TREE, tileReader } from '@claimcheck/server/features/log/log-rows'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import type { Storage } from '@claimcheck/server/storage/storage'
import { claimNumber } from './claim-row.ts'

export const LOG_ID = 'log'
const NOON = Date.UTC(2026, 8, 25, 12)

export async function createLog({ write }: Storage): Promise<void> {
  await write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    const rootHash = SHA256_TREE.empty
    const state = { logId: LOG_ID, name: 'log', number: 0, treeSize: 0, rootHash, issuedAt: NOON, keyId: 'key' }
    await tx.log.create({ ...state, signed: '{}' })
  })
}

interface Growth {
  /** Leaves of another name are other leaves. */
  readonly name?: string
}

export async function grow(storage: Storage, count: number, { name = 'one' }: Growth = {}): Promise<void> {
  await storage.write(async (tx) => {
    const state = (await tx.log.lock())!
    const stored = await tileReader(tx.log, LOG_ID)(partialTiles(state.treeSize))
    const receipts = Array.from({ length: count }, (_, index) => receipt(state.treeSize + index, name))
    const { range, rootHash, tiles } = appendLeaves(
      restoreRange(state.treeSize, stored, SHA256_TREE),
      receipts.map(({ leafHash }) => leafHash),
      SHA256_TREE,
    )
    await tx.apply({
      log: state,
      head: { ...state, number: state.number + 1, treeSize: range.treeSize, rootHash, issuedAt: NOON, signed: '{}' },
      newClaims: receipts.map(claim),
      receipts,
      tiles: tiles.map((tile) => ({ logId: LOG_ID, ...tile })),
    })
  })
}

export function receiptId(leafIndex: number): string {
  return `rcpt_${leafIndex}`
}

function receipt(leafIndex: number, name: string) {
  const entry = JSON.stringify({ body: { name, leafIndex }, signature: {} })
  const leafHash = SHA256_TREE.leaf(Buffer.from(entry))
  const ids = { logId: LOG_ID, leafIndex, receiptId: receiptId(leafIndex) }
  return { ...ids, claimId: `clm_${leafIndex}`, leafHash, issuedAt: NOON, entry }
}

function claim({ leafIndex, claimId }: { readonly leafIndex: number; readonly claimId: string }): ClaimRow {
  return claimNumber(leafIndex, {
    clientClaimId: claimId,
    params: {},
    deadlineAt: NOON,
    submittedAt: NOON,
    claimDigest: '',
    state: 'decided',
    attempts: 1,
    dueAt: null,
    nextCheckAt: null,
    verdict: 'verified',
    receiptId: receiptId(leafIndex),
  })
}
