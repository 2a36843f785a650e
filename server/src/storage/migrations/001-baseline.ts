/** Migration 1: all tables. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'
import * as accounts from './001-accounts.ts'
import * as claims from './001-claims.ts'
import * as hosts from './001-hosts.ts'
import * as log from './001-log.ts'

/** Owners before the tables that refer to them. */
const PARTS = [accounts, claims, log, hosts]

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  for (const part of PARTS) await part.up(db, dialect)
}
