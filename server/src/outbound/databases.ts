/** Reads a database for a check, by drivers that are loaded with the first statement for their kind. */
import { Socket } from 'node:net'
import {
  type DatabaseAddress,
  type MysqlDriver,
  type PostgresDriver,
  type QueryResult,
  queryMysql,
  queryPostgres,
  type SecretQuery,
} from '@claimcheck/core/hosting'

export async function queryDatabase(
  at: Omit<DatabaseAddress, 'createSocket'>,
  asked: SecretQuery,
): Promise<QueryResult> {
  const place = { ...at, createSocket: () => new Socket() }
  if (asked.protocol === 'mysql') return queryMysql(await mysqlDriver(), place, asked)
  const { default: pg } = await import('pg')
  return queryPostgres(pg as unknown as PostgresDriver, place, asked)
}

/**
 * Loads the MySQL driver, which an installation may leave out.
 * @throws Error that says what to install
 */
async function mysqlDriver(): Promise<MysqlDriver> {
  try {
    return (await import('mysql2')).default as unknown as MysqlDriver
  } catch (error) {
    throw new Error('the optional package mysql2 is not installed, which reads MySQL and MariaDB: npm install mysql2', {
      cause: error,
    })
  }
}
