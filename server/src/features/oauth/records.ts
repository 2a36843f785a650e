/**
 * Stores the codes, tokens, grants and requests of OAuth by the hash of their secret, with encrypted payload, so that a copy of the
 * database is useless.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { createLookup } from '../../base/batch.ts'
import { SecretError } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken, recordContext } from '../../base/tokens.ts'
import type { RecordRow } from '../../storage/records.ts'
import type { Storage, Writes } from '../../storage/storage.ts'

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
  /** The end of the record; null when it does not expire. */
  readonly expiresAt: Instant | null
}

export interface NewRecord {
  readonly model: string
  readonly id: string
  readonly payload: Payload
  /** The lifetime of the record; undefined when it does not expire. */
  readonly ttlMs: number | undefined
  /** Records the change in the audit trail, in the same transaction. */
  readonly recordAudit?: RecordAudit | undefined
}

/** A refresh that is about to be granted. */
interface GrantedRefresh {
  /** The refresh token that the refresh uses up. */
  readonly used: string
  readonly grantId: string
  /** The scope and resource of the request. */
  readonly asked: string
  readonly issued: readonly NewRecord[]
  readonly answer: TokenAnswer
}

export type TokenAnswer = Readonly<Record<string, unknown>>

export type GrantEnd = 'application.returned' | 'application.stopped' | 'application.token_reused'

/** The answer to a refresh, as it is kept for repeats. */
interface RepeatableAnswer extends Payload {
  readonly grantId: string
  readonly asked: string
  readonly answer: TokenAnswer
  /** The network address of the client that got the answer first. */
  readonly address: string | null
  /** True when the audit trail has a repeat from another address. */
  readonly isRecorded: boolean
}

export type RecordAudit = (tx: Writes) => Promise<void>

const GRANT = 'Grant'
export const REFRESH_TOKEN = 'RefreshToken'
/** The kind of records that hold answers to refreshes, by the refresh token that was used up. */
const REFRESH_ANSWER = 'RefreshAnswer'
/** The time in which a client may repeat a refresh: its answer was lost, or several of its processes refreshed at once. */
export const REPEATABLE_MS = 10_000
const REMOVE_EVERY_MS = 10 * 60_000

interface RecordsParts {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly now: () => Instant
}

export type OAuthRecords = ReturnType<typeof createOAuthRecords>

export function createOAuthRecords({ storage, secrets, now }: RecordsParts) {
  let removedAt: Instant = Number.NEGATIVE_INFINITY
  let removal: 'none' | 'due' | 'due twice' = 'none'

  const rows = createLookup(
    async (keys) => {
      const parts = keys.map((key) => key.split(' '))
      const distinct = (index: number) => [...new Set(parts.map((part) => part[index]!))]
      return storage.read.records.findAll(distinct(0), distinct(1))
    },
    ({ kind, idHash }) => `${kind} ${idHash}`,
  )

  function decrypt({ kind, idHash, payload, consumedAt, expiresAt }: RecordRow): StoredRecord | undefined {
    if (expiresAt !== null && expiresAt <= now()) return undefined
    try {
      return { payload: JSON.parse(secrets.open(payload, recordContext(kind, idHash))), consumedAt, expiresAt }
    } catch (error) {
      // A record that was sealed under another key, or changed, counts as missing.
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  async function putIn(tx: Writes, { model, id, payload, ttlMs, recordAudit }: NewRecord, at: Instant): Promise<void> {
    const kind = kindOf(model)
    const idHash = hashToken(id)
    await tx.records.put({
      kind,
      idHash,
      payload: secrets.seal(JSON.stringify(payload), recordContext(kind, idHash)),
      grantId: model === GRANT ? id : (payload.grantId ?? null),
      uid: model === GRANT ? (payload.accountId ?? null) : null,
      consumedAt: null,
      expiresAt: ttlMs === undefined ? null : at + ttlMs,
    })
    await recordAudit?.(tx)
  }

  async function record(tx: Writes, event: AuditEvent, grant: RecordRow, by: Acting): Promise<void> {
    const member = grant.uid === null ? undefined : await tx.members.byId(grant.uid)
    const about = { workspaceId: member?.workspaceId ?? null, userId: member?.userId ?? null }
    const clientId = decrypt(grant)?.payload.clientId ?? null
    tx.audit.record({ event, at: now(), by, ...about, subject: clientId })
  }

  /** Ends a grant within a transaction. False when it had ended: of two requests that end it at once, one gets true. */
  async function endGrantIn(tx: Writes, grantId: string, why: GrantEnd, by: Acting): Promise<boolean> {
    const grant = await tx.records.find(kindOf(GRANT), hashToken(grantId))
    if (!(await tx.records.removeGrant(grantId)) || !grant) return false
    await record(tx, why, grant, by)
    return true
  }

  /** Finds the stored answer to the same refresh, and how long it stays; undefined when its refresh token was used. */
  async function repeatedAnswer(tx: Writes, used: string, asked: string) {
    const row = await tx.records.find(kindOf(REFRESH_ANSWER), hashToken(used))
    const kept = row && decrypt(row)
    if (kept?.payload.asked !== asked) return undefined
    const payload = kept.payload as RepeatableAnswer
    const next = await tx.records.find(kindOf(REFRESH_TOKEN), hashToken(String(payload.answer.refresh_token)))
    return next?.consumedAt === null ? { payload, ttlMs: kept.expiresAt! - now() } : undefined
  }

  /** Answers a second use of a refresh token with the first answer, or ends its grant. */
  async function repeat(tx: Writes, { used, grantId, asked }: GrantedRefresh, grant: RecordRow, by: Acting) {
    const repeated = await repeatedAnswer(tx, used, asked)
    if (!repeated) {
      await endGrantIn(tx, grantId, 'application.token_reused', by)
      return undefined
    }
    const { payload, ttlMs } = repeated
    // A thief of the token gets the same answer: the audit trail shows it, once for each answer.
    if (by.address !== payload.address && !payload.isRecorded) {
      await putIn(tx, { model: REFRESH_ANSWER, id: used, payload: { ...payload, isRecorded: true }, ttlMs }, now())
      await record(tx, 'application.refresh_repeated', grant, by)
    }
    return payload.answer
  }

  /** Removes answers to refreshes once nothing may repeat them, also where no other record follows. */
  function removeLater(): void {
    if (removal !== 'none') {
      removal = 'due twice'
      return
    }
    removal = 'due'
    const remove = async () => {
      const isDueAgain = removal === 'due twice'
      removal = 'none'
      if (isDueAgain) removeLater()
      try {
        await storage.write((tx) => tx.records.removeExpired(now()))
      } catch {
        // A failure is ignored: the next record removes them.
      }
    }
    setTimeout(remove, REPEATABLE_MS + 1000).unref()
  }

  return {
    /** Finds a record; undefined when it does not exist or has expired. */
    async find(model: string, id: string): Promise<StoredRecord | undefined> {
      const [row] = await rows(`${kindOf(model)} ${hashToken(id)}`)
      return row && decrypt(row)
    },

    /** Stores a record, unless its grant has ended. */
    async put(record: NewRecord): Promise<void> {
      const at = now()
      const isRemovalDue = () => at - removedAt >= REMOVE_EVERY_MS
      await storage.write(async (tx) => {
        if (isRemovalDue()) await tx.records.removeExpired(at)
        const { grantId } = record.payload
        if (grantId === undefined || (await lockGrant(tx, grantId))) await putIn(tx, record, at)
      })
      if (isRemovalDue()) removedAt = at
    },

    /** Consumes a record. Returns false, and ends the grant, when it was consumed before, on any host. */
    consume(model: string, id: string, by: Acting): Promise<boolean> {
      const kind = kindOf(model)
      const idHash = hashToken(id)
      return storage.write(async (tx) => {
        if (await tx.records.consume(kind, idHash, now())) return true
        const row = await tx.records.find(kind, idHash)
        if (row?.grantId) await endGrantIn(tx, row.grantId, 'application.token_reused', by)
        return false
      })
    },

    /**
     * Uses up a refresh token, and stores its successors together with the answer: all of it happens, or nothing does. A repeat gets the answer that
     * the first time got, and stores nothing, while the answer is kept and the next refresh token is unused. Any other second use ends the grant, and
     * returns undefined.
     */
    async rotate(refresh: GrantedRefresh, by: Acting): Promise<TokenAnswer | undefined> {
      const { used, grantId, asked, issued, answer } = refresh
      const given = await storage.write(async (tx) => {
        const grant = await lockGrant(tx, grantId)
        if (!grant) return undefined
        if (await tx.records.consume(kindOf(REFRESH_TOKEN), hashToken(used), now())) {
          const payload: RepeatableAnswer = { grantId, asked, answer, address: by.address, isRecorded: false }
          const kept = { model: REFRESH_ANSWER, id: used, payload, ttlMs: REPEATABLE_MS }
          for (const record of [...issued, kept]) await putIn(tx, record, now())
          return answer
        }
        return repeat(tx, refresh, grant, by)
      })
      if (given === answer) removeLater()
      return given
    },

    async remove(model: string, id: string): Promise<void> {
      await storage.write((tx) => tx.records.remove(kindOf(model), hashToken(id)))
    },

    /** Removes the grant and everything that was issued under it, and records why. */
    async endGrant(grantId: string, why: GrantEnd, by: Acting): Promise<void> {
      await storage.write((tx) => endGrantIn(tx, grantId, why, by))
    },
    endGrantIn,

    async grantsOf(memberId: string): Promise<readonly StoredRecord[]> {
      const rows = await storage.read.records.allByUid(kindOf(GRANT), memberId)
      return rows.flatMap((row) => decrypt(row) ?? [])
    },
  }
}

/**
 * Locks a grant. Call it before anything is stored under the grant: a transaction that ends it at the same moment waits, and then finds what was
 * stored.
 */
function lockGrant(tx: Writes, grantId: string): Promise<RecordRow | undefined> {
  return tx.records.lock(kindOf(GRANT), hashToken(grantId))
}

function kindOf(model: string): string {
  return `oauth:${model}`
}
