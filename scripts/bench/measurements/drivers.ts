/** The drivers of SQLite against each other, in turn: claims, and receipts with their proofs. Where one of them is missing there is nothing to compare. */
import { SQLITE_DRIVERS, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { whyMissing } from '../../../test/support/database.ts'
import { decidingSide, type Host, withHost } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { getText, load } from '../load.ts'
import type { Served } from '../process.ts'
import { seedReceipts } from '../seed/receipts.ts'
import { quantile } from '../statistics.ts'
import { inTurn, type Measured, type Side } from '../turns.ts'

const RECEIPTS = 100_000
const CLAIM_CONNECTIONS = 64
const RECEIPT_CONNECTIONS = 32
const ROUNDS = 4
const CLAIM_ROUND_MS = 4_000
const RECEIPT_ROUND_MS = 2_500
const WARM_UP_MS = 8_000

interface Sides {
  readonly claims: Side
  readonly receipts: Side
}

export async function measureDrivers(): Promise<Figure[]> {
  const missing = (await Promise.all(SQLITE_DRIVERS.map(whyMissing))).find(Boolean)
  if (missing) {
    process.stderr.write(` nothing to compare: ${missing}\n`)
    return []
  }
  return withDriver('sqlite3', (packaged) => withDriver('node:sqlite', (builtin) => compare(packaged, builtin)))
}

async function withDriver<T>(sqliteDriver: SqliteDriverName, work: (sides: Sides) => Promise<T>): Promise<T> {
  const sides = ({ served, target: { key } }: Host, receiptIds: readonly string[]) =>
    work({
      claims: decidingSide(served, key, { connections: CLAIM_CONNECTIONS, roundMs: CLAIM_ROUND_MS }),
      receipts: readingSide(served, receiptIds),
    })
  return withHost({}, sides, (claimcheck, id) => seedReceipts(claimcheck, id, RECEIPTS), { sqliteDriver })
}

function readingSide(served: Served, receiptIds: readonly string[]): Side {
  const anyPath = () => `/v1/receipts/${receiptIds[Math.floor(Math.random() * receiptIds.length)]}`
  const request = () => getText(served.url, anyPath())
  return {
    served,
    roundMs: RECEIPT_ROUND_MS,
    load: (durationMs) =>
      load({ url: served.url, connections: RECEIPT_CONNECTIONS, durationMs, expected: '"inclusion":[', request }),
  }
}

async function compare(packaged: Sides, builtin: Sides): Promise<Figure[]> {
  const turns = { rounds: ROUNDS, warmUpMs: WARM_UP_MS }
  const claims = await inTurn({ packaged: packaged.claims, builtin: builtin.claims }, turns)
  const receipts = await inTurn({ packaged: packaged.receipts, builtin: builtin.receipts }, turns)
  return [...figures('decided claims', claims), ...figures('GET receipt with proof', receipts)]
}

function figures(what: string, { packaged, builtin }: Record<'packaged' | 'builtin', Measured>): Figure[] {
  const one = (driver: SqliteDriverName, { perSecond, cpuMicros, latenciesMs }: Measured): Figure[] => [
    { name: `${what}, by ${driver}`, value: perSecond, unit: '1/s' },
    { name: `${what}, by ${driver}: processor time of the host for one`, value: cpuMicros, unit: 'µs' },
    { name: `${what}, by ${driver}, p99`, value: quantile(latenciesMs, 0.99), unit: 'ms' },
  ]
  const ratio = `${what}, by node:sqlite, ratio to sqlite3`
  return [
    ...one('sqlite3', packaged),
    ...one('node:sqlite', builtin),
    { name: ratio, value: builtin.perSecond / packaged.perSecond, unit: '' },
    { name: `${ratio}: processor time`, value: builtin.cpuMicros / packaged.cpuMicros, unit: '' },
  ]
}
