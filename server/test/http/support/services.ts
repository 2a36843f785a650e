/** The services' interfaces in memory, for the rules that HTTP itself decides. */
import { createHash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '@claimcheck/server/base/errors'
import type { ClaimService, ClaimStatus } from '@claimcheck/server/features/claims/claims'
import type { ClaimInput } from '@claimcheck/server/features/claims/intake'
import type { LogService } from '@claimcheck/server/features/log/log'
import type { ReceiptService } from '@claimcheck/server/features/receipts/receipts'
import type { ConnectionSummary } from '@claimcheck/server/features/workspaces/connections'
import type { KeyCredential } from '@claimcheck/server/http/credential'
import { claimNumber } from '../../support/claim-row.ts'

export const NOW: Instant = Date.UTC(2026, 8, 25, 14, 2, 11)
const LOG_ID = hash('log')

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
    statuses: async () => new Map(),
    async detail(workspaceId, claimId) {
      const claim = kept.get(`${workspaceId}/${claimId}`)
      return (
        claim && {
          claim,
          payer: 'usr_1',
          params: {},
          profile: { action: claim.action, version: '1' },
          connectionId: null,
          access: 'anonymous',
          history: [],
        }
      )
    },
    list: async () => ({ claims: [], nextCursor: null, cutShort: false }),
    newerCursor: async () => undefined,
    decidedAt: async () => new Map(),
  }
}

/** A log of two leaves, of which nothing is proven. */
export function memoryLog(): LogService {
  const refuse = async () => {
    throw new ServiceError('not_found', 'there are no proofs in memory')
  }
  return {
    head: async () => ({ treeHead: treeHead(2), anchor: null }),
    entries: async () => ({ treeSize: 2, entries: [], next: null }),
    leafIndexOf: async () => undefined,
    inclusion: refuse,
    inclusions: async () => [],
    headAbove: async () => ({ treeHead: treeHead(2), consistency: undefined }),
    consistency: refuse,
    anchors: async () => ({ anchors: [], next: null }),
  }
}

/** With blanks that no serializer of ours would write: what is signed is sent as it is. */
function treeHead(treeSize: number): string {
  const body = {
    issued_at: new Date(NOW).toISOString(),
    log_id: LOG_ID,
    root_hash: hash(`root ${treeSize}`),
    tree_size: treeSize,
  }
  return JSON.stringify({ body, signature: SIGNATURE }, null, 1)
}

const SIGNATURE = { alg: 'Ed25519', key_id: `ed25519:${hash('key')}`, value: 'A'.repeat(86) }

export function memoryReceipts(
  receipts: Readonly<Record<string, string>>,
  evidence: Readonly<Record<string, string>> = {},
): ReceiptService {
  return {
    get: async (receiptId) => (Object.hasOwn(receipts, receiptId) ? receipts[receiptId] : undefined),
    evidence: async (receiptId) => (Object.hasOwn(evidence, receiptId) ? evidence[receiptId] : undefined),
  }
}

/** Of a key of this workspace, for any agent. */
export function credentialOf(keyId: string, workspaceId: string, payer = workspaceId) {
  return { kind: 'key', keyId, workspaceId, payer, agentIds: null, bindsAgents: false } as const
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
