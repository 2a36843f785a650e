/** Counts the use of storage's connections, for monitoring. */
import type { Knex } from 'knex'
import type { PoolUse, StorageUse } from './storage.ts'

export interface Use {
  /** Measures the wait for a connection. */
  waited<T>(acquire: () => Promise<T>): Promise<T>
  /**
   * Counts a failure.
   * @param error the error of a database that is unavailable
   */
  failed(error: unknown): void
  state(): StorageUse
}

const CONNECTION = 'connection'

/** The used part of tarn, the pool in knex. */
interface Tarn {
  readonly max: number
  numUsed(): number
  numFree(): number
  numPendingAcquires(): number
}

/**
 * Counts the use of pools.
 * @param known codes that are counted from 0: a new series that begins above 0 is no increase to Prometheus
 */
export function createUse(pools: Readonly<Record<string, Knex>>, known: readonly string[]): Use {
  const errors = new Map([CONNECTION, ...known].map((code) => [code, 0]))
  let waitedMs = 0
  // Reads and writes of SQLite may share one pool.
  const distinct = Object.entries(pools).filter(
    ([, pool], index, all) => all.findIndex(([, other]) => other === pool) === index,
  )
  return {
    async waited(acquire) {
      const began = performance.now()
      try {
        return await acquire()
      } finally {
        waitedMs += performance.now() - began
      }
    },
    failed(error) {
      const name = codeOf(error)
      errors.set(name, (errors.get(name) ?? 0) + 1)
    },
    state: () => ({
      errors,
      waitedMs,
      pools: Object.fromEntries(distinct.map(([name, pool]) => [name, useOf(pool.client.pool)])),
    }),
  }
}

function useOf(pool: Tarn): PoolUse {
  return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires(), most: pool.max }
}

/** Returns the database's code, or `connection` for errors of the network. */
function codeOf(error: unknown): string {
  const code = String((error as { readonly code?: unknown }).code ?? '')
  return /^(\d[0-9A-Z]{4}|P0\d{3}|XX\d{3}|SQLITE_[A-Z_]{2,30})$/.test(code) ? code : CONNECTION
}
