/** The verifier's own rules: what it takes for a claim, what it makes of each answer, and what it costs. */
import { createHash } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { deflateSync, gzipSync } from 'node:zlib'
import { createHttp } from '@claimcheck/core/hosting'
import {
  type CheckContext,
  DestinationError,
  type JsonObject,
  type Observation,
  type PreviousRead,
  type Verifier,
} from '@claimcheck/core/plugin'
import { claimSentence, factSentences, outcomeSentence, textFingerprint } from '@claimcheck/core/receipts'
import http from '@claimcheck/plugin-http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { guardOf, serve as listen, outboundTo } from '../../../server/test/support/loopback.ts'
import { createCache } from '../../codehost/test/context.ts'

const logger = { info() {}, warn() {} }
const { verifiers, connections } = await http.setup({ logger }, {})
const [verifier] = verifiers as [Verifier]
const site = connections![0]!

const CLAIMED_AT = 1_700_000_000_000
const TEXT = 'Version 2 is out.'
const IN_BYTES = 'sha256:a94bdc5e07ebb4b37a6f1d6f9ae1a1e3b1d1ac0a3e0f4b9e1d3d3f1f2c1b0a99'
const IN_TEXT = textFingerprint(TEXT)
const bytesOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A server of plain HTTP on loopback, which the operator allows. */
async function serve(t: Test, listener: RequestListener) {
  const host = await listen(t, listener)
  const url = `http://${host}`
  return { url, context: contextOf(outboundTo(t, [host]), url) }
}

function contextOf(outbound: ReturnType<typeof outboundTo>, origin: string) {
  const cache = createCache()
  return (previous: readonly PreviousRead[] = [], now = CLAIMED_AT + 1000) => {
    const limits = { ...verifier.limits }
    const { fetch, digest } = outbound.forCheck(guardOf(origin, { now: () => now, limits }))
    const made = {
      connection: null,
      previous,
      cache,
      fetch,
      digest,
      http: createHttp({ fetch, now: () => now }),
      now: () => now,
    }
    return { ...made, share: 'ws_1', signal: new AbortController().signal, logger } as unknown as CheckContext
  }
}

function check(target: string, params: JsonObject, context: CheckContext, by = verifier): Promise<Observation> {
  const claim = {
    action: 'http.url.status',
    target,
    params,
    claimedAt: CLAIMED_AT,
    deadlineAt: CLAIMED_AT + 600_000,
    submittedAt: CLAIMED_AT,
  }
  return by.check(claim, context) as Promise<Observation>
}

/** As a short text. */
async function outcome(checking: Promise<Observation>): Promise<string> {
  try {
    const observation = await checking
    const { kind, mark } = observation
    const differs = observation.kind === 'present' ? observation.differs : []
    return [kind, ...differs, ...(mark === undefined ? [] : [mark])].join(' ')
  } catch (error) {
    if (error instanceof DestinationError) return [error.code, error.retryAfterMs].filter(Boolean).join(' ')
    throw error
  }
}

t.test('a target is an https address without a user name, a query and a fragment', async (t) => {
  const isTarget = new Ajv2020({ strict: true, keywords: ['x-pattern-help'] }).compile(verifier.profile.target)
  const right = [
    'https://a.example',
    'HTTPS://A.example:8443/x',
    'https://bücher.example/',
    'https://[2001:db8::1]/',
    "https://a.example/@b/~c;d=e,f(g)'*!$&+%20:-_.",
  ]
  const wrong = [
    '',
    'a.example',
    'http://a.example',
    'https://',
    'https:///x',
    'https://a@b.example',
    'https://a:b@c.example/',
    'https://a.example/?',
    'https://a.example?x',
    'https://a.example/#',
    'https://a.example\\b',
    'https://a.example/b c',
    'https://a.example/ü',
    'https://a.example\n',
    'https://a%2e.example',
    'https://a.example:',
    'https://a.example:123456',
    ' https://a.example',
  ]
  for (const target of right) t.ok(isTarget(target), target)
  for (const target of wrong) t.notOk(isTarget(target), target)
})

t.test('params are a status and a fingerprint in one of two forms', async (t) => {
  const isParams = new Ajv2020({ strict: true, keywords: ['x-pattern-help'] }).compile(verifier.profile.params)
  const right = [
    {},
    { status: 100 },
    { status: 599 },
    { content_fingerprint: IN_TEXT },
    { content_fingerprint: IN_BYTES.toUpperCase().replace('SHA', 'sha') },
    { final_url: 'https://a.example/en/' },
  ]
  const wrong = [
    { status: 99 },
    { status: 600 },
    { status: 200.5 },
    { status: '200' },
    { content_fingerprint: IN_BYTES.slice(7) },
    { content_fingerprint: `${IN_TEXT}=` },
    { content_fingerprint: `${IN_TEXT.slice(0, -1)}B` },
    { url: 'x' },
    { final_url: 'https://a.example/?lang=en' },
  ]
  for (const params of right) t.ok(isParams(params), JSON.stringify(params))
  for (const params of wrong) t.notOk(isParams(params), JSON.stringify(params))
})

t.test('a claim has one form', async (t) => {
  const rows = [
    ['HTTPS://A.Example:443', 'https://a.example/'],
    ['https://bücher.example/x/../y', 'https://xn--bcher-kva.example/y'],
    ['https://0x7f.1/', 'https://127.0.0.1/'],
    ['https://a.example:8443/%7e', 'https://a.example:8443/%7e'],
    // No URL, and an address that would be too long for receipts: both are refused afterwards.
    ['https://a|b.example/', 'https://a|b.example/'],
    [`https://${'ü.'.repeat(120)}example`, `https://${'ü.'.repeat(120)}example`],
  ] as const
  for (const [given, normal] of rows) {
    const once = verifier.normalize!({ target: given, params: {} })
    t.equal(once.target, normal)
    t.same(verifier.normalize!(once), once)
  }
  const fingerprint = (text: string) =>
    verifier.normalize!({ target: 'https://a.example/', params: { content_fingerprint: text } }).params
  t.same(fingerprint(`sha256:${'A'.repeat(64)}`), { content_fingerprint: `sha256:${'a'.repeat(64)}` })
  t.same(fingerprint(IN_TEXT), { content_fingerprint: IN_TEXT }, 'base64url keeps its upper case')
  const finalUrl = verifier.normalize!({ target: 'https://a.example/', params: { final_url: 'HTTPS://A.example:443' } })
  t.same(finalUrl.params, { final_url: 'https://a.example/' })
})

t.test('names in Unicode are read however often', async (t) => {
  for (let count = 0; count < 10_000; count++) verifier.normalize!({ target: `https://a.example/${count}`, params: {} })
  const { target } = verifier.normalize!({ target: 'https://bücher.example/', params: {} }) as { target: string }
  t.equal(target, 'https://xn--bcher-kva.example/')
})

t.test('without a connection, addresses are read at the usual port alone', async (t) => {
  const source = (target: string) =>
    verifier.anonymousSource!({ action: '', target, params: {}, claimedAt: 0, deadlineAt: 0, submittedAt: 0 })
  t.same(source('https://a.example/x'), { provider: 'site', baseUrl: 'https://a.example' })
  t.equal(source('https://a.example:8443/x'), undefined)
  t.throws(() => source('https://a|b.example/'), { code: 'unsupported_target' })
  t.throws(() => source('https://A.example/'), { code: 'unsupported_target' }, 'no claim with it is in its one form')
})

t.test('a connection is for the claims of its site', async (t) => {
  const fits = (base_url: string, target: string) =>
    site.fits({ base_url }, { action: '', target, params: {}, claimedAt: 0, deadlineAt: 0, submittedAt: 0 })
  t.ok(fits('https://a.example:8443', 'https://a.example:8443/x'))
  t.ok(fits('https://A.example/', 'https://a.example/'))
  t.notOk(fits('https://a.example:8443', 'https://a.example/'))
  t.notOk(fits('https://a.example', 'https://b.a.example/'))
  t.notOk(fits('https://a.example:99999', 'https://a.example/'))
})

const OTHER_BEFORE = {
  kind: 'present',
  differs: ['content_fingerprint'],
  facts: { answered_status: 200, fingerprint: IN_TEXT },
} as const
const MISSING_BEFORE = { kind: 'absent', facts: { answered_status: 404, fingerprint: IN_TEXT } } as const
const OTHER = textFingerprint('Something else')

const LARGE = Buffer.alloc(20 * 1024 * 1024, 'download ')

/** From `/x`. */
function redirecting(location: string, answer: RequestListener, headers: Record<string, string> = {}): RequestListener {
  const redirect = answers(302, { location, ...headers })
  return (request, response) => (request.url === '/x' ? redirect : answer)(request, response)
}

function answers(status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): RequestListener {
  return (_, response) => {
    response.statusCode = status
    response.setHeaders(new Headers(headers)).end(body)
  }
}

/** The same for everybody, as it says. */
const SHARED = { 'last-modified': 'Tue, 14 Nov 2023 10:00:00 GMT' }
/** Each path leads to itself below a prefix. */
function goTo(response: ServerResponse, url: string, prefix: string): void {
  if (url.startsWith(prefix)) response.end(TEXT)
  else response.writeHead(302, { location: prefix + url }).end()
}

const sends = (body: string | Buffer, headers?: Record<string, string>) => answers(200, { ...SHARED, ...headers }, body)

const THE_TEXT = { content_fingerprint: IN_TEXT }
const OTHER_TEXT = { content_fingerprint: OTHER }

type Row = readonly [
  what: string,
  answer: RequestListener,
  params: JsonObject,
  expected: string,
  previous?: readonly Observation[],
]
const rows: readonly Row[] = [
  ['the status', sends(TEXT), {}, 'present'],
  ['the text', sends(`${TEXT}\r\n`), THE_TEXT, 'present'],
  ['another text', sends(TEXT), OTHER_TEXT, 'present content_fingerprint'],
  ['another text than before', sends('Hello'), OTHER_TEXT, 'present content_fingerprint may_have_been', [OTHER_BEFORE]],
  [
    'another text than that of the missing page',
    sends('Hello'),
    OTHER_TEXT,
    'present content_fingerprint',
    [MISSING_BEFORE],
  ],
  ['a text for this reader', sends(TEXT, { vary: '*' }), OTHER_TEXT, 'present content_fingerprint may_have_been'],
  ['no text', sends(Buffer.from([0xc0, 0x80])), THE_TEXT, 'unexpected_response'],
  ['a text of more than 512 KiB', sends('x'.repeat(512 * 1024 + 1)), THE_TEXT, 'too_large'],
  ['a text that takes a minute to normalize', sends('\u0301\u0323'.repeat(100_000)), THE_TEXT, 'unexpected_response'],
  [
    'a text with a byte order mark, which another reader may keep',
    sends(`\ufeff${TEXT}`),
    { content_fingerprint: textFingerprint(`\ufeff${TEXT}`) },
    'unexpected_response',
  ],
  ['the text after a byte order mark', sends(`\ufeff${TEXT}`), THE_TEXT, 'present'],
  ...[
    ['iso-8859-1', Buffer.from('Größe', 'latin1')] as const,
    ['UTF-16LE', Buffer.from('\ufeffGröße', 'utf16le')] as const,
    ['ISO-8859-1', 'Größe'] as const,
  ].map(
    ([charset, body]): Row => [
      `a text that is called ${charset}`,
      sends(body, { 'content-type': `text/plain; charset="${charset}"` }),
      { content_fingerprint: textFingerprint('Größe') },
      'present',
    ],
  ),
  [
    'a text in an encoding that nobody knows',
    sends(Buffer.from('Größe', 'latin1'), { 'content-type': 'text/plain; charset=x-own' }),
    { content_fingerprint: textFingerprint('Größe') },
    'unexpected_response',
  ],
  [
    'another text in another encoding',
    sends('\x1b$B4A\x1b(B', { 'content-type': 'text/html; charset=ISO-2022-JP' }),
    { content_fingerprint: textFingerprint('漢') },
    'unexpected_response',
  ],
  [
    'another text that is said to be in UTF-8',
    sends(TEXT, { 'content-type': 'text/html; Charset="utf-8"' }),
    OTHER_TEXT,
    'present content_fingerprint',
  ],
  [
    'bytes that are sent compressed although nobody asks for it, such as an archive',
    sends(gzipSync(TEXT), { 'content-encoding': 'gzip' }),
    { content_fingerprint: bytesOf(gzipSync(TEXT)) },
    'unexpected_response',
  ],
  [
    'bytes that are compressed for who asks for it',
    ({ headers }, response) =>
      /gzip/.test(headers['accept-encoding'] ?? '')
        ? response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT))
        : response.writeHead(200, SHARED).end(TEXT),
    { content_fingerprint: IN_BYTES },
    'present content_fingerprint',
  ],
  [
    'another text, compressed',
    sends(gzipSync(TEXT), { 'content-encoding': 'gzip' }),
    OTHER_TEXT,
    'present content_fingerprint',
  ],
  ['a body of 6 MiB, whose size nobody claims', sends(Buffer.alloc(6 * 1024 * 1024)), {}, 'present'],
  ['a download of 20 MiB', sends(LARGE), { content_fingerprint: bytesOf(LARGE) }, 'present'],
  [
    'another download of 20 MiB',
    sends(LARGE),
    { content_fingerprint: bytesOf(Buffer.from(TEXT)) },
    'present content_fingerprint',
  ],
  ...(['gzip, identity', 'identity, x-gzip'] as const).map(
    (coding): Row => [
      `the text, in the codings ${coding}`,
      sends(gzipSync(TEXT), { 'content-encoding': coding }),
      THE_TEXT,
      'present',
    ],
  ),
  [
    'the text, in the codings deflate, identity',
    sends(deflateSync(TEXT), { 'content-encoding': 'deflate, identity' }),
    THE_TEXT,
    'present',
  ],
  [
    'other bytes, in no coding',
    sends(TEXT, { 'content-encoding': 'identity' }),
    { content_fingerprint: bytesOf(LARGE) },
    'present content_fingerprint',
  ],
  [
    'the text after an interim answer that nobody asked for',
    ({ socket }) =>
      socket.end(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${TEXT.length}\r\n\r\n${TEXT}`),
    THE_TEXT,
    'present',
  ],
  ['404 that depends on a cookie', answers(404, { vary: 'Cookie' }), {}, 'absent may_have_been'],
  ['404 that depends on the agent', answers(404, { vary: 'Accept-Encoding, User-Agent' }), {}, 'absent may_have_been'],
  ['404 that gives a cookie', answers(404, { 'set-cookie': 'session=1' }), {}, 'absent may_have_been'],
  ['404 that is for one reader', answers(404, { 'cache-control': 'private' }), {}, 'absent may_have_been'],
  ['404 that asks to come back', answers(404, { 'retry-after': '60' }), {}, 'unavailable'],
  ['maintenance with 200', sends(TEXT, { 'retry-after': '60' }), {}, 'unavailable'],
  ['another text without a validator', answers(200, {}, TEXT), OTHER_TEXT, 'present content_fingerprint may_have_been'],
  [
    'another text that is not to be stored',
    sends(TEXT, { 'cache-control': 'max-age=0, no-store' }),
    OTHER_TEXT,
    'present content_fingerprint may_have_been',
  ],
  [
    'another text that sets a cookie',
    sends(TEXT, { 'set-cookie': 'variant=b' }),
    OTHER_TEXT,
    'present content_fingerprint may_have_been',
  ],
  ['200 without a validator where 404 is claimed', answers(200), { status: 404 }, 'present status may_have_been'],
  ['404 that is compressed for some', answers(404, { vary: 'Accept-Encoding' }), {}, 'absent'],
  [
    'bytes of 1 MiB',
    sends(Buffer.alloc(1024 * 1024)),
    { content_fingerprint: `sha256:${'0'.repeat(64)}` },
    'present content_fingerprint',
  ],
  ['404', answers(404), {}, 'absent'],
  ['410', answers(410), {}, 'absent may_have_been'],
  ['404 as claimed', answers(404), { status: 404 }, 'present'],
  ['404 where 410 is claimed', answers(404), { status: 410 }, 'present status'],
  ['200 where 404 is claimed', sends(TEXT), { status: 404 }, 'present status'],
  ['201 where other text is claimed', answers(201, SHARED, TEXT), OTHER_TEXT, 'present status content_fingerprint'],
  ['400', answers(400), {}, 'unexpected_response'],
  ['401', answers(401), {}, 'unauthorized'],
  ['403', answers(403), {}, 'forbidden'],
  ['403 as claimed', answers(403), { status: 403 }, 'present'],
  ['408', answers(408), {}, 'timeout'],
  ['429', answers(429, { 'retry-after': '7' }), {}, 'rate_limited 7000'],
  ['451', answers(451), {}, 'forbidden'],
  ['503', answers(503, { 'retry-after': '9' }), {}, 'unavailable 9000'],
  ['206', answers(206, {}, TEXT), {}, 'unexpected_response'],
  ['the 202 of a wall against robots', answers(202), {}, 'unexpected_response'],
  ['202 as claimed', answers(202), { status: 202 }, 'present'],
  ['404 where 202 is claimed', answers(404), { status: 202 }, 'absent'],
  ['203, a copy that a proxy changed', answers(203), {}, 'unexpected_response'],
  ['300', answers(300, {}, TEXT), {}, 'unexpected_response'],
  ['what no answer shows: 206', answers(206, {}, TEXT), { status: 206 }, 'unsupported_target'],
  ['what no answer shows: 304', answers(304), { status: 304 }, 'unsupported_target'],
  ['a redirect that is claimed', answers(301, { location: 'https://elsewhere.example/' }), { status: 301 }, 'present'],
  [
    'a redirect of another kind than claimed',
    answers(302, { location: '/y', ...SHARED }),
    { status: 301 },
    'present status',
  ],
  ['a page where a redirect is claimed', sends(TEXT), { status: 301 }, 'present status'],
  ['403 where a redirect is claimed', answers(403), { status: 301 }, 'forbidden'],
  ['the page in a language', redirecting('/en/x', sends(TEXT)), {}, 'present'],
  ['the page in a language and its region', redirecting('/pt-BR/x/', sends(TEXT)), {}, 'present'],
  ['a page that is no language', redirecting('/sso/x', sends(TEXT)), {}, 'unexpected_response'],
  ['a page of the reader', redirecting('/me/x', sends(TEXT)), {}, 'unexpected_response'],
  ['the page in a country', ({ url }, response) => goTo(response, url!, '/us'), {}, 'present'],
  ['a sign-in before every page', ({ url }, response) => goTo(response, url!, '/login'), {}, 'unexpected_response'],
  [
    'another text in a language, which others may not get',
    redirecting('/de/x', sends('Hallo')),
    THE_TEXT,
    'present content_fingerprint may_have_been',
  ],
  [
    '404 after a redirect that depends on the reader',
    redirecting('/x/', answers(404), { vary: 'Cookie' }),
    {},
    'absent may_have_been',
  ],
  ['what no answer shows: 100', sends(TEXT), { status: 100 }, 'unsupported_target'],
  ['what an asker causes: 429', answers(429, {}, TEXT), { status: 429 }, 'unsupported_target'],
  ['a copy of a minute', answers(404, { age: '60' }), {}, 'absent'],
  ['a copy of more than a minute', answers(404, { age: '61' }), {}, 'unexpected_response'],
  ['a copy of an hour, as claimed', answers(200, { age: '3600' }), {}, 'present'],
  ['a 404 of an hour, as claimed', answers(404, { age: '3600' }), { status: 404 }, 'unexpected_response'],
  ['a copy without an age', answers(404, { 'x-cache': 'HIT' }), {}, 'unexpected_response'],
  ['a copy without an age, as claimed', answers(200, { 'x-cache': 'HIT' }), {}, 'present'],
  ['another page of the site', redirecting('/y', sends(TEXT)), {}, 'unexpected_response'],
  ['the text at another page', redirecting('/y', sends(TEXT)), THE_TEXT, 'present'],
  ['404 at another page', redirecting('/y', answers(404)), {}, 'unexpected_response'],
  ['the page with a slash', redirecting('/x/', sends(TEXT)), {}, 'present'],
  ['the page with a query', redirecting('/x?login', sends(TEXT)), {}, 'unexpected_response'],
  ['another site', answers(301, { location: 'https://elsewhere.example/x' }), {}, 'unexpected_response'],
  ['no answer', ({ socket }) => socket.destroy(), {}, 'unavailable'],
  [
    'a part of an answer',
    (_, response) => response.writeHead(200, { 'content-length': '99' }).write(TEXT, () => response.destroy()),
    {},
    'unavailable',
  ],
  [
    'text without an end',
    ({ socket }) => socket.end('HTTP/1.0 200 OK\r\n\r\nVersion'),
    THE_TEXT,
    'unexpected_response',
  ],
  [
    'text without an end that is the claimed one',
    ({ socket }) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${TEXT}`),
    THE_TEXT,
    'present',
  ],
]

const html = (markup: string) => `<!DOCTYPE html><html><head>${markup}</head><body><p>Wait</p></body></html>`
const walls: readonly (readonly [what: string, headers: Record<string, string>, body?: string])[] = [
  ['a challenge of Cloudflare', { 'cf-mitigated': 'challenge' }],
  ['a challenge of Cloudflare, by its script', {}, html('<script>(function(){window._cf_chl_opt = {}})()</script>')],
  ['a puzzle of AWS', { 'x-amzn-waf-action': 'captcha' }],
  ['a refusal of Vercel', { 'x-vercel-mitigated': 'deny' }],
  ['a challenge of Vercel', { 'x-vercel-challenge-token': '2.1' }],
  ['a challenge of DataDome', { 'x-dd-b': '2' }],
  ['a puzzle of DataDome', { 'x-datadome': 'protected' }, html('<script src="https://ct.captcha-delivery.com/c.js">')],
  ['a challenge of SiteGround', {}, html('<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F">')],
  ['a refusal of Sucuri', { 'x-sucuri-block': '1' }],
  ['a challenge of Yandex', { 'x-yandex-captcha': 'captcha' }],
  ['a challenge of Alibaba', { bxpunish: '1' }],
  ['a challenge of Imunify360', { server: 'imunify360-webshield/1.21' }],
  ['a challenge of Fastly', { 'set-cookie': '_fs_ch_st_Fk2=1; Path=/' }],
  ['a challenge of Anubis, by its cookie', { 'set-cookie': 'techaro.lol-anubis-cookie-verification=1; Path=/' }],
  ['a challenge of Anubis, by its refresh', { refresh: '1; url=/.within.website/x/cmd/anubis/api/pass-challenge?x' }],
  ['a challenge of Akamai', { 'set-cookie': 'sec_cpt=1~2; Path=/' }],
  [
    'a refusal of Imperva',
    {},
    '<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=1">Incapsula incident</iframe>',
  ],
  ['a puzzle of HUMAN', {}, html('<div id="px-captcha"></div>')],
  ['a challenge of DDoS-Guard', { server: 'ddos-guard' }, html('<title>DDoS-Guard</title>')],
  [
    'a challenge of F5',
    {},
    html('<noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 1</noscript>'),
  ],
]
for (const [what, headers, body = html('')] of walls) {
  t.test(`${what} is no answer of the site`, async (t) => {
    const { url, context } = await serve(t, sends(body, headers))
    t.equal(await outcome(check(`${url}/x`, {}, context())), 'forbidden')
  })
}

t.test('a page of markup that never closes is looked through at once', async (t) => {
  for (const part of ['<script ', '<meta ', '<script', '<meta name=robots content=noindex,nofollow><script ']) {
    const { url, context } = await serve(t, sends(part.repeat(20_000)))
    const start = Date.now()
    t.equal(await outcome(check(`${url}/x`, {}, context())), 'present')
    t.ok(Date.now() - start < 1000, `${Date.now() - start} ms`)
  }
})

for (const [what, answer, params, expected, previous = []] of rows) {
  t.test(`${what}: ${expected}`, async (t) => {
    const { url, context } = await serve(t, answer)
    const reads = previous.map((observation) => ({ sentAt: CLAIMED_AT + 500, observation }))
    t.equal(await outcome(check(`${url}/x`, params, context(reads))), expected)
  })
}

t.test('the address in the end is a param and a fact, without its query', async (t) => {
  const sites = new Map<string, RequestListener>([
    ['moved', redirecting('/y?token=1', sends(TEXT))],
    ['plain', sends(TEXT)],
    ['missing', redirecting('/y', answers(404))],
  ])
  for (const [site, path, expected] of [
    ['moved', '/y', 'present'],
    ['moved', '/y/', 'present'],
    ['moved', '/z', 'unexpected_response'],
    ['plain', '/y', 'present final_url'],
    ['plain', '/x', 'present'],
    ['missing', '/y', 'absent'],
  ] as const) {
    const { url, context } = await serve(t, sites.get(site)!)
    t.equal(await outcome(check(`${url}/x`, { final_url: url + path }, context())), expected, `${site} ${path}`)
  }
})

t.test('a claimed redirect leads to the address in the end, also of another site', async (t) => {
  const place = answers(301, { location: 'https://b.example/new?from=x', etag: '"1"' })
  for (const [final_url, expected] of [
    ['https://b.example/new', 'present'],
    ['https://b.example/other', 'present final_url'],
  ] as const) {
    const { url, context } = await serve(t, place)
    const observation = await check(`${url}/x`, { status: 301, final_url }, context())
    t.match(observation.facts, { answered_status: 301, redirected: false, final_url: 'https://b.example/new' })
    t.equal(await outcome(check(`${url}/x`, { status: 301, final_url }, context())), expected)
  }
})

t.test('what goes on and on was answered', async (t) => {
  const endless = (type: string, everyMs: number, size: number): RequestListener => {
    return (_, response) => {
      response.writeHead(200, { 'content-type': type })
      const timer = setInterval(() => response.write(Buffer.alloc(size)), everyMs)
      response.on('close', () => clearInterval(timer))
      response.flushHeaders()
    }
  }
  const events = await serve(t, endless('text/event-stream; charset=utf-8', 60_000, 1))
  t.equal(await outcome(check(`${events.url}/x`, {}, events.context())), 'present')
  const download = await serve(t, endless('application/zip', 5, 100))
  let now = CLAIMED_AT
  const passing = { ...download.context(), now: () => (now += 100) }
  const { facts } = await check(`${download.url}/x`, {}, passing)
  t.match(facts, { answered_status: 200, bytes: undefined })
})

t.test('a download that has not changed is not sent again while a claim waits for another', async (t) => {
  const asked: unknown[] = []
  let content = TEXT
  const { url, context } = await serve(t, ({ headers }, response) => {
    const known = headers['if-none-match']
    asked.push(known)
    response.setHeader('etag', `"${content.length}"`)
    if (known === `"${content.length}"`) response.writeHead(304).end()
    else response.end(content)
  })
  const wanted = { content_fingerprint: bytesOf(Buffer.from('Version 2.1 is out.')) }
  const first = await check(`${url}/x`, wanted, context())
  const earlier = [{ sentAt: CLAIMED_AT + 1000, observation: first }]
  const look = (afterMs: number) => outcome(check(`${url}/x`, wanted, context(earlier, CLAIMED_AT + afterMs)))
  t.match(first, { kind: 'present', differs: ['content_fingerprint'] })
  t.equal(await look(60_000), 'present content_fingerprint')
  t.equal(await look(600_000), 'present content_fingerprint', 'the look at the deadline, which may blame')
  content = 'Version 2.1 is out.'
  t.equal(await look(120_000), 'present')
  t.strictSame(asked, [undefined, '"17"', undefined, '"17"'])
})

t.test('an ETag that stands for two contents neither verifies nor blames', async (t) => {
  let content = TEXT
  const { url, context } = await serve(t, ({ headers }, response) => {
    response.setHeader('etag', '"1-11"')
    if (headers['if-none-match'] === '"1-11"') response.writeHead(304).end()
    else response.end(content)
  })
  const other = 'Version 3 is out.'
  const look = (text: string, afterMs: number) => {
    const earlier: PreviousRead[] =
      afterMs > 0 ? [{ sentAt: CLAIMED_AT, observation: { kind: 'absent', facts: {} } }] : []
    const wanted = { content_fingerprint: bytesOf(Buffer.from(text)) }
    return outcome(check(`${url}/x`, wanted, context(earlier, CLAIMED_AT + afterMs)))
  }
  t.equal(await look(TEXT, 0), 'present')
  content = other
  t.equal(await look(TEXT, 60_000), 'present content_fingerprint', 'it is there no more')
  content = TEXT
  t.equal(await look(other, 0), 'present content_fingerprint')
  content = other
  t.equal(await look(other, 60_000), 'present content_fingerprint', 'it only seems not to have come')
  t.equal(await look(other, 600_000), 'present', 'at the deadline it is read')
  t.equal(await look(TEXT, 0), 'present content_fingerprint', 'and so it is for the next claim')
})

t.test('a check costs one request, and claims that wait for one address share it', async (t) => {
  let asked: string[] = []
  const { url, context } = await serve(t, ({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers['cache-control']}`)
    response.end(TEXT)
  })
  await check(`${url}/x`, {}, context())
  t.strictSame(asked, ['GET /x no-cache'])
  asked = []
  // The first has begun when the others come, and an answer that it may already have is not theirs.
  const seen = await Promise.all(Array.from({ length: 9 }, () => outcome(check(`${url}/x`, {}, context()))))
  t.strictSame(seen, Array(9).fill('present'))
  t.equal(asked.length, 2)
  asked = []
  await Promise.all(
    [{}, { content_fingerprint: IN_TEXT }, { status: 404 }].map((params) => check(`${url}/x`, params, context())),
  )
  t.equal(asked.length, 3, 'what is asked of the answer differs')
})

t.test('a connection is probed at the root of its site', async (t) => {
  const probe = async (status: number, page?: string) => {
    const { url, context } = await serve(t, (_, response) => response.writeHead(status).end())
    const named = page === undefined ? {} : { target: page.startsWith('/') ? url + page : page }
    return site.probe({ base_url: url }, { ...context(), ...named }).then(
      ({ proves }) => proves,
      (error) => error.code,
    )
  }
  t.equal(await probe(200), 'works')
  t.equal(await probe(404), 'reached', 'it need not have a page there')
  t.equal(await probe(200, '/health'), 'works')
  t.equal(await probe(404, '/health'), 'forbidden')
  t.equal(await probe(200, 'https://elsewhere.example/'), 'unsupported_target')
  t.equal(await probe(200, 'health'), 'unsupported_target')
  t.equal(await probe(401), 'unauthorized')
  t.equal(await probe(503), 'unavailable')
})

t.test('people read what was claimed, and what was found', async (t) => {
  const { profile } = verifier
  const target = 'https://a.example/'
  const says = (params: JsonObject, facts: JsonObject, verdict: 'verified' | 'mismatch' | 'failed') =>
    [claimSentence(profile, { target, params }), outcomeSentence(profile, verdict, { target, params, facts })].join(' ')
  const both = { status: 201, content_fingerprint: IN_TEXT }
  t.equal(says({}, { answered_status: 200 }, 'verified'), `${target} answers 200. ${target} answered 200 in time.`)
  t.match(
    says(both, { answered_status: 201, fingerprint: IN_TEXT }, 'verified'),
    /answers 201, with the content sha256:\S{5}\. .* answered 201 in time, with the content sha256:/,
  )
  t.match(says({}, { answered_status: 204 }, 'mismatch'), /answered 204, not 200\.$/)
  t.match(
    says(both, { answered_status: 201, fingerprint: OTHER }, 'mismatch'),
    /answered 201 with the content sha256:\S{5}, not 201 with sha256:\S{5}\.$/,
  )
  t.match(
    says({ status: 404 }, { answered_status: 200 }, 'failed'),
    /answers 404\. .* did not answer 404 by the deadline\.$/,
  )
  t.strictSame(
    factSentences(profile, { target, params: {}, facts: { answered_status: 200, redirected: true, bytes: 1 } }),
    [
      'The status alone says nothing of what the page shows: pages of errors answer 200, too.',
      'A redirect within the site led to this answer.',
    ],
  )
})
