/** An installation that people have lived in is sound, and so is all that is made of it: its backup, what is restored from that, and its copy. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretKeyPath } from '@claimcheck/server/base/secret-keys'
import { type Env, runClaimcheck } from './command.ts'
import { createDatabase, type Database, type Dialect } from './database.ts'

interface LivedIn {
  /** The folder with its configuration file. */
  readonly folder: string
  /** The environment of its commands, with `DATA_DIR` and, on Postgres, `DATABASE_URL` and `SECRET_KEY`. */
  readonly env: Env
  /** Stops its hosts. */
  stop(): Promise<unknown>
}

/** Has doctor examine the installation. @throws Error with what doctor said */
export async function requireSound({ folder, env }: Pick<LivedIn, 'folder' | 'env'>): Promise<void> {
  await requireSuccess(folder, ['doctor', '--json'], { ...env, HEAD_MEMORY: 'none' })
}

/**
 * Stops the installation, backs it up, restores that to a database, copies the installation to another, and has doctor examine both.
 * @throws Error with what a command said
 */
export async function requireSoundCopies(livedIn: LivedIn, to: Dialect): Promise<void> {
  const { folder } = livedIn
  const env: Env = { ...livedIn.env, HEAD_MEMORY: 'none' }
  const { DATA_DIR: home = join(folder, 'data') } = env
  const from = env.DATABASE_URL ?? `sqlite:${join(home, 'claimcheck.db')}`
  await livedIn.stop()
  const scratch = mkdtempSync(join(tmpdir(), 'claimcheck-lived-in-'))
  const databases: Database[] = []
  try {
    const backup = join(scratch, 'backup')
    await requireSuccess(folder, ['backup', backup, '--no-verify', '--json'], env)
    for (const made of ['restored', 'copied']) {
      const dataDir = join(scratch, made)
      mkdirSync(dataDir, { mode: 0o700 })
      const database = await createDatabase(to, { isEmpty: true })
      databases.push(database)
      const url = database.env.DATABASE_URL ?? `sqlite:${join(dataDir, 'claimcheck.db')}`
      const there = { ...env, ...keyIn(home), DATA_DIR: dataDir, DATABASE_URL: url }
      if (made === 'restored') await requireSuccess(folder, ['restore', backup, '--json'], there)
      else await requireSuccess(folder, ['copy', '--from', from, '--to', url, '--json'], { ...there, DATA_DIR: home })
      await requireSuccess(folder, ['doctor', '--json'], there)
    }
  } finally {
    for (const database of databases) await database.remove()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The secret key of a host that has it in a file: a database that several hosts share needs it in the environment. */
function keyIn(dataDir: string): Env {
  const file = secretKeyPath(dataDir)
  return existsSync(file) ? { SECRET_KEY: readFileSync(file, 'utf8').trim() } : {}
}

async function requireSuccess(folder: string, args: readonly string[], env: Env): Promise<void> {
  const { code, stdout, stderr } = await runClaimcheck(folder, args, env)
  if (code !== 0) throw new Error(`${args[0]} refuses what was left: ${stdout}${stderr}`)
}
