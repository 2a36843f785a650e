/** Follows the log, and counts its receipts by verdict, in a table. */
import { setTimeout } from 'node:timers/promises'
import type { Worker } from '@claimcheck/server/base/worker'
import type { HostServices } from '@claimcheck/server/host/container'
import type { Db } from '@claimcheck/server/storage/db'
import { insertRows, selectRows } from '@claimcheck/server/storage/rows'
import type { Stored } from '@claimcheck/server/storage/schema'
import { bigint, table, text } from '@claimcheck/server/storage/table'

export interface DecisionCounter {
  /** Counts what was added to the log since the last call. */
  follow(): Promise<void>
  counts(): Promise<Readonly<Record<string, number>>>
}

const PAUSE_MS = 50

const decisions = table('decisions', ['verdict'], { verdict: text('verdict'), count: bigint('count') })

export const decisionsStored: Stored = {
  tables: [{ table: decisions }],
  migrations: {
    '100-decisions': {
      up: (db) =>
        db.schema.createTable(decisions.name, (created) => {
          created.text('verdict').primary()
          created.bigInteger('count').notNullable()
        }),
    },
  },
  async examine({ read, problems }) {
    for (const { verdict, count } of await selectRows(read.db, decisions, ''))
      if (count < 1) problems.add(`decisions ${verdict}: count is not positive`)
  },
}

export function createDecisionCounter({ storage }: Pick<HostServices, 'storage'>): DecisionCounter & Worker {
  const stopping = new AbortController()
  let loop: Promise<void> | undefined

  async function counts(db: Db = storage.read.db): Promise<Record<string, number>> {
    return Object.fromEntries((await selectRows(db, decisions, '')).map(({ verdict, count }) => [verdict, count]))
  }

  /** Several hosts, or a worker and a command, may follow at once: the lock on the log's head makes them take turns. */
  async function follow(): Promise<void> {
    await storage.write(async (tx) => {
      const log = await tx.log.lock()
      const counted = await counts(tx.db)
      const next = Object.values(counted).reduce((sum, count) => sum + count, 0)
      if (!log || log.treeSize <= next) return
      for (const { entry } of await tx.log.receipts(log.logId, next, log.treeSize)) {
        const { value } = JSON.parse(entry).body.verdict
        counted[value] = (counted[value] ?? 0) + 1
      }
      const rows = Object.entries(counted).map(([verdict, count]) => ({ verdict, count }))
      await insertRows(tx.db, decisions, rows, 'ON CONFLICT (verdict) DO UPDATE SET count = excluded.count')
    })
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await follow()
      await setTimeout(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    follow,
    counts,
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
