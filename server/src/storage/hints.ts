/** The addresses that take hints, and the claims that hints concern, as rows. */
import type { Instant } from '@claimcheck/core/rules'
import { claims } from './claim-row.ts'
import type { Db } from './db.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { extended, instant, integer, nullable, part, type RowOf, table, text } from './table.ts'

/** The address of a connection for hints. */
export const hintAddresses = table('hint_addresses', ['address'], {
  /** The last part of the address's path. It is random, and no secret. */
  address: text('address'),
  connectionId: text('connection_id'),
  workspaceId: text('workspace_id'),
  /** The sealed secret by which senders prove themselves. */
  sealedSecret: text('sealed_secret'),
  /** The time since when the secret holds. */
  secretSince: instant('secret_since'),
  /** The time of the last hint with a proof, to the minute; null before the first. */
  heardAt: nullable(instant('heard_at')),
})

/** Looks at claims beside their schedule. A row stays until its claim is decided, because it counts the looks. */
export const hints = table('hints', ['claimId'], {
  claimId: text('claim_id'),
  /** The time of the last hint. */
  askedAt: instant('asked_at'),
  /** The time when a host takes the look; null while none is wanted. */
  dueAt: nullable(instant('due_at')),
  /** The earliest time of the next look. */
  nextFrom: instant('next_from'),
  looks: integer('looks'),
})

const addressWithProvider = extended(hintAddresses, { provider: text('provider') })
const concerned = part(claims, 'claimId', 'target', 'params', 'submittedAt')

export type HintAddressRow = RowOf<typeof hintAddresses>
export type HintRow = RowOf<typeof hints>
export type ConcernedClaim = RowOf<typeof concerned>

export function hintReads(db: Db) {
  return {
    /** Finds an address with the provider of its connection, if that is active. */
    async address(address: string): Promise<RowOf<typeof addressWithProvider> | undefined> {
      const sql = `SELECT hint_addresses.*, provider FROM hint_addresses JOIN connections ON connections.id = connection_id
        WHERE hint_addresses.address = ? AND disconnected_at IS NULL`
      return (await db.query(sql, [address])).map(addressWithProvider.read)[0]
    },
    async addressOf(connectionId: string): Promise<HintAddressRow | undefined> {
      return selectRow(db, hintAddresses, 'WHERE connection_id = ?', [connectionId])
    },
    /**
     * Lists the newest claims that wait for one of these targets, in lower case, through a connection.
     * @param after the claim after which to go on
     */
    async concerned(
      { workspaceId, connectionId }: Pick<HintAddressRow, 'workspaceId' | 'connectionId'>,
      targets: readonly string[],
      limit: number,
      after: Pick<ConcernedClaim, 'submittedAt' | 'claimId'> = { submittedAt: Number.MAX_SAFE_INTEGER, claimId: '' },
    ): Promise<ConcernedClaim[]> {
      // Databases lower ASCII alone, or by their locale: where a target has other characters, the caller compares.
      const isPlain = targets.every((target) => /^[ -~]*$/.test(target))
      const names = isPlain ? ` AND LOWER(target) IN ${db.dialect.texts}` : ''
      const rest = `WHERE verdict IS NULL AND workspace_id = ? AND connection_id = ?${names}
        AND (submitted_at, claim_id) < (CAST(? AS bigint), ?) ORDER BY submitted_at DESC, claim_id DESC LIMIT ?`
      const named = isPlain ? [JSON.stringify(targets)] : []
      const bindings = [workspaceId, connectionId, ...named, after.submittedAt, after.claimId, limit]
      return selectRows(db, concerned, rest, bindings)
    },
    async anyDue(now: Instant): Promise<boolean> {
      return (await db.query('SELECT 1 AS one FROM hints WHERE due_at <= ? LIMIT 1', [now])).length > 0
    },
  }
}

export function hintWrites(db: Db) {
  const reads = hintReads(db)
  return {
    ...reads,
    /** Gives a connection an address, or the one that it has another secret. Returns the address. */
    async give(row: HintAddressRow): Promise<HintAddressRow> {
      const suffix = `ON CONFLICT (connection_id) DO NOTHING RETURNING ${hintAddresses.names}`
      const [inserted] = await insertRows(db, hintAddresses, [row], suffix)
      if (inserted) return row
      return (await reads.addressOf(row.connectionId))!
    },
    async replaceSecret({ address, sealedSecret, secretSince }: HintAddressRow): Promise<void> {
      const changes = { sealed_secret: sealedSecret, secret_since: secretSince, heard_at: null }
      await db.table(hintAddresses.name).where({ address }).update(changes)
    },
    /** Takes the address of a connection away. False where it has none. */
    async end(connectionId: string): Promise<boolean> {
      return (await db.table(hintAddresses.name).where({ connection_id: connectionId }).delete()) > 0
    },
    async heard(address: string, at: Instant): Promise<void> {
      await db.table(hintAddresses.name).where({ address }).update({ heard_at: at })
    },
    /** Asks for a look at each of these claims. One that is wanted already is joined; a claim that had `most` gets no more. */
    async ask(claimIds: readonly string[], at: Instant, most: number): Promise<void> {
      const rows = claimIds
        .toSorted()
        .map((claimId): HintRow => ({ claimId, askedAt: at, dueAt: at, nextFrom: at, looks: 0 }))
      const sql = `INSERT INTO hints (${hints.names}) SELECT ${hints.names} FROM ${rowsOf(db.dialect, hints)} AS new WHERE true
        ON CONFLICT (claim_id) DO UPDATE SET asked_at = excluded.asked_at, due_at = CASE WHEN hints.looks >= ? THEN NULL
          WHEN hints.due_at IS NOT NULL THEN hints.due_at
          WHEN hints.next_from > excluded.asked_at THEN hints.next_from ELSE excluded.asked_at END`
      if (rows.length > 0) await db.query(sql, [toJson(hints, rows), most])
    },
    /** Hands out due looks, and hides each from other hosts until `leaseEnd`. */
    async lease(now: Instant, leaseEnd: Instant, limit: number): Promise<HintRow[]> {
      const due = `SELECT claim_id FROM hints WHERE due_at <= ? ORDER BY due_at, claim_id LIMIT ? ${db.dialect.forUpdateSkipLocked}`
      const sql = `UPDATE hints SET due_at = ? WHERE claim_id IN (${due}) RETURNING ${hints.names}`
      return (await db.query(sql, [leaseEnd, now, limit])).map(hints.read)
    },
    /** Ends a look that was made: the next one is wanted only where a hint came since it was taken, and not before `nextFrom`. */
    async looked({ claimId, askedAt }: HintRow, nextFrom: Instant, most: number): Promise<void> {
      const sql = `UPDATE hints SET looks = looks + 1, next_from = ?,
        due_at = CASE WHEN asked_at > ? AND looks + 1 < ? THEN CAST(? AS bigint) ELSE NULL END WHERE claim_id = ?`
      await db.query(sql, [nextFrom, askedAt, most, nextFrom, claimId])
    },
    async postpone({ claimId }: HintRow, dueAt: Instant): Promise<void> {
      await db.table(hints.name).where({ claim_id: claimId }).update({ due_at: dueAt })
    },
    /** Drops a look that is not made. One that was asked for since stays. */
    async drop({ claimId, askedAt }: HintRow): Promise<void> {
      const sql = 'UPDATE hints SET due_at = CASE WHEN asked_at > ? THEN asked_at ELSE NULL END WHERE claim_id = ?'
      await db.query(sql, [askedAt, claimId])
    },
    /** Removes rows of claims that are decided. */
    async removeDecided(limit: number): Promise<void> {
      const decided = `SELECT hints.claim_id FROM hints JOIN claims ON claims.claim_id = hints.claim_id WHERE state = 'decided' LIMIT ?`
      await db.query(`DELETE FROM hints WHERE claim_id IN (${decided})`, [limit])
    },
  }
}
