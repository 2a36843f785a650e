/** Connections: what a workspace lets us read through. Secrets are sealed at rest and never come out again but into a check. */
import {
  type Connection,
  type ConnectionType,
  DestinationError,
  type Instant,
  isSecret,
  type JsonObject,
  type Logger,
} from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../batch.ts'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Registry } from '../plugins.ts'
import type { Secrets } from '../secrets.ts'
import type { Storage } from '../storage/storage.ts'
import type { ConnectionRow } from '../storage/workspaces.ts'
import { withinTime } from '../time-limit.ts'
import { validator } from '../validation.ts'
import { ServiceError } from './errors.ts'

export interface ConnectionSummary {
  readonly id: string
  readonly workspaceId: string
  readonly provider: string
  /** Those that are not secret. */
  readonly options: JsonObject
  readonly scopes: readonly string[]
  /** What the owner should know: that the credentials can do more than read, above all. */
  readonly notes: readonly string[]
  /** A person's id; null: the command line. */
  readonly connectedBy: string | null
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
  readonly lastReadAt: Instant | null
  readonly lastFailureAt: Instant | null
  /** Why the last attempt to read that failed did, the one while connecting too: a code. */
  readonly lastFailure: string | null
  /** What can be verified through it. */
  readonly actions: readonly string[]
}

/** The destination was tried, and nothing is kept. */
export interface NotConnected {
  /** Why it could not be read: a code. */
  readonly failure: string
  /** It answered, and takes these credentials for nothing. */
  readonly isRefused: boolean
}

export interface ConnectionService {
  /**
   * Tries the destination once and keeps the connection either way.
   * @throws ServiceError `invalid` for options that the provider's type refuses, `not_found` for an unknown provider
   */
  add(workspaceId: string, provider: string, options: JsonObject): Promise<ConnectionSummary>
  /**
   * Tries the destination once and keeps the connection when it can be read; where somebody insists, also when it could
   * not be told. Credentials that are refused are not kept. What is sent again while it is being tried is the same connection:
   * of two alike nobody could tell which a claim means.
   * @throws ServiceError as `add` does
   */
  connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: { readonly userId: string; readonly insists: boolean },
  ): Promise<ConnectionSummary | NotConnected>
  /** Active ones, oldest first. */
  list(workspaceId?: string): Promise<readonly ConnectionSummary[]>
  /** @throws ServiceError `not_found`, also for a connection of another workspace than the one that is named */
  remove(id: string, workspaceId?: string): Promise<void>
  /** Active ones with their secrets, for checking. */
  open(workspaceId: string): Promise<readonly Connection[]>
  /** The active one of this id, with its secrets. */
  openById(id: string): Promise<Connection | undefined>
}

interface ConnectionServiceOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly secrets: Secrets
  readonly outbound: Outbound
  readonly logger: Logger
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
}

const MOST_LOOKUPS = 500
const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden'])

/** What came of trying a destination. */
interface Probe {
  readonly scopes: readonly string[]
  readonly notes: readonly string[]
  /** Why it could not be read: a code; null when it could. */
  readonly failure: string | null
}

interface Tried extends Probe {
  readonly type: ConnectionType
  readonly options: JsonObject
}

export function createConnectionService(dependencies: ConnectionServiceOptions): ConnectionService {
  const { storage, registry, secrets, outbound, logger, now } = dependencies
  const { timeoutMs } = dependencies.config.checks
  // A connection never changes: what was unsealed once need not be again, while its row says that it is active.
  const opened = new LRUCache<string, Connection>({ max: 1000 })
  /** What is being tried for somebody, by everything that was sent. */
  const connecting = new Map<string, Promise<ConnectionSummary | NotConnected>>()

  function open(row: ConnectionRow): Connection {
    const known = opened.get(row.id)
    if (known) return known
    const unsealed = Object.entries(row.sealedSecrets).map(([name, sealed]) => [
      name,
      secrets.open(sealed, secretContext(row.id, name)),
    ])
    const connection = {
      id: row.id,
      provider: row.provider,
      options: { ...row.options, ...Object.fromEntries(unsealed) } as JsonObject,
    }
    opened.set(row.id, connection)
    return connection
  }

  // Claims that arrive together are looked up together.
  const lookups = createBatch<string, readonly ConnectionRow[]>(
    async (workspaceIds) => {
      const rows = await storage.read.connections.active([...new Set(workspaceIds)])
      return workspaceIds.map((id) => rows.filter((row) => row.workspaceId === id))
    },
    { most: MOST_LOOKUPS },
  )

  function toSummary(row: ConnectionRow): ConnectionSummary {
    const { sealedSecrets: _, ...summary } = row
    return { ...summary, actions: registry.actionsFor(row.provider) }
  }

  async function probe(type: ConnectionType, options: JsonObject): Promise<Probe> {
    const timer = new AbortController()
    const { signal } = timer
    const { fetch, resolve } = outbound.forCheck(timer, now)
    // A copy of the options: what is kept is what the owner gave.
    const given: Record<string, unknown> = structuredClone(options)
    const probing = async () => type.probe(given, { fetch, resolve, signal, logger })
    try {
      const { scopes, warnings } = await withinTime(probing(), timeoutMs, () => new DestinationError('timeout'))
      if (!isTexts(scopes) || !isTexts(warnings)) throw new TypeError('the probe returned nonsense')
      return { scopes, notes: warnings, failure: null }
    } catch (error) {
      // The code alone: a message may repeat a credential.
      const failure = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected_error'
      return { scopes: [], notes: [], failure }
    } finally {
      timer.abort()
    }
  }

  /** @throws ServiceError `not_found`, `invalid` */
  async function tryOut(provider: string, options: JsonObject): Promise<Tried> {
    const type = registry.connectionType(provider)
    if (!type) throw new ServiceError('not_found', `no plugin here offers a connection to ${provider}`)
    const issues = validator(type.options)(options, ['options'])
    if (issues.length > 0) throw new ServiceError('invalid', `these options do not fit ${provider}`, { issues })
    return { ...(await probe(type, options)), type, options }
  }

  async function keep(
    workspaceId: string,
    { type, options, scopes, notes, failure }: Tried,
    connectedBy: string | null,
  ): Promise<ConnectionSummary> {
    const at = now()
    const id = newId('conn_', at)
    const entries = Object.entries(options)
    const isSealed = ([name]: [string, unknown]) => isSecret(type.options.properties[name] ?? {})
    const sealed = entries
      .filter(isSealed)
      .map(([name, value]) => [name, secrets.seal(String(value), secretContext(id, name))])
    const row: ConnectionRow = {
      id,
      workspaceId,
      provider: type.provider,
      options: Object.fromEntries(entries.filter((entry) => !isSealed(entry))),
      sealedSecrets: Object.fromEntries(sealed),
      scopes,
      notes,
      connectedBy,
      connectedAt: at,
      disconnectedAt: null,
      lastReadAt: null,
      lastFailureAt: failure === null ? null : at,
      lastFailure: failure,
    }
    await storage.write((tx) => tx.connections.insert(row))
    return toSummary(row)
  }

  const connect: ConnectionService['connect'] = async (workspaceId, provider, options, { userId, insists }) => {
    const tried = await tryOut(provider, options)
    const { failure } = tried
    const isRefused = failure !== null && REFUSALS.has(failure)
    if (failure !== null && (isRefused || !insists)) return { failure, isRefused }
    return keep(workspaceId, tried, userId)
  }

  return {
    add: async (workspaceId, provider, options) => keep(workspaceId, await tryOut(provider, options), null),
    async connect(workspaceId, provider, options, by) {
      const sent = JSON.stringify([workspaceId, provider, options, by.userId, by.insists])
      const same = connecting.get(sent)
      if (same) return same
      const connected = connect(workspaceId, provider, options, by).finally(() => connecting.delete(sent))
      connecting.set(sent, connected)
      return connected
    },
    async list(workspaceId) {
      return (await storage.read.connections.active(workspaceId === undefined ? undefined : [workspaceId])).map(
        toSummary,
      )
    },
    async remove(id, workspaceId) {
      const removed = await storage.write((tx) => tx.connections.disconnect(id, now(), workspaceId))
      if (!removed) throw new ServiceError('not_found', `there is no active connection ${id}`)
      opened.delete(id)
    },
    async open(workspaceId) {
      return (await lookups.add(workspaceId)).map(open)
    },
    async openById(id) {
      const row = await storage.read.connections.activeById(id)
      return row && open(row)
    },
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Binds a sealed secret to its place: moved to another connection or field it does not open. */
export function secretContext(connectionId: string, name: string): string {
  return `connection:${connectionId}:${name}`
}
