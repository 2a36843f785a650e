/** Real MariaDB servers by a clock that is set: one, and another that follows it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Connection, createConnection } from 'mysql2/promise'
import { freePort } from '../../../../test/support/free-port.ts'
import { findProgram } from '../../../../test/support/programs.ts'
import type { ServerClock } from './clock.ts'
import { READER } from './postgres.ts'

const run = promisify(execFile)
const START_MS = 60_000

/** `follower` is a replica of `mariadb`. */
export type MariadbName = 'mariadb' | 'follower'

const SETTINGS = ['--innodb-log-file-size=4M', '--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=16M']
const OWN: Readonly<Record<MariadbName, readonly string[]>> = {
  mariadb: ['--server-id=1', '--log-bin=changes'],
  follower: ['--server-id=2'],
}

export async function startMariadbServers(clock: ServerClock) {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-traps-mariadb-'))
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const at = (name: string) => join(folder, name)
  const auth = ['--auth-root-authentication-method=normal', '--skip-test-db']
  const first = [`--datadir=${at('mariadb')}`, ...SETTINGS.slice(0, 2)]
  await run(findProgram('mariadb-install-db')!, ['--no-defaults', ...user, ...first, ...auth])
  await cp(at('mariadb'), at('follower'), { recursive: true })
  const [mariadb, follower] = await Promise.all([start('mariadb'), start('follower')])
  const servers = { mariadb, follower }

  async function start(name: MariadbName) {
    const port = await freePort()
    const place = [`--datadir=${at(name)}`, `--socket=${at(`${name}.socket`)}`, `--log-error=${at(`${name}.log`)}`]
    const options = ['--no-defaults', ...user, ...place, `--port=${port}`, '--bind-address=127.0.0.1', ...SETTINGS]
    // The server ends with the pipe, however this process ends.
    const script = 'program="$1"; shift; "$program" "$@" & pid=$!; cat >/dev/null; kill -KILL $pid; wait $pid'
    const child = spawn('sh', ['-c', script, 'keeper', findProgram('mariadbd')!, ...options, ...OWN[name]], {
      detached: true,
      env: { ...process.env, ...clock.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    ;(child.stdin as unknown as { unref(): void }).unref()
    return { port, child, admin: await connected(name) }
  }

  async function connected(name: MariadbName): Promise<Connection> {
    for (let waited = 0; ; waited += 100) {
      try {
        return await createConnection({ socketPath: at(`${name}.socket`), user: 'root', multipleStatements: true })
      } catch (cause) {
        if (waited > START_MS)
          throw new Error(`MariaDB does not start: ${await readFile(at(`${name}.log`), 'utf8').catch(() => '')}`, {
            cause,
          })
        await setTimeout(100)
      }
    }
  }

  async function position(name: MariadbName, variable: string): Promise<unknown> {
    const [rows] = await servers[name].admin.query(`SELECT @@GLOBAL.${variable} AS at`)
    return (rows as { at: unknown }[])[0]!.at
  }

  const follow = `STOP SLAVE; CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${mariadb.port},
    MASTER_USER = 'follow', MASTER_PASSWORD = 'follow', MASTER_USE_GTID = slave_pos, MASTER_DELAY = 0;
    SET GLOBAL read_only = 0; START SLAVE`
  await mariadb.admin.query(`CREATE USER reader@'%' IDENTIFIED BY '${READER.password}'; CREATE DATABASE staging;
    CREATE USER follow@'%' IDENTIFIED BY 'follow'; GRANT REPLICATION SLAVE ON *.* TO follow@'%'`)
  await follower.admin.query(follow)

  return {
    portOf: (name: MariadbName) => servers[name].port,
    async run(sql: string, name: MariadbName = 'mariadb'): Promise<void> {
      await servers[name].admin.query(name === 'mariadb' ? `USE shop; ${sql}` : sql)
    },
    async session(): Promise<Connection> {
      const one = await connected('mariadb')
      await one.query('USE shop')
      return one
    },
    /** Lets the follower follow as at first. */
    async follow(): Promise<void> {
      await follower.admin.query(follow)
    },
    /** Waits until the follower has all that the other has written. */
    async catchUp(): Promise<void> {
      const all = await position('mariadb', 'gtid_binlog_pos')
      for (let waited = 0; waited < START_MS; waited += 20) {
        if ((await position('follower', 'gtid_slave_pos')) === all) return
        await setTimeout(20)
      }
      throw new Error('the follower does not follow')
    },
    async reset(): Promise<void> {
      await mariadb.admin.query(`DROP DATABASE IF EXISTS shop; CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop;
        ${ORDERS}; REVOKE ALL PRIVILEGES, GRANT OPTION FROM reader@'%'; GRANT SELECT ON shop.* TO reader@'%'`)
    },
    async remove(): Promise<void> {
      await Promise.all(
        Object.values(servers).map(({ admin, child }) => {
          admin.destroy()
          return ended(child)
        }),
      )
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function ended(child: ChildProcess): Promise<void> {
  child.ref()
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin!.end()
  return exit
}

export type MariadbServers = Awaited<ReturnType<typeof startMariadbServers>>

const ORDERS = `CREATE TABLE orders (id int PRIMARY KEY, number varchar(40) UNIQUE, status varchar(20), total decimal(10,2),
  paid_at datetime, note varchar(200))`
