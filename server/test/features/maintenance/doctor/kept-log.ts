/** A kept log, copies of it that a person with access to the file has changed, and what the doctor says of them. */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineSigned } from '@claimcheck/plugin-anchor-eas/checker'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { type Diagnosis, diagnose } from '@claimcheck/server/features/maintenance/doctor'
import type { Knex } from 'knex'
import type { Test } from 'tap'
import { knexOn } from '../../../../../test/support/sql.ts'
import { openSqlite, SCHEMA } from '../../../../../test/support/storage.ts'
import { fillAnchors } from './anchors.ts'
import { fill, install, SECRET_KEY } from './installation.ts'

const secrets = openSecrets({ secretKey: Buffer.from(SECRET_KEY, 'hex'), dataDir: '' })

export interface KeptLog {
  readonly file: string
  remove(): void
}

interface Kept {
  readonly leaves?: number
  /** Each doctor recovers the signer of every anchor, which takes as long as all else. */
  readonly anchors?: boolean
}

export async function keepLog({ leaves, anchors = true }: Kept = {}): Promise<KeptLog> {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'))
  const installed = await install(folder)
  await fill(installed, leaves)
  if (anchors) await fillAnchors(installed.claimcheck)
  await installed.claimcheck.close()
  return { file: installed.file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export async function diagnoseFile(file: string, signatures = false): Promise<Diagnosis> {
  const storage = await openSqlite(file)
  try {
    return await diagnose(storage, { schema: SCHEMA, signatures, secrets, examineAnchor: examineSigned })
  } finally {
    await storage.close()
  }
}

/** In the copy nothing guards the tables from changes. */
export async function changedCopy<T>(
  t: Test,
  kept: string,
  change: (db: Knex) => Promise<T>,
): Promise<readonly [file: string, changed: T]> {
  const file = join(t.testdir(), 'claimcheck.db')
  copyFileSync(await unguarded(kept), file)
  return [file, await changeFile(file, change)]
}

/** A copy without triggers, which is made once. */
async function unguarded(kept: string): Promise<string> {
  const file = `${kept}.unguarded`
  if (existsSync(file)) return file
  copyFileSync(kept, file)
  await changeFile(file, async (db) => {
    const triggers: string[] = await db('sqlite_master').where('type', 'trigger').pluck('name')
    for (const trigger of triggers) await db.raw(`DROP TRIGGER ${trigger}`)
  })
  return file
}

async function changeFile<T>(file: string, change: (db: Knex) => Promise<T>): Promise<T> {
  const db = await knexOn(file)
  try {
    // The test is over before the machine could lose power.
    await db.raw('PRAGMA synchronous = OFF')
    return await change(db)
  } finally {
    await db.destroy()
  }
}

export async function problemsAfter(t: Test, kept: string, statement: string): Promise<readonly string[]> {
  const [file] = await changedCopy(t, kept, (db) => db.raw(statement))
  const { ok, problems } = await diagnoseFile(file)
  t.equal(ok, problems.length === 0)
  return problems
}

export function finds(t: Test, problems: readonly string[], named: RegExp): void {
  const isNamed = problems.some((problem) => named.test(problem))
  t.ok(isNamed, problems.slice(0, 3).join('; ') || 'nothing')
}
