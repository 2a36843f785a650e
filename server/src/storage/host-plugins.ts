/** The plugins that each running host has loaded, with a lease: hosts compare the digests of theirs. */
import type { Db } from './db.ts'
import { instant, json, type RowOf, table, text } from './table.ts'

/** A plugin that a host has loaded. */
export interface HostPlugin {
  /** The name of its package. */
  readonly package: string
  /** Null for a lone file. */
  readonly version: string | null
  /** The digest of its code: `sha256:<hex>`. */
  readonly digest: string
  /** True if it comes with the host's own version of the server. */
  readonly isShipped: boolean
}

export const hostPlugins = table('host_plugins', ['hostId'], {
  hostId: text('host_id'),
  until: instant('until'),
  plugins: json<readonly HostPlugin[]>('plugins'),
})

export type HostPlugins = Pick<RowOf<typeof hostPlugins>, 'hostId' | 'plugins'>

/** The time after the end of its lease when the row of a host that was killed is removed. */
const FORGET_MS = 3_600_000

export function hostPluginRows(db: Db) {
  const now = `CAST(${db.dialect.clock} AS bigint)`
  return {
    /** Lists the hosts that run. */
    async living(): Promise<HostPlugins[]> {
      const sql = `SELECT ${hostPlugins.names} FROM host_plugins WHERE until > ${now} ORDER BY host_id`
      return (await db.query(sql)).map(hostPlugins.read)
    },
    /** Takes or renews the lease of a host, for `forMs` from now. */
    async beat({ hostId, plugins }: HostPlugins, forMs: number): Promise<void> {
      const sql = `INSERT INTO host_plugins (${hostPlugins.names}) VALUES (?, ${now} + ?, ?)
        ON CONFLICT (host_id) DO UPDATE SET until = excluded.until, plugins = excluded.plugins`
      await db.query(sql, [hostId, forMs, JSON.stringify(plugins)])
    },
    /** Forgets a host that ends, and those that were killed long ago. */
    async leave(hostId: string): Promise<void> {
      await db.query(`DELETE FROM host_plugins WHERE host_id = ? OR until < ${now} - ${FORGET_MS}`, [hostId])
    },
  }
}
