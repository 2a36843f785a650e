/** Brings a database to this version's schema; refuses one that is ahead of it. */
import type { Knex } from 'knex'
import type { Dialect } from './dialect.ts'
import { log } from './log-state.ts'
import * as initial from './migrations/001-initial.ts'
import * as manyHosts from './migrations/002-many-hosts.ts'
import * as anchors from './migrations/003-anchors.ts'
import * as consoleTables from './migrations/004-console.ts'
import * as plainOrder from './migrations/005-plain-order.ts'
import * as evidence from './migrations/006-evidence.ts'
import * as shares from './migrations/007-shares.ts'
import * as connectionNames from './migrations/008-connection-names.ts'
import * as agents from './migrations/009-agents.ts'
import * as leafHashes from './migrations/010-leaf-hashes.ts'
import * as auditTrail from './migrations/011-audit-trail.ts'
import * as recovery from './migrations/012-recovery.ts'
import * as keys from './migrations/013-keys.ts'
import * as mails from './migrations/013-mails.ts'
import * as erasures from './migrations/014-erasures.ts'
import * as sourceKeys from './migrations/015-source-keys.ts'
import * as tallies from './migrations/016-tallies.ts'
import * as sites from './migrations/020-sites.ts'
import * as leafHashParts from './migrations/021-leaf-hash-parts.ts'
import * as connectionStates from './migrations/022-connection-states.ts'
import { StorageError } from './storage.ts'
import { CARRIED, NOT_CARRIED, SHARED } from './tables.ts'

interface Migration {
  up(db: Knex, dialect: Dialect): Promise<void>
}

/** Migrations are history: each is written out, and must not follow from today's descriptions of tables. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '001-initial': initial,
  '002-many-hosts': manyHosts,
  '003-anchors': anchors,
  '004-console': consoleTables,
  '005-plain-order': plainOrder,
  '006-evidence': evidence,
  '007-shares': shares,
  '008-connection-names': connectionNames,
  '009-agents': agents,
  '010-leaf-hashes': leafHashes,
  '011-audit-trail': auditTrail,
  '012-recovery': recovery,
  '013-keys': keys,
  '013-mails': mails,
  '014-erasures': erasures,
  '015-source-keys': sourceKeys,
  '016-tallies': tallies,
  '020-sites': sites,
  '021-leaf-hash-parts': leafHashParts,
  '022-connection-states': connectionStates,
}

const TABLE = 'migrations'

/** In one transaction: of processes that start together one migrates, and no other sees a part of it. Returns what it ran. @throws StorageError `newer_schema` */
export function migrate(db: Knex, dialect: Dialect): Promise<string[]> {
  return db.transaction(async (tx) => {
    for (const sql of dialect.migrations.lock) await tx.raw(sql)
    await refuseNewer(tx)
    await takeTables(tx, dialect)
    const [, ran] = await tx.migrate.latest({ migrationSource: sourceFor(dialect), tableName: TABLE })
    return ran
  })
}

/** As running hosts take them: the log first, and rows before the owners that they refer to. */
const TAKEN = [...new Set([log, ...CARRIED.toReversed(), ...NOT_CARRIED, ...SHARED].map(({ name }) => name))]

/**
 * Hosts of the previous version go on meanwhile. A migration that took one table after the other, as it changes them, and such a host would wait
 * for each other.
 */
async function takeTables(tx: Knex.Transaction, dialect: Dialect): Promise<void> {
  const applied = await appliedTo(tx)
  if (applied.length === 0 || applied.length === Object.keys(MIGRATIONS).length) return
  const there = await dialect.tableNames((name) => tx(name))
  for (const sql of dialect.migrations.takeTables(TAKEN.filter((name) => there.includes(name)))) await tx.raw(sql)
}

/** For readers that must not change a database. @throws StorageError `newer_schema`, `older_schema` */
export async function requireThisSchema(db: Knex): Promise<string[]> {
  await refuseNewer(db)
  const applied = await appliedTo(db)
  const missing = Object.keys(MIGRATIONS).filter((name) => !applied.includes(name))
  if (missing.length === 0) return []
  const message = `the database has an older schema (it lacks ${missing.join(', ')}): bring it to this version with claimcheck migrate`
  throw new StorageError('older_schema', message)
}

function sourceFor(dialect: Dialect): Knex.MigrationSource<string> {
  return {
    getMigrations: async () => Object.keys(MIGRATIONS),
    getMigrationName: (name) => name,
    getMigration: async (name) => ({
      up: (db) => MIGRATIONS[name]!.up(db, dialect),
      down: async () => {
        throw new Error('migrations only go forward')
      },
    }),
  }
}

async function refuseNewer(db: Knex): Promise<void> {
  const unknown = (await appliedTo(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown.length === 0) return
  throw new StorageError(
    'newer_schema',
    `the database is from a newer version of Claimcheck (it has ${unknown.join(', ')}): run that version or a later one`,
  )
}

async function appliedTo(db: Knex): Promise<string[]> {
  return (await db.schema.hasTable(TABLE)) ? db(TABLE).pluck('name') : []
}
