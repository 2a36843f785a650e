// Test run: end-to-end, slow
/** A claim's whole life in virtual time, at a real HTTP server that goes by the same clock. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { DestinationError, definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { createVirtualClock, type LifeOptions, liveClaim, runConformance } from '@claimcheck/core/testkit'
import t, { type Test } from 'tap'
import identified from '../../test/plugins/identified.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 5, 12)
const BASE = 'https://doors.example.com'

const doors = (rules: object = {}, ageMs?: (now: number) => number, more: object = {}) =>
  definePlugin({
    name: 'doors',
    api: 3,
    manifest: { hosts: ['doors.example.com'] },
    options: Type.Object({}, { additionalProperties: false }),
    setup: () => ({
      verifiers: [
        defineVerifier({
          profile: {
            action: 'acme.door.open',
            version: '1',
            rulesVersion: 1,
            summary: 'A door was opened.',
            words: {
              title: 'Opening of a door',
              target: 'Door',
              claim: 'Door {target} was opened.',
              outcomes: {
                verified: 'Door {target} was open in time.',
                late: 'Door {target} was opened too late.',
                mismatch: 'Door {target} is another one.',
                failed: 'Door {target} was not opened.',
              },
            },
            target: Type.String({ pattern: '^[a-z]{1,10}$' }),
            params: Type.Object({}, { additionalProperties: false }),
            facts: Type.Object({}, { additionalProperties: false }),
            required: {},
            toleranceMs: 10 * MINUTE,
            deadlineMs: 15 * MINUTE,
            maxDeadlineMs: 60 * MINUTE,
            access: { permission: 'None.', anonymous: true },
            ...rules,
          },
          ...more,
          providers: [],
          anonymousSource: () => ({ provider: 'doors', baseUrl: BASE }),
          async check({ target }, { http, now }) {
            const { value } = await http.json(`${BASE}/${target}`, { schema: Type.Object({ isOpen: Type.Boolean() }) })
            const seen = { facts: {}, ...(ageMs ? { ageMs: ageMs(now()) } : {}) }
            return value.isOpen ? { ...seen, kind: 'present', differs: [] } : { ...seen, kind: 'absent' }
          },
        }),
      ],
    }),
  })
const plugin = doors()

/** A door that is opened so long after the claim. */
async function live(t: Test, openedAfterMs: number, more: Partial<LifeOptions> = {}) {
  const clock = createVirtualClock(START)
  let isOpen = false
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', date: new Date(clock.now()).toUTCString() })
    response.end(JSON.stringify({ isOpen }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const begun = performance.now()
  const life = await liveClaim({
    plugin,
    connection: null,
    destination: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    claim: { action: 'acme.door.open', target: 'front', params: {}, claimedAt: START },
    submittedAt: START + 1000,
    clock,
    async reach(until) {
      if (until < START + openedAfterMs || isOpen) return
      clock.goTo(START + openedAfterMs)
      isOpen = true
    },
    ...more,
  })
  t.ok(performance.now() - begun < 5000, 'in no time')
  return life
}

t.test('what comes while the claim waits is seen, and dated by the clock of the life', async (t) => {
  const { decision, records, requests, decidedAt } = await live(t, 7 * MINUTE)
  t.equal(decision?.verdict.value, 'verified')
  t.ok(decidedAt > START + 7 * MINUTE && decidedAt < START + 10 * MINUTE)
  t.ok(records.every(({ sentAt, answeredAt }) => answeredAt - sentAt === 30))
  t.equal(requests.length, records.length)
  t.match(requests[0], { at: START + 1015, key: 'GET /front', status: 200 })
})

t.test('what never comes is blamed after the deadline', async (t) => {
  const { decision, decidedAt, deadlineAt } = await live(t, 60 * MINUTE)
  t.equal(decision?.verdict.value, 'failed')
  t.equal(deadlineAt, START + 15 * MINUTE)
  t.ok(decidedAt >= START + 15 * MINUTE && decidedAt < START + 16 * MINUTE)
})

t.test('a host that was down looks later', async (t) => {
  const { decision, records } = await live(t, 60 * MINUTE, { idleUntil: START + MINUTE })
  t.ok(records[0]!.sentAt >= START + MINUTE)
  t.equal(decision?.verdict.value, 'unverifiable')
})

t.test('connections of another protocol lead to the destination, and take time', async (t) => {
  const base = 'tls://doors.example.com:993'
  const http = doors()
  const onSocket = definePlugin({
    ...http,
    manifest: {
      hosts: ['doors.example.com'],
      sockets: [{ port: 993, tls: true, protocol: 'imap', commands: ['NOOP'] }],
    },
    async setup(...given) {
      const { verifiers } = await http.setup(...given)
      return {
        verifiers: [
          {
            ...verifiers![0]!,
            anonymousSource: () => ({ provider: 'doors', baseUrl: base }),
            async check(_, { connect }) {
              const { readable, writable, close } = await connect(base)
              await writable.getWriter().write(new TextEncoder().encode('a NOOP\r\n'))
              const { value } = await readable.getReader().read()
              await close()
              const isOpen = new TextDecoder().decode(value).startsWith('a OK open')
              return isOpen ? { facts: {}, kind: 'present', differs: [] } : { facts: {}, kind: 'absent' }
            },
          },
        ],
      }
    },
  })
  const clock = createVirtualClock(START)
  let isOpen = false
  const asked: number[] = []
  const server = createSocketServer((socket) => {
    socket.write('* OK ready\r\n')
    socket.on('data', () => {
      asked.push(clock.now())
      socket.write(`a OK ${isOpen ? 'open' : 'closed'}\r\n`)
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { decision, records, requests } = await liveClaim({
    plugin: onSocket,
    connection: null,
    destination: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    claim: { action: 'acme.door.open', target: 'front', params: {}, claimedAt: START },
    submittedAt: START + 1000,
    clock,
    async reach(until) {
      isOpen = until >= START + 7 * MINUTE
    },
    latencyMs: 40,
  })
  t.equal(decision?.verdict.value, 'verified')
  t.match(requests.slice(0, 2), [
    { at: START + 1020, key: 'SOCKET 1, answer 1', status: undefined },
    { at: START + 1060, key: 'SOCKET 1, answer 2', status: undefined },
  ])
  t.equal(asked[0], START + 1040, 'the destination is asked after half of the latency')
  t.ok(records.every(({ sentAt, answeredAt }) => answeredAt - sentAt === 60))
})

t.test('a claim that is none of its action is refused', async (t) => {
  const claim = { action: 'acme.door.open', target: 'FRONT', params: {}, claimedAt: START }
  const { refused, decision, records } = await live(t, 0, { claim })
  t.equal(refused?.code, 'invalid')
  t.equal(decision, undefined)
  t.strictSame(records, [])
})

t.test('a claim that the plugin refuses to bring into its form is refused', async (t) => {
  const normalize = () => {
    throw new DestinationError('unsupported_target')
  }
  const { refused, records } = await live(t, 0, { plugin: doors({}, undefined, { normalize }) })
  t.match(refused, { code: 'invalid', message: 'the plugin refuses the claim: unsupported_target' })
  t.strictSame(records, [])
})

t.test('an answer of nobody is recorded as no answer', async (t) => {
  const { requests, records } = await live(t, 60 * MINUTE, { destination: 'http://127.0.0.1:9' })
  t.ok(requests.every(({ status }) => status === undefined))
  t.match(records[0], { failure: { code: 'unavailable' } })
})

t.test('an action that the plugin has not is a mistake of the test', async (t) => {
  const claim = { action: 'acme.door.close', target: 'front', params: {}, claimedAt: START }
  await t.rejects(live(t, 0, { claim }), { name: 'TypeError' })
})

/** The kit's checks of a door that stays closed. */
async function examineClosed(tested: typeof plugin, deadlineMs: number, only: string[]) {
  const { checks } = await runConformance({
    plugin: tested,
    destination: {
      async start({ now }) {
        const server = createServer((_, response) =>
          response.writeHead(200, { date: new Date(now()).toUTCString() }).end('{"isOpen":false}'),
        ).listen(0, '127.0.0.1')
        await once(server, 'listening')
        const { port } = server.address() as AddressInfo
        return { url: `http://127.0.0.1:${port}`, stop: async () => void server.close() }
      },
    },
    cases: [
      {
        name: 'a door that stays closed',
        claim: { target: 'front', params: {}, claimedAt: START, deadlineAt: START + deadlineMs },
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
    ],
    only,
  })
  return Object.fromEntries(checks.map(({ name, problem }) => [name, problem]))
}

t.test('in the kit, a clock stays right for a claim that waits for long', async (t) => {
  const checks = await examineClosed(plugin, 60 * MINUTE, ['case.verdict'])
  t.equal(checks['case.verdict'], undefined)
})

t.test('the kit says that it stopped where a claim is checked for too long', async (t) => {
  const slow = doors({
    rulesVersion: 2,
    toleranceMs: 180 * MINUTE,
    deadlineMs: 200 * MINUTE,
    maxDeadlineMs: 240 * MINUTE,
  })
  const checks = await examineClosed(slow, 200 * MINUTE, ['case.verdict'])
  t.match(checks['case.verdict'], /^the kit stopped after 400 checks, .* shorter tolerance/)
})

t.test('the kit says of a profile that its age takes blame away', async (t) => {
  for (const [ageMs, said] of [
    [5000, []],
    [60_000, [/^the profile acme\.door\.open 1 has an ageMs of 60 s: no claim becomes failed or late/]],
  ] as const) {
    const { untested } = await runConformance({
      plugin: doors({ ageMs }),
      destination: { start: async () => ({ url: 'http://127.0.0.1:9', stop: async () => {} }) },
      cases: [],
      only: ['profile.lint'],
    })
    t.match(
      untested.filter((text) => text.includes('ageMs')),
      said,
    )
    t.equal(untested.filter((text) => text.includes('ageMs')).length, said.length)
  }
})

t.test('an age that each check measures is no difference between them', async (t) => {
  const names = ['same.observation', 'load.fifty']
  const checks = await examineClosed(
    doors({}, (now) => now % 1000),
    60 * MINUTE,
    names,
  )
  for (const name of names) t.equal(checks[name], undefined)
  t.strictSame(
    Object.keys(checks).filter((name) => names.includes(name)),
    names,
  )
})

const identities: readonly [
  what: string,
  at: (checks: number) => string | undefined,
  verdict: string,
  known?: string,
][] = [
  ['the same each time', () => 'system-1', 'failed'],
  ['the one of the trial', () => 'system-1', 'failed', 'system-1'],
  ['another than the one of the trial', () => 'system-1', 'unverifiable', 'system-2'],
  ['another from the second check on', (checks) => (checks === 1 ? 'system-1' : 'system-2'), 'unverifiable'],
  ['none', () => undefined, 'unverifiable'],
]
for (const [what, identityAt, verdict, known] of identities) {
  t.test(`a life at a destination that tells ${what} ends ${verdict}`, async (t) => {
    let checks = 0
    const server = createServer((_request, response) => {
      const identity = identityAt(++checks)
      const headers = { date: new Date(clock.now()).toUTCString() }
      response.writeHead(410, identity === undefined ? headers : { ...headers, 'x-database': identity }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const clock = createVirtualClock(START)
    const options = { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const { decision } = await liveClaim({
      plugin: identified,
      connection: { provider: 'records', options, ...(known === undefined ? {} : { identity: known }) },
      claim: { action: 'test.record.keep', target: 'gone', params: {}, claimedAt: START },
      submittedAt: START + 1000,
      clock,
      reach: async () => {},
    })
    t.equal(decision?.verdict.value, verdict)
  })
}
