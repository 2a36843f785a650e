/** What the tests of a file leave is an installation that people have lived in: it is sound, and so is all that is made of it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretKeyPath } from '@claimcheck/server/base/secret-keys'
import { type Env, runClaimcheck } from './command.ts'
import { createDatabase, type Database, type Dialect } from './database.ts'
import { IS_THOROUGH } from './extent.ts'
import type { Installation } from './installation.ts'

/**
 * Examines the installation and, in a thorough test, its backup, what is restored from that, and its copy; then its hosts stop.
 * @throws Error with what a command said
 */
export async function examineLivedIn(installation: Installation, options: { readonly env: Env | undefined }) {
  const { folder, config } = installation
  const env = { ...options.env, ...installation.env, HEAD_MEMORY: 'none' }
  await requireSuccess(folder, ['doctor', '--json'], env)
  if (!IS_THOROUGH) return
  await installation.stop()
  const other: Dialect = installation.database.dialect === 'sqlite' ? 'postgres' : 'sqlite'
  const scratch = mkdtempSync(join(tmpdir(), 'claimcheck-lived-in-'))
  const databases: Database[] = []
  try {
    const backup = join(scratch, 'backup')
    await requireSuccess(folder, ['backup', backup, '--no-verify', '--json'], env)
    for (const [name, command] of [
      ['restored', (_: string) => ['restore', backup, '--json']],
      ['copied', (to: string) => ['copy', '--from', config.databaseUrl, '--to', to, '--json']],
    ] as const) {
      const dataDir = join(scratch, name)
      mkdirSync(dataDir, { mode: 0o700 })
      const database = await createDatabase(other, { isEmpty: true })
      databases.push(database)
      const url = database.env.DATABASE_URL ?? `sqlite:${join(dataDir, 'claimcheck.db')}`
      const there = { ...env, ...keyOf(config.dataDir), DATA_DIR: dataDir, DATABASE_URL: url }
      await requireSuccess(folder, command(url), name === 'copied' ? { ...there, DATA_DIR: config.dataDir } : there)
      await requireSuccess(folder, ['doctor', '--json'], there)
    }
  } finally {
    for (const database of databases) await database.remove()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The secret key of a host that has it in a file: a database that several hosts share needs it in the environment. */
function keyOf(dataDir: string): Env {
  const file = secretKeyPath(dataDir)
  return existsSync(file) ? { SECRET_KEY: readFileSync(file, 'utf8').trim() } : {}
}

async function requireSuccess(folder: string, args: readonly string[], env: Env): Promise<void> {
  const { code, stdout, stderr } = await runClaimcheck(folder, args, env)
  if (code !== 0) throw new Error(`${args[0]} refuses what the tests left: ${stdout}${stderr}`)
}
