/** API keys: the service shows a key once, stores its hash, and can revoke it but not restore it. */

import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type Acting, byCommand } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { createBatch } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { hashToken, isToken, newToken } from '../../base/tokens.ts'
import type { KeyCredential, KeyRefusal } from '../../http/credential.ts'
import { differenceOf } from '../../names/confusables.ts'
import { readName, refuseLookAlike } from '../../names/names.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { ApiKeyRow, BoundAgentRow, FoundKeyRow } from '../../storage/workspaces.ts'
import type { Activity } from './activity.ts'
import { wrongLooks } from './bound-looks.ts'
import { hasExpired, type KeySettings, keyRefusal, readSettings, settingDetails, UNLIMITED } from './key-settings.ts'
import { DEFAULT_LIMITS, type Limits, type LimitsConfig } from './limits-config.ts'
import { requireRoom } from './possession-limits.ts'
import { requireWorkspace } from './workspaces.ts'

/** A key without its hash. `createdBy` is the id of a user, or null when made by the command line; `lastUsedAt` is exact to the minute. */
export type ApiKey = Omit<ApiKeyRow, 'keyHash'>

export interface NewKey {
  readonly id: string
  /** The text of the key, which the service does not store. */
  readonly key: string
}

export type KeyChanges = Partial<KeySettings & Pick<ApiKey, 'name'>>

export interface BoundAgent extends BoundAgentRow {
  /** The keys that may claim for the agent now. */
  readonly keys: readonly ApiKey[]
}

export const KEY_PREFIX = 'svc_sk_'

/**
 * Finds keys in texts, for secret scanners. There is no checksum; but 43 letters carry two bits more than a key has, so the last letter is
 * one of sixteen.
 */
export const KEY_PATTERN = String.raw`\bsvc_sk_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048](?![A-Za-z0-9_-])`

export const DEFAULT_OVERLAP_MS = 24 * 60 * 60_000
const LONGEST_OVERLAP_MS = 90 * DEFAULT_OVERLAP_MS
const MAX_LOOKUPS = 500

export interface KeyServiceOptions {
  readonly storage: Storage
  readonly now: () => Instant
  readonly activity: Pick<Activity, 'keyUsed'>
  readonly config?: LimitsConfig
}

/**
 * The service of API keys.
 * @param by the actor of a method; by default the command line
 */
export class KeyService {
  readonly #storage: Storage
  readonly #now: () => Instant
  readonly #activity: Pick<Activity, 'keyUsed'>
  readonly #limits: Limits
  // Requests that arrive together share one lookup, which starts after they arrived.
  readonly #lookups = createBatch<string, FoundKeyRow | undefined>(
    async (hashes) => {
      const rows = await this.#storage.read.keys.byHashes([...new Set(hashes)])
      const byHash = new Map(rows.map((row) => [row.keyHash, row]))
      return hashes.map((keyHash) => byHash.get(keyHash))
    },
    { maxItems: MAX_LOOKUPS },
  )
  readonly #isUsable = (key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>) =>
    key.revokedAt === null && !hasExpired(key, this.#now())

  constructor({ storage, now, activity, config }: KeyServiceOptions) {
    this.#limits = config?.limits ?? DEFAULT_LIMITS
    this.#storage = storage
    this.#now = now
    this.#activity = activity
  }

  /**
   * Makes a key.
   * @param name says what the key is for, in 1 to 100 characters; it is trimmed
   * @throws ServiceError `bad_request`
   */
  create(workspaceId: string, name: string, settings: Partial<KeySettings> = {}, by = byCommand()): Promise<NewKey> {
    return this.#storage.write((tx) => this.createIn(tx, workspaceId, name, settings, by))
  }

  /** Makes a key as `create` does, within a transaction. */
  async createIn(
    tx: Writes,
    workspaceId: string,
    name: string,
    settings: Partial<KeySettings>,
    by: Acting,
  ): Promise<NewKey> {
    const [row, made] = this.#newRow(workspaceId, readName(name), readSettings(settings, UNLIMITED, this.#now()), by)
    await requireWorkspace(tx, workspaceId)
    const others = await tx.keys.list(workspaceId)
    this.#requireRoom(others, by)
    refuseName(row, others)
    await this.#bindAgents(tx, row, by)
    await tx.keys.insert(row)
    this.#record(tx, 'key.created', row, by, settingDetails(row))
    return made
  }

  /** Lists all keys, revoked ones included, oldest first. */
  async list(workspaceId?: string): Promise<readonly ApiKey[]> {
    return (await this.#storage.read.keys.list(workspaceId)).map(toApiKey)
  }

  /**
   * Changes a key.
   * @throws ServiceError `not_found`, also for a key of another workspace than `workspaceId`; `conflict` for one that is revoked or replaced, and for
   * an expired one that would work again where the workspace has no room; `bad_request`
   */
  change(id: string, { name, ...settings }: KeyChanges, workspaceId?: string, by = byCommand()): Promise<ApiKey> {
    return this.#storage.write(async (tx) => {
      const row = await this.#lockedInOrder(tx, id, workspaceId)
      refuseToChange(row)
      const newName = name === undefined ? row.name : readName(name)
      const changes = { name: newName, ...readSettings(settings, row, this.#now()) }
      const others = (await tx.keys.list(row.workspaceId)).filter((key) => key.id !== id)
      if (!this.#isUsable(row) && this.#isUsable({ ...row, ...changes })) this.#requireRoom(others, by)
      if (changes.name !== row.name) refuseName({ ...row, ...changes }, others)
      // Agents that were bound before are bound again, too: they may have been released while the key had expired.
      await this.#bindAgents(tx, { ...row, ...changes }, by)
      const changed = await tx.keys.change(row, changes)
      this.#record(tx, 'key.changed', changed, by, settingDetails(changed))
      return toApiKey(changed)
    })
  }

  /**
   * Makes a key with the same settings, and lets the old one expire. If that would expire, the new one gets as long a time.
   * @throws ServiceError `not_found`; `conflict` for a key that is revoked, expired, or replaced already; `bad_request`
   */
  async rotate(
    id: string,
    overlapMs: number,
    workspaceId?: string,
    by = byCommand(),
  ): Promise<NewKey & { readonly replaced: ApiKey }> {
    if (!(overlapMs >= 0 && overlapMs <= LONGEST_OVERLAP_MS))
      throw new ServiceError('bad_request', 'the overlap must be 0 to 90 days')
    return this.#storage.write(async (tx) => {
      const old = await this.#lockedInOrder(tx, id, workspaceId)
      refuseToRotate(old, this.#now())
      const { expiresAt, networks, agentIds } = old
      const lastsTo = expiresAt === null ? null : this.#now() + (expiresAt - old.createdAt)
      const [row, made] = this.#newRow(old.workspaceId, old.name, { expiresAt: lastsTo, networks, agentIds }, by)
      // A chain of rotations could otherwise make any number of keys that work.
      if (overlapMs > 0) this.#requireRoom(await tx.keys.list(old.workspaceId), by)
      await this.#bindAgents(tx, row, by)
      await tx.keys.insert(row)
      const endsAt = Math.min(this.#now() + overlapMs, expiresAt ?? Number.POSITIVE_INFINITY)
      const replaced = await tx.keys.change(old, { replacedBy: made.id, expiresAt: endsAt })
      this.#record(tx, 'key.rotated', replaced, by, { new_key: made.id, expires_at: formatInstant(endsAt) })
      return { ...made, replaced: toApiKey(replaced) }
    })
  }

  /**
   * Revokes a key. A second revocation keeps the time of the first.
   * @throws ServiceError `not_found`
   */
  revoke(id: string, workspaceId?: string, by = byCommand()): Promise<ApiKey> {
    return this.#storage.write(async (tx) => {
      const row = await this.#locked(tx, id, workspaceId)
      if (row.revokedAt !== null) return toApiKey(row)
      const revoked = await tx.keys.change(row, { revokedAt: this.#now() })
      this.#record(tx, 'key.revoked', revoked, by)
      return toApiKey(revoked)
    })
  }

  /**
   * Finds the credential of a key; undefined for an unknown or revoked one. It reads the database each time, so that a revocation takes effect on the
   * next request.
   */
  async authenticate(key: string, address: string): Promise<KeyCredential | KeyRefusal | undefined> {
    if (!key.startsWith(KEY_PREFIX) || !isToken(key.slice(KEY_PREFIX.length))) return undefined
    const row = await this.#lookups.add(hashToken(key))
    if (!row || row.revokedAt !== null) return undefined
    const refusal = keyRefusal(row, address, this.#now())
    if (refusal) return refusal
    this.#activity.keyUsed(row, address)
    const { id: keyId, workspaceId, payer, agentIds, bindsAgents } = row
    return { kind: 'key', keyId, workspaceId, payer, agentIds, bindsAgents }
  }

  /** Lists the agents for which only keys that are bound to them may claim. */
  async boundAgents(workspaceId?: string): Promise<readonly BoundAgent[]> {
    const [agents, rows] = await Promise.all([
      this.#storage.read.keys.boundAgents(workspaceId),
      this.#storage.read.keys.list(workspaceId),
    ])
    const usable = rows.map(toApiKey).filter(this.#isUsable)
    return agents.map((agent) => ({ ...agent, keys: usable.filter((key) => isBoundTo(key, agent)) }))
  }

  /** Stores the looks of bound agents anew where they are wrong: this version may have another table of confusable characters. */
  async renewLooks(): Promise<void> {
    if ((await wrongLooks(this.#storage.read)).length === 0) return
    await this.#storage.write((tx) => tx.keys.renewLooks())
  }

  /**
   * Lets other keys claim for the agent again.
   * @throws ServiceError `not_found`; `conflict` while a key is bound to it that is neither revoked nor expired
   */
  releaseAgent(workspaceId: string, agentId: string, by: Acting = byCommand()): Promise<void> {
    return this.#storage.write(async (tx) => {
      const agent = await tx.keys.lockAgent(workspaceId, agentId)
      if (!agent) throw new ServiceError('not_found', `the agent ${agentId} is not bound`)
      const keys = (await tx.keys.list(workspaceId)).map(toApiKey)
      const holder = keys.find((key) => this.#isUsable(key) && isBoundTo(key, agent))
      if (holder) {
        const detail = `the agent ${agentId} is bound to the key ${holder.name} (${holder.id}): revoke that key, or take the agent from it`
        throw new ServiceError('conflict', detail)
      }
      await tx.keys.releaseAgent(agent)
      tx.audit.record({ event: 'agent.released', at: this.#now(), by, workspaceId, subject: agentId })
    })
  }

  #newRow(workspaceId: string, name: string, settings: KeySettings, { actor }: Acting): [ApiKeyRow, NewKey] {
    const key = KEY_PREFIX + newToken()
    const id = newId('key_', this.#now())
    const row = {
      ...settings,
      id,
      workspaceId,
      name,
      keyHash: hashToken(key),
      lastFour: key.slice(-4),
      createdBy: actor.kind === 'user' ? actor.id : null,
      createdAt: this.#now(),
      lastUsedAt: null,
      lastAddress: null,
      replacedBy: null,
      revokedAt: null,
    }
    return [row, { id, key }]
  }

  /**
   * Binds agents to a key. Two that look alike by a newer table stay as they are.
   * @throws ServiceError `conflict` for a newly bound agent that looks like another
   */
  async #bindAgents(tx: Writes, { workspaceId, agentIds }: ApiKeyRow, by: Acting): Promise<void> {
    if (agentIds === null) return
    const added = await tx.keys.bindAgents(workspaceId, agentIds, this.#now())
    // Keys can be replaced and renamed also beyond a limit that was lowered.
    if (added.length === 0) return
    // Two transactions that bind agents exclude each other.
    requireRoom(this.#limits, 'agent', (await tx.keys.boundAgents(workspaceId)).length, by)
    for (const agentId of added) {
      const other = (await tx.keys.boundLike(workspaceId, agentId)).find((id) => id !== agentId)
      if (other !== undefined) {
        const detail = `the agent ${visibleName(agentId)} looks like ${visibleName(other)}, which is bound already (${differenceOf(agentId, other)}): choose another id`
        throw new ServiceError('conflict', detail)
      }
    }
  }

  #record(tx: Writes, event: AuditEvent, row: ApiKeyRow, by: Acting, details = {}): void {
    const { id: subject, workspaceId, name } = row
    tx.audit.record({ event, at: this.#now(), by, workspaceId, subject, details: { name, ...details } })
  }

  /**
   * Requires room for one more key that works.
   * @param others the present keys
   */
  #requireRoom(others: readonly ApiKeyRow[], by: Acting): void {
    requireRoom(this.#limits, 'key', others.filter(this.#isUsable).length + 1, by)
  }

  /** Locks a key after its workspace, in the order in which deleting the workspace takes them. */
  async #lockedInOrder(tx: Writes, id: string, workspaceId: string | undefined): Promise<ApiKeyRow> {
    const ofWorkspace = workspaceId ?? (await tx.keys.byId(id))?.workspaceId
    if (ofWorkspace === undefined) throw noSuchKey(id)
    await requireWorkspace(tx, ofWorkspace)
    return this.#locked(tx, id, workspaceId)
  }

  async #locked(tx: Writes, id: string, workspaceId: string | undefined): Promise<ApiKeyRow> {
    const row = await tx.keys.lock(id)
    if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
    throw noSuchKey(id)
  }
}

function noSuchKey(id: string): ServiceError {
  return new ServiceError('not_found', `there is no key ${id}`)
}

/** Refuses a name that looks like that of a key in use. A key and its replacement share theirs. @throws ServiceError `conflict` */
function refuseName({ name }: ApiKeyRow, others: readonly ApiKeyRow[]): void {
  const inUse = others.filter(({ revokedAt }) => revokedAt === null)
  refuseLookAlike(
    name,
    inUse.map((key) => key.name),
  )
}

function isBoundTo({ workspaceId, agentIds }: ApiKey, agent: BoundAgentRow): boolean {
  return workspaceId === agent.workspaceId && agentIds !== null && agentIds.includes(agent.agentId)
}

function refuseToChange({ id, revokedAt, replacedBy }: ApiKeyRow): void {
  if (revokedAt !== null) throw new ServiceError('conflict', `the key ${id} is revoked: make a new one`)
  if (replacedBy === null) return
  throw new ServiceError('conflict', `the key ${id} is replaced already, by ${replacedBy}: use that one`)
}

function refuseToRotate(key: ApiKeyRow, now: Instant): void {
  refuseToChange(key)
  const { id, ...settings } = key
  if (hasExpired(settings, now)) throw new ServiceError('conflict', `the key ${id} has expired: make a new one`)
}

function toApiKey({ keyHash: _, ...key }: ApiKeyRow): ApiKey {
  return key
}
