/** The marks by which receipts tell the bound agents of a workspace from those of others: a key, and a domain that the workspace may have. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { columnsOf, insertIfNew, selectRow, selectRows } from './rows.ts'
import { instant, nullable, part, type RowOf, table, text } from './table.ts'

export const holders = table('holders', ['workspaceId'], {
  workspaceId: text('workspace_id'),
  /** The sealed key of the pseudonyms of the workspace's agents. It stays for ever, so that the pseudonyms do. */
  agentsKey: text('agents_key'),
  domain: nullable(text('domain')),
  /** The text that a TXT record of the domain is to have. */
  challenge: nullable(text('challenge')),
  checkedAt: nullable(instant('checked_at')),
  /** The time when the record was last seen. */
  provenAt: nullable(instant('proven_at')),
  /** The time when DNS said that the record is missing; null once it was seen since. */
  missingAt: nullable(instant('missing_at')),
})

const ofDomain = part(holders, 'domain', 'challenge', 'checkedAt', 'provenAt', 'missingAt')
const found = part(holders, 'checkedAt', 'provenAt', 'missingAt')

export const NO_DOMAIN: RowOf<typeof ofDomain> = {
  domain: null,
  challenge: null,
  checkedAt: null,
  provenAt: null,
  missingAt: null,
}

export type HolderRow = RowOf<typeof holders>
export type DomainRow = RowOf<typeof ofDomain>
export type DomainCheck = RowOf<typeof found>

export function holderReads(db: Db) {
  return {
    async of(workspaceId: string): Promise<HolderRow | undefined> {
      return selectRow(db, holders, 'WHERE workspace_id = ?', [workspaceId])
    },
    async ofAll(workspaceIds: readonly string[]): Promise<HolderRow[]> {
      return selectRows(db, holders, `WHERE workspace_id IN ${db.dialect.texts}`, [JSON.stringify(workspaceIds)])
    },
    /** Lists the holders whose domain was proven since `since` and not looked up since `before`; the longest waiting come first. */
    async due(since: Instant, before: Instant, limit: number): Promise<HolderRow[]> {
      const rest = 'WHERE proven_at >= ? AND checked_at <= ? ORDER BY checked_at, workspace_id LIMIT ?'
      return selectRows(db, holders, rest, [since, before, limit])
    },
  }
}

export function holderWrites(db: Db) {
  return {
    ...holderReads(db),
    /** Inserts a row unless the workspace has one. */
    async insert(row: HolderRow): Promise<void> {
      await insertIfNew(db, holders, row, 'workspace_id')
    },
    async setDomain(workspaceId: string, row: DomainRow): Promise<void> {
      await db.table(holders.name).where({ workspace_id: workspaceId }).update(columnsOf(ofDomain, row))
    },
    async removeDomain(workspaceId: string): Promise<void> {
      await this.setDomain(workspaceId, NO_DOMAIN)
    },
    /** Stores the result of a look-up. False when the workspace has another domain by now. */
    async checked({ workspaceId, challenge }: HolderRow, row: DomainCheck): Promise<boolean> {
      const which = { workspace_id: workspaceId, challenge }
      return (await db.table(holders.name).where(which).update(columnsOf(found, row))) === 1
    },
    /** Notes a look-up without an answer: what others found meanwhile stays. */
    async asked({ workspaceId, challenge }: HolderRow, at: Instant): Promise<void> {
      await db.table(holders.name).where({ workspace_id: workspaceId, challenge }).update({ checked_at: at })
    },
  }
}
