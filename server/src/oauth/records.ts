/**
 * Stores the codes, tokens, grants and requests of OAuth by the hash of their secret, with encrypted payload, so that a copy of the
 * database is useless.
 */
import type { Instant } from '@claimcheck/core'
import { SecretError } from '../base/secret-keys.ts'
import type { Secrets } from '../base/secrets.ts'
import { hashToken, recordContext } from '../base/tokens.ts'
import type { RecordRow } from '../storage/records.ts'
import type { Storage } from '../storage/storage.ts'

/** The payload of oidc-provider, with the members that this service reads. */
export interface Payload {
  readonly jti?: string
  readonly accountId?: string
  readonly clientId?: string
  readonly grantId?: string
  readonly aud?: string
  readonly scope?: string
  readonly iat?: number
  readonly resources?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

export interface StoredRecord {
  readonly payload: Payload
  readonly consumedAt: Instant | null
  /** null when it does not expire. */
  readonly expiresAt: Instant | null
}

export interface OAuthRecords {
  /** Undefined when it does not exist or has expired. */
  find(model: string, id: string): Promise<StoredRecord | undefined>
  /** @param ttlMs undefined for a record that does not expire */
  put(model: string, id: string, payload: Payload, ttlMs: number | undefined): Promise<void>
  /** Returns false, and ends the grant, when the record was consumed before, on any host. */
  consume(model: string, id: string): Promise<boolean>
  remove(model: string, id: string): Promise<void>
  /** Removes the grant and everything that was issued under it. */
  endGrant(grantId: string): Promise<void>
  /** The grants of this member. */
  grantsOf(memberId: string): Promise<readonly StoredRecord[]>
}

const GRANT = 'Grant'
const REMOVE_EVERY_MS = 10 * 60_000

interface RecordsOptions {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly now: () => Instant
}

export function createOAuthRecords({ storage, secrets, now }: RecordsOptions): OAuthRecords {
  let removedAt: Instant = Number.NEGATIVE_INFINITY

  function decrypt({ kind, idHash, payload, consumedAt, expiresAt }: RecordRow): StoredRecord | undefined {
    if (expiresAt !== null && expiresAt <= now()) return undefined
    try {
      return { payload: JSON.parse(secrets.open(payload, recordContext(kind, idHash))), consumedAt, expiresAt }
    } catch (error) {
      // The record was sealed under another key, or changed: it counts as missing.
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  return {
    async find(model, id) {
      const row = await storage.read.records.find(kindOf(model), hashToken(id))
      return row && decrypt(row)
    },
    async put(model, id, payload, ttlMs) {
      const at = now()
      const kind = kindOf(model)
      const idHash = hashToken(id)
      const row: RecordRow = {
        kind,
        idHash,
        payload: secrets.seal(JSON.stringify(payload), recordContext(kind, idHash)),
        grantId: model === GRANT ? id : (payload.grantId ?? null),
        uid: model === GRANT ? (payload.accountId ?? null) : null,
        consumedAt: null,
        expiresAt: ttlMs === undefined ? null : at + ttlMs,
      }
      await storage.write(async (tx) => {
        if (at - removedAt >= REMOVE_EVERY_MS) await tx.records.removeExpired(at)
        await tx.records.put(row)
      })
      if (at - removedAt >= REMOVE_EVERY_MS) removedAt = at
    },
    consume: (model, id) =>
      storage.write(async (tx) => {
        const kind = kindOf(model)
        const idHash = hashToken(id)
        if (await tx.records.consume(kind, idHash, now())) return true
        const row = await tx.records.find(kind, idHash)
        if (row?.grantId) await tx.records.removeGrant(row.grantId)
        return false
      }),
    async remove(model, id) {
      await storage.write((tx) => tx.records.remove(kindOf(model), hashToken(id)))
    },
    endGrant: (grantId) => storage.write((tx) => tx.records.removeGrant(grantId)),
    async grantsOf(memberId) {
      const rows = await storage.read.records.allByUid(kindOf(GRANT), memberId)
      return rows.flatMap((row) => decrypt(row) ?? [])
    },
  }
}

function kindOf(model: string): string {
  return `oauth:${model}`
}
