import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rootCertificates } from 'node:tls'
import { createMemoryRefreshes } from '@claimcheck/core/hosting'
import {
  type CheckContext,
  type Claim,
  DestinationError,
  defineConnectionType,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { type CheckRecord, DESTINATION_ERROR_CODES, type JsonObject } from '@claimcheck/core/rules'
import type { Clock } from '@claimcheck/server/clock/clock'
import { createCheckRunner } from '@claimcheck/server/features/claims/check'
import type { OpenConnection } from '@claimcheck/server/features/workspaces/connections'
import { createSources } from '@claimcheck/server/features/workspaces/sources'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import t, { type Test } from 'tap'
import { claimNumber } from '../../support/claim-row.ts'
import { profile as seconds } from '../../support/profile.ts'
import { registryOf } from '../../support/registry.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const TIMEOUT_MS = 100
const TOKEN = 'quoted"s3cret'

const profile = {
  ...seconds,
  facts: Type.Object({ seen: Type.Optional(Type.Unknown()) }, { additionalProperties: false }),
} as const

const TLS = ['certificate', 'key', 'authority']
const connectionType = defineConnectionType({
  provider: 'test',
  title: 'Test',
  help: 'None.',
  options: Type.Object({
    host: Type.String(),
    token: secret({ description: 'A token.' }),
    ...Object.fromEntries(TLS.map((name) => [name, Type.Optional(secret({ description: 'In PEM.' }))])),
  }),
  credentials: { tls: { scheme: 'clientCertificate', certificate: 'certificate', key: 'key', authority: 'authority' } },
  baseUrl: ({ host }) => (host.startsWith('127.') ? `http://${host}` : `https://${host}`),
  fits: () => true,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
})

const claim = claimNumber(1, {
  clientClaimId: 'claim-1',
  agentId: 'agent-1',
  action: profile.action,
  params: { list: [1, 2] },
  deadlineAt: NOON + 2000,
  submittedAt: NOON,
  claimDigest: '',
  access: 'connection',
  connectionId: 'conn_1',
  profileAction: profile.action,
})

/** Of the plugin that `registryOf` makes: receipts write its digest in base64url. */
const PLUGIN = { package: 'test', version: '1.0.0', codeHash: `sha256:${'A'.repeat(43)}` }
const ABSENT = { kind: 'absent', facts: {} } as const
type Check = (claim: Claim, context: CheckContext) => unknown

function runner(
  t: Test,
  see: Check,
  over: {
    options?: JsonObject
    openById?: (id: string) => Promise<OpenConnection | undefined>
    /** The operator's public places of the provider. */
    listed?: string[]
    clock?: Pick<Clock, 'heard' | 'turn' | 'setSince'>
    /** The profile compares the fact `seen` with the param `list`, and has rules of this version. */
    heldBy?: 1 | 2
    /** The check of version 2 of the profile, where that is loaded. */
    versionTwo?: Check
    now?: () => number
    allowPrivate?: string[]
    timeoutMs?: number
    /** The identity that the connection has; its type tells identities then. */
    knownIdentity?: OpenConnection['knownIdentity']
    /** Its check makes its requests itself, or none. */
    isUnheard?: boolean
  } = {},
) {
  const connection = {
    id: 'conn_1',
    provider: 'test',
    options: over.options ?? { host: 'a', token: TOKEN },
    publishesAddress: true,
    sourceKey: Buffer.alloc(32),
    ...(over.knownIdentity !== undefined && { knownIdentity: over.knownIdentity }),
  }
  const type = { ...connectionType, ...(over.knownIdentity !== undefined && { identified: true as const }) }
  // What is tested is not how it asks.
  const heard = (check: Check) =>
    (async (claim: Claim, context: CheckContext) => {
      const { options } = context.connection ?? {}
      const place = options ? connectionType.baseUrl(options as never) : 'https://example.com'
      if (!over.isUnheard) await context.ask(place, async () => {})
      return check(claim, context)
    }) as unknown as () => Promise<typeof ABSENT>
  const compared = { list: { fact: 'seen', as: 'exact' } } as const
  const held = { required: { list: 'content', more: 'content' }, compared } as const
  const verifier = defineVerifier({
    profile: over.heldBy ? { ...profile, ...held, rulesVersion: over.heldBy } : profile,
    providers: ['test'],
    anonymousSource: () => ({ provider: 'test', baseUrl: 'https://example.com' }),
    check: heard(see),
  })
  const later = { ...profile, version: '2', ageMs: 10_000 }
  const verifiers = [verifier]
  if (over.versionTwo) {
    verifiers.push({ ...verifier, profile: later, check: heard(over.versionTwo) })
  }
  const logged: unknown[][] = []
  const noted: string[] = []
  const logger = { debug() {}, info() {}, warn: (...line: unknown[]) => logged.push(line) }
  const outbound = createOutbound({ allowPrivate: over.allowPrivate ?? [] })
  t.teardown(() => outbound.close())
  const now = over.now ?? (() => NOON)
  const manifest = { hosts: [String(connection.options.host), 'target'], programs: ['none'] }
  const { check } = createCheckRunner({
    activity: { connectionRead: (id) => noted.push(id) },
    registry: registryOf({ verifiers, connections: [type] }, { manifest, logger, now }),
    connections: {
      openById: over.openById ?? (async (id) => (id === connection.id ? connection : undefined)),
      refreshesOf: createMemoryRefreshes,
    },
    outbound,
    budgets: createRateLimitBudgets({ now }),
    now,
    sources: createSources({ config: { sources: { test: over.listed ?? [] } } }),
    clock: over.clock ?? { heard() {}, turn: () => 0, setSince: () => 0 },
    logger,
    config: {
      checks: { timeoutMs: over.timeoutMs ?? TIMEOUT_MS, firstAnswerMs: 1, concurrency: 1, closingMs: 1, graceMs: 1 },
    },
  })
  const run = (claim: ClaimRow, history: readonly CheckRecord[]) => check(claim, history, 'looking')
  return { run, logged, noted, connection }
}

const known = { text: 'acct_1/live', since: NOON, former: null }
const seen =
  (identity: string | undefined): Check =>
  () => ({ ...ABSENT, mark: 'final', identity })

t.test('a read is held to the identity of its connection, which its plugin knows', async (t) => {
  const told = seen('acct_1/live')
  t.strictSame(await failure(t, told, { knownIdentity: known }), { ...ABSENT, mark: 'final' })
  t.strictSame(await failure(t, told), { ...ABSENT, mark: 'final' }, 'of a type that tells none, it means nothing')
  t.strictSame(await failure(t, seen('acct_1/test'), { knownIdentity: known }), { code: 'ambiguous_claim' })
  const unblamed = { ...ABSENT, mark: 'may_have_been' }
  t.strictSame(await failure(t, seen(undefined), { knownIdentity: known }), unblamed)
  t.strictSame(await failure(t, told, { knownIdentity: null }), unblamed, 'none is stored')
  const later = { ...known, since: NOON + 1 }
  t.strictSame(await failure(t, told, { knownIdentity: later }), unblamed, 'it is stored since the submission')
  t.strictSame(await failure(t, seen('two words'), { knownIdentity: known }), { code: 'verifier_error' })
  let given: string | undefined
  const asked: Check = (_claim, { connection }) => {
    given = connection!.identity
    return ABSENT
  }
  await failure(t, asked, { knownIdentity: known })
  t.equal(given, 'acct_1/live')
})

async function failure(t: Test, check: Check, over?: Parameters<typeof runner>[2]): Promise<unknown> {
  const record = await runner(t, check, over).run(claim, [])
  return 'failure' in record ? record.failure : record.observation
}

t.test('a claim that was read at one destination is not read at the one that a later trial found', async (t) => {
  const knownIdentity = { text: 'acct_1/test', since: NOON + 1000, former: 'acct_1/live' }
  const { run } = runner(t, seen('acct_1/test'), { knownIdentity, now: () => NOON + 2000 })
  const first = await run(claim, [])
  t.match(first, { observation: { mark: 'may_have_been' } }, 'its first read is there, and blames nobody')
  t.match(await run(claim, [first]), { observation: { kind: 'absent' } })
  const before = { ...first, sentAt: NOON, answeredAt: NOON }
  t.match(await run(claim, [before]), { failure: { code: 'ambiguous_claim' } })
})

const throwing = (thrown: unknown) => () => {
  throw thrown
}
const faults: [name: string, check: Check][] = [
  ['throws', throwing(new TypeError('a mistake'))],
  ['throws text', throwing('text')],
  ['throws nothing', throwing(undefined)],
  ['throws null', throwing(null)],
  ['throws what has no text', throwing(Object.create(null))],
  ['rejects', async () => Promise.reject(new RangeError('a mistake'))],
  ['throws a destination error of a code that is none', throwing(new DestinationError('lost' as 'timeout'))],
  ['throws what only looks like a destination error', throwing({ name: 'DestinationError', code: 'timeout' })],
  ['returns nothing', () => undefined],
  ['returns null', () => null],
  ['returns text', () => 'verified'],
  ['returns a verdict', () => ({ verdict: 'verified' })],
  ['returns a function', () => () => ABSENT],
  [
    'returns what throws when it is read',
    () => ({
      ...ABSENT,
      get facts() {
        throw new Error('no')
      },
    }),
  ],
  ['returns another kind', () => ({ kind: 'verified', facts: {} })],
  ['returns no facts', () => ({ kind: 'absent' })],
  ['returns facts that the profile does not know', () => ({ kind: 'absent', facts: { other: 1 } })],
  ['returns a fraction', () => ({ kind: 'absent', facts: { seen: 1.5 } })],
  ['returns an integer that is not safe', () => ({ kind: 'absent', facts: { seen: 2 ** 53 } })],
  ['returns half a character', () => ({ kind: 'absent', facts: { seen: '\ud800' } })],
  ['returns a name with half a character', () => ({ kind: 'absent', facts: { seen: { '\udfff': 1 } } })],
  ['returns a big integer', () => ({ kind: 'absent', facts: { seen: 1n } })],
  [
    'returns facts that hold themselves',
    () => {
      const seen: unknown[] = []
      seen.push(seen)
      return { kind: 'absent', facts: { seen } }
    },
  ],
  ['returns too many facts', () => ({ kind: 'absent', facts: { seen: 'x'.repeat(8192) } })],
  ['says nothing of differences', () => ({ kind: 'present', facts: {} })],
  ['returns differences that are no list', () => ({ kind: 'present', facts: {}, differs: { length: 0 } })],
  ['tells a credential, which its destination repeats', () => ({ kind: 'absent', facts: { seen: `Bearer ${TOKEN}` } })],
  ['tells a credential as a name', () => ({ kind: 'absent', facts: { seen: { [TOKEN]: 1 } } })],
]
for (const [name, check] of faults) {
  t.test(`a verifier that ${name} fails its own check alone`, async (t) => {
    t.same(await failure(t, check), { code: 'verifier_error' })
  })
}

t.test('a verifier that hangs ends with its time, which its signal tells', async (t) => {
  let signal: AbortSignal | undefined
  const check: Check = (_, context) => {
    signal = context.signal
    return new Promise(() => {})
  }
  t.same(await failure(t, check), { code: 'timeout' })
  t.ok(signal?.aborted)
})

t.test('a verifier that fails after its time is heard no more', async (t) => {
  const check = () => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 2 * TIMEOUT_MS))
  t.same(await failure(t, check), { code: 'timeout' })
  await new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUT_MS))
})

t.test('when a check is over, so are its requests', async (t) => {
  let context: CheckContext | undefined
  await failure(t, (_, given) => {
    context = given
    return ABSENT
  })
  t.ok(context!.signal.aborted)
  await t.rejects(context!.fetch('https://a/'), { code: 'timeout' })
})

t.test('every code of a destination error is recorded as it is', async (t) => {
  for (const code of DESTINATION_ERROR_CODES) {
    t.same(await failure(t, throwing(new DestinationError(code))), { code })
  }
})

t.test('the errors of another copy of core are known by their name and code', async (t) => {
  class Copy extends Error {
    override readonly name = 'DestinationError'
    readonly code = 'forbidden'
    readonly status = 403
    readonly retryAfterMs = 5
  }
  t.same(await failure(t, throwing(new Copy())), { code: 'forbidden', status: 403, retryAt: NOON + 5 })
  for (const status of [401.5, -1])
    t.same(await failure(t, throwing(new DestinationError('unauthorized', { status }))), { code: 'unauthorized' })
})

t.test('no credential is logged, neither in the text of an error nor in its members', async (t) => {
  const error = Object.assign(new Error(`GET with ${TOKEN}`), { request: { headers: { authorization: TOKEN } } })
  for (const check of [throwing(error), throwing(TOKEN)]) {
    const { run, logged } = runner(t, check)
    await run(claim, [])
    t.equal(logged.length, 1)
    t.notMatch(JSON.stringify(logged), /s3cret/)
  }
})

t.test('what a verifier changes in what it was given is changed nowhere else', async (t) => {
  const seen: CheckRecord = {
    sentAt: NOON,
    answeredAt: NOON,
    clockOffsetMs: 0,
    observation: { ...ABSENT, facts: { seen: 1 } },
  }
  const history: CheckRecord[] = [seen, { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } }]
  const before = structuredClone({ claim, history })
  let previous: unknown
  const { run, connection } = runner(t, (given, context) => {
    previous = structuredClone(context.previous)
    const params = given.params as { list: number[] }
    params.list.push(3)
    Object.assign(given, { target: 'elsewhere' })
    Object.assign(context.connection!.options, { token: 'another' })
    Object.assign(context.previous[0]!.observation, { kind: 'present', facts: {}, differs: [] })
    return ABSENT
  })
  t.match(await run(claim, history), { observation: ABSENT })
  t.same({ claim, history }, before)
  t.equal(connection.options.token, TOKEN)
  t.same(previous, [{ sentAt: NOON, observation: seen.observation }], 'what could not be read is no observation')
})

t.test('what is recorded is what was judged, and the members of the contract alone', async (t) => {
  const observation = {
    kind: 'present',
    facts: { seen: ['a', -0, null, new Date(NOON)] as unknown[] },
    differs: ['content'] as string[],
    stays: [{ appeared: { notBefore: NOON - 1, notAfter: NOON, note: 'x' } }],
    verdict: 'verified',
  }
  const { run } = runner(t, () => observation)
  const record = await run(claim, [])
  observation.facts.seen.push('later')
  observation.differs.length = 0
  t.strictSame(record, {
    sentAt: NOON,
    answeredAt: NOON,
    observation: {
      kind: 'present',
      facts: { seen: ['a', 0, null, new Date(NOON).toISOString()] },
      stays: [{ appeared: { notBefore: NOON - 1, notAfter: NOON } }],
      differs: ['content'],
    },
    clockOffsetMs: 0,
    dated: false,
    ageMs: 0,
    answers: 1,
    source: { provider: 'test', listed: false, baseUrl: 'https://a' },
    plugin: PLUGIN,
  })
  const absent = runner(t, () => ({ ...ABSENT, differs: ['content'] }))
  t.match(await absent.run(claim, []), { observation: { differs: undefined } })
})

t.test('a check names the plugin that made it, also where that could not read', async (t) => {
  for (const see of [() => ABSENT, throwing(new DestinationError('unavailable')), throwing(new TypeError('a mistake'))])
    t.strictSame((await runner(t, see).run(claim, [])).plugin, PLUGIN)
})

t.test('a check that no plugin made names none', async (t) => {
  const { run } = runner(t, () => ABSENT)
  const rows: Partial<ClaimRow>[] = [
    { access: 'unsupported_action', connectionId: null },
    { action: 'other.thing.do' },
    { profileVersion: '7' },
    { connectionId: 'conn_gone' },
    { access: 'ambiguous_claim', connectionId: null },
  ]
  for (const over of rows) t.notOk('plugin' in (await run({ ...claim, ...over }, [])), JSON.stringify(over))
})

t.test('an optional credential that was not given hides nothing', async (t) => {
  t.same(await failure(t, () => ({ kind: 'absent', facts: { seen: 'undefined' } }), { options: { host: 'a' } }), {
    kind: 'absent',
    facts: { seen: 'undefined' },
  })
})

t.test('a claim that cannot be read is not given to a verifier', async (t) => {
  let checks = 0
  const { run } = runner(t, () => {
    checks++
    return ABSENT
  })
  const rows: [over: Partial<ClaimRow>, code: string][] = [
    [{ access: 'no_connection', connectionId: null }, 'no_connection'],
    [{ access: 'ambiguous_claim', connectionId: null }, 'ambiguous_claim'],
    [{ access: 'unsupported_action', connectionId: null }, 'unsupported_action'],
    [{ action: 'test.outcome.lose' }, 'verifier_error'],
    [{ profileVersion: '2' }, 'verifier_error'],
    [{ profileDigest: 'of other rules' }, 'verifier_error'],
    [{ connectionId: 'conn_removed' }, 'no_connection'],
  ]
  for (const [over, code] of rows) t.match(await run({ ...claim, ...over }, []), { failure: { code } })
  t.equal(checks, 0)
  t.match(await run({ ...claim, access: 'anonymous', connectionId: null }, []), { observation: ABSENT })
})

t.test('a claim is checked by the version of its profile that it was submitted under', async (t) => {
  const seen = (by: number) => () => ({ kind: 'absent', facts: { seen: by } })
  const { run } = runner(t, seen(1), { versionTwo: seen(2) })
  t.match(await run(claim, []), { observation: { facts: { seen: 1 } }, ageMs: 0 })
  t.match(await run({ ...claim, profileVersion: '2' }, []), { observation: { facts: { seen: 2 } }, ageMs: 10_000 })
  t.match(await run({ ...claim, profileVersion: '3' }, []), { failure: { code: 'verifier_error' } })
})

t.test('a claim that nothing here judges any more is no failure of its connection', async (t) => {
  const { run, noted, connection } = runner(t, () => ABSENT)
  await run({ ...claim, profileVersion: '2' }, [])
  t.strictSame(noted, [])
  await run(claim, [])
  t.strictSame(noted, [connection.id])
})

t.test('a connection whose secrets do not open fails the check, and says nothing of the agent', async (t) => {
  const openById = () => Promise.reject(Object.assign(new Error('no'), { name: 'SecretError', code: 'wrong_key' }))
  t.same(await failure(t, () => ABSENT, { openById }), { code: 'verifier_error' })
})

/** A destination that answers with these headers, and without a Date unless it is among them. */
async function destination(t: Test, headers: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((_, response) => {
    response.sendDate = false
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const reading =
  (host: string): Check =>
  async (_, { fetch }) => {
    await (await fetch(`http://${host}/`)).text()
    return ABSENT
  }
const at = (offsetMs: number) => ({ date: new Date(NOON + offsetMs).toUTCString() })

async function readAt(t: Test, headers: Readonly<Record<string, string>>, over: Parameters<typeof runner>[2] = {}) {
  const host = await destination(t, headers)
  const { run } = runner(t, reading(host), {
    options: { host },
    allowPrivate: [host],
    timeoutMs: 5000,
    ...over,
    ...(over.listed ? { listed: [`http://${host}`] } : {}),
  })
  return { host, run }
}

t.test("how far the destination's clock is off is recorded with what it answered", async (t) => {
  const { host, run } = await readAt(t, at(60_000))
  t.match(await run(claim, []), {
    clockOffsetMs: 60_999,
    dated: true,
    ageMs: 0,
    source: { provider: 'test', listed: false, baseUrl: `http://${host}` },
  })
})

t.test('a clock that the check found out itself counts where no answer told one', async (t) => {
  const clock = { notBefore: NOON + 58_000, notAfter: NOON + 62_000 }
  const seen = (record: unknown) => {
    const { clockOffsetMs, dated, clockAheadMs, observation } = record as Record<string, unknown>
    return [clockOffsetMs, dated, clockAheadMs, observation]
  }
  const telling = async (headers: Readonly<Record<string, string>>, told: unknown) => {
    const host = await destination(t, headers)
    const check: Check = async (_, { fetch }) => {
      await (await fetch(`http://${host}/`)).text()
      return { ...ABSENT, clock: told }
    }
    const { run } = runner(t, check, { options: { host }, allowPrivate: [host], timeoutMs: 5000 })
    return run(claim, [])
  }
  t.strictSame(seen(await telling({}, clock)), [62_000, true, 58_000, ABSENT])
  t.strictSame(seen(await telling({}, { notAfter: NOON })), [0, false, undefined, ABSENT], 'one bound is none')
  t.strictSame(seen(await telling(at(0), clock)), [999, true, undefined, ABSENT], 'the host reads the clock itself')
  for (const wrong of [{}, 'now', { notBefore: NOON, notAfter: NOON - 1 }, { notBefore: -1, notAfter: NOON }])
    t.match(await telling({}, wrong), { failure: { code: 'verifier_error' } })
})

t.test('so is which way it is off, where that is certain, and whether our own clock was set', async (t) => {
  for (const [offMs, clockAheadMs] of [
    [60_000, 60_000],
    [-60_000, -59_001],
    [0, undefined],
  ] as const) {
    const { run } = await readAt(t, at(offMs))
    const record = await run(claim, [])
    t.equal('observation' in record && record.clockAheadMs, clockAheadMs)
    t.notOk('clockSetMs' in record)
  }
  const asked: unknown[] = []
  const setSince = (moment: number) => asked.push(moment) * 12_000
  const { run } = await readAt(t, {}, { clock: { heard() {}, turn: () => 0, setSince } })
  t.match(await run(claim, []), { dated: false, clockSetMs: 12_000 })
  t.strictSame(asked, [claim.submittedAt])
})

t.test('an answer that does not tell its time is recorded as undated', async (t) => {
  for (const headers of [{}, { date: 'yesterday' }]) {
    const { run } = await readAt(t, headers)
    t.match(await run(claim, []), { observation: ABSENT, clockOffsetMs: 0, dated: false })
  }
})

t.test('the Age of an answer counts, at an address that a workspace chose up to a minute', async (t) => {
  const rows: [age: string, unlisted: number | undefined, listed: number | undefined][] = [
    ['7', 7000, 7000],
    ['60', 60_000, 60_000],
    ['61', undefined, 61_000],
    ['3600', undefined, 3_600_000],
    ['86400', undefined, 86_400_000],
    ['86401', undefined, undefined],
    ['999999999', undefined, undefined],
    ['7, 9', 9000, 9000],
    ['-5', undefined, undefined],
    ['soon', undefined, undefined],
  ]
  for (const [age, unlisted, listed] of rows) {
    const headers = { age, ...at(0) }
    const expected = (ageMs: number | undefined, isListed: boolean) =>
      ageMs === undefined ? { failure: { code: 'unexpected_response' } } : { ageMs, source: { listed: isListed } }
    t.match(await (await readAt(t, headers)).run(claim, []), expected(unlisted, false), age)
    const { run } = await readAt(t, headers, { listed: [] })
    t.match(await run(claim, []), expected(listed, true), `${age}, listed`)
  }
})

t.test('no connection chooses the authority of what the operator lists', async (t) => {
  const host = await destination(t, at(0))
  const options = { host, authority: rootCertificates[0]! }
  const seen = async (listed: string[]) => {
    const { run } = runner(t, reading(host), { options, allowPrivate: [host], timeoutMs: 5000, listed })
    return run(claim, [])
  }
  t.match(await seen([]), { source: { listed: false } })
  t.match(await seen([`http://${host}`]), { failure: { code: 'misconfigured' } })
})

t.test('an answer older than what counts shows what is there, and not what is missing or differs', async (t) => {
  const host = await destination(t, { age: '3600', ...at(0) })
  const rows: [seen: object, isRead: boolean][] = [
    [{ kind: 'present', differs: [], facts: {} }, true],
    [{ kind: 'present', differs: ['content'], mark: 'final', facts: {} }, true],
    [{ kind: 'present', differs: ['content'], facts: {} }, false],
    [{ kind: 'absent', mark: 'never_before', facts: {} }, false],
    [{ kind: 'absent', stays: [], facts: {} }, false],
  ]
  for (const [seen, isRead] of rows) {
    const check: Check = async (given, context) => {
      await reading(host)(given, context)
      return seen
    }
    const { run } = runner(t, check, { options: { host }, allowPrivate: [host], timeoutMs: 5000 })
    const expected = isRead ? { observation: seen, ageMs: 60_000 } : { failure: { code: 'unexpected_response' } }
    t.match(await run(claim, []), expected, JSON.stringify(seen))
  }
})

t.test('the age that a verifier tells adds to the Age of the answer', async (t) => {
  const host = await destination(t, { age: '3', ...at(0) })
  const check: Check = async (given, context) => {
    await reading(host)(given, context)
    return { ...ABSENT, ageMs: 10_000 }
  }
  const { run } = runner(t, check, { options: { host }, allowPrivate: [host], timeoutMs: 5000 })
  const record = await run(claim, [])
  t.match(record, { ageMs: 13_000 })
  t.notOk('ageMs' in (record as { observation: object }).observation, 'it is recorded once')
})

t.test('a check reads the address of its connection, and no other', async (t) => {
  const own = await destination(t, at(0))
  const other = await destination(t, at(0))
  const over = { options: { host: own }, allowPrivate: ['127.0.0.1'], timeoutMs: 5000 }
  t.match(await runner(t, reading(own), over).run(claim, []), { observation: ABSENT })
  t.same(await failure(t, reading(other), over), { code: 'unavailable' })
  const elsewhere: Check = async (_, { resolve }) => resolve(`http://${other}/`)
  t.same(await failure(t, elsewhere, over), { code: 'unavailable' })
})

t.test('what is read without a connection is read at the address that its verifier names', async (t) => {
  const host = await destination(t, at(0))
  const { run } = runner(t, reading(host), { allowPrivate: [host], timeoutMs: 5000 })
  const anonymous = { ...claim, access: 'anonymous' as const, connectionId: null }
  t.match(await run(anonymous, []), { failure: { code: 'unavailable' } })
  const still = runner(t, () => ABSENT)
  t.match(await still.run(anonymous, []), {
    source: { provider: 'test', listed: false, baseUrl: 'https://example.com' },
  })
})

t.test('checks that share a read inherit how far off its clock was', async (t) => {
  const host = await destination(t, { age: '4', ...at(-3_600_000) })
  let reads = 0
  const share: Check = async (given, context) => {
    await context.cache.share('one', async () => {
      reads++
      return reading(host)(given, context)
    })
    return ABSENT
  }
  const { run } = runner(t, share, { options: { host }, allowPrivate: [host], timeoutMs: 5000 })
  const records = await Promise.all([run(claim, []), run(claim, []), run(claim, []), run(claim, [])])
  t.ok(reads < records.length, `${reads} reads`)
  for (const record of records) t.match(record, { clockOffsetMs: 3_600_000, dated: true, ageMs: 4000 })
})

t.test('a check that joins a read is made when that read is sent, and not before', async (t) => {
  const host = await destination(t, at(0))
  let now = NOON
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const share: Check = async (given, context) => {
    await context.cache.share('one', async () => {
      await held
      return reading(host)(given, context)
    })
    return ABSENT
  }
  const over = { options: { host }, allowPrivate: [host], timeoutMs: 5000, now: () => now, isUnheard: true }
  const { run } = runner(t, share, over)
  const checks = [run(claim, [])]
  await new Promise((resolve) => setTimeout(resolve, 20))
  now += 1000
  checks.push(run(claim, []))
  await new Promise((resolve) => setTimeout(resolve, 20))
  now += 2000
  release()
  for (const record of await Promise.all(checks)) t.match(record, { sentAt: NOON + 3000, answeredAt: NOON + 3000 })
})

t.test('the clock hears what listed places say of the time, and no others', async (t) => {
  const heard: unknown[][] = []
  const clock = { heard: (...said: unknown[]) => heard.push(said), turn: () => 7, setSince: () => 0 }
  await (await readAt(t, at(120_000), { clock, listed: [] })).run(claim, [])
  t.match(heard, [[/^http:\/\/127\.0\.0\.1:\d+$/, { ahead: { least: 120_000 }, isUndated: false }, 7]])
  const { host, run } = await readAt(t, at(120_000), { clock })
  const earlier = await run(claim, [])
  t.match(earlier, { observation: ABSENT })
  const listedThen = { ...earlier, source: { provider: 'test', listed: true, baseUrl: `http://${host}` } }
  t.match(await run(claim, [listedThen as CheckRecord]), { source: { listed: true } })
  t.equal(heard.length, 1, 'nor one that is listed no more')
})

t.test('a claim that was read at one address is not read at another', async (t) => {
  const { run, connection } = runner(t, () => ABSENT)
  const published = await run(claim, [])
  const withheld = async (host: string) => ({
    ...connection,
    options: { ...connection.options, host },
    publishesAddress: false,
  })
  const [hidden, moved] = ['a', 'b'].map((host) => runner(t, () => ABSENT, { openById: () => withheld(host) }))
  const unnamed = await hidden!.run(claim, [])
  t.match(unnamed, { source: { sourceId: String } })
  t.match(await run(claim, [published]), { source: { baseUrl: 'https://a' } })
  t.match(await hidden!.run(claim, [unnamed]), unnamed)
  for (const earlier of [published, unnamed])
    t.match(await moved!.run(claim, [earlier]), { failure: { code: 'misconfigured' } })
  const elsewhere = { ...published, source: { provider: 'other', listed: false, baseUrl: 'https://a' } }
  t.match(await run(claim, [elsewhere as CheckRecord]), { failure: { code: 'misconfigured' } })
})

t.test('an address that is withheld is not recorded', async (t) => {
  const connection = {
    id: 'conn_1',
    provider: 'test',
    options: { host: 'a' },
    publishesAddress: false,
    sourceKey: Buffer.alloc(32),
  }
  const record = await runner(t, () => ABSENT, { openById: async () => connection }).run(claim, [])
  t.match(record, { source: { provider: 'test', listed: false, sourceId: /^[A-Za-z0-9_-]{43}$/ } })
  t.notOk(JSON.stringify(record).includes('https://a'))
})

t.test('what a check remembers is for checks through the same connection with the same credentials', async (t) => {
  let token = 'old'
  const seen: unknown[] = []
  const remember: Check = (_claim, { cache, connection }) => {
    seen.push(cache.get('read'))
    cache.set('read', `${connection?.id ?? 'public'} ${seen.length}`)
    return ABSENT
  }
  const openById = async (id: string) => ({
    id,
    provider: 'test',
    options: { host: 'a', token },
    publishesAddress: true,
    sourceKey: Buffer.alloc(32),
  })
  const { run } = runner(t, remember, { openById })
  const through = (connectionId: string | null) =>
    run({ ...claim, connectionId, access: connectionId === null ? 'anonymous' : 'connection' }, [])
  for (const id of ['conn_1', 'conn_2', null, 'conn_1']) await through(id)
  token = 'new'
  for (const id of ['conn_1', 'conn_1', null]) await through(id)
  t.strictSame(seen, [undefined, undefined, undefined, 'conn_1 1', undefined, 'conn_1 5', 'public 3'])
})

t.test(
  'a read that contradicts itself, its claim or its profile is a failed check, by rules of version 2',
  async (t) => {
    const wrong: [what: string, observation: JsonObject, problem: RegExp][] = [
      ['no fact', { kind: 'present', differs: [], facts: {} }, /no fact shows list/],
      ['another fact', { kind: 'present', differs: [], facts: { seen: [1] } }, /list does not differ/],
      [
        'what was claimed',
        { kind: 'present', differs: ['list'], facts: { seen: [1, 2] } },
        /list differs, and its fact is/,
      ],
      [
        'a field that it does not have',
        { kind: 'present', differs: ['more'], facts: { seen: 1 } },
        /more differs, which is/,
      ],
      [
        'what comes later',
        {
          kind: 'absent',
          facts: {},
          stays: [{ appeared: { notBefore: NOON + 90_000_000, notAfter: NOON + 90_000_000 } }],
        },
        /later than the answer/,
      ],
      [
        'an end before its beginning',
        {
          kind: 'absent',
          facts: {},
          stays: [{ appeared: { notBefore: NOON, notAfter: NOON }, removed: { notAfter: NOON - 5000 } }],
        },
        /removed before it appeared/,
      ],
      ['absence with what was claimed', { kind: 'absent', facts: { seen: [1, 2] } }, /is by its facts/],
    ]
    for (const [what, observation, problem] of wrong) {
      const { run: check, logged } = runner(t, () => observation, { heldBy: 2 })
      t.match(await check(claim, []), { failure: { code: 'verifier_error' } }, what)
      t.match(logged[0]?.[0], { problem }, what)
      const { run: checkByRules1 } = runner(t, () => observation, { heldBy: 1 })
      if (!what.includes('does not have'))
        t.match(await checkByRules1(claim, []), { observation: { kind: String } }, what)
    }
    const { run: check } = runner(t, () => ({ kind: 'present', differs: [], facts: { seen: [1, 2] } }), {
      heldBy: 2,
    })
    t.match(await check(claim, []), { observation: { kind: 'present' } })
  },
)
