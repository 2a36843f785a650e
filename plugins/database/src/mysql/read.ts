/** Reads a table of MySQL or MariaDB. */
import { DestinationError, isDestinationError, type QueryAnswer, Type } from '@claimcheck/core/plugin'
import { addressOf, type Options, queryBy } from '../connection.ts'
import { isSameMoment, isSameNumber, type Kind } from '../forms.ts'
import { type Asked, type FoundRow, namedRows, type Reader, readTypes, type TableRead } from '../table-read.ts'
import { type Flavour, KEYS } from './statements.ts'

const ColumnTypeText = Type.String()
const FLAVOUR = 'flavour of the server'

export async function readMysql(options: Options, asked: Asked, context: Reader): Promise<TableRead> {
  const { cache } = context
  const flavour = (cache.get(FLAVOUR) as Flavour | undefined) ?? (await readFlavour(options, context))
  cache.set(FLAVOUR, flavour)
  try {
    return readAnswer(await readRow(options, asked, context, flavour), asked)
  } catch (error) {
    // Another server may answer now, which does not know the variables.
    if (isDestinationError(error)) cache.set(FLAVOUR, undefined)
    throw error
  }
}

/** Reads which of the two kinds of servers answers. */
export async function readFlavour(options: Options, { query }: Pick<Reader, 'query'>): Promise<Flavour> {
  const { rows } = await query(addressOf(options), {
    statement: 'mysql version',
    ...queryBy(options),
  })
  return /mariadb/i.test(rows[0]?.[0] ?? '') ? 'mariadb' : 'mysql'
}

function readRow(
  options: Options,
  { key, columns, table }: Asked,
  { query }: Reader,
  flavour: Flavour,
): Promise<QueryAnswer> {
  const [schema, name] = table.split('.') as [string, string]
  const values = key.flatMap(({ value }, index) => [
    [KEYS[index]!, value],
    [`bytes of ${KEYS[index]}`, bytesIn(value) ?? null],
  ])
  return query(addressOf(options), {
    statement: `${flavour} row by ${key.length}`,
    parameters: { 'schema of types': schema, 'name of types': name, schema, name, ...Object.fromEntries(values) },
    identifiers: {
      table,
      columns,
      ...Object.fromEntries(key.map(({ column }, index) => [KEYS[index]!, column])),
    },
    ...queryBy(options),
  })
}

function readAnswer(answer: QueryAnswer, { key, columns: read }: Asked): TableRead {
  const { place, all } = namedRows(answer)
  const { now } = answer
  // The server shows the tables as they were at another time.
  if (place.get('place:now') !== '1') throw new DestinationError('misconfigured')
  const types = readTypes(place.get('place:types'), ColumnTypeText)
  const typeOf = (column: string) => typeIn(types.get(column) ?? '')
  const isComparable = key.every(({ column, value }) => isReadAsMeant(typeOf(column), value))
  const isExact = (row: ReadonlyMap<string, string | null>) =>
    key.every(({ column, value }) => isSame(typeOf(column), value, row.get(column) ?? ''))
  const found = all.filter((row) => row.get('row:found') === '1')
  return {
    rows: found.map(
      (row): FoundRow => ({
        isExact: isComparable && isExact(row),
        values: new Map(read.map((column) => [column, row.get(column) ?? null])),
      }),
    ),
    kinds: new Map(read.map((column) => [column, kindOf(typeOf(column))])),
    isComparable,
    hidesRows: false,
    copy: place.get('place:alone') === '1' ? undefined : {},
    tableId: place.get('place:table') ?? undefined,
    identity: place.get('place:identity') || undefined,
    now,
  }
}

interface ColumnType {
  readonly name: string
  /** The most bytes of a value; undefined for types without such a limit. */
  readonly bytes: number | undefined
}

function typeIn(text: string): ColumnType {
  const [name = '', bytes = '', collation] = text.split(':')
  // MariaDB's JSON is such a text.
  const isJson = name === 'longtext' && collation === 'utf8mb4_bin'
  return { name: isJson ? 'json' : name.toLowerCase(), bytes: bytes === '' ? undefined : Number(bytes) }
}

const KINDS: Readonly<Record<string, Kind>> = Object.fromEntries(
  (
    [
      ['flag', 'tinyint'],
      ['number', 'smallint mediumint int bigint decimal year'],
      ['single', 'float'],
      ['double', 'double'],
      ['time', 'date datetime timestamp'],
      ['trimmed', 'char'],
      ['text', 'varchar tinytext text mediumtext longtext enum'],
      ['digits', 'uuid inet4 inet6 binary varbinary tinyblob blob mediumblob longblob'],
    ] as const
  ).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind])),
)

function kindOf({ name }: ColumnType): Kind {
  return Object.hasOwn(KINDS, name) ? KINDS[name]! : 'other'
}

/** The hexadecimal digits of a value that is written as bytes are; undefined for any other text. */
function bytesIn(value: string): string | undefined {
  return /^\\x((?:[0-9a-f]{2})*)$/i.exec(value)?.[1]
}

/**
 * Tells whether a key's value means the same to the database as to a reader: for a number it takes the digits with which any text begins, and
 * compares single floats as double ones.
 */
function isReadAsMeant(type: ColumnType, value: string): boolean {
  const { name, bytes } = type
  if (/binary|blob/.test(name)) {
    const digits = bytesIn(value)
    return digits !== undefined && (name !== 'binary' || digits.length === 2 * (bytes ?? 0))
  }
  switch (kindOf(type)) {
    case 'flag':
    case 'number':
    case 'double':
      return isSameNumber(value, value)
    case 'time':
      return /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?$/.test(value)
    case 'single':
    case 'other':
      return false
    default:
      return true
  }
}

/** Tells whether a found value is the very one: collations call texts equal that differ in case, accents and blanks at their end. */
function isSame(type: ColumnType, claimed: string, found: string): boolean {
  switch (kindOf(type)) {
    case 'flag':
    case 'number':
    case 'double':
      return isSameNumber(claimed, found)
    case 'time':
      return claimed === found || isSameMoment(claimed, found)
    default:
      return claimed === found || (kindOf(type) === 'digits' && claimed.toLowerCase() === found)
  }
}
