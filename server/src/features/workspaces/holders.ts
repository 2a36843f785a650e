/**
 * Names of a bound agent in its receipts: a pseudonym of the agent in its workspace, and a domain that the workspace showed by DNS to
 * be its own. Two workspaces may bind one name; nobody gets the other's pseudonym or domain. Threat A9 of `security.md`.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { type AgentNames, isDomain } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Acting, BY_SERVICE } from '../../base/actor.ts'
import { createBatch } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { OwnAddress } from '../../config/address.ts'
import { createLease } from '../../host/lease.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { type HolderRow, NO_DOMAIN } from '../../storage/holders.ts'
import { agentsKeyContext } from '../../storage/sealed-contexts.ts'
import type { Storage } from '../../storage/storage.ts'
import { requireWorkspace } from './workspaces.ts'

export interface WorkspaceDomain {
  readonly domain: string
  /** The TXT record that proves the domain. */
  readonly record: { readonly name: string; readonly value: string }
  /** True while receipts name the domain. */
  readonly isProven: boolean
  readonly checkedAt: Instant | null
}

interface HoldersOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly outbound: Pick<Outbound, 'textRecords'>
  readonly ownAddress: Pick<OwnAddress, 'origin'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

const HOUR_MS = 60 * 60_000
const KEY_BYTES = 32
const MOST_KEYS = 1000

/** The time after its record was last seen for which receipts name a domain while DNS does not answer. */
export const PROVEN_MS = 24 * HOUR_MS
const RECHECK_MS = HOUR_MS
/** The time for which a domain whose record is gone is still looked up, in case it comes back by itself. */
const FORGOTTEN_MS = 7 * 24 * HOUR_MS
const MOST_AT_ONCE = 100

/** Matches names that belong to nobody on the internet (RFC 6761, RFC 7686, RFC 9476). */
const SPECIAL = /(?:^|\.)(?:localhost|local|internal|invalid|test|example|onion|alt|arpa|lan|home|corp)$/

export type Holders = ReturnType<typeof createHolders>

export function createHolders(options: HoldersOptions) {
  const { storage, secrets, ownAddress, now, logger } = options
  /** Opened keys by workspace and sealed text, so that a key that is sealed anew is opened anew. */
  const keys = new LRUCache<string, Buffer>({ max: MOST_KEYS })

  /** Claims that are decided at the same time share one read. */
  const rows = createBatch<string, HolderRow | undefined>(
    async (workspaceIds) => {
      const found = await storage.read.holders.ofAll([...new Set(workspaceIds)])
      const byId = new Map(found.map((row) => [row.workspaceId, row]))
      return workspaceIds.map((id) => byId.get(id))
    },
    { maxItems: MOST_AT_ONCE },
  )

  /** Makes the row of a workspace that has none. If several hosts do at the same time, one row stays. */
  async function rowOf(workspaceId: string): Promise<HolderRow> {
    const known = await rows.add(workspaceId)
    if (known) return known
    const key = randomBytes(KEY_BYTES).toString('base64url')
    const agentsKey = secrets.seal(key, agentsKeyContext(workspaceId))
    return storage.write(async (tx) => {
      await tx.holders.insert({ workspaceId, agentsKey, ...NO_DOMAIN })
      return (await tx.holders.of(workspaceId))!
    })
  }

  function keyOf({ workspaceId, agentsKey }: HolderRow): Buffer {
    const name = `${workspaceId} ${agentsKey}`
    const key = keys.get(name) ?? Buffer.from(secrets.open(agentsKey, agentsKeyContext(workspaceId)), 'base64url')
    keys.set(name, key)
    return key
  }

  function pseudonyms(row: HolderRow, agentIds: readonly string[]): (string | undefined)[] {
    try {
      const key = keyOf(row)
      return agentIds.map((agentId) => createHmac('sha256', key).update(agentId).digest('base64url'))
    } catch (error) {
      logger.warn({ err: error, workspaceId: row.workspaceId }, 'bound agents have no pseudonyms')
      return agentIds.map(() => undefined)
    }
  }

  return {
    /** Names a bound agent for its receipt, without a pseudonym where the secret key that sealed the workspace's key is lost. */
    async namesOf(workspaceId: string, agentId: string): Promise<AgentNames> {
      const row = await rowOf(workspaceId)
      const [pseudonym] = pseudonyms(row, [agentId])
      return {
        ...(pseudonym === undefined ? {} : { pseudonym }),
        ...(isProven(row, now()) ? { domain: row.domain! } : {}),
      }
    },
    /** Finds the pseudonym of each of these agents, for owners, in one read. */
    pseudonymsOf: async (workspaceId: string, agentIds: readonly string[]): Promise<readonly (string | undefined)[]> =>
      agentIds.length === 0 ? [] : pseudonyms(await rowOf(workspaceId), agentIds),
    /** Reads the domain of a workspace; undefined where it names none. */
    async domainOf(workspaceId: string): Promise<WorkspaceDomain | undefined> {
      const row = await storage.read.holders.of(workspaceId)
      if (row?.domain == null) return undefined
      const { domain, challenge, checkedAt } = row
      const record = { name: recordName(domain), value: challenge! }
      return { domain, record, isProven: isProven(row, now()), checkedAt }
    },
    /**
     * Names the domain of the workspace and looks for the record. Naming it again looks once more; nothing takes it away.
     * @throws ServiceError `bad_request`, `not_found`
     */
    async setDomain(workspaceId: string, text: string, by: Acting): Promise<void> {
      const domain = readDomain(text)
      await rowOf(workspaceId)
      const row = await storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const before = (await tx.holders.of(workspaceId))!
        if (before.domain === domain) return before
        const after = { ...NO_DOMAIN, domain, challenge: domain === null ? null : newChallenge(ownAddress) }
        await tx.holders.setDomain(workspaceId, after)
        const details = { from: before.domain, to: domain }
        tx.audit.record({ event: 'workspace.domain_changed', at: now(), by, workspaceId, details })
        return { ...before, ...after }
      })
      if (row.domain !== null) await look(options, row, by)
    },
  }
}

function isProven(row: HolderRow, now: Instant): boolean {
  return isThere(row) && now - row.provenAt! < PROVEN_MS
}

/** Names the TXT record, below the domain: only its owner can write there, and nothing else stands there. */
function recordName(domain: string): string {
  return `_claimcheck.${domain}`
}

/**
 * Makes a challenge that names this service: an operator of another one could pass a challenge of here on to its users, who would prove
 * their domain for a stranger's workspace.
 */
function newChallenge(ownAddress: Pick<OwnAddress, 'origin'>): string {
  return `claimcheck=${new URL(ownAddress.origin()).host}/${newToken()}`
}

/**
 * Reads a domain; null for a blank text.
 * @throws ServiceError `bad_request`
 */
function readDomain(text: string): string | null {
  const typed = text.trim().replace(/\.$/, '')
  if (typed === '') return null
  // Text other than a name would be read as the beginning of an address.
  const domain = /^[\p{L}\p{M}\p{N}.-]{1,240}$/u.test(typed) ? domainToASCII(typed) : ''
  if (isDomain(domain) && !SPECIAL.test(domain)) return domain
  throw new ServiceError('bad_request', 'a domain is a public name such as acme.com, without https:// and a path')
}

/** Looks the record up. A missing answer of DNS proves nothing, and takes nothing away before its time. */
async function look(
  { storage, outbound, now }: Pick<HoldersOptions, 'storage' | 'outbound' | 'now'>,
  row: HolderRow,
  by: Acting,
): Promise<void> {
  const { workspaceId, domain } = row
  const records = await outbound.textRecords(recordName(domain!)).catch(() => undefined)
  const at = now()
  await storage.write(async (tx) => {
    if (records === undefined) return tx.holders.asked(row, at)
    const after = { ...row, ...foundBy(row, records, at) }
    const [was, is] = [isThere(row), isThere(after)]
    if (!(await tx.holders.checked(row, { ...after, checkedAt: at })) || was === is) return undefined
    const event = is ? 'workspace.domain_proven' : 'workspace.domain_lost'
    tx.audit.record({ event, at, by, workspaceId, details: { domain } })
    return undefined
  })
}

function foundBy({ challenge, missingAt }: HolderRow, records: readonly string[], at: Instant): Partial<HolderRow> {
  if (records.includes(challenge!)) return { provenAt: at, missingAt: null }
  return { missingAt: missingAt ?? at }
}

/** Tells whether the last answer of DNS had the record. */
function isThere({ provenAt, missingAt }: HolderRow): boolean {
  return provenAt !== null && missingAt === null
}

interface WorkerOptions extends Pick<HoldersOptions, 'storage' | 'outbound' | 'now'> {
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** Looks up every hour, on one host at a time, whether domains still have their records. */
export function createDomainWorker(options: WorkerOptions, pauseMs = 60_000): Worker {
  const { storage, now, logger } = options
  const lease = createLease('domains', { storage })

  async function pass(stopping: AbortSignal): Promise<void> {
    const due = await storage.read.holders.due(now() - FORGOTTEN_MS, now() - RECHECK_MS, MOST_AT_ONCE)
    for (const row of due) {
      if (stopping.aborted) return
      await look(options, row, BY_SERVICE)
    }
  }

  return createLoop(
    async (stopping) => {
      try {
        await lease.hold((lost) => pass(AbortSignal.any([stopping, lost])))
      } catch (error) {
        if (!stopping.aborted) logger.error({ err: error }, 'domains were not looked up: the next pass does')
      }
      return pauseMs
    },
    { end: () => lease.release().catch(() => {}) },
  )
}
