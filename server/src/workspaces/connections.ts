/** Connections: what a workspace lets us read through. Secrets are sealed at rest and never come out again but into a check. */
import { type Connection, type ConnectionType, type Instant, type JsonObject, secretNames } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../base/batch.ts'
import type { Issue } from '../base/errors.ts'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Secrets } from '../base/secrets.ts'
import type { Registry } from '../plugins/plugins.ts'
import type { Storage } from '../storage/storage.ts'
import type { ConnectionRow } from '../storage/workspaces.ts'
import { createTrial, type NotConnected, type TrialOptions, type Tried, typeOf, withheld } from './connection-trial.ts'

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

export interface Replaced {
  readonly connection: ConnectionSummary
  /** Why it could not be read with them: a code; null when it could. */
  readonly failure: string | null
}

export interface ConnectionService {
  /**
   * Tries the destination once and keeps the connection when it can be read; with `insists`, also when the destination
   * could not be reached. Refused credentials are never kept. The same options, sent again while they are being tried, are the
   * same connection: with two alike, a claim would be ambiguous.
   * @param by `userId` null: the command line
   * @throws ServiceError `invalid` for options that the provider's type refuses, `not_found` for an unknown provider
   */
  connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: { readonly userId: string | null; readonly insists: boolean },
  ): Promise<ConnectionSummary | NotConnected>
  /**
   * Gives an active connection other secrets, one at least; whatever else it has stays, and claims that wait go on being read
   * through it. Tries the destination with them first, as `connect` does, and keeps what it had where they are not kept.
   * @throws ServiceError `invalid` for secrets that the provider's type refuses, for options that are none, and where none is
   * given; `conflict` when it was given others meanwhile; `not_found`, also for a connection of another workspace than the one
   * that is named
   */
  replaceSecrets(
    id: string,
    secrets: JsonObject,
    by: { readonly workspaceId?: string; readonly insists: boolean },
  ): Promise<Replaced | NotConnected>
  /** Active ones, oldest first. */
  list(workspaceId?: string): Promise<readonly ConnectionSummary[]>
  /** @throws ServiceError `not_found`, also for a connection of another workspace than the one that is named */
  remove(id: string, workspaceId?: string): Promise<void>
  /** Active ones with their secrets, for checking. */
  open(workspaceId: string): Promise<readonly Connection[]>
  /** The active one of this id, with its secrets. */
  openById(id: string): Promise<Connection | undefined>
}

interface ConnectionServiceOptions extends TrialOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly secrets: Secrets
}

const MOST_LOOKUPS = 500

export function createConnectionService(dependencies: ConnectionServiceOptions): ConnectionService {
  const { storage, registry, secrets, now } = dependencies
  const tryOut = createTrial(dependencies)
  /** What was unsealed once need not be again, while its row says the same. */
  const opened = new LRUCache<string, { readonly sealed: string; readonly connection: Connection }>({ max: 1000 })
  /** What is being tried for somebody, by everything that was sent. */
  const connecting = new Map<string, Promise<ConnectionSummary | NotConnected>>()

  function unseal({ id, sealedSecrets }: Pick<ConnectionRow, 'id' | 'sealedSecrets'>): JsonObject {
    const sealed = Object.entries(sealedSecrets)
    return Object.fromEntries(sealed.map(([name, text]) => [name, secrets.open(text, secretContext(id, name))]))
  }

  function open(row: ConnectionRow): Connection {
    const sealed = JSON.stringify(row.sealedSecrets)
    const known = opened.get(row.id)
    if (known?.sealed === sealed) return known.connection
    const connection = { id: row.id, provider: row.provider, options: { ...row.options, ...unseal(row) } }
    opened.set(row.id, { sealed, connection })
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

  function seal(id: string, type: ConnectionType, options: JsonObject): Readonly<Record<string, string>> {
    const given = secretNames(type).filter((name) => Object.hasOwn(options, name))
    return Object.fromEntries(given.map((name) => [name, secrets.seal(String(options[name]), secretContext(id, name))]))
  }

  async function keep(
    workspaceId: string,
    { type, options, scopes, notes, failure }: Tried,
    connectedBy: string | null,
  ): Promise<ConnectionSummary> {
    const at = now()
    const id = newId('conn_', at)
    const sealedSecrets = seal(id, type, options)
    const row: ConnectionRow = {
      id,
      workspaceId,
      provider: type.provider,
      options: Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(sealedSecrets, name))),
      sealedSecrets,
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
    return withheld(tried, insists) ?? keep(workspaceId, tried, userId)
  }

  async function requireActive(id: string, workspaceId: string | undefined): Promise<ConnectionRow> {
    const row = await storage.read.connections.activeById(id)
    if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
    throw noSuchConnection(id)
  }

  return {
    async connect(workspaceId, provider, options, by) {
      const sent = JSON.stringify([workspaceId, provider, options, by.userId, by.insists])
      const same = connecting.get(sent)
      if (same) return same
      const connected = connect(workspaceId, provider, options, by).finally(() => connecting.delete(sent))
      connecting.set(sent, connected)
      return connected
    },
    async replaceSecrets(id, given, { workspaceId, insists }) {
      const row = await requireActive(id, workspaceId)
      const type = typeOf(registry, row.provider)
      const issues = replacementIssues(type, given)
      if (issues.length > 0) throw new ServiceError('invalid', 'secrets are replaced, and only these', { issues })
      const staying = Object.entries(row.sealedSecrets).filter(([name]) => !Object.hasOwn(given, name))
      const sealedSecrets = Object.fromEntries(staying)
      // Those that are replaced need not open any more.
      const tried = await tryOut(row.provider, { ...row.options, ...unseal({ id, sealedSecrets }), ...given })
      const refusal = withheld(tried, insists)
      if (refusal) return refusal
      const { scopes, notes, failure } = tried
      const replaced = { ...row, sealedSecrets: { ...sealedSecrets, ...seal(id, type, given) }, scopes, notes }
      if (!(await storage.write((tx) => tx.connections.replaceSecrets(row, replaced)))) {
        await requireActive(id, workspaceId)
        throw new ServiceError(
          'conflict',
          `the connection ${id} was given other credentials meanwhile: nothing is changed`,
        )
      }
      opened.delete(id)
      return { connection: toSummary(replaced), failure }
    },
    async list(workspaceId) {
      return (await storage.read.connections.active(workspaceId === undefined ? undefined : [workspaceId])).map(
        toSummary,
      )
    },
    async remove(id, workspaceId) {
      const removed = await storage.write((tx) => tx.connections.disconnect(id, now(), workspaceId))
      if (!removed) throw noSuchConnection(id)
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

function replacementIssues(type: ConnectionType, given: JsonObject): Issue[] {
  const names = Object.keys(given)
  const secret = secretNames(type)
  if (names.length === 0) {
    const [only, ...more] = secret
    if (only !== undefined && more.length === 0)
      return [{ loc: ['options', only], msg: 'Field required', type: 'missing' }]
    return [{ loc: ['options'], msg: 'give at least one secret', type: 'nothing_given' }]
  }
  const others = names.filter((name) => !secret.includes(name))
  const msg = 'Value error, this is no secret, and stays as it is'
  return others.map((name) => ({ loc: ['options', name], msg, type: 'value_error' }))
}

function noSuchConnection(id: string): ServiceError {
  return new ServiceError('not_found', `there is no active connection ${id}`)
}

/** Binds a sealed secret to its place: moved to another connection or field it does not open. */
export function secretContext(connectionId: string, name: string): string {
  return `connection:${connectionId}:${name}`
}
