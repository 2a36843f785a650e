/** What answers mean: against a real server on loopback, whose answers each test scripts. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttp, type GuardedFetch } from '@claimcheck/core/hosting'
import { bearer, type CallRefusal, statusError } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import t, { type Test } from 'tap'
import { Type } from 'typebox'

const NOON = Date.UTC(2026, 8, 25, 12)
const Item = Type.Object({ id: Type.Integer() })
const Items = Type.Array(Item)

/** A `fetch` as hosts have it, without the guard. */
const fetchIt: GuardedFetch = (url, { method = 'GET', headers = {}, call } = {}) => {
  if (!call || 'dav' in call) return fetch(url, { method, headers, redirect: 'manual' })
  const body =
    'jsonRpc' in call
      ? { jsonrpc: '2.0', id: 1, method: call.jsonRpc, params: call.params }
      : { query: call.graphql, variables: call.variables }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function serve(t: Test, listener: RequestListener, limits?: { bodyBytes: number }) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, http: createHttp({ fetch: fetchIt, now: () => NOON, limits }) }
}

const answering =
  (body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))

const limit = { 'x-ratelimit-remaining': '0' }
const statuses: [status: number, headers: Record<string, string>, code: string, retryAfterMs?: number][] = [
  [300, {}, 'unexpected_response'],
  [302, { location: 'https://elsewhere.example' }, 'unexpected_response'],
  [304, {}, 'unexpected_response'],
  [400, {}, 'unexpected_response'],
  [401, {}, 'unauthorized'],
  [401, { 'retry-after': '5' }, 'unauthorized'],
  [402, {}, 'unexpected_response'],
  [403, {}, 'forbidden'],
  [403, { 'retry-after': '5' }, 'rate_limited', 5000],
  [403, limit, 'rate_limited'],
  [403, { ...limit, 'x-ratelimit-reset': String(NOON / 1000 + 60) }, 'rate_limited', 60_000],
  [403, { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': String(NOON / 1000 + 60) }, 'forbidden'],
  [404, {}, 'forbidden'],
  [404, { 'retry-after': '5' }, 'forbidden'],
  [405, {}, 'unexpected_response'],
  [406, {}, 'unexpected_response'],
  [407, {}, 'unauthorized'],
  [408, {}, 'timeout'],
  [409, {}, 'unexpected_response'],
  [410, {}, 'unexpected_response'],
  [418, {}, 'unexpected_response'],
  [422, {}, 'unexpected_response'],
  [429, {}, 'rate_limited'],
  [429, { 'retry-after': '7' }, 'rate_limited', 7000],
  [429, { 'retry-after': new Date(NOON + 9000).toUTCString() }, 'rate_limited', 9000],
  [429, { 'retry-after': new Date(NOON - 9000).toUTCString() }, 'rate_limited', 0],
  [429, { 'retry-after': 'soon' }, 'rate_limited'],
  [429, { ...limit, 'x-ratelimit-reset': String(NOON / 1000 - 60) }, 'rate_limited', 0],
  [429, { ...limit, 'x-ratelimit-reset': 'soon' }, 'rate_limited'],
  [429, { 'retry-after': '7', ...limit, 'x-ratelimit-reset': String(NOON / 1000 + 60) }, 'rate_limited', 7000],
  [451, {}, 'forbidden'],
  [500, {}, 'unavailable'],
  [502, {}, 'unavailable'],
  [503, {}, 'unavailable'],
  [503, { 'retry-after': '5' }, 'unavailable', 5000],
  [504, {}, 'unavailable'],
  [599, {}, 'unavailable'],
]
for (const [status, headers, code, retryAfterMs] of statuses) {
  const told = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  t.test(`${[status, ...told].join(', ')} means ${code}`, async (t) => {
    t.match(statusError({ status, headers: new Headers(headers) }, NOON), { code, status })
    t.equal(statusError({ status, headers: new Headers(headers) }, NOON).retryAfterMs, retryAfterMs)
  })
}

t.test("a moment to come back at is by the destination's clock, where it tells it", async (t) => {
  const hourAhead = NOON + 3_600_000
  const wait = (headers: Record<string, string>) =>
    statusError({ status: 429, headers: new Headers(headers) }, NOON).retryAfterMs
  const date = new Date(hourAhead).toUTCString()
  t.equal(wait({ date, 'retry-after': new Date(hourAhead + 5000).toUTCString() }), 5000)
  t.equal(wait({ date, ...limit, 'x-ratelimit-reset': String(hourAhead / 1000 + 5) }), 5000)
  t.equal(wait({ date: 'noon', 'retry-after': new Date(NOON + 5000).toUTCString() }), 5000)
})

t.test('a successful answer of the known shape is given with its status, headers and address', async (t) => {
  let asked: IncomingMessage | undefined
  const { http, url } = await serve(t, (request, response) => {
    asked = request
    answering({ id: 7, more: [] }, 200, { etag: '"a"' })(request, response)
  })
  const answer = await http.json(`${url}/one`, { schema: Item, headers: { 'x-own': 'yes' } })
  t.equal(answer.value.id, 7)
  t.match(answer, { status: 200, url: `${url}/one` })
  t.equal(answer.headers.get('etag'), '"a"')
  t.match(asked?.headers, { accept: 'application/json', 'x-own': 'yes' })
  t.equal(asked?.method, 'GET')
  await http.json(url, { schema: Item, headers: { accept: 'application/vnd.own+json' } })
  t.match(asked?.headers, { accept: 'application/vnd.own+json' })
})

t.test('a request names its credential, and the host gets it so', async (t) => {
  const auths: unknown[] = []
  const http = createHttp({
    now: () => NOON,
    fetch: async (_url, init) => {
      auths.push(init?.auth)
      return Response.json({ id: 1, result: { id: 1 }, data: { id: 1 } })
    },
  })
  const init = { schema: Item, auth: bearer('secret:token') }
  await http.json('https://a.example', init)
  await http.head('https://a.example', { auth: init.auth })
  await http.rpc('https://a.example', 'read', [], init)
  await http.graphql('https://a.example', '{ a }', {}, init)
  for await (const _ of http.paginate('https://a.example', { ...init, next: () => undefined })) break
  t.strictSame(auths, Array(5).fill(init.auth))
})

const unreadable: [what: string, listener: RequestListener, code: string][] = [
  ['HTML', answering('<html></html>'), 'unexpected_response'],
  ['half of it', answering('{"id":'), 'unexpected_response'],
  ['nothing', answering(''), 'unexpected_response'],
  ['another shape', answering({ id: 'seven' }), 'unexpected_response'],
  ['another shape at another status', answering({ id: 7 }, 201), 'unexpected_response'],
  ['no content', answering('', 204), 'unexpected_response'],
  ['JSON that says no', answering({ id: 7 }, 404), 'forbidden'],
  ['more than the usual', answering({ id: 7, more: 'x'.repeat(512 * 1024) }), 'too_large'],
  [
    'a body that breaks off',
    (_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"id":7')
      setTimeout(() => response.destroy(), 20)
    },
    'unexpected_response',
  ],
]
for (const [what, listener, code] of unreadable) {
  t.test(`${what} is no answer: ${code}`, async (t) => {
    const { http, url } = await serve(t, listener)
    await t.rejects(http.json(url, { schema: Item }), { name: 'DestinationError', code })
  })
}

t.test('a plugin that declares larger answers reads them, and no larger ones', async (t) => {
  const sized: RequestListener = (request, response) =>
    answering({ id: 7, more: 'x'.repeat(Number(request.url!.slice(1))) })(request, response)
  const { http, url } = await serve(t, sized, { bodyBytes: 1024 * 1024 })
  t.match(await http.json(`${url}/${1024 * 1000}`, { schema: Item }), { value: { id: 7 } })
  await t.rejects(http.json(`${url}/${1024 * 1024}`, { schema: Item }), { code: 'too_large', status: 200 })
})

t.test('a status that the check asks for is an answer without a value, and others stay errors', async (t) => {
  const { http, url } = await serve(t, (request, response) =>
    answering({ id: 7 }, Number(request.url!.slice(1)))(request, response),
  )
  const also = [404, 410, 500]
  for (const status of also) {
    t.match(await http.json(`${url}/${status}`, { schema: Item, also }), { status, value: undefined })
    t.match(await http.head(`${url}/${status}`, { also }), { status })
  }
  t.match(await http.json(`${url}/200`, { schema: Item, also }), { status: 200, value: { id: 7 } })
  await t.rejects(http.json(`${url}/403`, { schema: Item, also }), { code: 'forbidden', status: 403 })
  await t.rejects(http.head(`${url}/403`, { also }), { code: 'forbidden', status: 403 })
})

t.test('HEAD asks for the headers alone', async (t) => {
  const { http, url } = await serve(t, (request, response) =>
    response.writeHead(request.method === 'HEAD' ? 200 : 500, { 'content-length': 5_000_000_000 }).end(),
  )
  const { headers, status } = await http.head(url)
  t.equal(headers.get('content-length'), '5000000000')
  t.equal(status, 200)
})

/** Serves pages of one item, each of which links to the next. @param link the Link header of page n */
function pages(count: number, link: (n: number) => string): RequestListener {
  return (request, response) => {
    const n = Number(new URL(request.url!, 'http://a').searchParams.get('page') ?? 1)
    answering([{ id: n }], 200, n < count ? { link: link(n) } : {})(request, response)
  }
}

async function idsOf(list: AsyncIterable<{ readonly value: readonly { readonly id: number }[] }>): Promise<number[]> {
  const ids: number[] = []
  for await (const { value } of list) ids.push(...value.map(({ id }) => id))
  return ids
}

const links: [what: string, link: (n: number) => string, ids: number[]][] = [
  ['a link to the next page', (n) => `</items?page=${n + 1}>; rel="next"`, [1, 2, 3]],
  ['a link without quotes', (n) => `<?page=${n + 1}>; rel=next`, [1, 2, 3]],
  ['a link in upper case', (n) => `<?page=${n + 1}>; REL="NEXT"`, [1, 2, 3]],
  ['a link with several names', (n) => `<?page=${n + 1}>; rel="chapter next"`, [1, 2, 3]],
  ['a link after other parameters', (n) => `<?page=${n + 1}>; title="a, b"; rel="next"; type="x"`, [1, 2, 3]],
  [
    'a link among others',
    (n) => `<?page=1>; rel="prev", <?page=${n + 1}>; rel="next", <?page=3>; rel="last"`,
    [1, 2, 3],
  ],
  ['a link whose address has a comma', (n) => `<?a=1,2&page=${n + 1}>; rel="next"`, [1, 2, 3]],
  ['no link to a next page', () => '<?page=9>; rel="last"', [1]],
  ['a link to what is named nearly so', () => '<?page=9>; rel="nextish"', [1]],
  ['a link that is not one', () => 'page=9; rel="next"', [1]],
  ['an empty header', () => '', [1]],
]
for (const [what, link, ids] of links) {
  t.test(`pages are followed by ${what}`, async (t) => {
    const { http, url } = await serve(t, pages(3, link))
    t.strictSame(await idsOf(http.paginate(`${url}/items`, { schema: Items })), ids)
  })
}

t.test('a list with more pages than are read is too large, and says nothing of absence', async (t) => {
  const { http, url } = await serve(
    t,
    pages(12, (n) => `<?page=${n + 1}>; rel="next"`),
  )
  const init = { schema: Items }
  await t.rejects(idsOf(http.paginate(url, init)), { code: 'too_large' })
  t.equal((await idsOf(http.paginate(url, { ...init, most: 12 }))).length, 12)
  await t.rejects(idsOf(http.paginate(url, { ...init, most: 11 })), { code: 'too_large' })
  const seen: number[] = []
  for await (const { value } of http.paginate(url, init)) {
    seen.push(...value.map(({ id }) => id))
    if (seen.length === 2) break
  }
  t.strictSame(seen, [1, 2], 'who has found what it seeks reads no more')
})

t.test('a list that a page continues by its own words is followed by them', async (t) => {
  const Page = Type.Object({ items: Items, cursor: Type.Optional(Type.String()) })
  const { http, url } = await serve(t, (request, response) => {
    const at = Number(new URL(request.url!, 'http://a').searchParams.get('after') ?? 0)
    answering({ items: [{ id: at }], ...(at < 2 ? { cursor: String(at + 1) } : {}) })(request, response)
  })
  const ids: number[] = []
  const list = http.paginate(url, {
    schema: Page,
    next: ({ value: { cursor } }) => (cursor === undefined ? undefined : `${url}?after=${cursor}`),
  })
  for await (const { value } of list) ids.push(...value.items.map(({ id }) => id))
  t.strictSame(ids, [0, 1, 2])
})

t.test('a page that cannot be read ends the list with its error', async (t) => {
  const { http, url } = await serve(t, (request, response) => {
    const isFirst = request.url === '/'
    answering([{ id: 1 }], isFirst ? 200 : 502, { link: '</2>; rel="next"' })(request, response)
  })
  const seen: number[] = []
  const reading = async () => {
    for await (const { value } of http.paginate(url, { schema: Items })) seen.push(value.length)
  }
  await t.rejects(reading(), { code: 'unavailable', status: 502 })
  t.strictSame(seen, [1])
})

/** Answers a call with this, and tells what was sent. */
async function called(t: Test, answer: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) {
  const sent: JsonObject[] = []
  const served = await serve(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    sent.push({ method: request.method!, ...JSON.parse(Buffer.concat(chunks).toString()) })
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    answering(answer, status)(request, response)
  })
  return { ...served, sent }
}

t.test('a call of JSON-RPC gives its result', async (t) => {
  const { http, url, sent } = await called(t, { jsonrpc: '2.0', id: 1, result: { id: 7 }, error: null })
  t.match(await http.rpc(url, 'thing_get', [1], { schema: Item }), { value: { id: 7 }, status: 200, url })
  t.match(sent, [{ jsonrpc: '2.0', id: 1, method: 'thing_get', params: [1] }])
})

t.test('a plugin says what a refused call means, by its errors, its status and its headers', async (t) => {
  t.plan(8 * 6)
  const rows: readonly (readonly [answer: unknown, status: number, errors: unknown])[] = [
    [{ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such method' } }, 200, [{ code: -32601 }]],
    [{ error: 'no' }, 200, ['no']],
    [{ result: { id: 7 }, error: { code: 404 } }, 200, [{ code: 404 }]],
    [{ errors: [{ message: 'one' }, { message: 'two' }] }, 200, [{ message: 'one' }, { message: 'two' }]],
    [{ data: { id: 7 }, errors: [] }, 200, []],
    [{ errors: null }, 200, [null]],
    [{ errors: [{ extensions: { code: 'RATELIMITED' } }] }, 400, [{ extensions: { code: 'RATELIMITED' } }]],
    [{ error: { code: -32602 } }, 422, [{ code: -32602 }]],
  ]
  for (const [given, status, errors] of rows) {
    const { http, url } = await called(t, given, status, { 'retry-after': '30' })
    const init = {
      schema: Item,
      refused(refusal: CallRefusal) {
        t.match(refusal, { errors, status })
        t.equal(refusal.headers.get('retry-after'), '30')
        return { id: 1 }
      },
    }
    t.match(await http.rpc(url, 'thing_get', [], init), { value: { id: 1 }, status })
    t.match(await http.graphql(url, '{ id }', {}, init), { value: { id: 1 }, status })
  }
})

t.test('a plugin has no say where the status tells, where nothing refuses, and in another shape', async (t) => {
  const rows: readonly (readonly [answer: unknown, status: number, code: string])[] = [
    [{ error: { code: 1 } }, 401, 'unauthorized'],
    [{ error: { code: 1 } }, 404, 'forbidden'],
    [{ error: { code: 1 } }, 429, 'rate_limited'],
    [{ error: { code: 1 } }, 500, 'unavailable'],
    [{ id: 1 }, 400, 'unexpected_response'],
    [{ result: { id: 7 }, data: { id: 7 } }, 400, 'unexpected_response'],
    [{ result: { id: 'a' } }, 200, 'unexpected_response'],
    ['<html>', 400, 'unexpected_response'],
  ]
  for (const [given, status, code] of rows) {
    const { http, url } = await called(t, given, status)
    const init = { schema: Item, refused: () => t.fail('refused is called') as never }
    await t.rejects(http.rpc(url, 'thing_get', [], init), { name: 'DestinationError', code, status })
    await t.rejects(http.graphql(url, '{ id }', {}, init), { name: 'DestinationError', code, status })
  }
})

t.test('a query of GraphQL gives its data', async (t) => {
  const { http, url, sent } = await called(t, { data: { id: 7 } })
  t.match(await http.graphql(url, 'query($n: Int) { id }', { n: 1 }, { schema: Item }), {
    value: { id: 7 },
    status: 200,
  })
  t.match(sent, [{ method: 'POST', query: 'query($n: Int) { id }', variables: { n: 1 } }])
})

const refusals: [what: string, answer: unknown, code: string, status?: number][] = [
  ['an error', { id: 1, error: { code: -32601, message: 'no' } }, 'unexpected_response'],
  ['an error beside a result', { id: 1, result: { id: 7 }, error: {} }, 'unexpected_response'],
  ['errors', { errors: [{ message: 'no' }] }, 'unexpected_response'],
  ['errors beside data', { data: { id: 7 }, errors: [] }, 'unexpected_response'],
  ['neither result nor data', { id: 1 }, 'unexpected_response'],
  ['null', { result: null, data: null }, 'unexpected_response'],
  ['another shape', { result: { id: 'a' }, data: { id: 'a' } }, 'unexpected_response'],
  ['a list', [{ result: { id: 7 }, data: { id: 7 } }], 'unexpected_response'],
  ['text', '"no"', 'unexpected_response'],
  ['HTML', '<html>', 'unexpected_response'],
  ['another status', { result: { id: 7 }, data: { id: 7 } }, 'unavailable', 500],
  ['a status of its own', { result: { id: 7 }, data: { id: 7 } }, 'forbidden', 404],
]
for (const [what, answer, code, status = 200] of refusals) {
  t.test(`a call that is answered with ${what} could not read: ${code}`, async (t) => {
    const { http, url } = await called(t, answer, status)
    const init = { schema: Item }
    await t.rejects(http.rpc(url, 'thing_get', [], init), { name: 'DestinationError', code, status })
    await t.rejects(http.graphql(url, '{ id }', {}, init), { name: 'DestinationError', code, status })
  })
}
