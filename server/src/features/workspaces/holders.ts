/**
 * Whose a bound agent is, as its receipts say it: a pseudonym of the agent in its workspace, and a domain that the workspace showed by DNS to
 * be its own. Two workspaces may bind one name; nobody gets the other's pseudonym or domain. Threat A9 of `security.md`.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { type AgentNames, isDomain } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { type Acting, BY_SERVICE } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { OwnAddress } from '../../base/own-address.ts'
import { agentsKeyContext } from '../../base/sealed-contexts.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import { createLease } from '../../host/lease.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { type HolderRow, NO_DOMAIN } from '../../storage/holders.ts'
import type { Storage } from '../../storage/storage.ts'
import { requireWorkspace } from './workspaces.ts'

export interface Holders {
  /** For the receipt of a bound agent. Without a pseudonym where the secret key that sealed the workspace's key is lost. */
  namesOf(workspaceId: string, agentId: string): Promise<AgentNames>
  /** For owners, of each of these agents, in one read. */
  pseudonymsOf(workspaceId: string, agentIds: readonly string[]): Promise<readonly (string | undefined)[]>
  /** Undefined where the workspace names none. */
  domainOf(workspaceId: string): Promise<WorkspaceDomain | undefined>
  /**
   * Names the domain of the workspace and looks for the record. The same again looks once more; nothing takes it away.
   * @throws ServiceError `bad_request`, `not_found`
   */
  setDomain(workspaceId: string, text: string, by: Acting): Promise<void>
}

export interface WorkspaceDomain {
  readonly domain: string
  /** The TXT record that shows it. */
  readonly record: { readonly name: string; readonly value: string }
  /** Receipts name it now. */
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

/** Receipts name a domain for so long after its record was last seen, while DNS does not answer. */
export const PROVEN_MS = 24 * HOUR_MS
const RECHECK_MS = HOUR_MS
/** A domain whose record is gone is looked up for so long, in case it comes back by itself. */
const FORGOTTEN_MS = 7 * 24 * HOUR_MS
const MOST_AT_ONCE = 100

/** Names that are nobody's on the internet (RFC 6761, RFC 7686, RFC 9476). */
const SPECIAL = /(?:^|\.)(?:localhost|local|internal|invalid|test|example|onion|alt|arpa|lan|home|corp)$/

export function createHolders(options: HoldersOptions): Holders {
  const { storage, secrets, ownAddress, now, logger } = options

  function newRow(workspaceId: string): HolderRow {
    const key = secrets.seal(randomBytes(KEY_BYTES).toString('base64url'), agentsKeyContext(workspaceId))
    return { workspaceId, agentsKey: key, ...NO_DOMAIN }
  }

  /** Of hosts that make one at the same time, one does. */
  async function rowOf(workspaceId: string): Promise<HolderRow> {
    const known = await storage.read.holders.of(workspaceId)
    if (known) return known
    return storage.write(async (tx) => {
      await tx.holders.insert(newRow(workspaceId))
      return (await tx.holders.of(workspaceId))!
    })
  }

  function pseudonyms({ workspaceId, agentsKey }: HolderRow, agentIds: readonly string[]): (string | undefined)[] {
    try {
      const key = Buffer.from(secrets.open(agentsKey, agentsKeyContext(workspaceId)), 'base64url')
      return agentIds.map((agentId) => createHmac('sha256', key).update(agentId).digest('base64url'))
    } catch (error) {
      logger.warn({ err: error, workspaceId }, 'bound agents have no pseudonyms')
      return agentIds.map(() => undefined)
    }
  }

  return {
    async namesOf(workspaceId, agentId) {
      const row = await rowOf(workspaceId)
      const [pseudonym] = pseudonyms(row, [agentId])
      return {
        ...(pseudonym === undefined ? {} : { pseudonym }),
        ...(isProven(row, now()) ? { domain: row.domain! } : {}),
      }
    },
    pseudonymsOf: async (workspaceId, agentIds) =>
      agentIds.length === 0 ? [] : pseudonyms(await rowOf(workspaceId), agentIds),
    async domainOf(workspaceId) {
      const row = await storage.read.holders.of(workspaceId)
      if (row?.domain == null) return undefined
      const { domain, challenge, checkedAt } = row
      return {
        domain,
        record: { name: recordName(domain), value: challenge! },
        isProven: isProven(row, now()),
        checkedAt,
      }
    },
    async setDomain(workspaceId, text, by) {
      const domain = readDomain(text)
      await rowOf(workspaceId)
      const row = await storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const before = (await tx.holders.of(workspaceId))!
        if (before.domain === domain) return before
        const challenge = domain === null ? null : newChallenge(ownAddress)
        await tx.holders.setDomain(workspaceId, { ...NO_DOMAIN, domain, challenge })
        const details = { from: before.domain, to: domain }
        tx.audit.record({ event: 'workspace.domain_changed', at: now(), by, workspaceId, details })
        return { ...before, ...NO_DOMAIN, domain, challenge }
      })
      if (row.domain !== null) await look(options, row, by)
    },
  }
}

function isProven(row: HolderRow, now: Instant): boolean {
  return isThere(row) && now - row.provenAt! < PROVEN_MS
}

/** Below the domain, where nobody but its owner writes, and nothing else stands. */
function recordName(domain: string): string {
  return `_claimcheck.${domain}`
}

/**
 * Names this service: an operator of another one could pass a challenge of here on to its users, who would prove their domain for a stranger's
 * workspace.
 */
function newChallenge(ownAddress: Pick<OwnAddress, 'origin'>): string {
  return `claimcheck=${new URL(ownAddress.origin()).host}/${newToken()}`
}

/** null: none. @throws ServiceError `bad_request` */
function readDomain(text: string): string | null {
  const typed = text.trim().replace(/\.$/, '')
  if (typed === '') return null
  // What is no name would be read as the beginning of an address.
  const domain = /^[\p{L}\p{M}\p{N}.-]{1,240}$/u.test(typed) ? domainToASCII(typed) : ''
  if (isDomain(domain) && !SPECIAL.test(domain)) return domain
  throw new ServiceError('bad_request', 'a domain is a public name such as acme.com, without https:// and a path')
}

/** Looks the record up. What DNS does not answer proves nothing, and takes nothing away before its time. */
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

/** Whether the last answer of DNS had the record. */
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
