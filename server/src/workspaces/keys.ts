/** API keys: the service shows a key once, stores its hash, and can revoke it but not restore it. */
import type { Instant } from '@claimcheck/core'
import { type Acting, byCommand } from '../base/actor.ts'
import { createBatch } from '../base/batch.ts'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { readName } from '../base/names.ts'
import { hashToken, isToken, newToken } from '../base/tokens.ts'
import type { Storage } from '../storage/storage.ts'
import type { ApiKeyRow } from '../storage/workspaces.ts'
import type { Activity } from './activity.ts'

/** An accepted API key, which gives full access to its workspace. */
export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  readonly workspaceId: string
}

export interface ApiKey {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  /** The last four characters of the key. */
  readonly lastFour: string
  /** The id of a user; null when created by the command line. */
  readonly createdBy: string | null
  readonly createdAt: Instant
  /** To the minute. */
  readonly lastUsedAt: Instant | null
  readonly revokedAt: Instant | null
}

/** @param by who does it; by default the command line */
export interface KeyService {
  /**
   * Returns the text of the key, which the service does not store.
   * @param name says what the key is for, in 1 to 100 characters; it is trimmed
   * @throws ServiceError `bad_request`
   */
  create(
    workspaceId: string,
    name: string,
    createdBy?: string | null,
    by?: Acting,
  ): Promise<{ readonly id: string; readonly key: string }>
  /** All keys, revoked ones included, oldest first. */
  list(workspaceId?: string): Promise<readonly ApiKey[]>
  /** @throws ServiceError `not_found`, also for a key of another workspace than `workspaceId` */
  revoke(id: string, workspaceId?: string, by?: Acting): Promise<ApiKey>
  /** Reads the database each time, so that a revocation takes effect on the next request. */
  authenticate(key: string): Promise<KeyCredential | undefined>
}

export const KEY_PREFIX = 'svc_sk_'

const MAX_LOOKUPS = 500

interface KeyServiceOptions {
  readonly storage: Storage
  readonly now: () => Instant
  readonly activity: Pick<Activity, 'keyUsed'>
}

export function createKeyService({ storage, now, activity }: KeyServiceOptions): KeyService {
  // Requests that arrive together share one lookup, which starts after they arrived.
  const lookups = createBatch<string, ApiKeyRow | undefined>(
    async (hashes) => {
      const found = await storage.read.keys.byHashes([...new Set(hashes)])
      const byHash = new Map(found.map((row) => [row.keyHash, row]))
      return hashes.map((keyHash) => byHash.get(keyHash))
    },
    { maxItems: MAX_LOOKUPS },
  )

  return {
    async create(workspaceId, name, createdBy = null, by = byCommand()) {
      const key = KEY_PREFIX + newToken()
      const id = newId('key_', now())
      const row = {
        id,
        workspaceId,
        name: readName(name),
        keyHash: hashToken(key),
        lastFour: key.slice(-4),
        createdBy,
        createdAt: now(),
        lastUsedAt: null,
        revokedAt: null,
      }
      await storage.write(async (tx) => {
        await tx.keys.insert(row)
        const details = { name: row.name, last_four: row.lastFour }
        tx.audit.record({ event: 'key.created', at: now(), by, workspaceId, subject: id, details })
      })
      return { id, key }
    },
    async list(workspaceId) {
      return (await storage.read.keys.list(workspaceId)).map(toApiKey)
    },
    revoke: (id, workspaceId, by = byCommand()) =>
      storage.write(async (tx) => {
        const at = now()
        const row = await tx.keys.revoke(id, at, workspaceId)
        if (!row) throw new ServiceError('not_found', `there is no key ${id}`)
        const about = { workspaceId: row.workspaceId, subject: id, details: { name: row.name } }
        if (row.revokedAt === at) tx.audit.record({ event: 'key.revoked', at, by, ...about })
        return toApiKey(row)
      }),
    async authenticate(key) {
      if (!isKey(key)) return undefined
      const row = await lookups.add(hashToken(key))
      if (!row || row.revokedAt !== null) return undefined
      activity.keyUsed(row)
      return { kind: 'key', keyId: row.id, workspaceId: row.workspaceId }
    },
  }
}

function isKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX) && isToken(text.slice(KEY_PREFIX.length))
}

function toApiKey({ keyHash: _, ...key }: ApiKeyRow): ApiKey {
  return key
}
