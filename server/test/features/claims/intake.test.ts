import type { AnonymousSource, Manifest } from '@claimcheck/core/hosting'
import {
  type Connection,
  DestinationError,
  defineConnectionType,
  defineVerifier,
  Type,
  type Verifier,
} from '@claimcheck/core/plugin'
import { claimDigest } from '@claimcheck/core/receipts'
import { CLOSING } from '@claimcheck/core/rules'
import { hostsToChoose } from '@claimcheck/server/features/claims/host-choice'
import type { ClaimInput } from '@claimcheck/server/features/claims/intake'
import { planClaim } from '@claimcheck/server/features/claims/intake'
import { createRegistry } from '@claimcheck/server/plugins/registry'
import t from 'tap'
import { words } from '../../support/profile.ts'
import { loaded, registryOf, WORKING } from '../../support/registry.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Of the targets `a` and `b`, the operator lists the place of `a`. */
const LISTED: readonly string[] = ['https://a.example']

const profile = {
  action: 'test.thing.do',
  version: '3',
  summary: 'A thing.',
  words,
  aliases: { 'one.thing.do': { providers: ['one'] } },
  target: Type.String({ maxLength: 5 }),
  params: Type.Object({ name: Type.String() }, { additionalProperties: false }),
  facts: Type.Object({}),
  required: {},
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: DAY_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: false },
} as const

type Normalize = NonNullable<Verifier<typeof profile.params>['normalize']>
const toLowerCase: Normalize = ({ target, params }) => ({ target, params: { name: params.name.toLowerCase() } })

interface Reading {
  readonly anonymous: boolean
  readonly normalize: Normalize
  readonly destination?: Verifier['destination'] | undefined
  readonly source?: (() => unknown) | undefined
  readonly manifest?: Manifest | undefined
}

function registryWith({ anonymous, normalize, destination, source, manifest }: Reading) {
  const verifier = defineVerifier({
    profile: { ...profile, access: { permission: 'none', anonymous } },
    providers: ['one', 'two'],
    anonymousSource: ({ target }) =>
      source ? (source() as AnonymousSource) : { provider: 'one', baseUrl: `https://${target}.example` },
    normalize,
    ...(destination ? { destination: destination as () => string } : {}),
    check: async () => ({ kind: 'absent', facts: {} }),
  })
  return registryOf(
    { verifiers: [verifier], connections: ['one', 'two', 'three'].map(ownersAt) },
    manifest ? { manifest } : {},
  )
}

/** Connections to the places of owners, for claims about these. */
function ownersAt(provider: string) {
  return defineConnectionType({
    ...WORKING,
    provider,
    options: Type.Object({ owner: Type.String() }),
    baseUrl: ({ owner }) => `https://${owner}.example`,
    fits: ({ owner }, { target }) => owner === target,
  })
}

const input: ClaimInput = {
  clientClaimId: 'c-1',
  agentId: 'agent-1',
  action: 'test.thing.do',
  target: 'a',
  params: { name: 'Name' },
  claimedAt: NOON,
}

interface Given extends Partial<Reading> {
  readonly connections?: readonly Connection[]
  readonly listed?: readonly string[]
  /** Its clock was ahead within a day. */
  readonly ahead?: string
}

const SUBMITTER = { workspaceId: 'ws_1', payer: 'ws_1', submittedBy: 'key_1', speaksFor: 'any' } as const

async function plan(over: Partial<ClaimInput> = {}, given: Given = {}) {
  return (await planned(over, given)).claim
}

function planned(over: Partial<ClaimInput>, { connections = [], listed = LISTED, ahead, ...reading }: Given) {
  const options = {
    registry: registryWith({ anonymous: false, normalize: toLowerCase, ...reading }),
    sources: { isListed: (_provider: string, baseUrl: string) => listed.includes(baseUrl) },
    connections: async () => connections,
    aheadClocks: { has: async (submittedBy: string) => submittedBy === ahead },
    closing: CLOSING,
  }
  return planClaim(SUBMITTER, { ...input, ...over }, NOON, options)
}

t.test(
  'a claim is fresh by its time, by what the client measured, and by neither where one of them says otherwise',
  async (t) => {
    const rows: [freshBy: string, claim: Partial<ClaimInput>, given?: Given][] = [
      ['claimed_at', { claimedAt: NOON }],
      ['claimed_at', { claimedAt: NOON - 10_000 }],
      ['claimed_at', { claimedAt: NOON + 1000 }],
      ['too_old', { claimedAt: NOON - 10_001 }],
      ['claimed_ahead', { claimedAt: NOON + 1001 }],
      ['claimed_ago', { claimedAt: NOON, claimedAgoMs: 0 }],
      ['claimed_ago', { claimedAt: NOON - 10_000, claimedAgoMs: 10_000 }],
      ['too_old', { claimedAt: NOON, claimedAgoMs: 10_001 }],
      ['too_old', { claimedAt: NOON - 10_001, claimedAgoMs: 0 }],
      ['claimed_ahead', { claimedAt: NOON + 1001, claimedAgoMs: 0 }],
      ['clock_ahead', { claimedAt: NOON }, { ahead: 'key_1' }],
      ['claimed_at', { claimedAt: NOON }, { ahead: 'key_2' }],
      ['claimed_ago', { claimedAt: NOON, claimedAgoMs: 0 }, { ahead: 'key_1' }],
      ['too_old', { claimedAt: NOON - 10_001 }, { ahead: 'key_1' }],
    ]
    for (const [freshBy, claim, given] of rows)
      t.equal((await plan(claim, given)).freshBy, freshBy, JSON.stringify(claim))
  },
)

t.test(
  'a claim by a clock that is further behind than the tolerance is refused, where the client measured that',
  async (t) => {
    const refused = {
      code: 'invalid',
      issues: [{ loc: ['body', 'claimed_at'], msg: /the clock of the client is behind$/ }],
    }
    await t.rejects(plan({ claimedAt: NOON - 3 * 60 * MINUTE_MS, claimedAgoMs: 1000 }), refused)
    await t.rejects(plan({ claimedAt: NOON - 10 * MINUTE_MS - 1001, claimedAgoMs: 1000 }), refused)
    const taken: Partial<ClaimInput>[] = [
      { claimedAt: NOON - 10 * MINUTE_MS - 1000, claimedAgoMs: 1000 },
      { claimedAt: NOON - 3 * 60 * MINUTE_MS, claimedAgoMs: 3 * 60 * MINUTE_MS },
      { claimedAt: NOON - 3 * 60 * MINUTE_MS },
      { claimedAt: NOON, claimedAgoMs: 3 * 60 * MINUTE_MS },
      { action: 'nobody.checks.it', claimedAt: NOON - MINUTE_MS, claimedAgoMs: 0 },
    ]
    for (const claim of taken) t.ok(await plan(claim), JSON.stringify(claim))
  },
)

t.test('what the client measured is no part of the claim', async (t) => {
  const [one, other] = await Promise.all([plan({ claimedAgoMs: 5 }), plan()])
  t.equal(one.claimDigest, other.claimDigest)
})

t.test('a claim is stored as its profile normalizes it, and so it is digested', async (t) => {
  const row = await plan()
  t.match(row, { params: { name: 'name' }, profileAction: 'test.thing.do', profileVersion: '3', state: 'queued' })
  t.equal(row.claimDigest, claimDigest({ ...input, params: { name: 'name' } }))
  t.equal(row.deadlineAt, NOON + 15 * MINUTE_MS)
})

t.test('an alias is stored as it was claimed, and judged by the profile it stands for', async (t) => {
  t.match(await plan({ action: 'one.thing.do' }), { action: 'one.thing.do', profileAction: 'test.thing.do' })
})

const times: [name: string, over: Partial<ClaimInput>, wrong: string[]][] = [
  ['claimed as far ahead as clocks may be', { claimedAt: NOON + 5 * MINUTE_MS }, []],
  ['claimed further ahead', { claimedAt: NOON + 5 * MINUTE_MS + 1 }, ['claimed_at']],
  ['claimed long ago', { claimedAt: 0 }, []],
  ['with a deadline at the end of the tolerance', { deadlineAt: NOON + 10 * MINUTE_MS }, ['deadline_at']],
  ['with a deadline right after it', { deadlineAt: NOON + 10 * MINUTE_MS + 1 }, []],
  ['with the furthest deadline', { deadlineAt: NOON + DAY_MS }, []],
  ['with a deadline beyond', { deadlineAt: NOON + DAY_MS + 1 }, ['deadline_at']],
  ['with a deadline before it was claimed', { deadlineAt: NOON - 1 }, ['deadline_at']],
  ['of an unknown action, due at once', { action: 'no.such.thing', deadlineAt: NOON }, ['deadline_at']],
  ['of an unknown action, due soon', { action: 'no.such.thing', deadlineAt: NOON + 1 }, []],
  ['of an unknown action, due too late', { action: 'no.such.thing', deadlineAt: NOON + DAY_MS + 1 }, ['deadline_at']],
  [
    'with every mistake at once',
    { target: 'too long', params: { nam: 1 }, claimedAt: NOON + DAY_MS, deadlineAt: NOON },
    ['claimed_at', 'deadline_at', 'params.nam', 'params.name', 'target'],
  ],
]
for (const [name, over, wrong] of times) {
  t.test(`a claim ${name} is ${wrong.length > 0 ? 'refused' : 'taken'}`, async (t) => {
    const error = await plan(over).then(
      () => undefined,
      (thrown: { issues: { loc: string[] }[] }) => thrown,
    )
    t.strictSame((error?.issues ?? []).map(({ loc }) => loc.slice(1).join('.')).sort(), wrong)
    if (error) t.match(error, { code: 'invalid' })
  })
}

t.test('a claim of an unknown action waits for nothing but its verdict', async (t) => {
  t.match(await plan({ action: 'no.such.thing' }), {
    access: 'unsupported_action',
    connectionId: null,
    profileAction: 'no.such.thing',
    profileVersion: '0',
    deadlineAt: NOON + 15 * MINUTE_MS,
  })
})

const connection = (id: string, provider: string, owner = 'a'): Connection => ({ id, provider, options: { owner } })
const [one, two] = [connection('1', 'one'), connection('2', 'two')]
const ALIAS = { action: 'one.thing.do' }
const accesses: [what: string, connections: Connection[], expected: object, over?: object, anonymous?: boolean][] = [
  ['none', [], { access: 'no_connection', connectionId: null }],
  ['none, where none is needed', [], { access: 'anonymous', connectionId: null }, {}, true],
  ['the one that fits', [connection('1', 'one', 'b'), two], { access: 'connection', connectionId: '2' }, {}, true],
  ['the one that fits, and never without', [one], { access: 'connection', connectionId: '1' }, {}, true],
  ['two that fit', [one, two], { access: 'ambiguous_claim', connectionId: null }, {}, true],
  ['two, of which the alias is open to one', [one, two], { access: 'connection', connectionId: '1' }, ALIAS],
  ['one that the alias is not open to', [two], { access: 'no_connection', connectionId: null }, ALIAS],
  ['one that the verifier cannot read', [connection('3', 'three')], { access: 'no_connection', connectionId: null }],
  ['one of a provider that is gone', [connection('4', 'four')], { access: 'no_connection', connectionId: null }],
]
for (const [what, connections, expected, over, anonymous = false] of accesses) {
  t.test(`a claim is read through ${what}`, async (t) => {
    t.match(await plan(over, { connections, anonymous }), expected)
  })
}

/** Connections to the places of owners, under another account each, which refuse what the account may not see. */
const byAccount = (refusesHidden: boolean) =>
  defineConnectionType({
    ...WORKING,
    provider: 'one',
    options: Type.Object({ owner: Type.String(), account: Type.String() }),
    baseUrl: ({ owner }) => `https://${owner}.example`,
    ...(refusesHidden ? { refusesHidden } : {}),
  })
const account = (id: string, name: string, owner = 'a') => ({
  id,
  provider: 'one',
  options: { owner, account: name },
})
const places: [what: string, refusesHidden: boolean, connections: Connection[], chosen: string[]][] = [
  ['the same options are one place', false, [account('1', 'x'), account('2', 'x')], ['1']],
  ['other accounts may have a view of their own', false, [account('1', 'x'), account('2', 'y')], []],
  ['or one that a check refuses', true, [account('1', 'x'), account('2', 'y')], ['1', '2']],
  [
    'of equal ones the oldest counts',
    true,
    [account('1', 'x'), account('2', 'y'), account('3', 'x'), account('4', 'y')],
    ['1', '2'],
  ],
  ['another address is another place', true, [account('1', 'x'), account('2', 'x', 'b')], []],
]
for (const [what, refusesHidden, connections, chosen] of places) {
  t.test(`of several connections that a claim fits, ${what}`, async (t) => {
    const verifier = defineVerifier({ profile, providers: ['one'], check: async () => ({ kind: 'absent', facts: {} }) })
    const options = {
      registry: registryOf({ verifiers: [verifier], connections: [byAccount(refusesHidden)] }),
      sources: { isListed: () => true },
      connections: async () => connections,
      closing: CLOSING,
    }
    const { claim, alike } = await planClaim(SUBMITTER, input, NOON, options)
    const [first, ...others] = chosen
    const access = first === undefined ? 'ambiguous_claim' : 'connection'
    t.match({ ...claim, alike }, { access, connectionId: first ?? null, alike: others })
  })
}

t.test('an alias fits addresses only that the operator lists', async (t) => {
  const listed = ['https://a.example']
  const claimed = { action: 'one.thing.do', target: 'b' }
  const [own, unlisted] = [connection('1', 'one', 'a'), connection('2', 'one', 'b')]
  t.match(await plan({ ...claimed, target: 'a' }, { connections: [own, unlisted], listed }), { connectionId: '1' })
  const refused = { access: 'no_connection', connectionId: null }
  t.match(await plan(claimed, { connections: [own, unlisted], listed }), refused)
  t.match(
    await plan(claimed, { connections: [unlisted], listed, anonymous: true }),
    refused,
    'nor without a connection',
  )
  t.match(await plan({ ...claimed, target: 'a' }, { listed, anonymous: true }), { access: 'anonymous' })
  const byAction = { ...claimed, action: 'test.thing.do' }
  t.match(await plan(byAction, { connections: [unlisted], listed }), { connectionId: '2' }, 'the action fits them all')
})

const throwing = (thrown: unknown) => (): never => {
  throw thrown
}
const MISTAKE = new TypeError('a mistake')
const nonsense: [name: string, normalize: (given: { target: string; params: { name: string } }) => unknown][] = [
  ['returns a number as the target', ({ params }) => ({ target: 5, params })],
  ['returns a target that the profile refuses', ({ params }) => ({ target: 'too long', params })],
  ['returns params that the profile refuses', ({ target }) => ({ target, params: { name: 1 } })],
  [
    'returns params that the profile does not know',
    ({ target, params }) => ({ target, params: { ...params, more: 1 } }),
  ],
  ['returns no params', ({ target }) => ({ target })],
  ['returns nothing', () => undefined],
  ['returns null', () => null],
  ['returns text', () => 'a'],
  ['throws', throwing(MISTAKE)],
  ['throws nothing', throwing(undefined)],
  ['adds to what it made before', ({ target, params }) => ({ target, params: { name: `${params.name}x` } })],
  [
    'turns its result round',
    ({ target, params }) => ({ target, params: { name: [...params.name].reverse().join('') } }),
  ],
  ['returns another text each time', ({ target }) => ({ target, params: { name: String(Math.random()) } })],
]
for (const [name, normalize] of nonsense) {
  t.test(`a claim is refused whose plugin ${name} when it normalizes`, async (t) => {
    await t.rejects(plan({}, { normalize: normalize as Normalize }), { code: 'unavailable' })
  })
}

t.test('what normalize changes in its argument, and keeps of its result, changes no claim', async (t) => {
  const given = { ...input, params: { name: 'Name' } }
  let kept: { target: string; params: { name: string } } | undefined
  const normalize: Normalize = (claim) => {
    claim.params.name = claim.params.name.toLowerCase()
    kept = claim
    return claim
  }
  const row = await plan(given, { normalize })
  kept!.params.name = 'later'
  t.strictSame(row.params, { name: 'name' })
  t.strictSame(given.params, { name: 'Name' })
})

t.test('what normalize returns is copied before it is held against the profile', async (t) => {
  let reads = 0
  const normalize: Normalize = ({ target }) => ({
    target,
    get params() {
      return { name: reads++ % 2 === 0 ? 'name' : (5 as never) }
    },
  })
  const row = await plan({}, { normalize }).catch((error: { code: string }) => error.code)
  t.match(typeof row === 'string' ? row : row.params.name, /^(name|unavailable)$/)
})

/** Two plugins read the action, each through a provider of its own. */
function planWithTwo(
  connections: readonly Connection[],
  { one, two }: Readonly<Record<'one' | 'two', Normalize | undefined>>,
  anonymous = false,
) {
  const reading = (provider: 'one' | 'two', normalize: Normalize | undefined) =>
    loaded(
      {
        verifiers: [
          defineVerifier({
            profile: { ...profile, access: { permission: 'none', anonymous } },
            providers: [provider],
            ...(anonymous && provider === 'two'
              ? { anonymousSource: () => ({ provider, baseUrl: 'https://a.example' }) }
              : {}),
            ...(normalize ? { normalize } : {}),
            check: async () => ({ kind: 'absent', facts: {} }),
          }),
        ],
        connections: [ownersAt(provider)],
      },
      { name: provider },
    )
  const plugins = [reading('one', one), reading('two', two)]
  const options = {
    registry: createRegistry(plugins),
    sources: { isListed: () => false },
    connections: async () => connections,
    closing: CLOSING,
  }
  return planClaim(SUBMITTER, input, NOON, options).then(
    ({ claim }) => claim.params.name,
    ({ code }: { code: string }) => code,
  )
}

const toUpperCase: Normalize = ({ target, params }) => ({ target, params: { name: String(params.name).toUpperCase() } })
const failing: Normalize = throwing(MISTAKE)
const [ofOne, ofTwo] = [connection('1', 'one', 'b'), connection('2', 'two')]
const normalizing: [
  what: string,
  given: [Connection[], Parameters<typeof planWithTwo>[1], boolean?],
  expected: string,
][] = [
  ['by the plugin of its connection', [[ofTwo], { one: failing, two: toLowerCase }], 'name'],
  ['by that one alone, whatever stands first', [[ofTwo], { one: toUpperCase, two: undefined }], 'Name'],
  ['by both, which agree', [[ofOne, ofTwo], { one: toLowerCase, two: toLowerCase }], 'name'],
  ['by nobody, when they do not agree', [[ofOne, ofTwo], { one: toUpperCase, two: toLowerCase }], 'unavailable'],
  ['by nobody, when one of them does nothing', [[ofOne, ofTwo], { one: undefined, two: toLowerCase }], 'unavailable'],
  ['by the one that reads without a connection', [[], { one: failing, two: toLowerCase }, true], 'name'],
  ['by that one, too', [[ofOne], { one: toUpperCase, two: toLowerCase }, true], 'unavailable'],
  ['by all, where nobody can read it', [[], { one: toUpperCase, two: toLowerCase }], 'unavailable'],
]
for (const [what, given, expected] of normalizing) {
  t.test(`of two plugins, a claim is normalized ${what}`, async (t) => {
    t.equal(await planWithTwo(...given), expected)
  })
}

const destinations: [what: string, destination: Verifier['destination'], expected: object][] = [
  ['at the address of its connection', undefined, { access: 'connection', origin: 'https://a.example' }],
  [
    'where its plugin says',
    ({ target }) => `https://${target}.lists.example:8443/api`,
    { access: 'connection', origin: 'https://a.lists.example:8443' },
  ],
  ['nowhere, where its plugin names no address', () => 'a.example', { code: 'unavailable' }],
  ['nowhere, where its plugin names a file', () => 'file:///etc/passwd', { code: 'unavailable' }],
  ['nowhere, where its plugin names nothing', () => undefined as never, { code: 'unavailable' }],
  ['nowhere, where its manifest does not allow it', () => 'https://b.example', { code: 'unavailable' }],
  ['nowhere, where its plugin throws', throwing(MISTAKE), { code: 'unavailable' }],
  [
    'nowhere, where its plugin cannot read such a target',
    throwing(new DestinationError('unsupported_target')),
    { code: 'invalid', issues: [{ loc: ['body', 'target'] }] },
  ],
  [
    'nowhere, where its plugin cannot read such a param',
    throwing(new DestinationError('unsupported_target', { param: 'name' })),
    { code: 'invalid', issues: [{ loc: ['body', 'params', 'name'], msg: /such a name$/ }] },
  ],
  [
    'nowhere, where its plugin names a param that the action does not have',
    throwing(new DestinationError('unsupported_target', { param: 'constructor' })),
    { code: 'invalid', issues: [{ loc: ['body', 'target'] }] },
  ],
]
for (const [what, destination, expected] of destinations) {
  t.test(`a claim is read ${what}`, async (t) => {
    const manifest = { hosts: ['a.example', '*.lists.example:8443'] }
    const outcome = await plan({}, { connections: [connection('1', 'one')], destination, manifest }).catch(
      (error: unknown) => error,
    )
    t.match(outcome, expected)
  })
}

t.test('an alias is read through a connection when the operator lists the place that its plugin names', async (t) => {
  const over = { action: 'one.thing.do' }
  const given = { connections: [connection('1', 'one')], destination: () => 'https://b.example' }
  t.match(await plan(over, { ...given, listed: ['https://a.example'] }), { access: 'no_connection' })
  t.match(await plan(over, { ...given, listed: ['https://b.example'] }), { access: 'connection', connectionId: '1' })
})

const sources: [what: string, source: () => unknown, expected: object][] = [
  ['needs a connection, by its plugin', () => undefined, { access: 'no_connection', origin: null }],
  ['is read at no place', () => ({ provider: 'one', baseUrl: 'nowhere' }), { code: 'unavailable' }],
  ['is read through no provider', () => ({ baseUrl: 'https://a.example' }), { code: 'unavailable' }],
]
for (const [what, source, expected] of sources) {
  t.test(`a claim without a connection that ${what} is told so`, async (t) => {
    t.match(await plan({}, { anonymous: true, source }).catch((error: unknown) => error), expected)
  })
}

t.test('hosts to choose are those of the places that plugins name, and a plugin that fails names none', async (t) => {
  const manifest = { hosts: ['target'] }
  const named = registryOf(
    {
      verifiers: [
        defineVerifier({
          profile: {
            ...profile,
            params: Type.Object({ host: Type.Optional(Type.String()) }, { additionalProperties: false }),
          },
          providers: ['one'],
          destination: (_, { options }) => `https://${options.owner}.lists.example`,
          check: async () => ({ kind: 'absent', facts: {} }),
        }),
      ],
      connections: [
        defineConnectionType({
          ...WORKING,
          provider: 'one',
          options: Type.Object({ owner: Type.String() }),
          baseUrl: () => 'https://lists.example',
          fits({ owner }, { params, target }) {
            if (target === 'fails') throw new TypeError('a mistake')
            return params.host === undefined || params.host === `${owner}.lists.example`
          },
        }),
      ],
    },
    { manifest },
  )
  const registered = named.verifierFor(profile.action)!
  const tenant = { workspaceId: 'wsp_1', payer: 'usr_1' }
  const places = { registry: named, sources: { isListed: () => false }, tenant }
  const both = [connection('1', 'one', 'a'), connection('2', 'one', 'b')]
  const claim = { ...input, params: {}, deadlineAt: NOON, submittedAt: NOON }
  t.strictSame(await hostsToChoose(claim, registered, places, both), {
    hosts: ['a.lists.example', 'b.lists.example'],
    alike: 0,
  })
  t.equal(await hostsToChoose({ ...claim, target: 'fails' }, registered, places, both), undefined)
})
