// Test run: every-node
/** Signatures of AWS, compared with those of another library over the very request that arrived. Threat P9 of `security.md`. */
import type { IncomingMessage } from 'node:http'
import { credential } from '@claimcheck/core/plugin'
import aws4 from 'aws4'
import t, { type Test } from 'tap'
import { code, serve } from '../../support/loopback.ts'
import { spendingAt } from '../../support/spending.ts'

const KEY_ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const MINUTE_MS = 60_000
const DECLARED = {
  scheme: 'awsSigV4',
  service: 's3',
  region: 'region',
  accessKeyId: 'key_id',
  secretAccessKey: 'secret_key',
  sessionToken: 'session',
} as const

/** Signs what arrived once more: the same header has to come out. */
function isSigned(request: IncomingMessage, service: string, region: string, session?: string): boolean {
  const { authorization = '', ...others } = request.headers
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(authorization) ?? []
  const signed = names.split(';').map((name) => [name, others[name]] as const)
  const again = aws4.sign(
    {
      service,
      region,
      method: request.method!,
      path: request.url!,
      host: request.headers.host!,
      headers: Object.fromEntries(signed.filter(([name]) => name !== 'host')) as Record<string, string>,
    },
    { accessKeyId: KEY_ID, secretAccessKey: SECRET, ...(session === undefined ? {} : { sessionToken: session }) },
  )
  return (again.headers as Record<string, unknown>)?.Authorization === authorization
}

interface Asked {
  readonly declared?: object
  readonly options?: object
  readonly service?: string
  readonly region?: string
  readonly session?: string
  readonly now?: () => number
}

async function signing(
  t: Test,
  { declared = {}, options = {}, service = 's3', region = 'eu-central-1', session, now }: Asked = {},
) {
  const arrived: { isSigned: boolean; url: string; date: string }[] = []
  const host = await serve(t, (request, response) => {
    const isRight = isSigned(request, service, region, session)
    arrived.push({ isSigned: isRight, url: request.url!, date: String(request.headers['x-amz-date']) })
    response.writeHead(isRight ? 200 : 403, { date: new Date().toUTCString() }).end()
  })
  const check = spendingAt(t, {
    url: `http://${host}`,
    credentials: { account: { ...DECLARED, ...declared } },
    options: { region, key_id: KEY_ID, secret_key: SECRET, ...options },
    secret: ['secret_key'],
    ...(now ? { now } : {}),
  })
  return { host, url: `http://${host}`, check, arrived }
}

const requests: [what: string, path: string, init?: object, asked?: Asked][] = [
  ['an object', '/bucket/photos/2026/cat.jpg'],
  ['the root', '/'],
  ['a name with other characters', "/bucket/a%20b/%C3%A4!'()*+,;=:@&$~-_."],
  ['an encoded slash', '/bucket/a%2Fb'],
  ['two slashes', '/bucket//a'],
  ['a list of objects', '/bucket?list-type=2&prefix=photos%2F&delimiter=/&max-keys=2'],
  ['a query without a value', '/bucket?versioning'],
  ['a query that is not in order', '/bucket?b=2&a=2&A=0&%C3%A4=1'],
  ['a query with a name twice', '/?b=2&a=2&a=1', {}, { declared: { service: 'bedrock' }, service: 'bedrock' }],
  ['a query with spaces and signs', '/bucket?prefix=a+b%20c%2Bd*(e)'],
  ['HEAD', '/bucket/key', { method: 'HEAD' }],
  ['headers', '/bucket/key', { headers: { accept: 'a,  b', 'x-amz-checksum-mode': 'ENABLED', range: 'bytes=0-9' } }],
  ['another service', '/model/a%3Ab/c d?x=1', {}, { declared: { service: 'bedrock' }, service: 'bedrock' }],
  ['temporary credentials', '/bucket/key', {}, { options: { session: 'IQoJb3JpZ2lu' }, session: 'IQoJb3JpZ2lu' }],
  ['no region', '/bucket/key', {}, { options: { region: undefined }, region: 'us-east-1' }],
]
for (const [what, path, init = {}, asked] of requests) {
  t.test(`a request of ${what} is signed as another library signs it`, async (t) => {
    const { url, check, arrived } = await signing(t, asked)
    const response = await check().fetch(url + path, { ...init, auth: credential('account') })
    t.equal(response.status, 200)
    t.strictSame(
      arrived.map(({ isSigned }) => isSigned),
      [true],
    )
  })
}

t.test("the destination's clock counts, where it refuses ours", async (t) => {
  const now = () => Date.now() - 20 * MINUTE_MS
  const host = await serve(t, (request, response) => {
    const [, year, month, day, hour, minute, second] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(
      String(request.headers['x-amz-date']),
    )!
    const sentAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
    const isInTime = Math.abs(sentAt - Date.now()) < 15 * MINUTE_MS
    response.writeHead(isInTime && isSigned(request, 's3', 'us-east-1') ? 200 : 403).end()
  })
  const check = spendingAt(t, {
    url: `http://${host}`,
    credentials: { account: DECLARED },
    options: { key_id: KEY_ID, secret_key: SECRET },
    secret: ['secret_key'],
    now,
  })
  const first = check()
  t.equal((await first.fetch(`http://${host}/bucket/key`, { auth: credential('account') })).status, 200)
  t.equal(
    (await check({ limits: { requests: 1 } }).fetch(`http://${host}/b`, { auth: credential('account') })).status,
    200,
  )
})

const refused: [what: string, path: string, init?: object][] = [
  ['a body', '/rpc', { call: { jsonRpc: 'a', params: [] } }],
  ['an action', '/?Action=TerminateInstances'],
  ['an action in other letters', '/?a=1&action=DeleteUser'],
  ['a date of the plugin', '/bucket', { headers: { 'x-amz-date': '20300101T000000Z' } }],
  ['a digest of the plugin', '/bucket', { headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }],
  ['an authorization of the plugin', '/bucket', { headers: { authorization: 'AWS4-HMAC-SHA256 mine' } }],
  ['a path that is not well-formed', '/bucket/%ff'],
]
for (const [what, path, init = {}] of refused) {
  t.test(`nothing is signed for a request with ${what}`, async (t) => {
    const { url, host, arrived } = await signing(t)
    const check = spendingAt(t, {
      url: `http://${host}`,
      credentials: { account: DECLARED },
      options: { key_id: KEY_ID, secret_key: SECRET },
      secret: ['secret_key'],
      methods: { jsonRpc: ['a'], paths: ['/rpc'] },
    })()
    t.equal(await code(check.fetch(url + path, { ...init, auth: credential('account') })), 'breach')
    t.ok(check.breach())
    t.strictSame(arrived, [])
  })
}

t.test('options that no signature can be made of are the mistake of the connection', async (t) => {
  for (const options of [
    { secret_key: undefined },
    { key_id: undefined },
    { key_id: 'a\nb' },
    { region: 'eu/central' },
  ]) {
    const { url, check, arrived } = await signing(t, { options })
    t.equal(await code(check().fetch(url, { auth: credential('account') })), 'misconfigured', JSON.stringify(options))
    t.strictSame(arrived, [])
  }
})
