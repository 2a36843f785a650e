/** Connections, through which the service reads destinations for a workspace. Secrets are encrypted at rest, and only checks get them. */

import { type Refreshes, secretNames } from '@claimcheck/core/hosting'
import type { Connection } from '@claimcheck/core/plugin'
import type { Instant, JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { type Acting, byCommand } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { createBatch } from '../../base/batch.ts'
import { type Issue, ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets.ts'
import { readName, refuseLookAlike } from '../../names/names.ts'
import type { HostedConnectionType, Tenant } from '../../plugins/hosted.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { AuditDetails } from '../../storage/audit-chain.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import {
  type AddressVisibility,
  type ConnectionRow,
  type ConnectionState,
  type Found,
  REFUSALS,
  type StoredIdentity,
} from '../../storage/workspaces.ts'
import { usualName } from './connection-names.ts'
import { noteFailure, noteRead } from './connection-notes.ts'
import { type ConnectionSecrets, createConnectionSecrets } from './connection-secrets.ts'
import { type ConnectionTokens, createConnectionTokens } from './connection-tokens.ts'
import {
  connectionTypeOf,
  createTrial,
  NOTHING_FOUND,
  type NotConnected,
  notConnected,
  type Probe,
  type Trial,
  type TrialOptions,
  type Tried,
} from './connection-trial.ts'
import { DEFAULT_LIMITS, type Limits, type LimitsConfig } from './limits-config.ts'
import { type Overlaps, overlapsOf } from './overlaps.ts'
import { requireRoom } from './possession-limits.ts'
import type { PublishedConnection } from './sources.ts'
import { requireWorkspace } from './workspaces.ts'

export interface ConnectionSummary {
  readonly id: string
  readonly workspaceId: string
  /** The name that owners gave the connection, or its usual name. */
  readonly name: string
  /** The name of the connection while no other is given. */
  readonly usualName: string
  readonly provider: string
  /** The options of the connection that are not secret. */
  readonly options: JsonObject
  /** The choice whether receipts name the connection's base address. An address that the operator lists is named in any case. */
  readonly address: AddressVisibility
  readonly scopes: readonly string[]
  /** Warnings for the owner, such as that the credentials permit more than reading. */
  readonly notes: readonly string[]
  /** The id of the user who connected it; null when connected by the command line. */
  readonly connectedBy: string | null
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
  /** The time of the last successful read. Trials count as reads, here and in `lastFailureAt`. */
  readonly lastReadAt: Instant | null
  readonly lastFailureAt: Instant | null
  /** The code of the last failed read. */
  readonly lastFailure: string | null
  /** The state that trials and reads found; null if no trial was answered yet. */
  readonly state: ConnectionState | null
  /** The time since when the connection has its state. */
  readonly stateAt: Instant | null
  /** The target that trials read through the connection; null if none is named. */
  readonly trialTarget: string | null
  /** The end of the credentials, if the destination says it. */
  readonly expiresAt: Instant | null
  /** The identity of the destination; null for a type that tells none, and where no trial told one. */
  readonly identity: StoredIdentity | null
  /** The actions that can be verified through the connection. */
  readonly actions: readonly string[]
  /** Other names under which claims of those actions are read through the connection. */
  readonly aliases: readonly string[]
}

export interface Replaced {
  readonly connection: ConnectionSummary
  /** The code of the failure when the destination could not be read with the new secrets; null when it could. */
  readonly failure: string | null
}

export interface ConnectedBy {
  readonly userId: string | null
  readonly insists: boolean
  readonly address?: AddressVisibility
  /** The name of the connection; blank or left out for its usual name. */
  readonly name?: string
  /** The target to read through the connection, if its type has a `trial`; blank or left out for none. */
  readonly target?: string
}

export interface TestResult {
  /** The code of the failure; null when the destination could be read. */
  readonly failure: string | null
  /** The state that the test showed; null where the destination did not answer, or with something else. */
  readonly state: ConnectionState | null
  /** The reason for the failure, for the operator alone. */
  readonly reason: string | undefined
}

/** A connection with its secrets. Receipts name its base address if the operator lists it, or the connection publishes it. */
export type OpenConnection = Omit<Connection, 'identity'> &
  PublishedConnection & { readonly knownIdentity?: StoredIdentity | null }

export interface ConnectionServiceOptions extends TrialOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly secrets: Secrets
  readonly config: TrialOptions['config'] & Partial<LimitsConfig>
}

const MAX_LOOKUPS = 500

/**
 * The service of connections.
 * @param acting the actor of a method; by default the command line
 */
export class ConnectionService {
  readonly #storage: Storage
  readonly #registry: Registry
  readonly #now: ConnectionServiceOptions['now']
  readonly #sealing: ConnectionSecrets
  readonly #tokens: ConnectionTokens
  readonly #tryOut: Trial
  readonly #limits: Limits
  /** Decrypted connections, which are valid while the row has the same sealed secrets. */
  readonly #opened = new LRUCache<string, { readonly sealed: string; readonly connection: OpenConnection }>({
    max: 1000,
  })
  /** Overlaps by workspace, kept while its connections stay the same: plugins are asked about dozens of claims. */
  readonly #overlaps = new LRUCache<string, { readonly of: string; readonly found: Promise<Overlaps> }>({ max: 1000 })
  /** Requests with a running probe, by their whole content. */
  readonly #connecting = new Map<string, Promise<ConnectionSummary | NotConnected>>()
  // Claims that arrive together share one lookup.
  readonly #lookups = createBatch<string, readonly ConnectionRow[]>(
    async (workspaceIds) => {
      const rows = await this.#storage.read.connections.active([...new Set(workspaceIds)])
      return workspaceIds.map((id) => rows.filter((row) => row.workspaceId === id))
    },
    { maxItems: MAX_LOOKUPS },
  )

  constructor(dependencies: ConnectionServiceOptions) {
    this.#storage = dependencies.storage
    this.#registry = dependencies.registry
    this.#now = dependencies.now
    this.#sealing = createConnectionSecrets(dependencies.secrets)
    this.#tokens = createConnectionTokens(dependencies)
    this.#limits = dependencies.config.limits ?? DEFAULT_LIMITS
    this.#tryOut = createTrial(dependencies)
  }

  /**
   * Probes the destination once, and stores the connection when the destination can be read. With `insists` it also stores a
   * connection to a destination that could not be read; it never stores refused credentials. The same request, sent again during the
   * probe, gets the same connection: two equal connections would make claims ambiguous.
   * @param by `userId` is null for the command line; `address` is `withheld` when left out
   * @throws ServiceError `invalid` for options that do not match the provider's schema, `not_found` for an unknown provider
   */
  async connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: ConnectedBy,
    acting: Acting = byCommand(),
  ): Promise<ConnectionSummary | NotConnected> {
    const request = JSON.stringify([workspaceId, provider, options, by])
    const running =
      this.#connecting.get(request) ??
      this.#connect(workspaceId, provider, options, by, acting).finally(() => this.#connecting.delete(request))
    this.#connecting.set(request, running)
    return running
  }

  /**
   * Replaces one or more secrets of an active connection. Everything else stays, and the service keeps reading queued claims
   * through it. Probes the destination first, as `connect` does, and changes nothing when the probe fails.
   * @throws ServiceError `invalid` for secrets that do not match the provider's schema, for options that are not secret, and for no
   * secrets at all; `conflict` when another request replaced secrets in the meantime, and for a refresh token of another connection;
   * `not_found`, also for a connection of another
   * workspace than `by.workspaceId`
   */
  async replaceSecrets(
    id: string,
    given: JsonObject,
    { workspaceId, insists, target }: { workspaceId?: string; insists: boolean; target?: string | undefined },
    acting: Acting = byCommand(),
  ): Promise<Replaced | NotConnected> {
    const row = await this.#requireActive(id, workspaceId)
    const type = connectionTypeOf(this.#registry, row.provider)
    const issues = replacementIssues(type, given)
    if (issues.length > 0) {
      const problem = 'only secrets can be replaced: give at least one, and no other option'
      throw new ServiceError('invalid', problem, { issues })
    }
    const others = (await this.#storage.read.connections.active([row.workspaceId])).filter((other) => other.id !== id)
    this.#tokens.refuseShared(others, type, given)
    // Only the secrets that stay are unsealed: the replaced ones may be sealed under a lost key.
    const kept = Object.entries(row.sealedSecrets).filter(([name]) => !Object.hasOwn(given, name))
    const unsealed = this.#sealing.unseal({ id, sealedSecrets: Object.fromEntries(kept) })
    const trying = { workspaceId: row.workspaceId, connectionId: row.id, refreshes: this.#tokens.replacing(row, given) }
    const options = { ...row.options, ...unsealed, ...given }
    const tried = await this.#tryOut(trying, row.provider, options, target ?? row.trialTarget)
    const refusal = notConnected(tried, insists)
    if (refusal) return refusal
    const { failure } = tried
    const sealedNew = this.#sealOptions(id, type, given)
    const replaced = await this.#storage.write(async (tx) => {
      // The row may have been sealed under another key meanwhile, which changes none of its secrets.
      const stored = await tx.connections.lock(id)
      if (!stored || !this.#sealing.haveSame(stored, row)) return undefined
      const sealedSecrets = { ...stored.sealedSecrets, ...sealedNew }
      const next = {
        ...stored,
        sealedSecrets,
        sealedTokens: this.#tokens.replaced(stored, given),
        sourceKey: this.#sealing.usableSourceKey(stored),
        ...this.#foundBy(tried, stored.identity),
      }
      if (!(await tx.connections.replaceSecrets(stored, next))) return undefined
      await this.#note(tx, id, failure)
      const details = {
        credentials: Object.keys(given).sort().join(' '),
        ...outcome(tried),
        ...changeOf(stored.identity, next.identity),
      }
      this.#recordChange(tx, stored, 'connection.credentials_replaced', acting, details)
      return next
    })
    if (!replaced) {
      await this.#requireActive(id, workspaceId)
      const problem = `another request replaced the secrets of the connection ${id} at the same time`
      throw new ServiceError('conflict', `nothing is changed: ${problem}. Try again`)
    }
    this.#opened.delete(id)
    return { connection: this.#toSummary(replaced), failure }
  }

  /**
   * Reads the destination once, as `connect` does, and notes the result.
   * @param by `target`: the target to read from now on; left out, the one of the last test
   * @throws ServiceError `not_found`, also for a connection of another workspace than `workspaceId`; `invalid` for an invalid target
   */
  async test(
    id: string,
    { workspaceId, target }: { workspaceId?: string; target?: string | undefined } = {},
    acting: Acting = byCommand(),
  ): Promise<TestResult> {
    const row = await this.#requireActive(id, workspaceId)
    const tried = await this.#tryStored(row, target)
    const { failure, reason } = tried
    const state = stateOf(tried)
    await this.#storage.write(async (tx) => {
      const stored = await tx.connections.lock(id)
      await this.#note(tx, id, failure)
      const found = stored && this.#foundByTest(tried, row, stored)
      if (found) await tx.connections.tried(stored, found)
      const changed = found ? changeOf(stored.identity, found.identity) : {}
      this.#recordChange(tx, row, 'connection.tested', acting, { failure, state, ...changed })
    })
    return { failure, state, reason }
  }

  /**
   * Renames a connection.
   * @param name the new name; blank for its usual name
   * @throws ServiceError `bad_request`; `not_found`, also for a connection of another workspace than `workspaceId`
   */
  async rename(id: string, name: string, workspaceId?: string, acting: Acting = byCommand()): Promise<void> {
    const read = readConnectionName(name)
    await this.#storage.write(async (tx) => {
      const row = await tx.connections.activeById(id)
      if (!row || !(await tx.connections.rename(id, read, workspaceId))) throw noSuchConnection(id)
      refuseName({ ...row, name: read }, await tx.connections.active([row.workspaceId]))
      const details = { from: this.#toSummary(row).name, to: this.#toSummary({ ...row, name: read }).name }
      this.#recordChange(tx, row, 'connection.renamed', acting, details)
    })
  }

  /** Lists the active connections, oldest first. */
  async list(workspaceId?: string): Promise<readonly ConnectionSummary[]> {
    const rows = await this.#storage.read.connections.active(workspaceId === undefined ? undefined : [workspaceId])
    return rows.map((row) => this.#toSummary(row))
  }

  /** Finds, for each active connection, the others that the same claim can fit. */
  async overlaps(workspaceId: string): Promise<Overlaps> {
    const [rows, payer = workspaceId] = await Promise.all([
      this.#storage.read.connections.active([workspaceId]),
      this.#storage.read.workspaces.payer(workspaceId),
    ])
    const of = JSON.stringify(rows.map((row) => [row.id, row.options, row.sealedSecrets, row.trialTarget]))
    const known = this.#overlaps.get(workspaceId)
    if (known?.of === of) return known.found
    const found = this.#findOverlaps(rows, { workspaceId, payer, urgency: 'brief' })
    this.#overlaps.set(workspaceId, { of, found })
    found.catch(() => this.#overlaps.delete(workspaceId))
    return found
  }

  #findOverlaps(rows: readonly ConnectionRow[], tenant: Tenant): Promise<Overlaps> {
    const opened = rows.flatMap((row) => {
      try {
        return [{ ...this.#open(row), trialTarget: row.trialTarget }]
      } catch {
        // Connections that are sealed under a lost key read no claim.
        return []
      }
    })
    return overlapsOf(opened, this.#registry, tenant)
  }

  /**
   * Removes a connection.
   * @throws ServiceError `not_found`, also for a connection of another workspace than `workspaceId`
   */
  async remove(id: string, workspaceId?: string, acting: Acting = byCommand()): Promise<void> {
    await this.#storage.write(async (tx) => {
      const row = await tx.connections.activeById(id)
      if (!row || !(await tx.connections.disconnect(id, this.#now(), workspaceId))) throw noSuchConnection(id)
      this.#recordChange(tx, row, 'connection.removed', acting, { name: this.#toSummary(row).name })
    })
    this.#opened.delete(id)
  }

  /** Lists the active connections with their secrets, for checks. */
  async open(workspaceId: string): Promise<readonly OpenConnection[]> {
    return (await this.#lookups.add(workspaceId)).map((one) => this.#open(one))
  }

  /** Gets access tokens by the refresh tokens of a connection. */
  refreshesOf(connection: Pick<OpenConnection, 'id'>): Refreshes {
    return this.#tokens.of(connection.id)
  }

  /** Describes these connections, also those that were removed since. */
  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionSummary>> {
    const rows = await this.#storage.read.connections.byIds(ids)
    return new Map(rows.map((row) => [row.id, this.#toSummary(row)]))
  }

  /** Waits for refreshes that are under way: losing their tokens would cost a new sign-in. */
  async close(): Promise<void> {
    await this.#tokens.close()
  }

  /** Finds the active connection with this id, with its secrets. */
  async openById(id: string): Promise<OpenConnection | undefined> {
    const row = await this.#storage.read.connections.activeById(id)
    return row && this.#open(row)
  }

  #open(row: ConnectionRow): OpenConnection {
    const sealed = JSON.stringify([row.sealedSecrets, row.sourceKey, row.identity, row.options])
    const known = this.#opened.get(row.id)
    if (known?.sealed === sealed) return known.connection
    const connection = {
      id: row.id,
      provider: row.provider,
      options: { ...row.options, ...this.#sealing.unseal(row) },
      knownIdentity: row.identity,
      publishesAddress: row.address === 'published',
      sourceKey: this.#sealing.sourceKeyOf(row),
    }
    this.#opened.set(row.id, { sealed, connection })
    return connection
  }

  #toSummary(row: ConnectionRow): ConnectionSummary {
    const { sealedSecrets: _, sealedTokens: _tokens, sourceKey: _key, ...summary } = row
    const { provider } = row
    const usual = usualName(this.#registry.connectionType(provider)?.title ?? provider, row.options)
    return {
      ...summary,
      name: row.name ?? usual,
      usualName: usual,
      actions: this.#registry.actionsFor(provider),
      aliases: this.#registry.aliasesFor(provider),
    }
  }

  #sealOptions(id: string, type: HostedConnectionType, options: JsonObject): Readonly<Record<string, string>> {
    const given = secretNames(type).filter((name) => Object.hasOwn(options, name))
    return this.#sealing.seal(id, given, options)
  }

  async #store(
    workspaceId: string,
    tried: Tried,
    { userId, address = 'withheld', name }: ConnectedBy,
    acting: Acting,
  ): Promise<ConnectionSummary> {
    const at = this.#now()
    const { type, options, failure } = tried
    const id = newId('conn_', at)
    const sealedSecrets = this.#sealOptions(id, type, options)
    const row: ConnectionRow = {
      id,
      workspaceId,
      name: readConnectionName(name),
      provider: type.provider,
      options: Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(sealedSecrets, name))),
      sealedSecrets,
      sealedTokens: this.#tokens.connected({ id, workspaceId, provider: type.provider }, options),
      sourceKey: this.#sealing.newSourceKey(id),
      address,
      ...this.#foundBy(tried, null),
      connectedBy: userId,
      connectedAt: at,
      disconnectedAt: null,
      lastReadAt: failure === null ? at : null,
      lastFailureAt: failure === null ? null : at,
      lastFailure: failure,
    }
    const summary = this.#toSummary(row)
    const secrets = Object.keys(sealedSecrets).join(' ')
    const details = {
      provider: row.provider,
      name: summary.name,
      address,
      credentials: secrets,
      ...outcome(tried),
      ...changeOf(null, row.identity),
    }
    await this.#storage.write(async (tx) => {
      await requireWorkspace(tx, workspaceId)
      const others = await tx.connections.active([workspaceId])
      requireRoom(this.#limits, 'connection', others.length + 1, acting)
      refuseName(row, others)
      this.#tokens.refuseShared(others, type, options)
      await tx.connections.insert(row)
      tx.audit.record({ event: 'connection.added', at, by: acting, workspaceId, subject: id, details })
    })
    return summary
  }

  async #connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: ConnectedBy,
    acting: Acting,
  ): Promise<ConnectionSummary | NotConnected> {
    // Names are checked before the credentials are tried.
    const others = await this.#storage.read.connections.active([workspaceId])
    refuseName({ id: '', name: readConnectionName(by.name) }, others)
    this.#tokens.refuseShared(others, connectionTypeOf(this.#registry, provider), options)
    const refreshes = this.#tokens.trying({ workspaceId, provider })
    const trying = { workspaceId, connectionId: null, refreshes }
    const tried = await this.#tryOut(trying, provider, options, by.target ?? null)
    return notConnected(tried, by.insists) ?? this.#store(workspaceId, tried, by, acting)
  }

  async #requireActive(id: string, workspaceId: string | undefined): Promise<ConnectionRow> {
    const row = await this.#storage.read.connections.activeById(id)
    if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
    throw noSuchConnection(id)
  }

  async #tryStored(row: ConnectionRow, target: string | undefined): Promise<Probe & Pick<Tried, 'target'>> {
    try {
      const trying = { workspaceId: row.workspaceId, connectionId: row.id, refreshes: this.#tokens.of(row.id) }
      return await this.#tryOut(trying, row.provider, this.#open(row).options, target ?? row.trialTarget)
    } catch (error) {
      // The plugin may require more than when the destination was connected.
      if (target === undefined && error instanceof ServiceError && error.code === 'invalid')
        return { ...NOTHING_FOUND, failure: 'misconfigured', target: row.trialTarget }
      throw error
    }
  }

  /** @param identity the identity before, which stays where the trial told none */
  #foundBy(tried: Probe & Pick<Tried, 'target'>, identity: StoredIdentity | null): Found {
    const { scopes, notes, expiresAt, target } = tried
    const state = stateOf(tried)
    const at = this.#now()
    const isOther = tried.identity !== null && tried.identity !== identity?.text
    return {
      ...{ scopes, notes, expiresAt, trialTarget: target, state, stateAt: state === null ? null : at },
      identity: isOther ? { text: tried.identity, since: at, former: identity?.text ?? null } : identity,
    }
  }

  /**
   * Finds what a test changes in a connection: nothing, where the connection has other secrets or another identity by now.
   * @param row the connection before the test
   */
  #foundByTest(tried: Probe & Pick<Tried, 'target'>, row: ConnectionRow, stored: ConnectionRow): Found | undefined {
    if (!this.#sealing.haveSame(stored, row) || stored.identity?.since !== row.identity?.since) return undefined
    const found = this.#foundBy(tried, stored.identity)
    if (tried.failure === null) return found
    // A target that was shown before is hidden now, which differs from one that does not exist.
    if (tried.failure !== 'forbidden' || tried.target !== stored.trialTarget) return undefined
    const { scopes, notes, expiresAt } = stored
    return { ...found, scopes, notes, expiresAt }
  }

  #recordChange(tx: Writes, row: ConnectionRow, event: AuditEvent, by: Acting, details: AuditDetails): void {
    const { id, workspaceId, provider } = row
    tx.audit.record({ event, at: this.#now(), by, workspaceId, subject: id, details: { provider, ...details } })
  }

  async #note(tx: Writes, id: string, failure: string | null): Promise<void> {
    const at = this.#now()
    if (failure === null) await noteRead(tx, id, at)
    else await noteFailure(tx, id, { askedAt: at, at, code: failure })
  }
}

/** Returns the state that a trial shows; null where the destination did not answer, or with something else. */
function stateOf({ failure, proves }: Probe): ConnectionState | null {
  return failure !== null && REFUSALS.has(failure) ? 'refused' : proves
}

/** Describes the result of the trial for the audit trail. */
function outcome(tried: Probe): AuditDetails {
  const { failure } = tried
  return failure === null ? { state: stateOf(tried) } : { failure }
}

/** Describes a new identity of the destination for the audit trail. */
function changeOf(before: StoredIdentity | null, after: StoredIdentity | null): AuditDetails {
  if (after === null || after.text === before?.text) return {}
  return { identity: after.text, ...(before && { former_identity: before.text }) }
}

/**
 * Reads the name of a connection; null for a blank one.
 * @throws ServiceError `bad_request`
 */
function readConnectionName(name = ''): string | null {
  return name.trim() === '' ? null : readName(name)
}

/** Refuses a name that looks like that of another active connection of the workspace. @throws ServiceError `conflict` */
function refuseName({ id, name }: Pick<ConnectionRow, 'id' | 'name'>, active: readonly ConnectionRow[]): void {
  if (name === null) return
  refuseLookAlike(
    name,
    active.flatMap((other) => (other.id === id ? [] : (other.name ?? []))),
  )
}

function replacementIssues(type: HostedConnectionType, given: JsonObject): Issue[] {
  const names = Object.keys(given)
  const secret = secretNames(type)
  if (names.length === 0) {
    const [only, ...more] = secret
    if (only !== undefined && more.length === 0)
      return [{ loc: ['options', only], msg: 'Field required', type: 'missing' }]
    return [{ loc: ['options'], msg: 'give at least one secret', type: 'nothing_given' }]
  }
  const others = names.filter((name) => !secret.includes(name))
  const msg = 'Value error, only secrets can be replaced, and this option is not secret'
  return others.map((name) => ({ loc: ['options', name], msg, type: 'value_error' }))
}

function noSuchConnection(id: string): ServiceError {
  return new ServiceError('not_found', `there is no active connection ${id}`)
}
