/** Reads a table of PostgreSQL. */
import { DestinationError, isDestinationError, type QueryAnswer, Type } from '@claimcheck/core/plugin'
import { addressOf, type Options, queryBy } from '../connection.ts'
import { formsOf, isSameNumber, type Kind } from '../forms.ts'
import { type Asked, type FoundRow, namedRows, type Reader, readTypes, type TableRead } from '../table-read.ts'
import { DEPTHS, type Depth, KEYS } from './statements.ts'

const CategoryAndName = Type.Tuple([Type.String(), Type.String()])
type ColumnType = readonly [category: string, name: string]
const UNKNOWN: ColumnType = ['X', '']

/** Reads as much as the account may read: a server that refuses a part refuses all, so that less is asked for. */
export async function readPostgres(options: Options, asked: Asked, { query }: Reader): Promise<TableRead> {
  const { table, key, columns } = asked
  const [schema, name] = table.split('.') as [string, string]
  const byPlace = (member: 'column' | 'value') =>
    Object.fromEntries(key.map((part, index) => [KEYS[index]!, part[member]]))
  const ask = (depth: Depth) =>
    query(addressOf(options), {
      statement: `postgres row by ${key.length}, ${depth}`,
      parameters: { schema, name, columns: JSON.stringify(columns), ...byPlace('value') },
      identifiers: { table, columns, ...byPlace('column') },
      ...queryBy(options),
    })
  for (const depth of DEPTHS) {
    try {
      return readAnswer(await ask(depth), asked)
    } catch (error) {
      if (!isDestinationError(error) || error.code !== 'forbidden') throw error
    }
  }
  throw new DestinationError('forbidden')
}

function readAnswer(answer: QueryAnswer, { key, columns: read }: Asked): TableRead {
  const { place, all } = namedRows(answer)
  const { now } = answer
  const types = readTypes(place.get('place:types'), CategoryAndName)
  const typeOf = (column: string) => types.get(column) ?? UNKNOWN
  const isReadable = key.every(({ column, value }) => isReadAsMeant(typeOf(column), value))
  const isComparable = isReadable && key.every(({ column }) => isOfPostgres(typeOf(column)))
  const isSubscribed = place.get('place:subscribed') === 't'
  const isSame = (row: ReadonlyMap<string, string | null>) =>
    key.every(({ column, value }) => isSameValue(typeOf(column), value, row.get(column) ?? ''))
  const found = all.filter((row) => row.get('row:found') === 't')
  return {
    rows: found.map((row): FoundRow => {
      const ageMs = numberIn(row.get('row:committed'))
      return {
        isExact: isReadable && isSame(row),
        values: new Map(read.map((column) => [column, row.get(column) ?? null])),
        version: row.get('row:version') ?? undefined,
        // The clock was set back since a commit that it dates later than now.
        committedAt: ageMs === undefined || ageMs < 0 ? undefined : Math.ceil(now - ageMs),
      }
    }),
    kinds: new Map(read.map((column) => [column, kindOf(typeOf(column))])),
    isComparable,
    hidesRows: place.get('place:hides') !== 'f',
    copy: copyOf(place, isSubscribed),
    tableId: place.get('place:table') ?? undefined,
    identity: place.get('place:identity') ?? undefined,
    now,
  }
}

/** Reads how far a replica is behind: it has all that was committed before the last commit that it replayed. */
function copyOf(place: ReadonlyMap<string, string | null>, isSubscribed: boolean): TableRead['copy'] {
  if (isSubscribed) return {}
  if (place.get('place:recovers') === 'f') return undefined
  const lagMs = numberIn(place.get('place:lag'))
  // The time is of the other server's clock: one that is ahead hides the lag.
  return { lagMs: lagMs === undefined || lagMs < 0 ? undefined : Math.ceil(lagMs) }
}

function numberIn(text: string | null | undefined): number | undefined {
  const value = Number(text ?? Number.NaN)
  return Number.isFinite(value) ? value : undefined
}

/** Tells whether the operator of Postgres compares values of a type as the type's own does. */
function isOfPostgres([category, name]: ColumnType): boolean {
  return name !== '' || category === 'E'
}

/** Tells whether a found value is the very one: types cut and round what they read, and call other texts equal. */
function isSameValue([category, name]: ColumnType, claimed: string, found: string): boolean {
  // `isReadAsMeant` leaves the times that Postgres reads without loss.
  if (category === 'D') return true
  if (category === 'N') return claimed === found || isSameNumber(claimed, found)
  return formsOf(kindOf([category, name]), found).includes(claimed)
}

const MOMENT = '(?:infinity|[0-9]{4,}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,6})?)?ZONE?)?)'
const UTC = new RegExp(`^${MOMENT.replace('ZONE', '(?:Z|\\+00(?::?00)?)')}$`)
const ZONED = new RegExp(`^${MOMENT.replace('ZONE', '(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)')}$`)

/**
 * Tells whether a key's value means the same to the database as to a reader. Types of times take `today`, and days and months in any order;
 * those without a zone drop the one that is written. Amounts of the type `money` depend on the server's language.
 */
function isReadAsMeant([category, name]: ColumnType, value: string): boolean {
  if (category === 'D') return Object.hasOwn(TIMES, name) && TIMES[name]!.test(value)
  return category !== 'N' || NUMBERS.has(name)
}

const TIMES: Readonly<Record<string, RegExp>> = {
  date: /^(?:infinity|[0-9]{4,}-[0-9]{2}-[0-9]{2})$/,
  timestamp: UTC,
  timestamptz: ZONED,
}
const NUMBERS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'oid'])

const OF_DIGITS: ReadonlySet<string> = new Set(['uuid', 'bytea', 'macaddr', 'macaddr8'])

const FLOATS: Readonly<Partial<Record<string, Kind>>> = { float4: 'single', float8: 'double' }

function kindOf([category, name]: ColumnType): Kind {
  switch (category) {
    case 'S':
      return name === 'bpchar' ? 'padded' : 'text'
    case 'E':
    case 'I':
    case 'V':
      return 'text'
    case 'B':
      return 'boolean'
    case 'N':
      return FLOATS[name] ?? (name === 'money' ? 'other' : 'number')
    case 'D':
      return 'time'
    default:
      return OF_DIGITS.has(name) ? 'digits' : 'other'
  }
}
