import { type Connection, claimDigest, defineConnectionType, defineVerifier } from '@claimcheck/core'
import type { ClaimInput } from '@claimcheck/server/claims/intake'
import { planClaim } from '@claimcheck/server/claims/intake'
import { createCheckCache } from '@claimcheck/server/plugins/check-cache'
import { EMPTY_REGISTRY, type Registry } from '@claimcheck/server/plugins/plugins'
import t from 'tap'
import { Type } from 'typebox'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Of the targets `a` and `b`, the operator lists the place of `a`. */
const LISTED: readonly string[] = ['https://a.example']

const profile = {
  action: 'test.thing.do',
  version: '3',
  summary: 'A thing.',
  aliases: { 'one.thing.do': { providers: ['one'] } },
  target: Type.String({ maxLength: 5 }),
  params: Type.Object({ name: Type.String() }, { additionalProperties: false }),
  facts: Type.Object({}),
  required: {},
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: DAY_MS,
  rulesVersion: 2,
  access: { permission: 'none', anonymous: false },
} as const

function registryOf(anonymous: boolean): Registry {
  const verifier = defineVerifier({
    profile: { ...profile, access: { permission: 'none', anonymous } },
    providers: ['one', 'two'],
    anonymousSource: ({ target }) => ({ provider: 'one', baseUrl: `https://${target}.example` }),
    normalize: ({ target, params }) => ({ target, params: { name: params.name.toLowerCase() } }),
    check: async () => ({ kind: 'absent', facts: {} }),
  })
  const tools = { logger: { debug() {}, info() {}, warn() {} }, cache: createCheckCache() }
  const type = (provider: string) =>
    defineConnectionType({
      provider,
      title: provider,
      help: 'None.',
      options: Type.Object({ owner: Type.String() }),
      baseUrl: ({ owner }) => `https://${owner}.example`,
      fits: ({ owner }, { target }) => owner === target,
      probe: async () => ({ scopes: [], warnings: [] }),
    })
  const types = new Map(['one', 'two', 'three'].map((provider) => [provider, type(provider)]))
  const providers: Readonly<Record<string, readonly string[]>> = {
    'test.thing.do': ['one', 'two'],
    'one.thing.do': ['one'],
  }
  return {
    ...EMPTY_REGISTRY,
    verifierFor: (action) => (providers[action] ? { verifier, providers: providers[action], tools } : undefined),
    connectionType: (provider) => types.get(provider),
  }
}

const input: ClaimInput = {
  clientClaimId: 'c-1',
  agentId: 'agent-1',
  action: 'test.thing.do',
  target: 'a',
  params: { name: 'Name' },
  claimedAt: NOON,
}

function plan(
  over: Partial<ClaimInput> = {},
  { anonymous = false, connections = [] as readonly Connection[], now = NOON, listed = LISTED } = {},
) {
  const sources = { isListed: (_provider: string, baseUrl: string) => listed.includes(baseUrl) }
  const options = { registry: registryOf(anonymous), sources, connections: async () => connections }
  return planClaim('ws_1', { ...input, ...over }, now, options)
}

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
const accesses: [
  name: string,
  connections: Connection[],
  action: string,
  anonymous: boolean,
  access: string,
  id: string | null,
][] = [
  ['none', [], 'test.thing.do', false, 'no_connection', null],
  ['none, where none is needed', [], 'test.thing.do', true, 'anonymous', null],
  [
    'the one that fits',
    [connection('1', 'one', 'b'), connection('2', 'two')],
    'test.thing.do',
    true,
    'connection',
    '2',
  ],
  ['two that fit', [connection('1', 'one'), connection('2', 'two')], 'test.thing.do', true, 'ambiguous_claim', null],
  [
    'two, of which the alias is open to one',
    [connection('1', 'one'), connection('2', 'two')],
    'one.thing.do',
    false,
    'connection',
    '1',
  ],
  ['one that the alias is not open to', [connection('2', 'two')], 'one.thing.do', false, 'no_connection', null],
  ['one that the verifier cannot read', [connection('3', 'three')], 'test.thing.do', false, 'no_connection', null],
  ['one of a provider that is gone', [connection('4', 'four')], 'test.thing.do', false, 'no_connection', null],
]
for (const [name, connections, action, anonymous, access, connectionId] of accesses) {
  t.test(`a claim is read through ${name}`, async (t) => {
    t.match(await plan({ action }, { connections, anonymous }), { access, connectionId })
  })
}
