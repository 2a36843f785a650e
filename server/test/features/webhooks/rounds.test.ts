/**
 * Events become deliveries, each once, and deliveries are sent in the order of each claim: over hosts that race, fail and die.
 * Threat W9 of `security.md`.
 */
import { setTimeout } from 'node:timers/promises'
import type { Event } from '@claimcheck/core/api'
import { openSecrets } from '@claimcheck/server/base/secrets'
import type { Message, OpenTarget } from '@claimcheck/server/features/webhooks/kind'
import { usualFilters } from '@claimcheck/server/features/webhooks/kinds'
import { createRounds } from '@claimcheck/server/features/webhooks/rounds'
import type { Try } from '@claimcheck/server/features/webhooks/sender'
import { createWebhooks } from '@claimcheck/server/features/webhooks/webhooks'
import type { EventRow, NewEvent } from '@claimcheck/server/storage/events'
import { type DeliveryRow, NO_FILTERS, type WebhookFormat } from '@claimcheck/server/storage/webhooks'
import t, { type Test } from 'tap'
import { query } from '../../../../test/support/sql.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const SECRETS = openSecrets({ secretKey: Buffer.alloc(32, 7), secretKeysAlso: [], dataDir: '' })
const ARRIVED: Try = { status: 204, durationMs: 1, fault: null, retryAfterMs: undefined }
const REFUSED: Try = { status: 500, durationMs: 1, fault: 'status', retryAfterMs: undefined }

const subjectOf = ({ event }: Message) => (event!.data as { claim_id?: string }).claim_id

type Receive = (message: Message, target: OpenTarget) => Try | Promise<Try>

async function begin(t: Test, dialect: (typeof DIALECTS)[number] = 'sqlite') {
  const url = await newDatabase(t, dialect)
  const clock = { now: NOON }
  const now = () => clock.now
  const open = async () => opened(t, url)
  const storage = await open()
  await storage.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
  })
  const none = () => Promise.reject(new Error('none'))
  const webhookOutbound = { addressesOf: async () => ['192.0.2.1'], post: none, request: none }
  const ownAddress = { origin: () => 'https://claims.example.com', url: () => 'https://claims.example.com' }
  const webhooks = createWebhooks({ storage, secrets: SECRETS, webhookOutbound, ownAddress, now })
  const warned: string[] = []
  const logger = {
    error: (_: object, text: string) => t.fail(text),
    warn: (_: object, text: string) => warned.push(text),
  }
  /** The messages that receivers got, in order: the path of the receiver, and the subject. */
  const got: string[] = []
  const erased = new Set<string>()
  /** Faults of the next transactions: it is refused, or it happens and the connection breaks. */
  const faults: ('refused' | 'unknown')[] = []

  /** A host with its own connection to the database. */
  async function host(receive: Receive = () => ARRIVED) {
    const opened = await open()
    const write: typeof opened.write = async (work, options) => {
      const fault = faults.shift()
      if (fault === 'refused') throw new Error(fault)
      const result = await opened.write(work, options)
      if (fault === 'unknown') throw new Error(fault)
      return result
    }
    const own = { ...opened, write }
    const documents = async (rows: readonly EventRow[]) =>
      rows.map(({ number, type, subject }) =>
        erased.has(subject) ? undefined : ({ id: `${number}`, type, data: { claim_id: subject } } as unknown as Event),
      )
    const send = async (target: OpenTarget, message: Message, ended?: AbortSignal): Promise<Try> => {
      got.push(`${new URL(target.url).pathname} ${subjectOf(message)}`)
      const answered = Promise.resolve(receive(message, target))
      const aborted = new Promise<Try>((resolve) =>
        ended?.addEventListener('abort', () => resolve({ ...REFUSED, status: null })),
      )
      return Promise.race([answered, aborted])
    }
    const parts = { storage: own, events: { documents }, now, logger: logger as never }
    return createRounds(
      { ...parts, webhooks: { openTarget: webhooks.openTarget, send } },
      () => {},
      () => {},
    )
  }

  const add = async (path: string, workspaceId = 'ws_1', filters = {}, more: { format?: WebhookFormat } = {}) => {
    const url = `https://example.com/${path}`
    const settings = { format: 'standard', url, filters: { ...NO_FILTERS, ...filters }, ...more } as const
    return (await webhooks.add(workspaceId, settings)).target
  }
  const happen = (subjects: readonly string[], workspaceId = 'ws_1', type: NewEvent['type'] = 'claim.decided') =>
    storage.write(async (tx) => {
      for (const subject of subjects) tx.events.record({ workspaceId, type, at: clock.now, subject, detail: null })
    })
  const deliveries = async (workspaceId = 'ws_1') =>
    (await storage.read.webhooks.deliveries(workspaceId, { limit: 1000 })).toReversed()
  return { url, storage, clock, webhooks, host, add, happen, deliveries, got, warned, erased, faults }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Stores decided claims of one agent, which are like one another. */
const alike = (claimIds: readonly string[]) =>
  claimIds.map((claimId, number) =>
    claimNumber(number, { claimId, agentId: 'ann', state: 'decided', verdict: 'failed' }),
  )

/** Runs rounds until nothing more happens at this moment of the clock. */
async function settle(...hosts: readonly { run(): Promise<{ isMore: boolean }> }[]): Promise<void> {
  for (let quiet = 0; quiet < 2; quiet++) {
    const mores = await Promise.all(hosts.map((host) => host.run()))
    await setTimeout(5)
    if (mores.some(({ isMore }) => isMore)) quiet = -1
  }
  for (const host of hosts) await host.run()
}

const states = (rows: readonly DeliveryRow[]) => rows.map(({ subject, state }) => `${subject} ${state}`)

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, hosts that race make of each event one delivery to each webhook, and send it once`,
    async (t) => {
      const { add, happen, host, deliveries, got } = await begin(t, dialect)
      await happen(['before'])
      await add('a')
      await add('b')
      await add('c', 'ws_2')
      const claims = Array.from({ length: 60 }, (_, index) => `clm_${index}`)
      const hosts = await Promise.all([host(), host(), host()])
      for (let from = 0; from < claims.length; from += 20) {
        await Promise.all([happen(claims.slice(from, from + 20)), happen([`other_${from}`], 'ws_2'), settle(...hosts)])
      }
      for (let count = 0; count < 20; count++) await settle(...hosts)
      t.equal((await deliveries()).length, 120)
      t.ok((await deliveries()).every(({ state, attempts }) => state === 'delivered' && attempts === 1))
      t.equal(got.length, 123)
      t.equal(new Set(got).size, 123, 'none came twice, and none from before the webhooks')
      t.equal((await deliveries('ws_2')).length, 3)
    },
  )

  t.test(
    `on ${dialect}, a delivery that fails holds back its own claim at its own webhook, and nothing else`,
    async (t) => {
      const { add, happen, host, deliveries, got, clock } = await begin(t, dialect)
      await add('a')
      await add('b')
      await happen(['x', 'y', 'x'], 'ws_1', 'connection.failing')
      let isMended = false
      const one = await host((message, { url }) =>
        !isMended && url.endsWith('/a') && subjectOf(message) === 'x' ? REFUSED : ARRIVED,
      )
      for (let count = 0; count < 10; count++) await settle(one)
      t.strictSame(got.toSorted(), ['/a x', '/a y', '/b x', '/b x', '/b y'])
      const [firstOfA, secondOfA] = (await deliveries()).filter(
        ({ subject, state }) => subject === 'x' && state === 'waiting',
      )
      t.match(firstOfA, { attempts: 1, status: 500, fault: 'status', eventNumber: 1 })
      t.match(secondOfA, { attempts: 0, status: null, eventNumber: 3 })
      isMended = true
      clock.now = firstOfA!.dueAt
      for (let count = 0; count < 3; count++) await settle(one)
      t.strictSame(got.slice(5), ['/a x', '/a x'])
      t.ok((await deliveries()).every(({ state }) => state === 'delivered'))
    },
  )

  t.test(
    `on ${dialect}, what a host was sending when it died is sent again by another one, and only that`,
    async (t) => {
      const { add, happen, host, deliveries, got, clock } = await begin(t, dialect)
      await add('a')
      await happen(['x', 'y'])
      const dying = await host(() => new Promise(() => {}))
      await dying.run()
      await setTimeout(20)
      const other = await host()
      await settle(other)
      t.equal(got.length, 2, 'while the lease lasts, they are its own')
      clock.now += MINUTE_MS + 1
      await settle(other)
      t.strictSame(got.toSorted(), ['/a x', '/a x', '/a y', '/a y'])
      t.ok((await deliveries()).every(({ state }) => state === 'delivered'))
    },
  )

  t.test(`on ${dialect}, a host whose lease is over leaves a delivery to the one that has it now`, async (t) => {
    const { add, happen, host, deliveries, got, clock } = await begin(t, dialect)
    await add('a')
    await happen(['x'])
    const late = withResolvers<Try>()
    const [slow, other, third] = [await host(() => late.promise), await host(() => new Promise(() => {})), await host()]
    await slow.run()
    clock.now += MINUTE_MS + 1
    await other.run()
    late.resolve(REFUSED)
    await setTimeout(20)
    await slow.run()
    t.match(await deliveries(), [{ state: 'waiting', attempts: 0, status: null }])
    clock.now += MINUTE_MS / 4
    await settle(third)
    t.strictSame(got, ['/a x', '/a x'], 'the other one is still sending it')
  })

  t.test(`on ${dialect}, what waits at a removed webhook ends in steps, and counts as waiting no more`, async (t) => {
    const { add, happen, host, deliveries, webhooks, storage } = await begin(t, dialect)
    const { id } = await add('a')
    await happen(Array.from({ length: 50 }, (_, index) => `clm_${index}`))
    await (await host(() => new Promise(() => {}))).run()
    t.equal((await storage.read.webhooks.waiting(NOON)).count, 50)
    await webhooks.remove(id)
    t.equal((await storage.read.webhooks.waiting(NOON)).count, 0)
    const ended = () => storage.write((tx) => tx.webhooks.endRemoved(40))
    t.strictSame([await ended(), await ended(), await ended()], [40, 10, 0])
    t.ok((await deliveries()).every(({ state, fault }) => state === 'failed' && fault === 'removed'))
  })

  t.test(
    `on ${dialect}, a webhook that is off waits, goes on where it stopped, and gets nothing once it is removed`,
    async (t) => {
      const { add, happen, host, deliveries, got, webhooks, url } = await begin(t, dialect)
      const { id } = await add('a')
      const one = await host()
      await webhooks.switchOff(id)
      await happen(['x', 'y'])
      await settle(one)
      t.strictSame(got, [])
      t.strictSame(await deliveries(), [])
      await webhooks.switchOn(id)
      await settle(one)
      t.strictSame(got.toSorted(), ['/a x', '/a y'])
      await happen(['z'])
      await webhooks.remove(id)
      await settle(one)
      t.equal(got.length, 2)
      const [stored] = await query(url, 'SELECT * FROM webhook_targets')
      t.match(stored, { state: 'removed', sealed_url: null, sealed_secret: null, sealed_former: null })
      t.strictSame(await webhooks.list(), [])
    },
  )
}

t.test('a receiver that hangs holds up no other one', async (t) => {
  const { add, happen, host, got } = await begin(t)
  await add('hangs')
  await add('works')
  const one = await host((_, { url }) => (url.endsWith('/hangs') ? new Promise(() => {}) : ARRIVED))
  const claims = Array.from({ length: 100 }, (_, index) => `clm_${index}`)
  await happen(claims)
  for (let count = 0; count < 40; count++) await settle(one)
  t.equal(got.filter((one) => one.startsWith('/works')).length, 100)
  t.equal(got.filter((one) => one.startsWith('/hangs')).length, 4, 'it has its own lanes, and no more')
})

t.test('the webhooks of one payer leave lanes to others', async (t) => {
  const { add, happen, host, got } = await begin(t)
  for (let count = 0; count < 30; count++) await add(`hangs-${count}`)
  await add('works', 'ws_2')
  const one = await host((_, { url }) => (url.includes('/hangs') ? new Promise(() => {}) : ARRIVED))
  await happen(Array.from({ length: 10 }, (_, index) => `clm_${index}`))
  for (let count = 0; count < 10; count++) await settle(one)
  t.ok(got.length > 30 && got.length < 64, `${got.length} lanes are taken`)
  await happen(['mine'], 'ws_2')
  await settle(one)
  t.ok(got.includes('/works mine'))
})

t.test('after a failure a receiver gets one message at a time, until one arrives', async (t) => {
  const { add, happen, host, clock } = await begin(t)
  await add('a')
  let [under, most, isMended] = [0, 0, false]
  const one = await host(async () => {
    most = Math.max(most, ++under)
    await setTimeout(2)
    under--
    return isMended ? ARRIVED : REFUSED
  })
  await happen(['first'])
  await settle(one)
  most = 0
  await happen(Array.from({ length: 30 }, (_, index) => `clm_${index}`))
  for (let count = 0; count < 20; count++) await settle(one)
  t.equal(most, 1)
  isMended = true
  clock.now += MINUTE_MS
  for (let count = 0; count < 20; count++) await settle(one)
  t.ok(most > 1 && most <= 4, `${most} at a time`)
})

t.test('a receiver that answers 410 is switched off at once, with its events waiting, and as audited', async (t) => {
  const { add, happen, host, deliveries, webhooks, url, warned, got } = await begin(t)
  const { id } = await add('a')
  await happen(['x'])
  const one = await host(() => ({ ...REFUSED, status: 410, fault: 'gone' }))
  await settle(one)
  t.match(await webhooks.list(), [{ id, state: 'off', offReason: 'gone' }])
  t.match(await deliveries(), [{ state: 'waiting', fault: 'gone', status: 410 }])
  t.strictSame(warned, ['a webhook is switched off'])
  const [entry] = await query(url, `SELECT * FROM audit_trail WHERE event = 'webhook.switched_off'`)
  t.match(entry, { subject: id, details: /"reason":"gone"/ })
  await happen(['y'])
  await settle(one)
  t.strictSame(got, ['/a x'])
  await webhooks.switchOn(id)
  await settle(await host())
  t.strictSame(got.toSorted(), ['/a x', '/a x', '/a y'], 'nothing is lost when it is switched on again')
})

t.test('a receiver that asks for time is left alone for it, also with other claims', async (t) => {
  const { add, happen, host, got, clock } = await begin(t)
  await add('a')
  await happen(['x'])
  let isBusy = true
  const one = await host(() => (isBusy ? { ...REFUSED, status: 429, retryAfterMs: 2 * MINUTE_MS } : ARRIVED))
  await settle(one)
  await happen(['y'])
  clock.now += MINUTE_MS
  await settle(one)
  t.strictSame(got, ['/a x'])
  isBusy = false
  clock.now += MINUTE_MS + 1
  await settle(one)
  t.strictSame(got.toSorted(), ['/a x', '/a x', '/a y'])
})

t.test(
  'a receiver where nothing arrives for three days is switched off, and one where another message arrives is not',
  async (t) => {
    for (const others of [false, true]) {
      const { add, happen, host, deliveries, webhooks, clock } = await begin(t)
      const { id } = await add('a')
      const one = await host((message) => (subjectOf(message) === 'x' ? REFUSED : ARRIVED))
      await happen(['x'])
      for (let hour = 0; hour <= 80; hour++) {
        await settle(one)
        if (others && hour === 50) await happen(['y'])
        clock.now += DAY_MS / 24
      }
      t.match((await deliveries())[0], { subject: 'x', state: 'failed', fault: 'status' })
      t.match(await webhooks.list(), [others ? { id, state: 'on' } : { id, state: 'off', offReason: 'failing' }])
    }
  },
)

t.test('a delivery is sent again with the same id, also one that arrived', async (t) => {
  const { add, happen, host, deliveries, webhooks, clock } = await begin(t)
  const { id: targetId } = await add('a')
  const ids: string[] = []
  const one = await host(({ id }) => {
    ids.push(id)
    return ARRIVED
  })
  await happen(['x'])
  await settle(one)
  const [{ id } = { id: '' }] = await deliveries()
  await t.rejects(webhooks.sendAgain('ws_2', id), { code: 'not_found' }, 'not from another workspace')
  t.match(await webhooks.sendAgain('ws_1', id), { id, state: 'waiting', dueAt: clock.now })
  await settle(one)
  t.strictSame(ids, [id, id])
  t.match(await deliveries(), [{ state: 'delivered', attempts: 2 }])
  await webhooks.switchOff(targetId)
  await t.rejects(webhooks.sendAgain('ws_1', id), { code: 'bad_request' })
})

t.test('what was erased, or is no longer stored, is not sent', async (t) => {
  const { add, happen, host, deliveries, erased, got, storage, webhooks, clock } = await begin(t)
  const { id } = await add('a')
  const one = await host()
  await happen(['x', 'y'])
  erased.add('x')
  await settle(one)
  t.strictSame(states(await deliveries()), ['x failed', 'y delivered'])
  t.strictSame(got, ['/a y'])
  await webhooks.switchOff(id)
  await happen(['z'])
  clock.now += DAY_MS
  await storage.write((tx) => tx.events.removeBefore('ws_1', clock.now))
  await webhooks.switchOn(id)
  await settle(one)
  t.equal((await deliveries()).length, 2)
  await t.rejects(webhooks.sendAgain('ws_1', (await deliveries())[1]!.id), { code: 'not_found' })
  await happen(['new'])
  await settle(one)
  t.strictSame(got, ['/a y', '/a new'], 'it goes on after the gap')
})

t.test('a round that the database does not take, or takes without saying so, loses nothing', async (t) => {
  const { add, happen, host, deliveries, got, clock, faults } = await begin(t)
  await add('a')
  await happen(['x'])
  const one = await host()
  faults.push('refused')
  await t.rejects(one.run())
  await settle(one)
  t.strictSame(got, ['/a x'])
  await happen(['y'])
  faults.push('unknown')
  await t.rejects(one.run())
  await settle(one)
  t.strictSame(got, ['/a x'], 'it may be leased to somebody')
  clock.now += MINUTE_MS
  await settle(one)
  t.strictSame(got, ['/a x', '/a y'])
  t.strictSame(states(await deliveries()), ['x delivered', 'y delivered'])
})

t.test('a host that stops stores what arrived, and gives back what did not', async (t) => {
  const { add, happen, host, deliveries, got } = await begin(t)
  await add('a')
  await add('hangs')
  await happen(['x'])
  const one = await host((_, { url }) => (url.endsWith('/hangs') ? new Promise(() => {}) : ARRIVED))
  await one.run()
  await setTimeout(20)
  await one.end()
  t.strictSame((await deliveries()).map(({ state, leasedUntil }) => [state, leasedUntil]).toSorted(), [
    ['delivered', null],
    ['waiting', null],
  ])
  const other = await host()
  await settle(other)
  t.strictSame(got.toSorted(), ['/a x', '/hangs x', '/hangs x'])
})

t.test('a chat service gets one message in its gap, from all hosts together', async (t) => {
  const { add, happen, host, got, clock } = await begin(t)
  await add('a', 'ws_1', {}, { format: 'slack' })
  const hosts = await Promise.all([host(), host(), host()])
  await happen(Array.from({ length: 5 }, (_, index) => `clm_${index}`))
  for (let second = 1; second <= 5; second++) {
    for (let count = 0; count < 3; count++) await settle(...hosts)
    t.equal(got.length, second)
    clock.now += 1000
  }
  t.equal(new Set(got).size, 5)
})

t.test('a message that its service never takes is given up at once, and switches nothing off', async (t) => {
  const { add, happen, host, deliveries, webhooks, clock } = await begin(t)
  await add('a', 'ws_1', {}, { format: 'slack' })
  const one = await host((message) =>
    subjectOf(message) === 'x' ? { ...REFUSED, status: 400, fault: 'rejected' } : ARRIVED,
  )
  await happen(['x', 'y'])
  await settle(one)
  clock.now += 1000
  await settle(one)
  t.match(await deliveries(), [
    { subject: 'x', state: 'failed', fault: 'rejected', attempts: 1 },
    { subject: 'y', state: 'delivered' },
  ])
  t.match(await webhooks.list(), [{ state: 'on' }])
})

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, a chat hears of claims that are like one another once an hour, a program of each`,
    async (t) => {
      const { add, happen, host, deliveries, clock, storage, got } = await begin(t, dialect)
      await add('chat', 'ws_1', {}, { format: 'slack' })
      await add('program')
      const claims = ['a1', 'a2', 'b1', 'a3', 'a4', 'a5'].map((claimId, number) =>
        claimNumber(number, {
          claimId,
          agentId: claimId.startsWith('a') ? 'ann' : 'ben',
          state: 'decided',
          verdict: 'failed',
        }),
      )
      await storage.write(async (tx) => void (await tx.claims.insertNew(claims)))
      const told: string[] = []
      let isDown = false
      const one = await host((message, { format }) => {
        if (isDown) return REFUSED
        if (format === 'slack') told.push(`${subjectOf(message)} ${message.more}`)
        return ARRIVED
      })
      const pass = async (ms: number) => {
        clock.now += ms
        await settle(one)
      }
      await happen(['a1', 'a2', 'b1'])
      for (let second = 0; second < 5; second++) await pass(1000)
      t.strictSame(told.toSorted(), ['a1 0', 'b1 0'], 'the first of each at once')
      t.equal(got.filter((one) => one.startsWith('/program')).length, 3)
      await happen(['a3', 'a4'])
      await pass(30 * MINUTE_MS)
      t.equal(told.length, 2)
      isDown = true
      await pass(30 * MINUTE_MS)
      isDown = false
      await pass(MINUTE_MS)
      t.strictSame(told.slice(2), ['a2 2'], 'and the others in one message, also after a try that failed')
      const rows = (await deliveries()).filter(({ likeness }) => likeness !== null)
      t.ok(rows.every(({ state }) => state === 'delivered'))
      t.equal(new Set(rows.map(({ likeness }) => likeness)).size, 2)
      t.notMatch(JSON.stringify(rows), /ann|ben/, 'the agent is not stored')
      await happen(['a5'])
      await pass(0)
      t.equal(told.length, 3, 'the hour began again')
      await pass(61 * MINUTE_MS)
      t.strictSame(told.slice(3), ['a5 0'])
    },
  )
}

t.test('a chat hears of a connection that fails and recovers, in this order, without any mail', async (t) => {
  const { add, happen, host, got, clock } = await begin(t)
  const { types, verdicts } = usualFilters('slack')
  await add('chat', 'ws_1', { types, verdicts }, { format: 'slack' })
  const heard: string[] = []
  const one = await host(({ event }) => {
    heard.push(event!.type)
    return ARRIVED
  })
  await happen(['conn_1'], 'ws_1', 'connection.failing')
  await happen(['conn_1'], 'ws_1', 'connection.recovered')
  await happen(['1'], 'ws_1', 'anchor.landed')
  for (let second = 0; second < 4; second++) {
    await settle(one)
    clock.now += 1000
  }
  t.strictSame(heard, ['connection.failing', 'connection.recovered'])
  t.equal(got.length, 2)
})

t.test('claims that are told with one that is given up go on by themselves', async (t) => {
  const { add, happen, host, deliveries, clock, storage } = await begin(t)
  await add('chat', 'ws_1', {}, { format: 'slack' })
  await storage.write(async (tx) => void (await tx.claims.insertNew(alike(['a1', 'a2', 'a3']))))
  let outcome: Try = ARRIVED
  const told: string[] = []
  const one = await host((message) => {
    told.push(`${subjectOf(message)} ${message.more}`)
    return outcome
  })
  const pass = async (ms: number) => {
    clock.now += ms
    await settle(one)
  }
  await happen(['a1', 'a2', 'a3'])
  await settle(one)
  outcome = REFUSED
  await pass(60 * MINUTE_MS)
  t.match(await deliveries(), [{}, { firstAt: clock.now }, { firstAt: clock.now }])
  outcome = { ...REFUSED, status: 400, fault: 'rejected' }
  await pass(MINUTE_MS)
  t.match(await deliveries(), [{}, { state: 'failed' }, { state: 'waiting', leasedUntil: null }])
  outcome = ARRIVED
  await pass(MINUTE_MS)
  t.strictSame(told, ['a1 0', 'a2 1', 'a2 1', 'a3 0'])
})

t.test('a claim that was told lately with one of long ago is not given up with it', async (t) => {
  const { add, happen, host, deliveries, clock, storage } = await begin(t)
  await add('chat', 'ws_1', {}, { format: 'slack' })
  await storage.write(async (tx) => void (await tx.claims.insertNew(alike(['a1', 'a2']))))
  const one = await host(() => REFUSED)
  await happen(['a1'])
  for (let hour = 0; hour <= 80 && (await deliveries())[0]?.state !== 'failed'; hour++) {
    if (hour === 60) await happen(['a2'])
    await settle(one)
    clock.now += DAY_MS / 24
  }
  const [first, second] = await deliveries()
  t.match([first, second], [{ state: 'failed' }, { state: 'waiting' }])
  t.ok(second!.firstAt! > first!.firstAt! + 2 * DAY_MS)
})

t.test('a try that failed keeps claims like it silent for an hour, and not until it is tried again', async (t) => {
  const { add, happen, host, deliveries, clock, storage } = await begin(t)
  await add('chat', 'ws_1', {}, { format: 'slack' })
  await storage.write(async (tx) => void (await tx.claims.insertNew(alike(['a1', 'a2']))))
  const one = await host(() => REFUSED)
  await happen(['a1'])
  for (let hour = 0; hour < 12; hour++) {
    await settle(one)
    clock.now += DAY_MS / 24
  }
  const [{ triedAt, dueAt } = { triedAt: 0, dueAt: 0 }] = await deliveries()
  t.ok(dueAt > triedAt! + 4 * 60 * MINUTE_MS)
  clock.now = triedAt! + MINUTE_MS
  await happen(['a2'])
  await settle(one)
  t.match(await deliveries(), [{}, { subject: 'a2', attempts: 0, dueAt: triedAt! + 60 * MINUTE_MS }])
})

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, what waits for another delivery of its claim is not due, and events of agents wait for none`,
    async (t) => {
      const { add, happen, host, clock, storage } = await begin(t, dialect)
      await add('chat', 'ws_1', {}, { format: 'slack' })
      await storage.write(async (tx) => void (await tx.claims.insertNew(alike(['a1', 'a2']))))
      const told: string[] = []
      const one = await host((message) => {
        told.push(`${message.event!.type} ${subjectOf(message)}`)
        return ARRIVED
      })
      const second = async () => {
        clock.now += 1000
        await settle(one)
      }
      await happen(['a1', 'a2'])
      await happen(['a2'], 'ws_1', 'connection.failing')
      await happen(['a2'], 'ws_1', 'rate.jumped')
      for (let count = 0; count < 4; count++) await second()
      t.strictSame(told, ['claim.decided a1', 'rate.jumped a2'])
      clock.now = NOON + 50 * MINUTE_MS
      const { count, since } = await storage.read.webhooks.waiting(clock.now)
      t.equal(count, 2)
      t.ok(since! > clock.now, 'the gathered claim is due later, and the other one waits for it')
    },
  )
}

t.test(
  'a message about claims that are like one another tells of one that was not erased, and counts none that was',
  async (t) => {
    const { add, happen, host, deliveries, clock, storage, url, erased } = await begin(t)
    await add('chat', 'ws_1', {}, { format: 'slack' })
    const claims = ['a1', 'a2', 'a3', 'a4', 'a5']
    await storage.write(async (tx) => void (await tx.claims.insertNew(alike(claims))))
    const told: string[] = []
    const one = await host((message) => {
      told.push(`${subjectOf(message)} ${message.more}`)
      return ARRIVED
    })
    await happen(claims)
    await settle(one)
    await query(url, `UPDATE claims SET agent_id = '' WHERE claim_id IN ('a2', 'a4')`)
    erased.add('a2')
    clock.now += 60 * MINUTE_MS
    await settle(one)
    t.strictSame(told, ['a1 0', 'a3 1'])
    t.ok((await deliveries()).every(({ state }) => state === 'delivered'))
  },
)

t.test('a webhook turns from a program to a chat, or back, only while nothing waits', async (t) => {
  const { add, happen, host, webhooks } = await begin(t)
  const { id } = await add('a')
  let isMended = false
  const one = await host(() => (isMended ? ARRIVED : REFUSED))
  await happen(['x'])
  await settle(one)
  const settings = { url: 'https://example.com/a', filters: NO_FILTERS }
  const turn = (format: WebhookFormat) => webhooks.change(id, { ...settings, format })
  await t.rejects(turn('slack'), { code: 'bad_request', message: /add a new webhook/ })
  await turn('standard')
  isMended = true
  await webhooks.switchOff(id)
  await webhooks.switchOn(id)
  await settle(one)
  t.equal((await turn('slack')).format, 'slack')
  t.equal((await turn('discord')).format, 'discord')
  t.equal((await turn('standard')).format, 'standard')
})

t.test('a new address does not wait for what the former one asked, nor is switched off by its answer', async (t) => {
  const { add, happen, host, deliveries, webhooks, got } = await begin(t)
  const { id } = await add('a')
  const late = withResolvers<Try>()
  const one = await host((message, { url }) => {
    if (url.endsWith('/b')) return ARRIVED
    return subjectOf(message) === 'x' ? late.promise : { ...REFUSED, status: 429, retryAfterMs: 60 * MINUTE_MS }
  })
  await happen(['x', 'y'])
  await settle(one)
  t.match(await webhooks.list(), [{ quietUntil: NOON + 60 * MINUTE_MS }])
  await webhooks.change(id, { format: 'standard', url: 'https://example.com/b', filters: NO_FILTERS })
  t.match(await webhooks.list(), [{ quietUntil: null }])
  late.resolve({ ...REFUSED, status: 410, fault: 'gone', retryAfterMs: 60 * MINUTE_MS })
  await settle(one)
  t.match(await webhooks.list(), [{ state: 'on', quietUntil: null }])
  t.strictSame(got.slice(2).toSorted(), ['/b x', '/b y'])
  t.ok((await deliveries()).every(({ state }) => state === 'delivered'))
})

t.test(
  'a chat service that hangs takes one lane, and a round joins no more than its transaction may take',
  async (t) => {
    const { add, happen, host, clock, storage, got } = await begin(t)
    await add('hangs', 'ws_1', {}, { format: 'slack' })
    const hanging = await host(() => new Promise(() => {}))
    await happen(['x', 'y', 'z'])
    for (let second = 0; second < 5; second++) {
      await settle(hanging)
      clock.now += 1000
    }
    t.strictSame(got, ['/hangs x'])
    const claims = Array.from({ length: 1202 }, (_, index) => `like_${index}`)
    await storage.write(async (tx) => void (await tx.claims.insertNew(alike(claims))))
    await add('chat', 'ws_2', {}, { format: 'slack' })
    const mores: number[] = []
    const one = await host((message, { workspaceId }) => {
      if (workspaceId === 'ws_2') mores.push(message.more)
      return ARRIVED
    })
    await happen(claims, 'ws_2')
    await settle(one)
    for (let count = 0; count < 3; count++) {
      clock.now += 60 * MINUTE_MS
      await settle(one)
    }
    t.strictSame(mores, [0, 1000, 199])
  },
)
