/** Installations to copy, databases to copy them to, and the command. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '@claimcheck/server/features'
import type { Test } from 'tap'
import type { Client } from './client.ts'
import { type Env, type Outcome, runClaimcheck } from './command.ts'
import { createDatabase, type Database, type Dialect } from './database.ts'
import { Host } from './host.ts'
import { Installation, SCRIPTED } from './installation.ts'
import { openStorage } from './storage.ts'

export const LOCKED = { use: resolve('build/test/plugins/locked.js'), trusted: true }
const SECRET_KEY = 'c0'.repeat(32)
/** Copies are about both, however short the run is. */
export const DIALECTS = ['sqlite', 'postgres'] as const

export function claimcheck({ folder, config }: Installation, args: readonly string[], env: Env = {}): Promise<Outcome> {
  return runClaimcheck(folder, args, {
    DATA_DIR: config.dataDir,
    DATABASE_URL: config.databaseUrl,
    HEAD_MEMORY: 'none',
    SECRET_KEY,
    ...env,
  })
}

/** A new folder, which is removed with the test; `t.testdir` has one for each test. */
export function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-copies-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An empty database to copy to. */
export async function emptyDatabase(t: Test, dialect: Dialect): Promise<string> {
  if (dialect === 'sqlite') return `sqlite:${join(newFolder(t), 'copy.db')}`
  const database = await createDatabase(dialect, { isEmpty: true })
  t.teardown(() => database.remove())
  return database.env.DATABASE_URL!
}

export async function startSource(t: Test, dialect: Dialect): Promise<Installation> {
  return startOn(t, await createDatabase(dialect))
}

/** @param serverUrl of a PostgreSQL server other than the one that tests share, with which the database is removed */
export async function startSourceOn(t: Test, serverUrl: string): Promise<Installation> {
  return startOn(t, { ...(await createDatabase('postgres', { serverUrl })), remove: async () => {} })
}

async function startOn(t: Test, database: Database): Promise<Installation> {
  return await Installation.during(t, {
    database: { ...database, env: { ...database.env, SECRET_KEY } },
    plugins: [SCRIPTED, LOCKED],
  })
}

/** The installation's configuration, with another database. */
export function configOf({ folder, config }: Installation, databaseUrl: string, env: Env = {}): Config {
  const common = { PORT: '0', LOG_LEVEL: 'silent', HEAD_MEMORY: 'none', DATA_DIR: config.dataDir, SECRET_KEY }
  return loadConfig({ ...common, DATABASE_URL: databaseUrl, ...env }, folder)
}

export async function startHost(t: Test, config: Config): Promise<Host> {
  const host = new Host(config)
  await host.start()
  t.teardown(() => host.stop())
  return host
}

/** Each is decided when this resolves. */
export async function submitMany(client: Client, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 50) {
    const submitted = await Promise.all(Array.from({ length: Math.min(50, left) }, () => client.submit()))
    for (const { body } of submitted) if (body.state !== 'decided') await client.decided(body.claim_id)
  }
}

/** What there is of the tables in which every installation has rows. */
export async function rowsIn(databaseUrl: string): Promise<number> {
  const storage = await openStorage({ databaseUrl })
  try {
    return await storage.snapshot(async (db) => {
      let rows = 0
      for (const table of ['workspaces', 'claims', 'receipts', 'logs']) rows += (await db.table(table)).length
      return rows
    })
  } finally {
    await storage.close()
  }
}
