/** A check whose plugin asks for what its manifest does not declare, or lets a credential out, is the plugin's fault, whatever it reports. Threat P9 of `security.md`. */
import { createMemoryRefreshes, type Manifest } from '@claimcheck/core/hosting'
import {
  type CheckContext,
  type Claim,
  DestinationError,
  defineConnectionType,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { createCheckRunner } from '@claimcheck/server/features/claims/check'
import { createSources } from '@claimcheck/server/features/workspaces/sources'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import t, { type Test } from 'tap'
import { claimNumber } from '../../support/claim-row.ts'
import { greeting, mailboxAt, outboundTo, resolveTo, serve, serveSockets } from '../../support/loopback.ts'
import { profile } from '../../support/profile.ts'
import { registryOf, WORKING } from '../../support/registry.ts'

const TOKEN = 's3cret-token'
const ABSENT = { kind: 'absent', facts: {} } as const

interface Given {
  readonly manifest: Manifest
  /** What the workspace typed. */
  readonly baseUrl: string
  /** What the plugin makes of it. */
  readonly moved?: string
  readonly check: (context: CheckContext, claim: Claim) => unknown
  readonly destination?: () => string
  readonly target?: string
}

/** Runs one check through a connection with a secret. */
async function run(t: Test, { manifest, baseUrl, moved, check, destination, target = 'somewhere' }: Given) {
  const logged: unknown[][] = []
  const logger = { debug() {}, info() {}, warn: (...line: unknown[]) => logged.push(line) }
  const connectionType = defineConnectionType({
    ...WORKING,
    provider: 'test',
    options: Type.Object({ base_url: Type.String(), token: secret({ description: 'a token' }) }),
    baseUrl: () => moved ?? baseUrl,
  })
  const verifier = defineVerifier({
    profile: {
      ...profile,
      facts: Type.Object({ seen: Type.Optional(Type.String()) }, { additionalProperties: false }),
    },
    providers: ['test'],
    anonymousSource: () => undefined,
    check: (async (claim: Claim, context: CheckContext) => check(context, claim)) as never,
    ...(destination && { destination }),
  })
  const connection = {
    id: 'conn_1',
    provider: 'test',
    options: { base_url: baseUrl, token: TOKEN },
    publishesAddress: true,
    sourceKey: Buffer.alloc(32),
  }
  const now = Date.now
  const runner = createCheckRunner({
    activity: { connectionRead: () => {} },
    registry: registryOf({ verifiers: [verifier], connections: [connectionType] }, { manifest, logger, now }),
    connections: { openById: async () => connection, refreshesOf: createMemoryRefreshes },
    outbound: outboundTo(t, ['127.0.0.1', 'inner.example'], { resolver: resolveTo('127.0.0.1') }),
    budgets: createRateLimitBudgets({ now }),
    now,
    sources: createSources({ config: { sources: {} } }),
    clock: { heard() {}, turn: () => 0, setSince: () => 0 },
    logger,
    config: { checks: { timeoutMs: 5000, firstAnswerMs: 1, concurrency: 1, closingMs: 1, graceMs: 1 } },
  })
  const claim = claimNumber(1, {
    access: 'connection',
    connectionId: 'conn_1',
    target,
    claimedAt: now(),
    deadlineAt: now() + 900_000,
  })
  const record = await runner.check(claim, [], 'looking')
  return {
    outcome: 'failure' in record ? record.failure.code : record.observation.kind,
    logged: JSON.stringify(logged),
  }
}

const ways: [what: string, after: (asked: Promise<unknown>) => unknown][] = [
  ['lets the error out', (asked) => asked],
  ['reports an absence instead', (asked) => asked.catch(() => ABSENT)],
  [
    'blames the destination',
    (asked) =>
      asked.catch(() => {
        throw new DestinationError('unavailable')
      }),
  ],
]
for (const [what, after] of ways) {
  t.test(`a plugin that asks an undeclared host and ${what} fails its check, and the log names the host`, async (t) => {
    const host = await serve(t, () => t.fail('it was reached'))
    const baseUrl = `http://${host}`
    const check = ({ fetch }: CheckContext) => after(fetch(baseUrl))
    const { outcome, logged } = await run(t, { manifest: { hosts: ['api.example.com'] }, baseUrl, check })
    t.equal(outcome, 'verifier_error')
    t.match(logged, host)
  })
}

t.test("a plugin does not send a connection's credentials to where it says that a claim is read", async (t) => {
  const host = await serve(t, () => t.fail('it was reached'))
  const given = {
    baseUrl: 'https://api.example.com',
    destination: () => `http://${host}`,
    check: ({ fetch }: CheckContext) => fetch(`http://${host}/`).then(() => ABSENT),
  }
  for (const hosts of [['connection.base_url'], ['target'], ['connection.base_url', 'target', 'api.example.com']]) {
    t.equal((await run(t, { ...given, manifest: { hosts } })).outcome, 'verifier_error', hosts.join())
  }
})

t.test('a plugin that moves port, scheme or host of what a workspace typed gets no credentials there', async (t) => {
  const host = await serve(t, () => t.fail('it was reached'))
  const manifest = { hosts: ['connection.base_url', 'target'] }
  const typed = [`http://${host}0`, `https://${host}`, 'http://inner.example', 'inner.example', '']
  for (const baseUrl of typed) {
    const check = ({ fetch }: CheckContext) => fetch(`http://${host}/`).then(() => ABSENT)
    const { outcome } = await run(t, { manifest, baseUrl, moved: `http://${host}`, check })
    t.equal(outcome, 'verifier_error', baseUrl)
  }
})

t.test('a destination that the manifest names, or that is the address of the connection, is read', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const read = {
    check: ({ fetch }: CheckContext) => fetch(`http://${host}/`).then(() => ABSENT),
    destination: () => `http://${host}`,
  }
  t.equal(
    (await run(t, { ...read, manifest: { hosts: [host] }, baseUrl: 'https://api.example.com' })).outcome,
    'absent',
  )
  t.equal(
    (await run(t, { ...read, manifest: { hosts: ['connection.base_url'] }, baseUrl: `http://${host}/api` })).outcome,
    'absent',
  )
})

const leaks: [what: string, encode: (secret: string) => string][] = [
  ['as it is', (secret) => secret],
  ['in base64', (secret) => Buffer.from(`x:${secret}`).toString('base64')],
  ['in hex', (secret) => Buffer.from(secret).toString('hex')],
  ['backwards', (secret) => [...secret].reverse().join('')],
]
for (const [what, encode] of leaks) {
  t.test(`a credential that a destination repeats does not get into facts or logs ${what}`, async (t) => {
    const host = await serve(t, (request, response) => {
      response.end(encode(request.headers.authorization!.slice('Bearer '.length)))
    })
    const manifest = { hosts: ['connection.base_url'] }
    const read = async ({ fetch, connection }: CheckContext) => {
      const auth = { scheme: 'bearer', token: String(connection!.options.token) } as const
      return (await fetch(`http://${host}/`, { auth })).text()
    }
    const signs = await run(t, {
      ...{ manifest, baseUrl: `http://${host}` },
      check: async (context) => ({ kind: 'absent', facts: { seen: await read(context) } }),
    })
    t.equal(signs.outcome, 'verifier_error')
    const throws = await run(t, {
      ...{ manifest, baseUrl: `http://${host}` },
      async check(context) {
        const text = await read(context)
        context.logger.warn({ text, deep: [{ [text]: text }] }, `it said ${text}`)
        throw new Error(`it said ${text}`)
      },
    })
    t.equal(throws.outcome, 'verifier_error')
    t.match(throws.logged, '[secret]')
    for (const { logged } of [signs, throws]) for (const [, other] of leaks) t.notOk(logged.includes(other(TOKEN)))
  })
}

/** A host on loopback that answers each line, and a check that reads it. */
async function atLines(t: Test, write: (token: string) => string) {
  const seen: string[] = []
  const host = await serveSockets(
    t,
    greeting((socket) =>
      socket.once('data', (chunk) => {
        seen.push(String(chunk))
        socket.end(`you said ${chunk}`)
      }),
    ),
  )
  const port = Number(host.split(':')[1])
  const baseUrl = `tcp://inner.example:${port}`
  const check = async ({ connect, connection }: CheckContext) => {
    const { readable, writable } = await connect(baseUrl)
    await writable.getWriter().write(Buffer.from(write(String(connection!.options.token))))
    return (await new Response(readable).text()) === 'you said a NOOP\r\n' ? ABSENT : undefined
  }
  const manifest = { hosts: ['connection.base_url'], sockets: [mailboxAt(port, false)] }
  const { outcome } = await run(t, { manifest, baseUrl, check })
  return { outcome, seen: seen.join('') }
}

t.test('a check reads through a socket, and its receipt names the address', async (t) => {
  t.strictSame(await atLines(t, () => 'a NOOP\r\n'), { outcome: 'absent', seen: 'a NOOP\r\n' })
})

t.test('the handle of a secret in what a plugin writes stays what it is', async (t) => {
  const { outcome, seen } = await atLines(t, (token) => `a EXAMINE ${token}\r\n`)
  t.equal(outcome, 'verifier_error')
  t.equal(seen, 'a EXAMINE secret:token\r\n')
})

t.test('a line that the manifest does not declare is not written, and is an error of the plugin', async (t) => {
  t.strictSame(await atLines(t, () => 'a DELETE INBOX\r\n'), { outcome: 'verifier_error', seen: '' })
})
