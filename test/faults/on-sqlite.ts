/** What can happen to one host with its database in a file. */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CANNOT_MOUNT, fill } from '../support/small-disk.ts'
import { knexOn } from '../support/sql.ts'
import type { Fault } from './fault.ts'
import type { World } from './world.ts'

const DAY = 24 * 60 * 60

export async function freeze({ hosts: [host], wait }: World): Promise<void> {
  host!.signal('SIGSTOP')
  await wait(9000)
  host!.signal('SIGCONT')
}

export const jumps = (clock: string): readonly Omit<Fault, 'dialect'>[] =>
  Object.entries({ ahead: DAY, back: -DAY }).map(([way, seconds]) => ({
    name: `${clock} jumps a day ${way} for 5 s`,
    needs: 'clocks',
    async play({ clocks: [clock], wait }) {
      clock!.set(seconds)
      await wait(5000)
      clock!.set(0)
    },
  }))

export const BEGIN_LOG = {
  steps: ['claimcheck log new --yes'],
  run: async ({ fleet, lostReceipts }: World) => {
    const { code, stdout, stderr } = await fleet.command('log', 'new', '--yes', '--json')
    if (code !== 0) throw new Error(`log new: ${stderr}`)
    for (const { receipt_id } of JSON.parse(stdout).lost_receipts) lostReceipts.add(receipt_id)
  },
} as const

export const ON_SQLITE: readonly Fault[] = (
  [
    {
      name: 'the host is killed',
      async play({ hosts: [host] }) {
        await host!.kill()
        await host!.start()
      },
    },
    { name: 'the host is frozen for 9 s', play: freeze },
    {
      name: 'the host is stopped and started again',
      async play({ hosts: [host] }) {
        await host!.stop()
        await host!.start()
      },
    },
    {
      name: 'the disk is full for 5 s',
      needs: 'small disk',
      skip: CANNOT_MOUNT,
      async play({ disk, wait }) {
        const filler = join(disk, 'filler')
        fill(filler)
        await wait(5000)
        rmSync(filler)
      },
    },
    {
      name: 'another program locks the database for 8 s',
      async play({ databaseUrl, wait }) {
        const other = await knexOn(databaseUrl.slice('sqlite:'.length))
        const lock = await other.transaction()
        await lock.raw('UPDATE logs SET log_id = log_id')
        await wait(8000)
        await lock.rollback()
        await other.destroy()
      },
    },
    ...jumps('the clock'),
    {
      name: 'all memory of the last head is deleted',
      async play(world) {
        await world.stopAll()
        forget(world)
        await world.fleet.startAll()
      },
    },
    {
      name: 'the memory of the last head is damaged',
      async play(world) {
        await world.stopAll()
        writeFileSync(join(world.dataDir(), 'log-head.json'), '{"body"')
        await world.fleet.startAll()
        await world.wait(3000)
      },
      mend: {
        steps: ['remove log-head.json', 'restart'],
        async run(world) {
          await world.stopAll()
          rmSync(join(world.dataDir(), 'log-head.json'))
          await world.fleet.startAll()
        },
      },
    },
    {
      name: 'DATA_DIR is restored from an old backup, as a whole',
      restores: true,
      async play(world) {
        const copy = `${world.dataDir()}-backup`
        await world.endLoad()
        await world.stopAll()
        cpSync(world.dataDir(), copy, { recursive: true })
        await world.fleet.startAll()
        await world.underLoad()
        await world.endLoad()
        await world.stopAll()
        rmSync(world.dataDir(), { recursive: true })
        cpSync(copy, world.dataDir(), { recursive: true })
        await world.fleet.startAll()
      },
      mend: BEGIN_LOG,
    },
    {
      name: 'the database is restored from an old backup, and the host started with a new DATA_DIR',
      restores: true,
      async play(world) {
        const restore = await world.backUp()
        await world.endLoad()
        await world.stopAll()
        await restore()
        rmSync(join(world.dataDir(), 'log-head.json'))
        await world.fleet.startAll()
      },
      mend: BEGIN_LOG,
    },
    {
      name: 'the write-ahead log is deleted after a kill',
      restores: true,
      async play(world) {
        await world.endLoad()
        await world.sql('PRAGMA wal_checkpoint(TRUNCATE)')
        await world.underLoad()
        await world.endLoad()
        await world.hosts[0]!.kill()
        const wal = `${world.databaseUrl.slice('sqlite:'.length)}-wal`
        if (!existsSync(wal)) throw new Error('there is no write-ahead log')
        rmSync(wal)
        rmSync(`${wal.slice(0, -3)}shm`, { force: true })
        await world.fleet.startAll()
      },
      mend: BEGIN_LOG,
    },
    {
      name: 'the database is deleted for a while, and put back',
      async play(world) {
        await world.endLoad()
        await world.stopAll()
        const files = readdirSync(world.dataDir()).filter((name) => name.startsWith('claimcheck.db'))
        const away = join(world.fleet.folder, 'away')
        for (const name of files) cpSync(join(world.dataDir(), name), join(away, name))
        for (const name of files) rmSync(join(world.dataDir(), name))
        await world.fleet.startAll()
        await world.wait(3000)
        await world.stopAll()
        for (const name of readdirSync(world.dataDir()))
          if (name.startsWith('claimcheck.db')) rmSync(join(world.dataDir(), name))
        cpSync(away, world.dataDir(), { recursive: true })
        await world.fleet.startAll()
      },
    },
  ] satisfies readonly Omit<Fault, 'dialect'>[]
).map((fault) => ({ ...fault, dialect: 'sqlite' as const }))

function forget(world: World): void {
  rmSync(join(world.dataDir(), 'log-head.json'), { force: true })
  rmSync(join(world.dataDir(), 'log-heads'), { recursive: true, force: true })
  rmSync(world.stateFolder, { recursive: true, force: true })
}
