/** What OAuth remembers of codes, tokens, grants and requests: under the hash of their secret, and sealed, so that a copy of the database opens nothing. */
import type { Instant } from '@claimcheck/core'
import { SecretError, type Secrets } from '../base/secrets.ts'
import { hashToken, recordContext } from '../base/tokens.ts'
import type { RecordRow } from '../storage/records.ts'
import type { Storage } from '../storage/storage.ts'

/** As oidc-provider hands it over, as far as we look into it. */
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
  /** null: it does not run out. */
  readonly expiresAt: Instant | null
}

export interface OAuthRecords {
  /** Undefined when it has run out, too. */
  find(model: string, id: string): Promise<StoredRecord | undefined>
  put(model: string, id: string, payload: Payload, lastsMs: number | undefined): Promise<void>
  /** False when it was used before, by whatever host: its grant has ended with that. */
  consume(model: string, id: string): Promise<boolean>
  remove(model: string, id: string): Promise<void>
  /** Everything that was issued under it. */
  endGrant(grantId: string): Promise<void>
  /** What this member has allowed. */
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

  function opened({ kind, idHash, payload, consumedAt, expiresAt }: RecordRow): StoredRecord | undefined {
    if (expiresAt !== null && expiresAt <= now()) return undefined
    try {
      return { payload: JSON.parse(secrets.open(payload, recordContext(kind, idHash))), consumedAt, expiresAt }
    } catch (error) {
      // Of another secret key, or changed: no record of ours.
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  return {
    async find(model, id) {
      const row = await storage.read.records.find(kindOf(model), hashToken(id))
      return row && opened(row)
    },
    async put(model, id, payload, lastsMs) {
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
        expiresAt: lastsMs === undefined ? null : at + lastsMs,
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
      return rows.flatMap((row) => opened(row) ?? [])
    },
  }
}

function kindOf(model: string): string {
  return `oauth:${model}`
}
