/** The statements that are run in MySQL and MariaDB. */
import type { Statement } from '@claimcheck/core/plugin'
import { MOST_FOUND } from '../table-read.ts'

export const KEYS = ['first', 'second', 'third'] as const

/** The two kinds of servers, whose variables have other names. */
export const FLAVOURS = ['mariadb', 'mysql'] as const
export type Flavour = (typeof FLAVOURS)[number]

const variable = (name: string) =>
  `(SELECT v.VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES AS v WHERE v.VARIABLE_NAME = '${name}')`

/**
 * Tells which server answers, whether it shows its tables as they are now (MariaDB can be set to show another time), and whether it takes no
 * changes from another one, as far as its variables tell.
 */
const SERVER: Readonly<
  Record<Flavour, { readonly identity: string; readonly isNow: string; readonly standsAlone: string }>
> = {
  mariadb: {
    identity: variable('SERVER_UID'),
    isNow: `coalesce((SELECT v.VARIABLE_VALUE FROM information_schema.SESSION_VARIABLES AS v
  WHERE v.VARIABLE_NAME = 'SYSTEM_VERSIONING_ASOF'), 'DEFAULT') = 'DEFAULT'`,
    standsAlone: `${variable('READ_ONLY')} = 'OFF' AND ${variable('GTID_SLAVE_POS')} = '' AND coalesce(${variable('WSREP_ON')}, 'OFF') = 'OFF'
  AND (SELECT s.VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS AS s WHERE s.VARIABLE_NAME = 'SLAVES_RUNNING') = '0'`,
  },
  mysql: {
    identity: '@@server_uuid',
    isNow: '1',
    // With identifiers of transactions, each that came from elsewhere has the other server's in the set.
    standsAlone: `@@read_only = 0 AND @@gtid_mode = 'ON' AND left(@@gtid_executed, 36) = @@server_uuid
  AND length(@@gtid_executed) - length(replace(@@gtid_executed, ',', '')) = 0`,
  },
}

/** The type of each column, the most bytes of its values, and its collation. */
const TYPES = `(SELECT json_objectagg(c.COLUMN_NAME, concat(c.DATA_TYPE, ':', ifnull(c.CHARACTER_OCTET_LENGTH, ''), ':', ifnull(c.COLLATION_NAME, '')))
  FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ?)`

/**
 * Finds rows by the key, beside what tells how far they prove anything, in one look: the next one may reach another server. A key may be given in
 * hexadecimal digits, for columns of bytes. Names with a colon are those of no column.
 */
function rowStatement(keys: readonly string[], flavour: Flavour): Statement {
  const { identity, isNow, standsAlone } = SERVER[flavour]
  return {
    name: `${flavour} row by ${keys.length}`,
    text: `SELECT date_format(t.CREATE_TIME, '%Y-%m-%dT%H:%i:%sZ') AS \`place:table\`, ${TYPES} AS \`place:types\`,
  ${identity} AS \`place:identity\`, ${standsAlone} AS \`place:alone\`, ${isNow} AS \`place:now\`, found.*
FROM information_schema.TABLES AS t
LEFT JOIN (SELECT 1 AS \`row:found\`, {columns} FROM {table}
  WHERE ${keys.map((name) => `({${name}} = ? OR {${name}} = unhex(?))`).join(' AND ')} LIMIT ${MOST_FOUND}) AS found ON TRUE
WHERE t.TABLE_SCHEMA = ? AND t.TABLE_NAME = ?`,
    parameters: [
      'schema of types',
      'name of types',
      ...keys.flatMap((name) => [name, `bytes of ${name}`]),
      'schema',
      'name',
    ],
    identifiers: {
      table: 'table',
      columns: 'columns',
      ...Object.fromEntries(keys.map((key) => [key, 'column' as const])),
    },
  }
}

const WRITES = `'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER', 'SUPER'`
const writesIn = (table: string) =>
  `EXISTS (SELECT 1 FROM information_schema.${table} AS p WHERE p.PRIVILEGE_TYPE IN (${WRITES}))`

export const MYSQL_STATEMENTS: readonly Statement[] = [
  ...[1, 2, 3].flatMap((count) => FLAVOURS.map((flavour) => rowStatement(KEYS.slice(0, count), flavour))),
  { name: 'mysql version', text: 'SELECT @@version' },
  ...FLAVOURS.map((flavour) => ({
    name: `${flavour} account`,
    text: `SELECT ${SERVER[flavour].identity}, ${SERVER[flavour].standsAlone},
  ${['USER_PRIVILEGES', 'SCHEMA_PRIVILEGES', 'TABLE_PRIVILEGES'].map(writesIn).join(' OR ')}`,
  })),
  {
    name: 'mysql table',
    text: 'SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1) AS one',
    identifiers: { table: 'table' },
  },
]
