/** The services' interfaces in memory, for the rules that HTTP itself decides. */
import { createHash } from 'node:crypto'
import type { Anchor } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '@claimcheck/server/base/errors'
import type { ClaimService, ClaimStatus, ListedClaim } from '@claimcheck/server/features/claims/claims'
import type { ClaimInput } from '@claimcheck/server/features/claims/intake'
import type { LogService } from '@claimcheck/server/features/log/log'
import type { ReceiptService } from '@claimcheck/server/features/receipts/receipts'
import type { ConnectionSummary } from '@claimcheck/server/features/workspaces/connections'
import type { KeyCredential } from '@claimcheck/server/http/credential'
import { claimNumber } from '../../support/claim-row.ts'

export const NOW: Instant = Date.UTC(2026, 8, 25, 14, 2, 11)
export const LOG_ID = hash('log')

export function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

export function claimStatus(input: ClaimInput, over: Partial<ClaimStatus> = {}): ClaimStatus {
  return {
    ...claimNumber(0, { ...input, submittedAt: NOW, attempts: 1, nextCheckAt: NOW + 1000 }),
    claimId: `clm_${hash(input.clientClaimId).slice(0, 20)}`,
    deadlineAt: input.deadlineAt ?? input.claimedAt + 900_000,
    claimDigest: hash(input.clientClaimId),
    ...over,
  }
}

/** `submitted` is what came through, in order. */
export function memoryClaims(): ClaimService & {
  readonly submitted: ClaimInput[]
  put(workspaceId: string, claim: ClaimStatus): void
} {
  const kept = new Map<string, ClaimStatus>()
  const submitted: ClaimInput[] = []
  return {
    submitted,
    put: (workspaceId, claim) => kept.set(`${workspaceId}/${claim.claimId}`, claim),
    async submit({ workspaceId }, input) {
      submitted.push(input)
      const claim = claimStatus(input)
      const id = `${workspaceId}/${claim.claimId}`
      const known = kept.get(id)
      if (!known) kept.set(id, claim)
      return { claim: known ?? claim, created: !known }
    },
    get: async (workspaceId, claimId) => kept.get(`${workspaceId}/${claimId}`),
    async detail(workspaceId, claimId) {
      const claim = kept.get(`${workspaceId}/${claimId}`)
      return (
        claim && {
          claim,
          params: {},
          profile: { action: claim.action, version: '1' },
          connectionId: null,
          access: 'anonymous',
          history: [],
        }
      )
    },
    async list(workspaceId, { limit, cursor, state }) {
      if (cursor !== undefined && !/^\d+$/.test(cursor))
        throw new ServiceError('bad_request', 'the cursor is not one of ours')
      const from = Number(cursor ?? 0)
      const all = [...kept].filter(([id]) => id.startsWith(`${workspaceId}/`)).map(([, claim]) => claim)
      const fitting = all.filter((claim) => state === undefined || claim.state === state).reverse()
      const next = from + limit
      return {
        claims: fitting.slice(from, next).map(listed),
        nextCursor: next < fitting.length ? String(next) : null,
        cutShort: false,
      }
    },
    newerCursor: async () => undefined,
    decidedAt: async () => new Map(),
  }
}

function listed(claim: ClaimStatus): ListedClaim {
  return { ...claim, params: {}, profileAction: claim.action, profileVersion: '1' }
}

export const ANCHOR: Anchor = {
  chain: 'eip155:84532',
  scheme: 'eas',
  uid: `0x${'ab'.repeat(32)}`,
  txHash: `0x${'cd'.repeat(32)}`,
  treeSize: 2,
  rootHash: hash('root 2'),
  blockNumber: 7,
  blockTime: 1_790_000_000,
}

export function memoryLog(treeSize: number): LogService {
  const within = (size: number) => {
    if (size > treeSize) throw new ServiceError('not_found', 'the tree is not that large')
  }
  const included = (leafIndex: number, size: number) => ({
    logId: LOG_ID,
    leafIndex,
    treeSize: size,
    leafHash: hash(`leaf ${leafIndex}`),
    rootHash: hash(`root ${size}`),
    inclusion: [hash('sibling')],
  })
  return {
    head: async () => ({ treeHead: treeHead(treeSize), anchor: ANCHOR }),
    async entries(start, limit) {
      within(start ?? 0)
      const from = start ?? Math.max(0, treeSize - limit)
      const to = Math.min(treeSize, from + limit)
      const entries = Array.from({ length: to - from }, (_, offset) => ({
        leafIndex: from + offset,
        leafHash: hash(`leaf ${from + offset}`),
        createdAt: NOW,
      }))
      return { treeSize, entries, next: start !== undefined && to < treeSize ? to : null }
    },
    leafIndexOf: async (leafHash) =>
      Array.from({ length: treeSize }, (_, index) => index).find((index) => hash(`leaf ${index}`) === leafHash),
    async inclusion(leafIndex, size = treeSize) {
      within(size)
      if (leafIndex >= size) throw new ServiceError('bad_request', 'the leaf is not in a tree of that size')
      return included(leafIndex, size)
    },
    inclusions: async (_logId, leafIndexes) =>
      leafIndexes.map((leafIndex) => ({
        logId: LOG_ID,
        treeSize,
        rootHash: hash(`root ${treeSize}`),
        leafHash: Buffer.from(hash(`leaf ${leafIndex}`), 'base64url'),
        inclusion: [],
        anchor: null,
      })),
    headAbove: async () => ({ treeHead: treeHead(treeSize), consistency: undefined }),
    async consistency(first, second = treeSize) {
      if (first === 0 || first > second) throw new ServiceError('bad_request', 'first must be from 1 to second')
      within(second)
      const roots = { firstRoot: hash(`root ${first}`), secondRoot: hash(`root ${second}`) }
      return { logId: LOG_ID, first, second, ...roots, proof: first === second ? [] : [hash('node')] }
    },
    anchors: async (limit, before = Number.MAX_SAFE_INTEGER) => ({
      anchors: [ANCHOR].filter(({ treeSize: size }) => size < before).slice(0, limit),
      next: null,
    }),
  }
}

/** With blanks that no serializer of ours would write: what is signed is sent as it is. */
export function treeHead(treeSize: number): string {
  const body = {
    issued_at: new Date(NOW).toISOString(),
    log_id: LOG_ID,
    root_hash: hash(`root ${treeSize}`),
    tree_size: treeSize,
  }
  return JSON.stringify({ body, signature: SIGNATURE }, null, 1)
}

export const SIGNATURE = { alg: 'Ed25519', key_id: `ed25519:${hash('key')}`, value: 'A'.repeat(86) }

export function memoryReceipts(
  receipts: Readonly<Record<string, string>>,
  evidence: Readonly<Record<string, string>> = {},
): ReceiptService {
  return {
    get: async (receiptId) => (Object.hasOwn(receipts, receiptId) ? receipts[receiptId] : undefined),
    evidence: async (receiptId) => (Object.hasOwn(evidence, receiptId) ? evidence[receiptId] : undefined),
  }
}

/** The revoked key is simply not here, as with the real service. */
export function memoryKeys(credentials: Readonly<Record<string, KeyCredential>>) {
  const asked: string[] = []
  return {
    asked,
    authenticate: async (key: string) => {
      asked.push(key)
      return Object.hasOwn(credentials, key) ? credentials[key] : undefined
    },
  }
}

export function memoryConnections(connections: readonly ConnectionSummary[]) {
  return {
    list: async (workspaceId?: string) => connections.filter((connection) => connection.workspaceId === workspaceId),
  }
}
