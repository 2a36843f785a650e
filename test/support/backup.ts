/** Backups of an installation's database alone, made and brought back while no host runs. */
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import type { Installation } from './installation.ts'
import { query } from './sql.ts'

/** @returns brings it back as it was */
export async function backUp(databaseUrl: string, name = 'backup'): Promise<() => Promise<void>> {
  return databaseUrl.startsWith('sqlite:')
    ? backUpFile(databaseUrl.slice('sqlite:'.length), name)
    : backUpPostgres(databaseUrl, name)
}

/** Of an installation, which stops for it. */
export async function backUpStopped(installation: Installation, name?: string): Promise<() => Promise<void>> {
  await installation.stop()
  const restore = await backUp(installation.config.databaseUrl, name)
  await installation.resume()
  return restore
}

/** What belongs to a database of SQLite: left beside an older file, a newer write-ahead log would be played onto it. */
const ENDINGS = ['', '-wal']

function backUpFile(file: string, name: string) {
  const backup = `${file}.${name}`
  const endings = copyAll(file, backup)
  return async () => {
    for (const ending of [...ENDINGS, '-shm']) rmSync(file + ending, { force: true })
    for (const ending of endings) copyFileSync(backup + ending, file + ending)
  }
}

/** Begins again where the host that ended still folds its write-ahead log into the file. */
function copyAll(file: string, backup: string): readonly string[] {
  const endings = ENDINGS.filter((ending) => existsSync(file + ending))
  try {
    for (const ending of endings) copyFileSync(file + ending, backup + ending)
    return endings
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return copyAll(file, backup)
  }
}

async function backUpPostgres(databaseUrl: string, name: string) {
  const url = new URL(databaseUrl)
  const database = url.pathname.slice(1)
  url.pathname = 'postgres'
  const backup = `${database}_${name}`
  await query(url.href, `CREATE DATABASE ${backup} TEMPLATE ${database}`)
  return async () => {
    await query(url.href, `DROP DATABASE ${database} WITH (FORCE)`)
    await query(url.href, `CREATE DATABASE ${database} TEMPLATE ${backup}`)
  }
}
