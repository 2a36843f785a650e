/** Settings of profiles under which this database has claims: what decides in each profile, and how the end of a claim's time was handled. */
import type { JsonObject } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertIfNew, selectRow, selectRows } from './rows.ts'
import { bigint, instant, json, part, type RowOf, table, text } from './table.ts'

export const profileSettings = table('profile_settings', ['action', 'version', 'digest', 'closingMs', 'graceMs'], {
  action: text('action'),
  version: text('version'),
  /** The digest of `deciding`. Empty for claims that are older than this table, while no host had their profile since. */
  digest: text('digest'),
  closingMs: bigint('closing_ms'),
  graceMs: bigint('grace_ms'),
  since: instant('since'),
  /** The deciding settings in the form of `GET /v1/profiles`. */
  deciding: json<JsonObject>('deciding'),
})

export type ProfileSettingsRow = RowOf<typeof profileSettings>

const judged = part(profileSettings, 'action', 'version', 'since')

export function profileSettingsReads(db: Db) {
  return {
    async list(): Promise<ProfileSettingsRow[]> {
      return selectRows(db, profileSettings, 'ORDER BY action, version, since, digest, closing_ms, grace_ms')
    },
    /** Tells whether there are claims of a profile. It reads many claims where there are none. */
    async hasClaims(action: string, version: string): Promise<boolean> {
      const rest = 'WHERE profile_action = ? AND profile_version = ? LIMIT 1'
      return (await db.query(`SELECT 1 AS one FROM claims ${rest}`, [action, version])).length > 0
    },
  }
}

export function profileSettingsWrites(db: Db) {
  return {
    ...profileSettingsReads(db),
    async add(row: ProfileSettingsRow): Promise<void> {
      await insertIfNew(db, profileSettings, row, profileSettings.key.join(', '))
    },
    /** Takes the row without settings away. Returns the time since which it says that there are claims. */
    async takeUnknown(action: string, version: string): Promise<number | undefined> {
      const unknown = `WHERE action = ? AND version = ? AND digest = ''`
      const row = await selectRow(db, judged, unknown, [action, version])
      if (row) await db.query(`DELETE FROM profile_settings ${unknown}`, [action, version])
      return row?.since
    },
    async remove(action: string, version: string): Promise<void> {
      await db.query('DELETE FROM profile_settings WHERE action = ? AND version = ?', [action, version])
    },
  }
}
