import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  type ConnectionType,
  DestinationError,
  defineConnectionType,
  header,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import type { DestinationErrorCode } from '@claimcheck/core/rules'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { ConnectionService } from '@claimcheck/server/features/workspaces/connections'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import { createConcurrencyLimit } from '@claimcheck/server/outbound/concurrency-limit'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { createRateLimitBudgets, type Spender } from '@claimcheck/server/outbound/rate-limit-budget'
import t, { type Test } from 'tap'
import { connect } from '../../../../test/support/connect.ts'
import { knexOn } from '../../../../test/support/sql.ts'
import { openSqlite } from '../../../../test/support/storage.ts'
import { registryOf, WORKING } from '../../support/registry.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const TOKEN = 's3cret-token'

type Probe = ConnectionType['probe']
const nothing: Probe = async () => ({ proves: 'works', scopes: [], warnings: [] })
const canWrite: Probe = async () => ({ proves: 'works', scopes: ['read'], warnings: ['can write'] })

async function open(
  t: Test,
  probe: Probe = nothing,
  { allowPrivate = [] as string[], folder = t.testdir(), slots = 256, identified = false, now = () => NOON } = {},
) {
  const type = defineConnectionType({
    ...WORKING,
    provider: 'test',
    options: Type.Object(
      {
        host: Type.String(),
        token: Type.Optional(secret({ description: 'A token.' })),
        password: Type.Optional(secret({ description: 'A password.' })),
      },
      { additionalProperties: false },
    ),
    baseUrl: ({ host }) => (host.startsWith('127.') ? `http://${host}` : `https://${host}`),
    probe,
    ...(identified ? { identified } : {}),
  })
  const file = join(folder, 'claimcheck.db')
  const storage = await openSqlite(file)
  const outbound = createOutbound({ allowPrivate })
  t.teardown(async () => {
    await outbound.close()
    await storage.close()
  })
  const budgets = createRateLimitBudgets({ now: () => NOON })
  const kept = new Set<string | null>()
  const limits = {
    slots: createConcurrencyLimit(slots),
    budgets: {
      ...budgets,
      mayBegin(spender: Spender) {
        kept.add(spender.connectionId)
        return budgets.mayBegin(spender)
      },
      forget(connectionId: string) {
        kept.delete(connectionId)
        budgets.forget(connectionId)
      },
    },
    destinations: { of: (origin: string) => [origin] },
  }
  const connections = (secretKey = Buffer.alloc(32, 1), secretKeysAlso: readonly Buffer[] = []) =>
    new ConnectionService({
      storage,
      registry: {
        ...registryOf({ connections: [type] }, { manifest: { hosts: ['a', ...allowPrivate] } }),
        actionsFor: () => ['test.thing.do'],
        aliasesFor: () => [],
      },
      secrets: openSecrets({ secretKey, secretKeysAlso, dataDir: folder }),
      outbound,
      ...limits,
      now,
      config: { checks: { timeoutMs: 100 } },
    })
  /** With the token, and what else is given. */
  const add = (service = connections(), options: object = {}) =>
    connect({ connections: service }, workspace.id, 'test', { host: 'a', token: TOKEN, ...options })
  const workspace = await createWorkspaceService({ storage, now: () => NOON }).create('acme')
  const user = { id: 'usr_1', email: 'ann@example.com', name: 'Ann', passwordHash: null, createdAt: NOON }
  await storage.write((tx) => tx.users.insert(user))
  const db = await knexOn(file)
  t.teardown(() => db.destroy())
  return { connections, workspace, db, kept, add }
}

t.test('a connection keeps its secret sealed, and gives it to checks alone', async (t) => {
  const { connections, workspace, db, add } = await open(t, canWrite)
  const service = connections()
  const added = await add(service)
  t.match(added, { provider: 'test', scopes: ['read'], notes: ['can write'], actions: ['test.thing.do'] })
  const listed = await service.list(workspace.id)
  t.match(listed, [{ id: added.id, options: { host: 'a' }, connectedAt: NOON, disconnectedAt: null }])
  t.notMatch(JSON.stringify([added, listed]), TOKEN)
  t.notMatch(JSON.stringify(await db('connections')), TOKEN)
  for (const [opened] of [await service.open(workspace.id), await connections().open(workspace.id)]) {
    t.match(opened, { id: added.id, provider: 'test', options: { host: 'a', token: TOKEN }, publishesAddress: false })
  }
  t.same(await service.openById(added.id), (await service.open(workspace.id))[0])
  t.strictSame(await service.open('ws_other'), [], 'and not to those of another workspace')
  t.strictSame(await service.list('ws_other'), [])
})

t.test('a secret opens under no other key, and in no other row', async (t) => {
  const { connections, workspace, db, add } = await open(t)
  const first = await add()
  const second = await connect({ connections: connections() }, workspace.id, 'test', { host: 'b', token: 'another' })
  await t.rejects(connections(Buffer.alloc(32, 2)).openById(first.id), { code: 'wrong_key' })
  const { sealed_secrets: sealed } = await db('connections').where('id', first.id).first()
  await db('connections').where('id', second.id).update({ sealed_secrets: sealed })
  await t.rejects(connections().openById(second.id), { code: 'wrong_key' })
})

t.test('a trial leaves no request budget, however it ends', async (t) => {
  const ends: Probe[] = [nothing, async () => Promise.reject(new Error('it failed')), () => new Promise(() => {})]
  for (const [probe, slots] of [...ends.map((end) => [end, 256] as const), [nothing, 1] as const]) {
    const { connections, workspace, kept } = await open(t, probe, { slots })
    const trying = connections().connect(
      workspace.id,
      'test',
      { host: 'a', token: TOKEN },
      { userId: null, insists: false },
    )
    await trying.catch(() => {})
    t.strictSame([...kept], [])
    const stored = connections().connect(workspace.id, 'test', { host: 'a' }, { userId: null, insists: false })
    await stored.catch(() => {})
    t.strictSame([...kept], [null], 'the budget that all share stays')
  }
})

t.test('options that do not fit are told by their place, and without their value', async (t) => {
  const { connections, workspace } = await open(t)
  const service = connections()
  await t.rejects(connect({ connections: service }, workspace.id, 'elsewhere', {}), { code: 'not_found' })
  for (const options of [{}, { host: 'a', token: '' }, { host: 'a', tokn: TOKEN }, { host: 1, token: TOKEN }]) {
    const error = await connect({ connections: service }, workspace.id, 'test', options).catch(
      (thrown: unknown) => thrown,
    )
    t.match(error, { code: 'invalid' })
    t.notMatch(JSON.stringify(error), TOKEN)
  }
  t.strictSame(await service.list(), [])
})

const throwing = (thrown: unknown) => () => {
  throw thrown
}
const probes: [name: string, probe: Probe, code: string][] = [
  ['cannot read', async () => Promise.reject(new DestinationError('unauthorized')), 'unauthorized'],
  ['hangs', () => new Promise(() => {}), 'timeout'],
  ['throws', throwing(new Error(`no ${TOKEN}`)), 'unexpected_error'],
  ['throws nothing', throwing(undefined), 'unexpected_error'],
  [
    'throws a credential as a code',
    throwing(Object.assign(new Error('no'), { name: 'DestinationError', code: TOKEN })),
    'unexpected_error',
  ],
  [
    'asks another port than its manifest declares',
    async (_, { connect }) => {
      await connect('tls://a:993').catch(() => {})
      return { proves: 'works', scopes: [], warnings: [] }
    },
    'unexpected_error',
  ],
  ['returns nothing', async () => undefined as never, 'unexpected_error'],
  ['returns nonsense', async () => ({ proves: 'works', scopes: [{}], warnings: [] }) as never, 'unexpected_error'],
  [
    'changes what it was given',
    async (options) => {
      Object.assign(options, { host: 'b' })
      throw new DestinationError('forbidden')
    },
    'forbidden',
  ],
]
for (const [name, probe, code] of probes) {
  t.test(`a connection whose probe ${name} is not kept, or only as it was given`, async (t) => {
    const { connections, workspace } = await open(t, probe)
    const isRefused = ['unauthorized', 'forbidden'].includes(code)
    const connect = (insists: boolean) =>
      connections().connect(workspace.id, 'test', { host: 'a', token: TOKEN }, { userId: 'usr_1', insists })
    const refused = await connect(false)
    t.match(refused, { failure: code, isRefused })
    t.notMatch(JSON.stringify(refused), TOKEN)
    t.strictSame(await connections().list(), [])
    const insisted = await connect(true)
    if (isRefused) t.match(insisted, { failure: code, isRefused }, 'never what was refused')
    else t.match(insisted, { scopes: [], notes: [], lastFailure: code, lastFailureAt: NOON, connectedBy: 'usr_1' })
    t.notMatch(JSON.stringify(insisted), TOKEN)
    const kept = await connections().open(workspace.id)
    t.same(
      kept.map(({ options }) => options),
      isRefused ? [] : [{ host: 'a', token: TOKEN }],
    )
  })
}

t.test('other secrets are opened wherever the connection is, also where it was open already', async (t) => {
  const { connections, workspace, db, add } = await open(t, canWrite)
  const [service, other] = [connections(), connections()]
  const { id } = await add(service)
  for (const each of [service, other]) t.match(await each.openById(id), { options: { token: TOKEN } })
  const replaced = await service.replaceSecrets(id, { token: 'newer' }, { workspaceId: workspace.id, insists: false })
  const connection = { id, options: { host: 'a' }, scopes: ['read'], notes: ['can write'], lastFailure: null }
  t.match(replaced, { connection, failure: null })
  t.notMatch(JSON.stringify(replaced), 'newer')
  for (const each of [service, other, connections()]) {
    t.match(await each.openById(id), {
      id,
      provider: 'test',
      options: { host: 'a', token: 'newer' },
      publishesAddress: false,
    })
    t.match(await each.open(workspace.id), [{ options: { token: 'newer' } }])
  }
  t.notMatch(JSON.stringify(await db('connections')), 'newer')
  t.match(
    await connections().replaceSecrets(id, { token: 'newest' }, { insists: false }),
    { connection: { id } },
    'of whichever workspace',
  )
  t.match(await other.openById(id), { options: { token: 'newest' } })
})

t.test('secrets that do not open any more are replaced, and one that is not given stays', async (t) => {
  const { connections, add } = await open(t)
  const { id } = await add(connections(), { password: 'stays' })
  const lost = connections(Buffer.alloc(32, 2))
  await t.rejects(lost.replaceSecrets(id, { token: 'newer' }, { insists: false }), { code: 'wrong_key' })
  await connections().replaceSecrets(id, { token: 'newer' }, { insists: false })
  t.match(await connections().openById(id), { options: { token: 'newer', password: 'stays' } })
  await lost.replaceSecrets(id, { token: 'newer', password: 'too' }, { insists: false })
  t.match(await lost.openById(id), { options: { token: 'newer', password: 'too' } })
})

t.test('what is no secret is not replaced, and neither is what is not there', async (t) => {
  const { connections, workspace, db, add } = await open(t)
  const service = connections()
  const { id } = await add(service)
  const before = await db('connections')
  const replace = (secrets: Record<string, string>, at = id, workspaceId = workspace.id) =>
    service.replaceSecrets(at, secrets, { workspaceId, insists: true })
  for (const [secrets, place] of [
    [{ host: 'b', token: 'newer' }, 'host'],
    [{ tokn: 'newer' }, 'tokn'],
    [{ token: '' }, 'token'],
    [{}, undefined],
  ] as const) {
    const error = await replace(secrets).catch((thrown: unknown) => thrown)
    t.match(error, { code: 'invalid', issues: [{ loc: ['options', place].filter(Boolean) }] })
    t.notMatch(JSON.stringify(error), 'newer')
  }
  await t.rejects(replace({ token: 'newer' }, id, 'ws_other'), { code: 'not_found' })
  await t.rejects(replace({ token: 'newer' }, 'conn_unknown'), { code: 'not_found' })
  t.strictSame(await db('connections'), before)
})

t.test('of two who replace secrets at once, the later is told to look again', async (t) => {
  let trial = async () => {}
  const { connections, add } = await open(t, async (...given) => {
    await trial()
    return nothing(...given)
  })
  const [service, other] = [connections(), connections()]
  const { id } = await add(service, { password: 'one' })
  trial = async () => {
    trial = async () => {}
    await other.replaceSecrets(id, { password: 'two' }, { insists: false })
  }
  await t.rejects(service.replaceSecrets(id, { token: 'newer' }, { insists: false }), { code: 'conflict' })
  for (const each of [service, other]) {
    t.match(await each.openById(id), { options: { token: TOKEN, password: 'two' } })
  }
})

t.test('secrets sealed under another key meanwhile are replaced, and stay under that key', async (t) => {
  let trial = async () => {}
  const { connections, workspace, db } = await open(t, async (...given) => {
    await trial()
    return nothing(...given)
  })
  const [old, next] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const options = { host: 'a', token: TOKEN, password: 'stays' }
  const { id } = await connect({ connections: connections() }, workspace.id, 'test', options)
  trial = async () => {
    const secrets = openSecrets({ secretKey: next, secretKeysAlso: [old], dataDir: '' })
    const { sealed_secrets: sealed, source_key: sourceKey } = await db('connections').first()
    const resealed = Object.entries<string>(JSON.parse(sealed)).map(([name, text]) => [
      name,
      secrets.reseal(text, `connection:${id}:${name}`),
    ])
    await db('connections').update({
      sealed_secrets: JSON.stringify(Object.fromEntries(resealed)),
      source_key: secrets.reseal(sourceKey, `connection-source:${id}`),
    })
  }
  t.match(await connections(next, [old]).replaceSecrets(id, { token: 'newer' }, { insists: false }), {
    failure: null,
  })
  t.match(await connections(next).openById(id), { options: { token: 'newer', password: 'stays' } })
})

t.test('a connection outlives the key that sealed it: new secrets bring its address a new id', async (t) => {
  const { connections, add } = await open(t)
  const { id } = await add()
  const before = (await connections().openById(id))!.sourceKey
  const lost = connections(Buffer.alloc(32, 2))
  await t.rejects(lost.openById(id), { code: 'wrong_key' })
  await lost.replaceSecrets(id, { token: 'newer' }, { insists: false })
  const opened = await lost.openById(id)
  t.match(opened, { options: { token: 'newer' } })
  t.notSame(opened?.sourceKey, before)
})

t.test('secrets that could not be tried are kept for whoever insists, and those that are refused never', async (t) => {
  let failure: DestinationErrorCode = 'unavailable'
  let fails = false
  const { connections, add } = await open(t, async () => {
    if (fails) throw new DestinationError(failure)
    return { proves: 'works', scopes: ['read'], warnings: [] }
  })
  const service = connections()
  const { id } = await add(service)
  const tokenNow = async () => (await service.openById(id))?.options.token
  const replace = (insists: boolean) => service.replaceSecrets(id, { token: 'newer' }, { insists })
  fails = true
  t.match(await replace(false), { failure, isRefused: false })
  failure = 'unauthorized'
  for (const insists of [false, true]) t.match(await replace(insists), { failure, isRefused: true })
  t.equal(await tokenNow(), TOKEN)
  failure = 'unavailable'
  t.match(await replace(true), { connection: { id, scopes: [] }, failure })
  t.equal(await tokenNow(), 'newer')
})

t.test('a connection that is removed while other secrets are tried stays removed, and keeps none', async (t) => {
  let trial = async () => {}
  const { connections, db, add } = await open(t, async (...given) => {
    await trial()
    return nothing(...given)
  })
  const service = connections()
  const { id } = await add(service)
  trial = () => service.remove(id)
  await t.rejects(service.replaceSecrets(id, { token: 'newer' }, { insists: false }), { code: 'not_found' })
  t.match(await db('connections'), [{ sealed_secrets: '{}', disconnected_at: NOON }])
})

t.test('a probe reads the destination with the credentials', async (t) => {
  const server = createServer((request, response) => response.end(request.headers.authorization))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const probe: Probe = async (options, { fetch }) => {
    const response = await fetch(`http://${options.host}/`, { auth: header('authorization', String(options.token)) })
    return { proves: 'works', scopes: [`${(await response.text()) === TOKEN}`], warnings: [] }
  }
  const { connections, workspace } = await open(t, probe, { allowPrivate: [host] })
  t.match(await connect({ connections: connections() }, workspace.id, 'test', { host, token: TOKEN }), {
    scopes: ['true'],
  })
})

t.test('what a probe tells has no credential in it, and an end', async (t) => {
  const probe: Probe = async () => ({
    proves: 'works',
    scopes: [`repo:${TOKEN}`, Buffer.from(`ann:${TOKEN}`).toString('base64')],
    warnings: [...Array<string>(500).fill('x'), 'y'.repeat(100_000)].toReversed(),
  })
  const { add } = await open(t, probe)
  const connected = await add()
  const { scopes, notes } = connected as unknown as { scopes: string[]; notes: string[] }
  t.equal(scopes[0], 'repo:[secret]')
  t.notOk(JSON.stringify(scopes).includes(Buffer.from(`ann:${TOKEN}`).toString('base64').slice(6, -4)))
  t.equal(notes[0], '[a text of 100000 characters]')
  t.equal(notes.length, 100)
})

t.test('the identity of a destination is stored, and another one only by another trial', async (t) => {
  let identity: string | undefined = 'acct_1/live'
  const probe: Probe = async () => ({
    ...(await nothing(undefined as never, undefined as never)),
    ...(identity === undefined ? {} : { identity }),
  })
  const { connections, workspace, db, add } = await open(t, probe, { identified: true })
  const service = connections()
  const { id } = await add(service)
  const stored = async () => [
    (await service.list(workspace.id))[0]!.identity,
    (await service.openById(id))!.knownIdentity,
  ]
  const first = { text: 'acct_1/live', since: NOON, former: null }
  t.strictSame(await stored(), [first, first])
  await service.test(id)
  t.strictSame(await stored(), [first, first], 'the same')
  identity = undefined
  await service.test(id)
  t.strictSame(await stored(), [first, first], 'none was told')
  identity = 'acct_1/test'
  await service.test(id)
  const second = { text: 'acct_1/test', since: NOON, former: 'acct_1/live' }
  t.strictSame(await stored(), [second, second])
  identity = 'acct_2/live'
  await service.replaceSecrets(id, { token: 'another-token' }, { insists: false })
  const third = { text: 'acct_2/live', since: NOON, former: 'acct_1/test' }
  t.strictSame(await stored(), [third, third])
  for (identity of ['another-token', 'two words', '', 'x'.repeat(201)])
    t.match(await service.test(id), { failure: 'unexpected_error' }, identity)
  t.strictSame(await stored(), [third, third])
  const told = (await db('audit_trail').orderBy('position')).map(({ details }) => JSON.parse(details))
  t.strictSame(
    told.flatMap(({ identity, former_identity = null }) => (identity ? [[identity, former_identity]] : [])),
    [
      ['acct_1/live', null],
      ['acct_1/test', 'acct_1/live'],
      ['acct_2/live', 'acct_1/test'],
    ],
  )
})

t.test('a test that ends after another trial changes nothing, and says so in the audit trail', async (t) => {
  const identities = ['old', 'stale', 'newer', 'stale', 'newest', 'stale', 'newest', 'refreshed']
  let meanwhile: (() => Promise<unknown>) | undefined
  let time = NOON
  const probe: Probe = async () => {
    const identity = identities.shift()!
    const between = meanwhile
    meanwhile = undefined
    await between?.()
    time++
    return { proves: 'works', scopes: [identity], warnings: [], identity }
  }
  const { connections, workspace, db, add } = await open(t, probe, { identified: true, now: () => time })
  const service = connections()
  const { id } = await add(service)
  const stored = async () => (await service.list(workspace.id))[0]!
  meanwhile = () => service.test(id)
  t.match(await service.test(id), { failure: null })
  t.match(await stored(), { identity: { text: 'newer', former: 'old' }, scopes: ['newer'] }, 'after another test')
  meanwhile = () => service.replaceSecrets(id, { token: 'another-token' }, { insists: false })
  await service.test(id)
  t.match(await stored(), { identity: { text: 'newest', former: 'newer' }, scopes: ['newest'] }, 'after other secrets')
  meanwhile = () => service.replaceSecrets(id, { token: 'third-token' }, { insists: false })
  await service.test(id)
  t.match(await stored(), { identity: { text: 'newest', former: 'newer' } })
  await service.test(id)
  t.match(await stored(), { identity: { text: 'refreshed', former: 'newest' } }, 'a test that nothing met counts')
  const told = (await db('audit_trail').orderBy('position')).map(({ details }) => JSON.parse(details))
  t.strictSame(
    told.flatMap(({ identity, former_identity = null }) => (identity ? [[identity, former_identity]] : [])),
    [
      ['old', null],
      ['newer', 'old'],
      ['newest', 'newer'],
      ['refreshed', 'newest'],
    ],
  )
})

t.test('an identity of a type that promises none is left out', async (t) => {
  const probe: Probe = async () => ({
    ...(await nothing(undefined as never, undefined as never)),
    identity: 'acct_1/live',
  })
  const { add } = await open(t, probe)
  t.equal((await add()).identity, null)
})

t.test('the operator reads what the probe asked last, and what came of it', async (t) => {
  const server = createServer((_request, response) => response.writeHead(500).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const rows: readonly (readonly [host: string, probe: Probe, reason: RegExp])[] = [
    [
      host,
      async ({ host }, { http }) => http.head(`http://${host}/`) as never,
      /^HEAD http:.*: answer 500: unavailable$/,
    ],
    ['a', async (_, { connect }) => connect('tls://a:993') as never, /^CONNECT tls:\/\/a:993: .*993/],
    [
      'a',
      async (_, { fetch }) => fetch(`https://a/${TOKEN}`) as never,
      /^GET https:\/\/a\/[^s].*: (?:unavailable: |timeout$)/,
    ],
  ]
  for (const [at, probe, reason] of rows) {
    const { connections, workspace } = await open(t, probe, { allowPrivate: [host], folder: t.testdir() })
    const by = { userId: 'usr_1', insists: false }
    const failed = await connections().connect(workspace.id, 'test', { host: at, token: TOKEN }, by)
    t.match(failed, { reason })
    t.notMatch(JSON.stringify(failed), TOKEN)
  }
})
