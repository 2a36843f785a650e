/** The plugin database: checks rows in PostgreSQL, MySQL and MariaDB. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { mysqlType } from './mysql/connection.ts'
import { MYSQL_STATEMENTS } from './mysql/statements.ts'
import { postgresType } from './postgres/connection.ts'
import { POSTGRES_STATEMENTS } from './postgres/statements.ts'
import { row } from './row.ts'

const SOCKETS = [true, false].flatMap((tls) => [
  { port: 'connection', tls, protocol: 'postgres', statements: POSTGRES_STATEMENTS } as const,
  { port: 'connection', tls, protocol: 'mysql', statements: MYSQL_STATEMENTS } as const,
])

export default definePlugin({
  name: 'database',
  api: 3,
  manifest: { hosts: ['connection.address'], sockets: SOCKETS },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [row], connections: [postgresType, mysqlType] }),
})
