/** One look at a real database, through the plugin. */
import { createHmac } from 'node:crypto'
import { type LogLine, tryClaim } from '@claimcheck/core/testkit'
import database from '@claimcheck/plugin-database'

export const PASSWORD = 'reader-pass-0123456789'
export const FINGERPRINT_KEY = 'a-key-of-the-agents-01'
export const NAME = 'orders-db'

type Key = Readonly<Record<string, string>>
type Values = Readonly<Record<string, string | null>>

export interface Place {
  readonly provider: 'postgres' | 'mysql'
  readonly port: number
  readonly database: string
  readonly user?: string
}

export function optionsOf({ port, database, user = 'reader' }: Place) {
  const address = `tcp://127.0.0.1:${port}`
  return { name: NAME, address, database, user, password: PASSWORD, fingerprint_key: FINGERPRINT_KEY }
}

/** Makes the fingerprint of a value as agents do. */
export function fingerprintOf(target: string, column: string, key: Key, value: string | null): string {
  const lines = [target, column, ...Object.values(key), value === null ? 'null' : `=${value}`]
  const text = `claimcheck.fingerprint:${lines.join('\n')}`
  return `hmac-sha256:${createHmac('sha256', FINGERPRINT_KEY).update(text).digest('hex')}`
}

/** The params of a claim. @param values the values of further columns, as the agent writes them */
export function paramsOf(target: string, key: Key, values?: Values) {
  return {
    key: Object.entries(key).map(([column, value]) => ({ column, value })),
    ...(values && {
      columns: Object.entries(values).map(([column, value]) => ({
        column,
        fingerprint: fingerprintOf(target, column, key, value),
      })),
    }),
  }
}

/** What a look saw: `present` or `absent`, with the mark and the facts, or the code of its error. */
export interface Seen {
  readonly kind: string
  readonly mark?: string
  readonly differs?: readonly string[]
  readonly facts?: Readonly<Record<string, unknown>>
  readonly stays?: readonly unknown[]
  readonly ageMs?: number
  readonly log?: readonly LogLine[]
}

/** Looks once for a row of a table. */
export async function look(
  place: Place,
  table: string,
  key: Key,
  values?: Values,
  over: object = {},
  claimedAt = Date.now(),
): Promise<Seen> {
  const target = `${NAME}/${table}`
  const { record, log } = await tryClaim({
    plugin: database,
    provider: place.provider,
    connection: { ...optionsOf(place), ...over },
    claim: { action: 'database.row.exists', target, params: paramsOf(target, key, values), claimedAt },
  })
  if ('failure' in record) return { kind: record.failure.code, log }
  const { kind, mark, facts, stays, ...rest } = record.observation
  return {
    kind: kind === 'present' && 'differs' in rest && rest.differs.length > 0 ? 'other' : kind,
    ...(mark && { mark }),
    ...(record.ageMs && { ageMs: record.ageMs }),
    ...(stays && { stays }),
    facts,
  }
}
