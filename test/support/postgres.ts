/** A real PostgreSQL server for tests. It ends with the process that started it, however that ends, and its data is removed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chown, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { findPrograms, serverUser } from './postgres-programs.ts'

const run = promisify(execFile)

export interface Postgres {
  /** Of the database `postgres`, as superuser. */
  readonly url: string
  /** `fast`, unless said otherwise: as an operator stops it. `immediate`: as if it had crashed. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Restarts with these settings, and with these files in its folder. */
  configure(settings: readonly string[], files?: Readonly<Record<string, string>>): Promise<void>
  /** The folder of its data. */
  readonly data: string
  /** Of a standby: it takes writes from now on. */
  promote(): Promise<void>
  /** For good, with everything that was stored. */
  remove(): Promise<void>
}

// Reads until the process that started it has ended: its pipe closes even when it is killed.
const KEEPER = 'cat; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"'

interface PostgresOptions {
  /** False: what it has committed outlives its own end, and not the machine's. Much faster where databases come and go. */
  readonly fsync?: boolean
  /** Of the folder in which it makes its own. */
  readonly in?: string
  /** A streaming standby of this server, which stops for a moment. Its URL differs in the port. */
  readonly standbyOf?: Postgres
}

export async function startPostgres({ fsync = true, in: parent, standbyOf }: PostgresOptions = {}): Promise<Postgres> {
  const user = serverUser()
  // Root's temporary folder may be closed to the server's user.
  const folder = await realpath(await mkdtemp(join(parent ?? (user ? '/tmp' : tmpdir()), 'claimcheck-postgres-')))
  if (user) await chown(folder, user.uid, user.gid)
  const programs = findPrograms(user, join(folder, 'programs'))
  const keeper = spawn('sh', ['-c', KEEPER, 'keeper', programs, folder], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  release(keeper)

  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const port = await freePort()
  const password = standbyOf ? new URL(standbyOf.url).password : randomBytes(16).toString('hex')
  const program = (name: string, ...args: string[]) => run(join(programs, name), args, { ...user, cwd: folder })

  async function start(): Promise<void> {
    try {
      await program('pg_ctl', '-D', data, '-l', log, '-w', 'start')
    } catch (cause) {
      throw new Error(`PostgreSQL did not start: ${await readFile(log, 'utf8')}`, { cause })
    }
  }

  const addSettings = (settings: readonly string[]) =>
    appendFile(join(data, 'postgresql.conf'), settings.map((setting) => `${setting}\n`).join(''))
  async function add(name: string, content: string): Promise<void> {
    const file = join(data, name)
    await writeFile(file, content, { mode: 0o600 })
    if (user) await chown(file, user.uid, user.gid)
  }

  async function init(): Promise<void> {
    await writeFile(join(folder, 'password'), password)
    // Sorted as people sort, which most installations do: what must be in the order of bytes has to say so.
    const sorting = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C']
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`]
    await program('initdb', '-D', data, '--no-sync', ...sorting, ...access)
    const settings = ["listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", 'max_connections = 300']
    await addSettings([...settings, `fsync = ${fsync ? 'on' : 'off'}`])
  }

  /** Copies the data of a server that stands still: not every package of PostgreSQL has `pg_basebackup`. */
  async function follow(primary: Postgres): Promise<void> {
    const { port: primaryPort } = new URL(primary.url)
    await primary.stop()
    await run('cp', ['-a', primary.data, data])
    await primary.start()
    await add('standby.signal', '')
    await addSettings([`primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres password=${password}'`])
  }

  const stop: Postgres['stop'] = async (mode = 'fast') => {
    await program('pg_ctl', '-D', data, '-m', mode, '-w', 'stop')
  }

  await (standbyOf ? follow(standbyOf) : init())
  await addSettings([`port = ${port}`])
  await start()

  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    data,
    start,
    stop,
    configure: async (settings, files = {}) => {
      for (const [name, content] of Object.entries(files)) await add(name, content)
      await addSettings(settings)
      await stop()
      await start()
    },
    promote: async () => {
      await program('pg_ctl', '-D', data, '-w', 'promote')
    },
    remove: async () => {
      keeper.ref()
      const ended = once(keeper, 'exit')
      keeper.stdin!.end()
      await ended
    },
  }
}

let shared: Promise<string> | undefined

/** Of the server that all tests share: the one that the test command started, or this process's own. */
export function sharedPostgresUrl(): Promise<string> {
  shared ??= process.env.TEST_POSTGRES_URL
    ? Promise.resolve(process.env.TEST_POSTGRES_URL)
    : startPostgres().then(({ url }) => url)
  return shared
}

/** This process may end without it. */
function release(child: ChildProcess): void {
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
}
