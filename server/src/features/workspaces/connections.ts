/** Connections, through which the service reads destinations for a workspace. Secrets are encrypted at rest, and only checks get them. */

import { secretNames } from '@claimcheck/core/hosting'
import type { Connection } from '@claimcheck/core/plugin'
import type { Instant, JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { type Acting, byCommand } from '../../base/actor.ts'
import type { AuditDetails } from '../../base/audit-chain.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { createBatch } from '../../base/batch.ts'
import { type Issue, ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { readName } from '../../base/names.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { HostedConnectionType } from '../../plugins/hosted.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import {
  type AddressVisibility,
  type ConnectionRow,
  type ConnectionState,
  type Found,
  REFUSALS,
} from '../../storage/workspaces.ts'
import { usualName } from './connection-names.ts'
import { createConnectionSecrets } from './connection-secrets.ts'
import {
  connectionTypeOf,
  createTrial,
  NOTHING_FOUND,
  type NotConnected,
  notConnected,
  type Probe,
  type TrialOptions,
  type Tried,
} from './connection-trial.ts'
import type { PublishedConnection } from './sources.ts'
import { requireWorkspace } from './workspaces.ts'

export interface ConnectionSummary {
  readonly id: string
  readonly workspaceId: string
  /** What its owners call it, or else a name that says what it is. */
  readonly name: string
  /** What it is called while nobody has named it. */
  readonly usualName: string
  readonly provider: string
  /** Without the secret ones. */
  readonly options: JsonObject
  /** Whether receipts name its base address. The address of a place that the operator lists is named in any case. */
  readonly address: AddressVisibility
  readonly scopes: readonly string[]
  /** Warnings for the owner, such as that the credentials permit more than reading. */
  readonly notes: readonly string[]
  /** The id of a user; null when connected by the command line. */
  readonly connectedBy: string | null
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
  /** Trials count as reads, here and below. */
  readonly lastReadAt: Instant | null
  readonly lastFailureAt: Instant | null
  /** The code of the last failed read. */
  readonly lastFailure: string | null
  /** Null: no trial of it was answered yet. */
  readonly state: ConnectionState | null
  /** Since when. */
  readonly stateAt: Instant | null
  /** What trials read through it; null: nothing is named. */
  readonly trialTarget: string | null
  /** When the credentials end, where the destination told. */
  readonly expiresAt: Instant | null
  /** The actions that can be verified through it. */
  readonly actions: readonly string[]
  /** Other names under which claims of them are read through it. */
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
  /** Blank, or left out: its usual name. */
  readonly name?: string
  /** What is to be read through it, where its type has a `trial`. Blank, or left out: nothing. */
  readonly target?: string
}

/** What came of a test. */
export interface Tested {
  /** The code of the failure; null when the destination could be read. */
  readonly failure: string | null
  /** Null where the destination did not answer, or with something else. */
  readonly state: ConnectionState | null
}

/** A connection with its secrets. Receipts name its base address where the operator lists it, or where it publishes it. */
export type OpenConnection = Connection & PublishedConnection

/** @param acting who does it; by default the command line */
export interface ConnectionService {
  /**
   * Probes the destination once, and stores the connection when the destination can be read. With `insists` it also stores a
   * connection whose destination could not be read; it never stores refused credentials. The same request, sent again during the
   * probe, gets the same connection: two equal connections would make claims ambiguous.
   * @param by `userId` is null for the command line; `address` is `withheld` when left out
   * @throws ServiceError `invalid` for options that do not match the provider's schema, `not_found` for an unknown provider
   */
  connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: ConnectedBy,
    acting?: Acting,
  ): Promise<ConnectionSummary | NotConnected>
  /**
   * Replaces one or more secrets of an active connection. Everything else stays, and the service keeps reading queued claims
   * through it. Probes the destination first, as `connect` does, and changes nothing when the probe fails.
   * @throws ServiceError `invalid` for secrets that do not match the provider's schema, for options that are not secret, and for no
   * secrets at all; `conflict` when another request replaced secrets in the meantime; `not_found`, also for a connection of another
   * workspace than `by.workspaceId`
   */
  replaceSecrets(
    id: string,
    secrets: JsonObject,
    by: { readonly workspaceId?: string; readonly insists: boolean; readonly target?: string },
    acting?: Acting,
  ): Promise<Replaced | NotConnected>
  /**
   * Reads the destination once, as `connect` does, and notes what came of it.
   * @param by `target`: what is to be read from now on; left out: what was read last
   * @throws ServiceError `not_found`, also for a connection of another workspace than `workspaceId`; `invalid` for a target that is none
   */
  test(
    id: string,
    by?: { readonly workspaceId?: string; readonly target?: string | undefined },
    acting?: Acting,
  ): Promise<Tested>
  /** @param name blank: its usual name. @throws ServiceError `bad_request`; `not_found`, also for a connection of another workspace than `workspaceId` */
  rename(id: string, name: string, workspaceId?: string, acting?: Acting): Promise<void>
  /** The active connections, oldest first. */
  list(workspaceId?: string): Promise<readonly ConnectionSummary[]>
  /** @throws ServiceError `not_found`, also for a connection of another workspace than `workspaceId` */
  remove(id: string, workspaceId?: string, acting?: Acting): Promise<void>
  /** The active connections with their secrets, for checks. */
  open(workspaceId: string): Promise<readonly OpenConnection[]>
  /** The active connection with this id and its secrets. */
  openById(id: string): Promise<OpenConnection | undefined>
  /**
   * Gives a key of its own to each connection of earlier versions, whose source key followed from the secret key: receipts go on naming
   * its withheld address by the same id when the secret key is rotated.
   */
  fillSourceKeys(): Promise<void>
}

interface ConnectionServiceOptions extends TrialOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly secrets: Secrets
}

const MAX_LOOKUPS = 500

export function createConnectionService(dependencies: ConnectionServiceOptions): ConnectionService {
  const { storage, registry, secrets, now } = dependencies
  const sealing = createConnectionSecrets(secrets)
  const tryOut = createTrial(dependencies)
  /** Decrypted connections, which are valid while the row has the same sealed secrets. */
  const opened = new LRUCache<string, { readonly sealed: string; readonly connection: OpenConnection }>({ max: 1000 })
  /** The requests whose probe runs, by their whole content. */
  const connecting = new Map<string, Promise<ConnectionSummary | NotConnected>>()

  function open(row: ConnectionRow): OpenConnection {
    const sealed = JSON.stringify([row.sealedSecrets, row.sourceKey])
    const known = opened.get(row.id)
    if (known?.sealed === sealed) return known.connection
    const options = { ...row.options, ...sealing.unseal(row) }
    const publishesAddress = row.address === 'published'
    const sourceKey = sealing.sourceKeyOf(row)
    const connection = { id: row.id, provider: row.provider, options, publishesAddress, sourceKey }
    opened.set(row.id, { sealed, connection })
    return connection
  }

  // Claims that arrive together share one lookup.
  const lookups = createBatch<string, readonly ConnectionRow[]>(
    async (workspaceIds) => {
      const rows = await storage.read.connections.active([...new Set(workspaceIds)])
      return workspaceIds.map((id) => rows.filter((row) => row.workspaceId === id))
    },
    { maxItems: MAX_LOOKUPS },
  )

  function toSummary(row: ConnectionRow): ConnectionSummary {
    const { sealedSecrets: _, sourceKey: _key, ...summary } = row
    const { provider } = row
    const usual = usualName(registry.connectionType(provider)?.title ?? provider, row.options)
    const names = { name: row.name ?? usual, usualName: usual }
    return { ...summary, ...names, actions: registry.actionsFor(provider), aliases: registry.aliasesFor(provider) }
  }

  function sealOptions(id: string, type: HostedConnectionType, options: JsonObject): Readonly<Record<string, string>> {
    const given = secretNames(type).filter((name) => Object.hasOwn(options, name))
    return sealing.seal(id, given, options)
  }

  async function store(
    workspaceId: string,
    tried: Tried,
    { userId, address = 'withheld', name }: ConnectedBy,
    acting: Acting,
  ): Promise<ConnectionSummary> {
    const at = now()
    const { type, options, failure } = tried
    const id = newId('conn_', at)
    const sealedSecrets = sealOptions(id, type, options)
    const row: ConnectionRow = {
      id,
      workspaceId,
      name: readConnectionName(name),
      provider: type.provider,
      options: Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(sealedSecrets, name))),
      sealedSecrets,
      sourceKey: sealing.newSourceKey(id),
      address,
      ...foundBy(tried),
      connectedBy: userId,
      connectedAt: at,
      disconnectedAt: null,
      lastReadAt: failure === null ? at : null,
      lastFailureAt: failure === null ? null : at,
      lastFailure: failure,
    }
    const summary = toSummary(row)
    const secrets = Object.keys(sealedSecrets).join(' ')
    const details = { provider: row.provider, name: summary.name, address, credentials: secrets, ...outcome(tried) }
    await storage.write(async (tx) => {
      await requireWorkspace(tx, workspaceId)
      await tx.connections.insert(row)
      tx.audit.record({ event: 'connection.added', at, by: acting, workspaceId, subject: id, details })
    })
    return summary
  }

  async function connect(
    workspaceId: string,
    provider: string,
    options: JsonObject,
    by: ConnectedBy,
    acting: Acting,
  ): Promise<ConnectionSummary | NotConnected> {
    readConnectionName(by.name)
    const tried = await tryOut(provider, options, by.target ?? null)
    return notConnected(tried, by.insists) ?? store(workspaceId, tried, by, acting)
  }

  async function requireActive(id: string, workspaceId: string | undefined): Promise<ConnectionRow> {
    const row = await storage.read.connections.activeById(id)
    if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
    throw noSuchConnection(id)
  }

  async function tryStored(row: ConnectionRow, target: string | undefined): Promise<Probe & Pick<Tried, 'target'>> {
    try {
      return await tryOut(row.provider, open(row).options, target ?? row.trialTarget)
    } catch (error) {
      // The plugin may require more than when it was connected.
      if (target === undefined && error instanceof ServiceError && error.code === 'invalid')
        return { ...NOTHING_FOUND, failure: 'misconfigured', target: row.trialTarget }
      throw error
    }
  }

  function foundBy(tried: Probe & Pick<Tried, 'target'>): Found {
    const { scopes, notes, expiresAt, target } = tried
    const state = stateOf(tried)
    return { scopes, notes, expiresAt, trialTarget: target, state, stateAt: state === null ? null : now() }
  }

  function recordChange(tx: Writes, row: ConnectionRow, event: AuditEvent, by: Acting, details: AuditDetails): void {
    const { id, workspaceId, provider } = row
    tx.audit.record({ event, at: now(), by, workspaceId, subject: id, details: { provider, ...details } })
  }

  async function note(tx: Writes, id: string, failure: string | null): Promise<true> {
    const at = now()
    if (failure === null) await tx.connections.wasRead(id, at)
    else await tx.connections.failed(id, { askedAt: at, at, code: failure })
    return true
  }

  return {
    async connect(workspaceId, provider, options, by, acting = byCommand()) {
      const { userId, insists, address, name, target } = by
      const request = JSON.stringify([workspaceId, provider, options, userId, insists, address, name, target])
      const running = connecting.get(request)
      if (running) return running
      const connected = connect(workspaceId, provider, options, by, acting).finally(() => connecting.delete(request))
      connecting.set(request, connected)
      return connected
    },
    async replaceSecrets(id, given, { workspaceId, insists, target }, acting = byCommand()) {
      const row = await requireActive(id, workspaceId)
      const type = connectionTypeOf(registry, row.provider)
      const issues = replacementIssues(type, given)
      if (issues.length > 0) {
        throw new ServiceError('invalid', 'only secrets can be replaced: give at least one, and no other option', {
          issues,
        })
      }
      // Unseals only the secrets that stay: the replaced ones may be sealed under a lost key.
      const kept = Object.entries(row.sealedSecrets).filter(([name]) => !Object.hasOwn(given, name))
      const unsealed = sealing.unseal({ id, sealedSecrets: Object.fromEntries(kept) })
      const tried = await tryOut(row.provider, { ...row.options, ...unsealed, ...given }, target ?? row.trialTarget)
      const refusal = notConnected(tried, insists)
      if (refusal) return refusal
      const { failure } = tried
      const sealedNew = sealOptions(id, type, given)
      const replaced = await storage.write(async (tx) => {
        // It may have been sealed under another key meanwhile, which changes none of its secrets.
        const stored = await tx.connections.activeById(id)
        if (!stored || !sealing.haveSame(stored, row)) return undefined
        const sealedSecrets = { ...stored.sealedSecrets, ...sealedNew }
        const next = { ...stored, sealedSecrets, sourceKey: sealing.usableSourceKey(stored), ...foundBy(tried) }
        if (!(await tx.connections.replaceSecrets(stored, next))) return undefined
        await note(tx, id, failure)
        const details = { credentials: Object.keys(given).sort().join(' '), ...outcome(tried) }
        recordChange(tx, stored, 'connection.credentials_replaced', acting, details)
        return next
      })
      if (!replaced) {
        await requireActive(id, workspaceId)
        throw new ServiceError(
          'conflict',
          `nothing is changed: another request replaced the secrets of the connection ${id} at the same time. Try again`,
        )
      }
      opened.delete(id)
      return { connection: toSummary(replaced), failure }
    },
    async test(id, { workspaceId, target } = {}, acting = byCommand()) {
      const row = await requireActive(id, workspaceId)
      const tried = await tryStored(row, target)
      const { failure } = tried
      const state = stateOf(tried)
      await storage.write(async (tx) => {
        await note(tx, id, failure)
        if (failure === null) await tx.connections.tried(row, foundBy(tried))
        recordChange(tx, row, 'connection.tested', acting, { failure, state })
      })
      return { failure, state }
    },
    async rename(id, name, workspaceId, acting = byCommand()) {
      const read = readConnectionName(name)
      await storage.write(async (tx) => {
        const row = await tx.connections.activeById(id)
        if (!row || !(await tx.connections.rename(id, read, workspaceId))) throw noSuchConnection(id)
        const from = toSummary(row).name
        recordChange(tx, row, 'connection.renamed', acting, { from, to: toSummary({ ...row, name: read }).name })
      })
    },
    async list(workspaceId) {
      return (await storage.read.connections.active(workspaceId === undefined ? undefined : [workspaceId])).map(
        toSummary,
      )
    },
    async remove(id, workspaceId, acting = byCommand()) {
      await storage.write(async (tx) => {
        const row = await tx.connections.activeById(id)
        if (!row || !(await tx.connections.disconnect(id, now(), workspaceId))) throw noSuchConnection(id)
        recordChange(tx, row, 'connection.removed', acting, { name: toSummary(row).name })
      })
      opened.delete(id)
    },
    async open(workspaceId) {
      return (await lookups.add(workspaceId)).map(open)
    },
    async fillSourceKeys() {
      const rows = (await storage.read.connections.active()).filter(({ sourceKey }) => sourceKey === null)
      for (const row of rows) {
        const sealed = sealing.usableSourceKey(row)
        await storage.write((tx) => tx.connections.fillSourceKey(row.id, sealed))
      }
    },
    async openById(id) {
      const row = await storage.read.connections.activeById(id)
      return row && open(row)
    },
  }
}

/** Null where the destination did not answer, or with something else. */
function stateOf({ failure, proves }: Probe): ConnectionState | null {
  return failure !== null && REFUSALS.has(failure) ? 'refused' : proves
}

/** For the audit trail: what came of the trial. */
function outcome(tried: Probe): AuditDetails {
  const { failure } = tried
  return failure === null ? { state: stateOf(tried) } : { failure }
}

/** @throws ServiceError `bad_request` */
function readConnectionName(name = ''): string | null {
  return name.trim() === '' ? null : readName(name)
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
