import { join } from 'node:path'
import type { CheckRecord, FailureCode, Instant } from '@claimcheck/core/rules'
import { createActivity } from '@claimcheck/server/features/workspaces/activity'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { UNREAD, UNUSED } from '../../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const ADDRESS = '192.0.2.7'
const MINUTE_MS = 60_000
const LATE_MS = 10_000

async function open(t: Test) {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  const times = { createdAt: NOON, revokedAt: null }
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    for (const id of ['key_1', 'key_2']) {
      await tx.keys.insert({ ...UNUSED, ...times, id, workspaceId: 'ws_1', name: id, keyHash: id, lastFour: 'abcd' })
    }
    const connection = { ...UNREAD, workspaceId: 'ws_1', provider: 'test', options: {}, sealedSecrets: {}, scopes: [] }
    await tx.connections.insert({ ...connection, id: 'conn_1', connectedAt: NOON, disconnectedAt: null })
  })

  const warnings: string[] = []
  let writes = 0
  /** One host's, and its clock. */
  function host(at: Instant = NOON) {
    const clock = { at }
    const counted: Storage = {
      ...storage,
      write(work) {
        writes++
        return storage.write(work)
      },
    }
    const logger = { warn: (_: unknown, message: string) => void warnings.push(message) }
    const activity = createActivity({ storage: counted, now: () => clock.at, logger })
    return { ...activity, clock }
  }
  const lastUsed = async () => (await storage.read.keys.list()).map(({ lastUsedAt }) => lastUsedAt)
  const connection = async () => (await storage.read.connections.active())[0]!
  return { storage, host, warnings, lastUsed, connection, writes: () => writes }
}

function read(at: Instant): CheckRecord {
  return { sentAt: at, answeredAt: at, observation: { kind: 'absent', facts: {} }, clockOffsetMs: 0 }
}

function failed(at: Instant, code: FailureCode): CheckRecord {
  return { sentAt: at, answeredAt: at, failure: { code } }
}

t.test("a key's uses are written once a minute, however many there are", async (t) => {
  const { host, lastUsed, writes } = await open(t)
  const { keyUsed, close, clock } = host()
  const use = (id: string, lastUsedAt: Instant | null = null) => keyUsed({ id, lastUsedAt }, ADDRESS)
  for (let count = 0; count < 100; count++) use('key_1')
  await close()
  t.strictSame(await lastUsed(), [NOON, null])
  t.equal(writes(), 1)

  clock.at = NOON + MINUTE_MS - 1
  use('key_1')
  use('key_1', NOON)
  await close()
  t.equal(writes(), 1, 'also where its row was read before the last note was written')

  clock.at = NOON + MINUTE_MS
  use('key_1', NOON)
  use('key_2', NOON + 1)
  await close()
  t.strictSame(await lastUsed(), [NOON + MINUTE_MS, null], 'another host has noted the second one just before')
})

t.test('a connection shows its last good read, and its last failure with the reason', async (t) => {
  const { host, connection, writes } = await open(t)
  const { connectionRead, close } = host()
  connectionRead('conn_1', failed(NOON, 'timeout'))
  connectionRead('conn_1', read(NOON + 1))
  connectionRead('conn_1', failed(NOON + 2, 'forbidden'))
  await close()
  t.match(await connection(), { lastReadAt: NOON + 1, lastFailureAt: NOON + 2, lastFailure: 'forbidden' })
  connectionRead('conn_1', read(NOON + 3))
  await close()
  t.match(await connection(), { lastReadAt: NOON + 3, lastFailureAt: NOON + 2, lastFailure: 'forbidden' })
  t.equal(writes(), 2)
  connectionRead('conn_1', failed(NOON + 4, 'unsupported_target'))
  await close()
  t.match(await connection(), { lastFailureAt: NOON + 2 }, 'what is wrong with a claim is no failure of the connection')
})

t.test('refused credentials are the state of a connection until a read; other failures leave it', async (t) => {
  const { host, connection, writes } = await open(t)
  const { connectionRead, close } = host()
  const after = async (...records: readonly CheckRecord[]) => {
    for (const record of records) connectionRead('conn_1', record)
    await close()
    const { state, stateAt } = await connection()
    return [state, stateAt]
  }
  t.strictSame(await after(failed(NOON, 'timeout')), [null, null])
  t.strictSame(await after(failed(NOON + 1, 'unauthorized')), ['refused', NOON + 1])
  t.strictSame(await after(failed(NOON + 2, 'forbidden')), ['refused', NOON + 1], 'since when')
  t.strictSame(await after(failed(NOON + 3, 'unavailable')), ['refused', NOON + 1])
  t.strictSame(await after(read(NOON + 4)), ['reached', NOON + 4])
  t.strictSame(await after(failed(NOON + 5, 'forbidden'), read(NOON + 6)), ['reached', NOON + 4])
  t.strictSame(await after(failed(NOON + 7, 'forbidden')), ['reached', NOON + 4], 'what a claim named may not be there')
  t.strictSame(await after(read(NOON + 8), failed(NOON + 9, 'unauthorized')), ['refused', NOON + 9])
  t.strictSame(await after(read(NOON + 10)), ['reached', NOON + 10])
  t.strictSame(
    await after(failed(NOON + 11, 'unauthorized'), failed(NOON + 12, 'timeout')),
    ['refused', NOON + 11],
    'what failed after it hides it no more',
  )
  const late = { ...failed(NOON + 14, 'unauthorized'), sentAt: NOON + 12 }
  t.strictSame(await after(read(NOON + 13)), ['reached', NOON + 13])
  t.strictSame(await after(late), ['reached', NOON + 13], 'it may be of credentials that were replaced since')
  t.equal(writes(), 12, 'one for each flush')
})

t.test('of two hosts the latest stands, whichever writes last', async (t) => {
  const { host, connection, lastUsed } = await open(t)
  const [early, late] = [host(NOON + 1), host(NOON + 2)]
  for (const each of [early, late]) {
    each.keyUsed({ id: 'key_1', lastUsedAt: null }, ADDRESS)
    each.connectionRead('conn_1', read(each.clock.at))
    each.connectionRead('conn_1', failed(each.clock.at, each === late ? 'forbidden' : 'timeout'))
  }
  await late.close()
  await early.close()
  t.strictSame(await lastUsed(), [NOON + 2, null])
  t.match(await connection(), { lastReadAt: NOON + 2, lastFailureAt: NOON + 2, lastFailure: 'forbidden' })
})

t.test('what is noted is written a little later, without anybody asking', async (t) => {
  const { host, lastUsed } = await open(t)
  const { keyUsed } = host()
  keyUsed({ id: 'key_1', lastUsedAt: null }, ADDRESS)
  t.strictSame(await lastUsed(), [null, null], 'not at once')
  const end = Date.now() + LATE_MS
  // Its own timer keeps no process alive.
  while ((await lastUsed())[0] === null && Date.now() < end) await new Promise((done) => setTimeout(done, 100))
  t.strictSame(await lastUsed(), [NOON, null])
})

t.test('a database that fails costs the notes, a warning and nothing else', async (t) => {
  const { storage, host, warnings } = await open(t)
  const { keyUsed, connectionRead, close } = host()
  await storage.close()
  keyUsed({ id: 'key_1', lastUsedAt: null }, ADDRESS)
  connectionRead('conn_1', read(NOON))
  await t.resolves(close())
  t.equal(warnings.length, 1)
  await t.resolves(close(), 'and nothing is left to be written')
  t.equal(warnings.length, 1)
})

t.test("what is noted of keys and connections that are gone is nobody's loss", async (t) => {
  const { host, warnings, lastUsed } = await open(t)
  const { keyUsed, connectionRead, close } = host()
  keyUsed({ id: 'key_none', lastUsedAt: null }, ADDRESS)
  connectionRead('conn_none', failed(NOON, 'timeout'))
  keyUsed({ id: 'key_2', lastUsedAt: null }, ADDRESS)
  await close()
  t.strictSame(await lastUsed(), [null, NOON])
  t.strictSame(warnings, [])
})

t.test('more keys and connections at once than are held are not noted', async (t) => {
  const { host, lastUsed, connection } = await open(t)
  const { keyUsed, connectionRead, close } = host()
  for (let count = 0; count < 1000; count++) {
    keyUsed({ id: `key_none_${count}`, lastUsedAt: null }, ADDRESS)
    connectionRead(`conn_none_${count}`, read(NOON))
  }
  keyUsed({ id: 'key_1', lastUsedAt: null }, ADDRESS)
  connectionRead('conn_1', read(NOON))
  connectionRead('conn_none_1', failed(NOON, 'timeout'))
  await close()
  t.strictSame(await lastUsed(), [null, null])
  t.match(await connection(), { lastReadAt: null })
  keyUsed({ id: 'key_1', lastUsedAt: null }, ADDRESS)
  await close()
  t.strictSame(await lastUsed(), [NOON, null], 'but later they are')
})

t.test('an event tells once that a connection fails, and its end is told after ten minutes of reads', async (t) => {
  const { storage, host } = await open(t)
  const { connectionRead, close } = host()
  async function after(...records: readonly CheckRecord[]): Promise<string[]> {
    for (const record of records) {
      connectionRead('conn_1', record)
      await close()
    }
    const events = await storage.read.events.after('ws_1', 0, 100)
    return events.map(({ type, detail, subject, at }) => {
      t.equal(subject, 'conn_1')
      return `${type} ${detail} ${(at - NOON) / MINUTE_MS}`
    })
  }
  const at = (minutes: number) => NOON + minutes * MINUTE_MS

  t.strictSame(await after(failed(at(0), 'timeout'), failed(at(9), 'unavailable')), [], 'an outage of nine minutes')
  t.strictSame(await after(read(at(9.5)), failed(at(10), 'timeout'), failed(at(19), 'timeout')), [], 'counted anew')
  const outage = ['connection.failing timeout 20']
  t.strictSame(await after(failed(at(20), 'timeout'), failed(at(21), 'timeout'), failed(at(40), 'timeout')), outage)
  const recovered = async (minutes: number) =>
    (await storage.write((tx) => tx.connectionHealth.tellRecovered(at(minutes - 10)))).length === 1
  for (let minutes = 41; minutes < 100; minutes += 2) {
    const [failure, code] =
      minutes % 4 === 1 ? [at(minutes), 'timeout' as const] : [at(minutes), 'unauthorized' as const]
    t.strictSame(await after(failed(failure, code), read(failure + 1)), outage, 'it fails and is read in turn')
    connectionRead('conn_1', failed(at(minutes + 1), 'unauthorized'))
    t.strictSame(await after(read(at(minutes + 1.5))), outage, 'also between two flushes')
    t.notOk(await recovered(minutes + 2))
  }
  t.strictSame(await after(failed(at(103), 'forbidden')), outage, 'a hidden target')
  t.notOk(await recovered(110.4))
  t.ok(await recovered(110.5))
  t.notOk(await recovered(120), 'it is told once')
  const refused = [...outage, 'connection.failing unauthorized 121']
  t.strictSame(await after(failed(at(121), 'unauthorized'), failed(at(122), 'unauthorized')), refused)
  t.strictSame(await after(read(at(120.5))), refused)
  t.notOk(await recovered(140), 'a read from before the refusal')
  await after(read(at(123)))
  t.ok(await recovered(133))
})

t.test('a check that began before ten minutes of failures is none of their end', async (t) => {
  const { storage, host } = await open(t)
  const { connectionRead, close } = host()
  connectionRead('conn_1', failed(NOON, 'timeout'))
  await close()
  connectionRead('conn_1', { ...failed(NOON + 11 * MINUTE_MS, 'timeout'), sentAt: NOON + 9 * MINUTE_MS })
  await close()
  t.strictSame(await storage.read.events.after('ws_1', 0, 100), [])
})

t.test('a failure that a read of the same moment followed is told to nobody', async (t) => {
  const { storage, host } = await open(t)
  const { connectionRead, close } = host()
  connectionRead('conn_1', failed(NOON, 'unauthorized'))
  connectionRead('conn_1', read(NOON + 1))
  await close()
  t.strictSame(await storage.read.events.after('ws_1', 0, 100), [])
})

t.test('a refusal of a check from before the newest read, noted by another host, is told to nobody', async (t) => {
  const { storage, host } = await open(t)
  const [one, other] = [host(), host()]
  one.connectionRead('conn_1', read(NOON + 5))
  await one.close()
  other.connectionRead('conn_1', { ...failed(NOON + 6, 'unauthorized'), sentAt: NOON + 1 })
  await other.close()
  t.strictSame(await storage.read.events.after('ws_1', 0, 100), [])
  other.connectionRead('conn_1', failed(NOON + 7, 'unauthorized'))
  await other.close()
  t.match(await storage.read.events.after('ws_1', 0, 100), [{ type: 'connection.failing', at: NOON + 7 }])
})
