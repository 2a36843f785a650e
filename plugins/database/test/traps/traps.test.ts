// Test run: slow
/** The trap table of `database.row.exists`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-database'
import t from 'tap'
import { mariadbProblem } from '../../../../test/support/mariadb.ts'
import { playTable, START } from '../../../../test/traps/verifier-table.ts'
import { byClock, clockProblem, createServerClock } from './clock.ts'
import { type Behind, openDoor } from './door.ts'
import { type MariadbServers, startMariadbServers } from './mariadb.ts'
import { MYSQL_REPLICAS } from './mysql-replicas.ts'
import { MYSQL_ROWS } from './mysql-rows.ts'
import { type PostgresServers, READER, startPostgresServers } from './postgres.ts'
import { POSTGRES_ROWS } from './postgres-rows.ts'
import { POSTGRES_TRICKS } from './postgres-tricks.ts'
import {
  FINGERPRINT_KEY,
  NAME,
  PRIVATE,
  paramsOf,
  type Row,
  type Scene,
  SECOND,
  type ServerName,
  type Session,
  targetOf,
} from './row.ts'

const problem = clockProblem()
const noMariadb = mariadbProblem()
const ROWS = [
  ...[...POSTGRES_TRICKS, ...POSTGRES_ROWS],
  ...(noMariadb === undefined ? [...MYSQL_REPLICAS, ...MYSQL_ROWS] : []),
]

interface Place {
  readonly postgres: PostgresServers
  readonly mariadb: MariadbServers | undefined
  readonly clock: ReturnType<typeof createServerClock>
}

let place: Promise<Place> | undefined
let turn: Promise<unknown> = Promise.resolve()

async function start(): Promise<Place> {
  const clock = createServerClock()
  const [postgres, mariadb] = await Promise.all([
    startPostgresServers(clock),
    noMariadb === undefined ? startMariadbServers(clock) : undefined,
  ])
  return { postgres, mariadb, clock }
}

if (problem === undefined) {
  t.teardown(async () => {
    if (!place) return
    const { postgres, mariadb, clock } = await place
    await Promise.all([postgres.remove(), mariadb?.remove()])
    clock.remove()
  })
  if (noMariadb !== undefined) t.comment(`the rows of MySQL are not played: ${noMariadb}`)
  playTable<Row, Awaited<ReturnType<typeof play>>>({
    rows: ROWS,
    // All rows share the servers and their clock.
    play: (row) => inTurn(() => play(row)),
    nameOf: ({ provider, title }) => `${provider}: ${title}`,
    isExcused: ({ isExcused = false }) => isExcused,
    check(t, _, { life }) {
      const kept = JSON.stringify([life.records, life.log])
      for (const secret of [...PRIVATE, READER.password, FINGERPRINT_KEY])
        t.notOk(kept.includes(secret), 'no read keeps what rows say, or a secret')
    },
  })
} else t.test('rows', { skip: problem }, async () => {})

function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const mine = turn.then(run)
  turn = mine.catch(() => {})
  return mine
}

async function play(row: Row) {
  place ??= start()
  const scene = row.scene()
  const { claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs, idleUntilMs } = scene
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const stage = await setStage(await place, row, scene)
  try {
    const life = await byClock(clock.now, () =>
      liveClaim({
        plugin,
        connection: { provider: row.provider, options: optionsOf(row, scene) },
        destination: stage.url,
        claim: {
          action: 'database.row.exists',
          target: targetOf(scene),
          params: paramsOf(scene) as never,
          claimedAt: START + claimedMs,
          ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
        },
        submittedAt,
        clock,
        reach: stage.reach,
        ...(idleUntilMs !== undefined && { idleUntil: START + idleUntilMs }),
      }),
    )
    return { life, submittedAt }
  } finally {
    await stage.clear()
  }
}

function optionsOf({ provider }: Row, { connection = {} }: Scene) {
  const usual = {
    name: NAME,
    address: provider === 'mysql' ? 'tls://db.example:3306' : 'tls://db.example:5432',
    database: 'shop',
    user: READER.user,
    password: READER.password,
    fingerprint_key: FINGERPRINT_KEY,
  }
  return Object.fromEntries(Object.entries({ ...usual, ...connection }).filter(([, value]) => value !== null)) as never
}

/** Empties the servers, and brings them to what they are at each moment. */
async function setStage({ postgres, mariadb, clock }: Place, row: Row, scene: Scene) {
  const door = await openDoor()
  const sessions = new Map<string, Session>()
  const isMysql = row.provider === 'mysql'
  const first = scene.at ?? (isMysql ? 'mariadb' : 'main')
  const replica = scene.replica ?? (first === 'replica' || first === 'follower' ? first : undefined)
  let aheadMs = 0
  let isBehind = replica === undefined
  let isPaused = false
  const follows = async () => isBehind || (await (isMysql ? mariadb! : postgres).catchUp())
  const lead = (to: ServerName | Behind) => door.lead(typeof to === 'string' ? portOf(to) : to)

  function portOf(name: ServerName): number {
    return name === 'mariadb' || name === 'follower' ? mariadb!.portOf(name) : postgres.portOf(name)
  }

  async function pauseReplica(pauses: boolean): Promise<void> {
    if (isMysql) await mariadb!.run(`${pauses ? 'STOP' : 'START'} SLAVE SQL_THREAD`, 'follower')
    else await postgres.run('replica', `SELECT pg_wal_replay_${pauses ? 'pause' : 'resume'}()`)
    isPaused = pauses
    isBehind = pauses
    await follows()
  }

  const world = {
    postgres,
    mariadb,
    sessions,
    lead,
    setAhead(ms: number): void {
      aheadMs = ms
    },
    pauseReplica,
    leaveBehind(): void {
      isBehind = true
    },
  }
  const events = [...scene.story.events]
  async function reach(until: number): Promise<void> {
    while (events.length > 0 && START + events[0]!.atMs <= until) {
      const { atMs, happen } = events.shift()!
      clock.set(START + atMs + aheadMs)
      await follows()
      await happen(world)
    }
    clock.set(until + aheadMs)
    await follows()
  }

  clock.set(START - 900 * 24 * 3600 * SECOND)
  await (isMysql ? mariadb! : postgres).reset()
  lead(first)
  return {
    url: door.url,
    reach,
    async clear(): Promise<void> {
      for (const session of sessions.values()) await session.end().catch(() => {})
      if (isPaused) await pauseReplica(false)
      if (isMysql && replica !== undefined) await mariadb!.follow()
      await door.close()
    },
  }
}
