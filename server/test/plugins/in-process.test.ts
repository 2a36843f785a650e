/** What reaches a plugin that runs in the service's own process: handles in place of secrets, and copies. */

import { NO_READINGS } from '@claimcheck/core/hosting'
import {
  bearer,
  type CheckContext,
  type Claim,
  defineConnectionType,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { leakFinder } from '@claimcheck/server/outbound/leaks'
import type { CheckRequests } from '@claimcheck/server/outbound/outbound'
import { onlyAddress, withHandles } from '@claimcheck/server/plugins/in-process'
import t from 'tap'
import { profile } from '../support/profile.ts'
import { loaded, WORKING } from '../support/registry.ts'

const TOKEN = 's3cret-token'
const claim: Claim = {
  action: profile.action,
  target: 'a',
  params: { content: 'b' },
  claimedAt: 1,
  deadlineAt: 2,
  submittedAt: 1,
}
const connection = { id: 'conn_1', provider: 'test', options: { host: 'a.example', token: TOKEN } }

/** Every call of a plugin, and what it was given. */
function recorded() {
  const given: [call: string, ...rest: unknown[]][] = []
  const note = (call: string, ...rest: unknown[]) => given.push([call, ...structuredClone(rest)])
  const type = defineConnectionType({
    ...WORKING,
    provider: 'test',
    options: Type.Object({ host: Type.String(), token: secret({ description: 'A token.' }) }),
    baseUrl(options) {
      note('baseUrl', options)
      return `https://${options.host}`
    },
    fits(options, of) {
      note('fits', options, of)
      Object.assign(of, { target: 'changed' })
      Object.assign(options, { host: 'changed' })
      return true
    },
    async probe(options, { http }) {
      note('probe', options)
      await http.head(`https://${options.host}`, { auth: bearer(options.token) })
      return { proves: 'works', scopes: [], warnings: [] }
    },
  })
  const verifier = defineVerifier({
    profile,
    providers: ['test'],
    anonymousSource(of) {
      note('anonymousSource', of)
      Object.assign(of.params, { content: 'changed' })
      return { provider: 'test', baseUrl: 'https://a.example' }
    },
    destination(of, through) {
      note('destination', of, through)
      Object.assign(through.options, { host: 'changed' })
      return 'https://b.example'
    },
    async check(of, context: CheckContext) {
      note('check', of, context.connection)
      await context.http.head('https://a.example', { auth: bearer(String(context.connection?.options.token)) })
      return { kind: 'absent', facts: {} }
    },
  })
  const { parts } = loaded({ verifiers: [verifier], connections: [type] })
  return { given, type: parts.connections[0]!, verifier: parts.verifiers[0]! }
}

/** Requests that go nowhere, and say how they were named. */
function requests() {
  const auths: unknown[] = []
  const made: CheckRequests = {
    async fetch(_url, init) {
      auths.push(init?.auth)
      return new Response(null)
    },
    digest: () => Promise.reject(new Error('no digests')),
    fingerprint: () => Promise.reject(new Error('no fingerprints')),
    resolve: async () => ({ hostname: 'a.example', port: 443, address: '192.0.2.1' }),
    connect: () => Promise.reject(new Error('no sockets')),
    query: () => Promise.reject(new Error('no databases')),
    reveal: () => ({ name: 'authorization', value: TOKEN }),
    ask: (_url, run) => run(),
    answers: () => 0,
    readings: () => NO_READINGS,
    isSpent: () => false,
    again() {},
    inherit() {},
    breach: () => undefined,
    leaks: () => leakFinder([TOKEN]),
  }
  return { auths, made }
}

const TENANT = { workspaceId: 'wsp_1', payer: 'usr_1' }

t.test('no call of a plugin is given a secret, and requests name it by its handle', async (t) => {
  const { given, type, verifier } = recorded()
  const { auths, made } = requests()
  const timer = new AbortController()
  await type.baseUrl(connection.options, TENANT)
  await type.fits(connection.options, claim, TENANT)
  await type.probe(connection.options, { requests: made, timer, tenant: TENANT })
  await verifier.anonymousSource!(claim, TENANT)
  await verifier.destination!(claim, connection, TENANT)
  await verifier.check({
    claim,
    connection,
    previous: [],
    requests: made,
    timer,
    tenant: TENANT,
    origin: 'https://a.example',
  })
  t.strictSame(
    given.map(([call]) => call),
    ['baseUrl', 'fits', 'probe', 'anonymousSource', 'destination', 'check'],
  )
  t.notMatch(JSON.stringify(given), TOKEN)
  const shown = { host: 'a.example', token: 'secret:token' }
  t.strictSame(given[2], ['probe', shown])
  t.strictSame(given[5], ['check', claim, { ...connection, options: shown }])
  t.strictSame(auths, [bearer('secret:token'), bearer('secret:token')])
})

t.test('what a plugin changes in what it was given is changed nowhere else', async (t) => {
  const before = structuredClone({ claim, connection })
  const { type, verifier } = recorded()
  t.equal(await type.fits(connection.options, claim, TENANT), true)
  await verifier.anonymousSource!(claim, TENANT)
  await verifier.destination!(claim, connection, TENANT)
  t.strictSame({ claim, connection }, before)
})

t.test('a connection keeps what is no secret, and its secrets become handles', async (t) => {
  const { type } = recorded()
  t.strictSame(
    withHandles(connection, () => type),
    { id: 'conn_1', provider: 'test', options: { host: 'a.example', token: 'secret:token' } },
  )
})

t.test('of a connection whose type nobody offers, no option is shown', async (t) => {
  t.strictSame(
    withHandles(connection, () => undefined),
    { id: 'conn_1', provider: 'test', options: {} },
  )
})

const token = secret({ description: 'A token.' })
const addresses: [
  what: string,
  options: Parameters<typeof onlyAddress>[0]['options'],
  address: unknown,
  only: unknown,
][] = [
  ['that has no options', Type.Object({}), 'https://a.example/', 'https://a.example'],
  ['that has secrets alone', Type.Object({ token }), 'https://a.example/api/', 'https://a.example/api'],
  [
    'whose address an option may choose',
    Type.Object({ url: Type.Optional(Type.String()) }),
    'https://a.example',
    undefined,
  ],
  ['whose address is none', Type.Object({}), 'nowhere', undefined],
  ['whose address is nothing', Type.Object({}), undefined, undefined],
]
for (const [what, options, address, only] of addresses) {
  t.test(`a provider ${what} has ${only === undefined ? 'no address for all' : 'one address for all'}`, async (t) => {
    t.equal(onlyAddress({ options, baseUrl: () => address as string }), only)
  })
}
