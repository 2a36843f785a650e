/** What can happen to three hosts with a PostgreSQL server. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { CANNOT_MOUNT, fill } from '../support/small-disk.ts'
import type { Fault } from './fault.ts'
import { BEGIN_LOG, freeze, jumps } from './on-sqlite.ts'
import { APP, nameOf, type World } from './world.ts'

export const ON_POSTGRES: readonly Fault[] = (
  [
    {
      name: 'one of three hosts is killed, and down for 3 s',
      alert: { name: 'ClaimcheckDown', state: 'pending' },
      play: (world) => down(world, 3000),
    },
    {
      name: 'one of three hosts is killed, and down for 70 s',
      alert: { name: 'ClaimcheckDown', state: 'firing' },
      play: (world) => down(world, 70_000),
    },
    {
      name: 'all hosts are killed at once',
      async play({ hosts, fleet }) {
        await Promise.all(hosts.map((host) => host.kill()))
        await fleet.startAll()
      },
    },
    { name: 'one host is frozen for 9 s, longer than its leases', play: freeze },
    {
      name: 'hosts are restarted one after another',
      async play({ hosts }) {
        for (const host of hosts) {
          await host.stop()
          await host.start()
        }
      },
    },
    { name: 'PostgreSQL is stopped for 8 s', play: (world) => away(world, 'fast') },
    { name: 'PostgreSQL crashes, and is away for 8 s', play: (world) => away(world, 'immediate') },
    {
      name: 'hosts start while PostgreSQL is away',
      async play({ hosts, postgres, wait }) {
        await Promise.all(hosts.map((host) => host.kill()))
        await postgres.stop('fast')
        const starts = hosts.map((host) => host.start())
        await wait(4000)
        await postgres.start()
        await Promise.all(starts)
      },
    },
    { name: 'the network to PostgreSQL is silent for 12 s', play: (world) => wireIs(world, 'silent', 12_000) },
    { name: 'connections to PostgreSQL are refused for 8 s', play: (world) => wireIs(world, 'refusing', 8000) },
    {
      name: 'the network to PostgreSQL breaks off every 300 ms for 6 s',
      async play(world) {
        for (let count = 0; count < 20; count++) {
          await wireIs(world, 'refusing', 10)
          await world.wait(290)
        }
      },
    },
    {
      name: 'all sessions are terminated every 300 ms for 6 s',
      async play(world) {
        for (let count = 0; count < 20; count++) {
          await terminate(world)
          await world.wait(300)
        }
      },
    },
    {
      name: 'PostgreSQL is read-only for 8 s',
      async play(world) {
        await world.sql(`ALTER ROLE ${APP.role} SET default_transaction_read_only = on`)
        await terminate(world)
        await world.wait(8000)
        await world.sql(`ALTER ROLE ${APP.role} RESET default_transaction_read_only`)
      },
    },
    {
      name: 'the password is changed for 8 s',
      play: (world) => role(world, "PASSWORD 'another'", `PASSWORD '${APP.password}'`),
    },
    { name: 'the role may not log in for 8 s', play: (world) => role(world, 'NOLOGIN', 'LOGIN') },
    {
      name: 'there are no connections left for 8 s',
      play: (world) => role(world, 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'),
    },
    {
      name: 'the database has another name for 8 s',
      async play(world) {
        const name = nameOf(world.databaseUrl)
        const admin = new URL(world.databaseUrl)
        admin.pathname = 'postgres'
        const run = async (sql: string) => {
          const client = new pg.Client(admin.href)
          await client.connect()
          await client.query(sql).finally(() => client.end())
        }
        await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
        await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
        await run(`ALTER DATABASE ${name} RENAME TO ${name}_away`)
        await world.wait(8000)
        await run(`ALTER DATABASE ${name}_away RENAME TO ${name}`)
        await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
      },
    },
    {
      name: 'the role may not write receipts for 8 s',
      async play(world) {
        await world.sql(`REVOKE INSERT ON receipts FROM ${APP.role}`)
        await world.wait(8000)
        await world.sql(`GRANT INSERT ON receipts TO ${APP.role}`)
      },
    },
    {
      name: 'a session holds a lock on the table of heads for 10 s',
      play: (world) => holding(world, 'LOCK TABLE tree_heads IN ACCESS EXCLUSIVE MODE', 10_000),
    },
    {
      name: 'a session holds the row of the log for 10 s',
      play: (world) => holding(world, 'SELECT log_id FROM logs FOR UPDATE', 10_000),
    },
    { name: 'VACUUM FULL runs under load', play: async ({ sql }) => void (await sql('VACUUM FULL')) },
    {
      name: 'the disk of PostgreSQL is full for 6 s',
      needs: 'small disk',
      skip: CANNOT_MOUNT,
      async play({ disk, postgres, wait }) {
        const filler = join(disk, 'filler')
        fill(filler)
        await wait(6000)
        rmSync(filler)
        // PostgreSQL ends where it cannot write its write-ahead log. Its service manager starts it again.
        await postgres.stop('immediate').catch(() => {})
        await postgres.start()
      },
    },
    ...jumps('the clock of one host'),
    {
      name: 'a host with a new DATA_DIR joins',
      async play({ fleet }) {
        await fleet.addHost().start()
      },
    },
    {
      name: 'all hosts start with a new DATA_DIR',
      async play(world) {
        await world.stopAll()
        for (const index of world.hosts.keys()) rmSync(world.dataDir(index), { recursive: true })
        await world.fleet.startAll()
      },
    },
    {
      name: 'an old dump is restored under running hosts',
      restores: true,
      async play(world) {
        const restore = await world.backUp()
        await world.endLoad()
        await restore()
      },
      mend: BEGIN_LOG,
    },
    {
      name: 'an old dump is restored, and the first host to start has a new DATA_DIR',
      restores: true,
      async play(world) {
        const restore = await world.backUp()
        await world.endLoad()
        await restore()
        await world.fleet.addHost().start()
      },
      mend: BEGIN_LOG,
    },
  ] satisfies readonly Omit<Fault, 'dialect'>[]
).map((fault) => ({ ...fault, dialect: 'postgres' as const }))

async function down({ hosts: [host], wait }: World, ms: number): Promise<void> {
  await host!.kill()
  await wait(ms)
  await host!.start()
}

async function away({ postgres, wait }: World, mode: 'fast' | 'immediate'): Promise<void> {
  await postgres.stop(mode)
  await wait(8000)
  await postgres.start()
}

async function wireIs({ wire, wait }: World, state: 'silent' | 'refusing', ms: number): Promise<void> {
  wire.set(state)
  await wait(ms)
  wire.set('open')
}

async function terminate({ sql }: World): Promise<void> {
  await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${APP.role}'`)
}

async function role(world: World, broken: string, sound: string): Promise<void> {
  await world.sql(`ALTER ROLE ${APP.role} ${broken}`)
  await terminate(world)
  await world.wait(8000)
  await world.sql(`ALTER ROLE ${APP.role} ${sound}`)
}

async function holding({ databaseUrl, wait }: World, sql: string, ms: number): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  await client.query('BEGIN')
  await client.query(sql)
  await wait(ms)
  await client.query('ROLLBACK')
  await client.end()
}
