import { join } from 'node:path'
import { createEventChores } from '@claimcheck/server/features/events/chores'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { UNREAD } from '../../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 24 * 60 * 60_000

async function open(t: Test) {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  await storage.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
  const clock = { at: NOON, doubt: undefined as string | undefined }
  const logger = { error: (problem: unknown) => void t.fail(String(problem)) }
  const logGuard = { maySign: async () => true }
  const config = { events: { retentionDays: 30 } }
  const parts = { storage, clock: { doubt: () => clock.doubt }, logGuard, now: () => clock.at, config, logger }
  const chores = createEventChores(parts)
  return {
    storage,
    clock,
    round: () => chores.round(new AbortController().signal),
    connect: (id: string, expiresAt: number | null) =>
      storage.write((tx) => {
        const connection = { ...UNREAD, id, workspaceId: 'ws_1', provider: 'test', options: {}, sealedSecrets: {} }
        const times = { connectedAt: NOON, disconnectedAt: null, expiresAt }
        return tx.connections.insert({ ...connection, scopes: [], ...times })
      }),
    told: async () =>
      (await storage.read.events.after('ws_1', 0, 100)).map(({ type, subject }) => `${type} ${subject}`),
  }
}

t.test('credentials that end within a week are told once for each end', async (t) => {
  const { clock, round, connect, told, storage } = await open(t)
  await connect('conn_soon', NOON + 7 * DAY_MS)
  await connect('conn_later', NOON + 7 * DAY_MS + 1)
  await connect('conn_over', NOON)
  await connect('conn_never', null)
  await round()
  await round()
  t.strictSame(await told(), ['connection.expiring conn_soon'])
  clock.at += 1
  await round()
  t.strictSame(await told(), ['connection.expiring conn_soon', 'connection.expiring conn_later'])
  await storage.write((tx) =>
    tx.db
      .table('connections')
      .where({ id: 'conn_soon' })
      .update({ expires_at: NOON + 5 * DAY_MS }),
  )
  await round()
  t.equal((await told()).length, 3, 'another end')
})

t.test('a connection that was told as failing recovers after ten minutes of reads, and is told once', async (t) => {
  const { clock, round, connect, told, storage } = await open(t)
  for (const id of ['conn_told', 'conn_gone', 'conn_untold']) {
    await connect(id, null)
    await storage.write((tx) => tx.connectionHealth.failed(id, NOON, id === 'conn_untold' ? NOON - 1 : NOON))
    await storage.write((tx) => tx.connectionHealth.wasRead(id, NOON + 1))
  }
  await storage.write((tx) =>
    tx.db
      .table('connections')
      .where({ id: 'conn_gone' })
      .update({ disconnected_at: NOON + 1 }),
  )
  clock.at = NOON + 10 * 60_000
  await round()
  t.strictSame(await told(), [])
  clock.at += 1
  await round()
  await round()
  t.strictSame(await told(), ['connection.recovered conn_told'])
})

t.test('events go after their days, and nothing goes while the time is in doubt', async (t) => {
  const { clock, round, told, storage } = await open(t)
  await storage.write(async (tx) => {
    const event = { workspaceId: 'ws_1', type: 'claim.decided', detail: null } as const
    for (let index = 0; index < 12_000; index++)
      tx.events.record({ ...event, at: NOON - 30 * DAY_MS - 1, subject: `${index}` })
    tx.events.record({ ...event, at: NOON - 30 * DAY_MS, subject: 'kept' })
  })
  clock.doubt = 'another clock says otherwise'
  await round()
  t.equal((await told()).length, 100)
  clock.doubt = undefined
  await round()
  t.strictSame(await told(), ['claim.decided kept'])
})
