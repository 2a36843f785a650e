/** Real Postgres servers by a clock that is set: one with commit times, one as it comes, a standby, and a stale copy that is promoted. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { appendFile, chmod, chown, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../../../test/support/free-port.ts'
import { findPrograms, serverUser } from '../../../../test/support/postgres-programs.ts'
import type { ServerClock } from './clock.ts'

const run = promisify(execFile)

export const READER = { user: 'reader', password: 'reader-pass-0123456789' }
const START_MS = 30_000

/** `main` keeps commit times; `plain` does not, as Postgres comes; `replica` follows `main`, and `stale` is an old copy of it. */
export type PostgresName = 'main' | 'plain' | 'replica' | 'stale'

const HBA = ['postgres', 'agent'].map((user) => `host all ${user} 127.0.0.1/32 trust`)
// Cheap logins: a table makes thousands.
const SETTINGS = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  'fsync = off',
  'autovacuum = off',
  'password_encryption = md5',
  'max_wal_senders = 4',
  'shared_buffers = 16MB',
  'log_min_messages = fatal',
]

export async function startPostgresServers(clock: ServerClock) {
  const user = serverUser()
  const folder = await mkdtemp('/tmp/claimcheck-traps-')
  await chmod(clock.folder, 0o755)
  const give = async (path: string) => user && chown(path, user.uid, user.gid)
  await give(folder)
  const programs = process.env.POSTGRES_PROGRAMS ?? findPrograms(user, join(folder, 'programs'))
  const server = (name: string) => join(folder, name)
  const ports = new Map<string, number>()
  const running = new Map<string, ChildProcess>()
  const admins = new Map<string, pg.Client>()

  async function init(name: string, settings: readonly string[]): Promise<void> {
    const args = ['--encoding=UTF8', '--locale=C', '--username=postgres', '--auth=trust', '--no-sync']
    await run(join(programs, 'initdb'), ['-D', server(name), ...args], { ...user, cwd: folder })
    await appendFile(join(server(name), 'postgresql.conf'), [...SETTINGS, ...settings, ''].join('\n'))
    await writeFile(
      join(server(name), 'pg_hba.conf'),
      [...HBA, 'host all all 127.0.0.1/32 md5', 'host replication postgres 127.0.0.1/32 trust', ''].join('\n'),
    )
  }

  async function start(name: string): Promise<void> {
    const port = ports.get(name) ?? (await freePort())
    ports.set(name, port)
    // The server ends with the pipe, however this process ends.
    const script = '"$1/postgres" -D "$2" -p "$3" 2>"$2.log" & pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid'
    const child = spawn('sh', ['-c', script, 'keeper', programs, server(name), String(port)], {
      ...user,
      cwd: folder,
      detached: true,
      env: { ...process.env, ...clock.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    ;(child.stdin as unknown as { unref(): void }).unref()
    running.set(name, child)
    for (let waited = 0; ; waited += 50) {
      try {
        await client(name, 'postgres').then((one) => one.end())
        return
      } catch (cause) {
        if (waited > START_MS)
          throw new Error(`${name} does not start: ${await readFile(`${server(name)}.log`, 'utf8')}`, { cause })
        await setTimeout(50)
      }
    }
  }

  async function stop(name: string): Promise<void> {
    await admins.get(name)?.end()
    admins.delete(name)
    const child = running.get(name)
    if (!child) return
    running.delete(name)
    child.ref()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // A clean end leaves nothing to recover, so that a copy of the files is one of the server.
    await run(join(programs, 'pg_ctl'), ['-D', server(name), '-m', 'fast', '-w', 'stop'], { ...user, cwd: folder })
    child.stdin!.end()
    await ended
  }

  async function client(name: string, as: string, database = 'postgres'): Promise<pg.Client> {
    const one = new pg.Client({ host: '127.0.0.1', port: ports.get(name), user: as, database })
    one.on('error', () => {})
    await one.connect()
    return one
  }

  async function admin(name: string): Promise<pg.Client> {
    const known = admins.get(name)
    if (known) return known
    const made = await client(name, 'postgres', 'shop')
    admins.set(name, made)
    return made
  }

  async function copyOf(name: string, settings: readonly string[]): Promise<void> {
    await cp(server('main'), server(name), { recursive: true, preserveTimestamps: true })
    await writeFile(join(server(name), 'standby.signal'), '')
    await appendFile(join(server(name), 'postgresql.conf'), [...settings, ''].join('\n'))
    await run('chown', ['-R', `${user?.uid ?? process.getuid!()}:${user?.gid ?? process.getgid!()}`, server(name)])
    await run('chmod', ['-R', 'go-rwx', server(name)])
  }

  await Promise.all([init('main', ['track_commit_timestamp = on', 'wal_keep_size = 512MB']), init('plain', [])])
  await Promise.all([start('main'), start('plain')])
  for (const name of ['main', 'plain']) {
    const first = await client(name, 'postgres')
    await first.query(`CREATE ROLE reader LOGIN PASSWORD '${READER.password}'`)
    await first.query('CREATE ROLE agent LOGIN')
    for (const database of ['shop', 'staging']) await first.query(`CREATE DATABASE ${database} OWNER agent`)
    await first.end()
    await (await admin(name)).query(`${FRESH}; ${ORDERS}`)
  }
  await stop('main')
  const primary = `primary_conninfo = 'host=127.0.0.1 port=${ports.get('main')} user=postgres'`
  await copyOf('replica', [primary, 'hot_standby_feedback = off', 'max_standby_streaming_delay = 0'])
  await copyOf('stale', [])
  await start('main')
  await start('replica')

  return {
    portOf: (name: PostgresName) => ports.get(name)!,
    /** Runs SQL as the administrator, or in a session of its own that stays. */
    async run(name: PostgresName, sql: string): Promise<void> {
      await (await admin(name)).query(sql)
    },
    session: (name: PostgresName) => client(name, 'postgres', 'shop'),
    /** Waits until the standby has replayed all that the primary has written. */
    async catchUp(): Promise<void> {
      const { rows } = await (await admin('main')).query('SELECT pg_current_wal_lsn()::text AS at')
      for (let waited = 0; waited < START_MS; waited += 10) {
        const told = await (await admin('replica')).query(
          `SELECT pg_last_wal_replay_lsn() >= '${rows[0].at}'::pg_lsn AS is_there`,
        )
        if (told.rows[0].is_there) return
        await setTimeout(10)
      }
      throw new Error('the replica does not follow')
    },
    /** Starts the stale copy, which takes writes from then on, as another timeline. */
    async promoteStale(): Promise<void> {
      if (running.has('stale')) return
      await start('stale')
      await (await admin('stale')).query('SELECT pg_promote()')
      // The control file, which tells the timeline, is written by the checkpoint that follows a promotion.
      await (await admin('stale')).query('CHECKPOINT')
    },
    async reset(): Promise<void> {
      for (const name of ['main', 'plain'] as const) await (await admin(name)).query(`${FRESH}; ${ORDERS}`)
    },
    async remove(): Promise<void> {
      for (const one of admins.values()) await one.end()
      for (const child of running.values()) {
        child.ref()
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.stdin!.end()
        await ended
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type PostgresServers = Awaited<ReturnType<typeof startPostgresServers>>

/** Removes what an earlier row has left. */
const FRESH = `DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    LOOP EXECUTE format('DROP SCHEMA %I CASCADE', one); END LOOP;
  END $$;
  CREATE SCHEMA public AUTHORIZATION agent; GRANT USAGE ON SCHEMA public TO reader;
  ALTER ROLE reader RESET ALL; ALTER ROLE reader NOBYPASSRLS; ALTER DATABASE shop RESET ALL;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader`

/** The table of most rows. */
const ORDERS = `CREATE TABLE public.orders (id int PRIMARY KEY, number text UNIQUE, status text, total numeric(10,2),
  paid_at timestamptz, note text); ALTER TABLE public.orders OWNER TO agent; GRANT SELECT ON public.orders TO reader`
