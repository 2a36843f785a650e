/**
 * Messages that two readers on the way could read differently, and headers that claim something about where they come from: as bytes, for
 * no client would send them.
 * Threats N3, N4 and S2 of `security.md`.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t from 'tap'
import { OAUTH } from '../support/application.ts'
import { sharedInstallation } from '../support/installation.ts'
import { PASSWORD, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })
/** Less than the service waits for what is missing. */
const PATIENCE_MS = 1000

/** All that comes back until the service ends the connection, or says no more. */
async function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text
  })
  socket.on('error', () => {})
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  await once(socket, 'close')
  return answer
}

function statusesOf(answer: string): string[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!)
}

const HOST = 'Host: localhost\r\n'
/** What a second reader would take for a request of its own. */
const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
const CHUNKED = `0\r\n\r\n${SMUGGLED}`

/** Each is refused, and nothing behind it is answered. */
const AMBIGUOUS: readonly (readonly [what: string, bytes: string])[] = [
  [
    'a length and chunks',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  ],
  [
    'chunks and a length',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${CHUNKED}`,
  ],
  ['two lengths', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: 0\r\nContent-Length: 5\r\n\r\n${SMUGGLED}`],
  ['two lengths in one line', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: 0, 5\r\n\r\n${SMUGGLED}`],
  ['a length with a sign', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: +0\r\n\r\n${SMUGGLED}`],
  ['a negative length', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n${SMUGGLED}`],
  ['a length in hexadecimal', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: 0x0\r\n\r\n${SMUGGLED}`],
  ['an endless length', `POST /v1/claims HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n${SMUGGLED}`],
  ['a blank before the colon', `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding : chunked\r\n\r\n${CHUNKED}`],
  ['a coding that is none', `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n${CHUNKED}`],
  [
    'chunked, and then another',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKED}`,
  ],
  [
    'a header over two lines',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding:\r\n chunked\r\nX: y\r\n\r\n${CHUNKED}`,
  ],
  [
    'a line that ends with LF alone',
    `POST /v1/claims HTTP/1.1\r\n${HOST}X: y\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  ],
  [
    'a line that ends with CR alone',
    `POST /v1/claims HTTP/1.1\r\n${HOST}X: y\rTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  ],
  ['NUL in a header', `POST /v1/claims HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n${SMUGGLED}`],
  ['NUL in a name', `POST /v1/claims HTTP/1.1\r\n${HOST}X\0: a\r\n\r\n${SMUGGLED}`],
  ['a header without a name', `POST /v1/claims HTTP/1.1\r\n${HOST}: a\r\n\r\n${SMUGGLED}`],
  [
    'a length of a chunk with a sign',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${SMUGGLED}`,
  ],
  [
    'a length of a chunk that is endless',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${SMUGGLED}`,
  ],
  [
    'a line end within a chunk’s extension',
    `POST /v1/claims HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['no host', `GET /healthz HTTP/1.1\r\n\r\n${SMUGGLED}`],
  ['a version that is none', `GET /healthz HTTP/1.2\r\n${HOST}\r\n${SMUGGLED}`],
  ['a blank in the path', `GET /healthz /v1 HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
  ['a method that is none', `GETS /healthz HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
]

t.test('a message that can be read in two ways is refused, and ends its connection', async (t) => {
  const { url } = await shared()
  t.strictSame(statusesOf(await exchange(url, SMUGGLED)), ['200'], 'what is smuggled would be answered')
  const answers = await Promise.all(AMBIGUOUS.map(([, bytes]) => exchange(url, bytes)))
  for (const [index, [what]] of AMBIGUOUS.entries()) {
    const answer = answers[index]!
    t.strictSame(statusesOf(answer), ['400'], what)
    t.match(answer, /^connection: close\r$/im, what)
  }
})

/** What stands for `chunked`. A proxy may know the codings that the service does not, or read none of them. */
const CODINGS: readonly string[] = [
  'Transfer-Encoding: x, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: , chunked',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: \xa0chunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: chunked\x0c',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding:',
  'Transfer-Encoding: x\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding:\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: x,\r\n chunked',
  'Transfer-Encoding\t: chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding: x, chunked\r\nContent-Length: 4',
  'Transfer-Encoding: x, chunked\r\nUpgrade: h2c\r\nConnection: Upgrade',
  'Transfer-Encoding: x, chunked\r\nExpect: 100-continue',
]
/** Known, unknown, of the console, and not to be decoded. */
const PATHS = ['/v1/claims', '/console/sign-in', '/nowhere', '/v1/%c0%af']

t.test('no other transfer coding than chunked is read, and nothing behind it is done', async (t) => {
  const installation = await shared()
  const client = await installation.client('smuggling')
  const claim = JSON.stringify({
    client_claim_id: 'smuggled',
    agent_id: 'a',
    action: 'http.url.status',
    target: 'https://example.com/',
    params: { status: 200 },
    claimed_at: new Date().toISOString(),
  })
  const claiming = `POST /v1/claims HTTP/1.1\r\n${HOST}Authorization: Bearer ${client.key}\r\nContent-Type: application/json\r\n`
  const smuggled = `0\r\n\r\n${claiming}Content-Length: ${claim.length}\r\n\r\n${claim}`
  const attacks = CODINGS.flatMap((coding) => PATHS.map((path) => ({ coding, path, version: '1.1' })))
  attacks.push(...PATHS.map((path) => ({ coding: 'Transfer-Encoding: chunked', path, version: '1.0' })))
  const answers: string[] = []
  // Not all at once: each is waited for as long as the service would wait for more.
  while (answers.length < attacks.length) {
    const some = attacks.slice(answers.length, answers.length + 26)
    answers.push(
      ...(await Promise.all(
        some.map(({ coding, path, version }) =>
          exchange(installation.url, `POST ${path} HTTP/${version}\r\n${HOST}${coding}\r\n\r\n${smuggled}`),
        ),
      )),
    )
  }
  for (const [index, { coding, path, version }] of attacks.entries()) {
    const what = `${JSON.stringify(coding)} in HTTP/${version} to ${path}`
    const answer = answers[index]!.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
    t.strictSame(statusesOf(answer), ['400'], what)
    t.match(answer, /^connection: close\r$/im, what)
  }
  t.strictSame((await client.get('/v1/claims')).body.claims, [], 'no claim was made')
  const chunked = `${claim.length.toString(16)}\r\n${claim}\r\n0\r\n\r\n`
  const taken = await exchange(installation.url, `${claiming}Transfer-Encoding: Chunked\r\n\r\n${chunked}`)
  t.strictSame(statusesOf(taken), ['202'], 'chunked alone, in any case, is read')
  const tried = AMBIGUOUS.length + attacks.length
  t.match(
    readFileSync('server/docs/security.md', 'utf8'),
    `Each of ${tried} messages`,
    'the page about security counts them',
  )
})

t.test('what follows a request in one piece is a request of its own, with credentials of its own', async (t) => {
  const installation = await shared()
  const client = await installation.client('pipelined')
  const first = `GET /v1/whoami HTTP/1.1\r\n${HOST}Authorization: Bearer ${client.key}\r\n\r\n`
  const answer = await exchange(installation.url, `${first}GET /v1/whoami HTTP/1.1\r\n${HOST}\r\n`)
  t.strictSame(statusesOf(answer), ['200', '401'])
})

/** What a proxy would say, and anyone can: without TRUST_PROXY it is nobody's word. */
const CLAIMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'X-Forwarded-Host': { 'x-forwarded-host': 'evil.example' },
  'X-Forwarded-Proto': { 'x-forwarded-proto': 'https' },
  'X-Forwarded-For': { 'x-forwarded-for': '8.8.8.8' },
  Forwarded: { forwarded: 'for=8.8.8.8;host=evil.example;proto=https' },
  'X-Forwarded-Port and Server': { 'x-forwarded-port': '1', 'x-forwarded-server': 'evil.example' },
  'X-Original-URL': { 'x-original-url': '/console/sign-in', 'x-rewrite-url': '/console/sign-in' },
  'X-HTTP-Method-Override': { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
  'X-Real-IP': { 'x-real-ip': '8.8.8.8', 'true-client-ip': '8.8.8.8', 'cf-connecting-ip': '8.8.8.8' },
}

t.test('what a request says of a proxy changes no page, no link, no address and no cookie', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  await owner.get('/console/account')
  const invite = async (headers: Readonly<Record<string, string>>) => {
    const { status, html } = await owner.post(
      `/console/w/${workspace}/members/invitations`,
      { role: 'member' },
      headers,
    )
    const link = /https?:\/\/[^"<\s]*\/console\/join\//.exec(html)?.[0]
    return { status, link }
  }
  const documents = async (headers: Readonly<Record<string, string>>) =>
    (await host.request('/.well-known/oauth-authorization-server', { headers })).body
  const plain = { invited: await invite({}), documents: await documents({}) }
  t.match(plain.invited.link, `${host.url}/console/join/`)
  for (const [what, headers] of Object.entries(CLAIMS)) {
    t.strictSame(await invite(headers), plain.invited, what)
    t.strictSame(await documents(headers), plain.documents, what)
    const body = new URLSearchParams({ email: owner.email, password: PASSWORD })
    const entered = await new Visitor(host).once('/console/sign-in', {
      method: 'POST',
      body,
      headers: { origin: host.url, ...headers },
    })
    t.equal(entered.status, 303, what)
    t.match(entered.headers.get('set-cookie'), /^claimcheck=.*; HttpOnly; SameSite=Lax$/, what)
    t.notMatch(entered.headers.get('location'), /evil/, what)
    t.notMatch((await owner.get('/console/account')).html, /8\.8\.8\.8|evil/, `${what}: the list of sessions`)
  }
})

/** What some frameworks, and proxies before them, read as another method or path than those of the request. */
const OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override', 'x-original-method']
const OTHER_PATHS = [
  'x-original-url',
  'x-rewrite-url',
  'x-original-uri',
  'x-forwarded-uri',
  'x-forwarded-path',
  'x-forwarded-prefix',
]

t.test('no header and no parameter stands for another method or path', async (t) => {
  const installation = await shared()
  const { host } = installation
  const client = await installation.client('overriding')
  for (const name of OVERRIDES) {
    const listed = await client.request('/v1/claims', { headers: { [name]: 'POST' } })
    t.match(listed, { status: 200, body: { claims: [] } }, `${name}: GET lists`)
    const refused = await client.request('/v1/claims', { method: 'DELETE', headers: { [name]: 'GET' } })
    t.equal(refused.status, 405, `${name}: DELETE is none`)
    const empty = await client.request('/v1/claims', { method: 'POST', headers: { [name]: 'GET' } })
    t.ok(empty.status >= 400, `${name}: POST submits`)
  }
  for (const name of OTHER_PATHS) {
    const headers = { [name]: '/healthz' }
    t.equal((await host.request('/v1/claims', { headers })).status, 401, `${name}: the path of the request counts`)
    const { status } = await host.request('/healthz', { headers: { [name]: '/v1/claims' } })
    t.equal(status, 200, `${name}: no other is asked`)
  }
  const owner = await Visitor.owner(host)
  await owner.get('/console/account')
  for (const query of [
    '_method=POST',
    '_method=post&name=Taken',
    'method=POST&name=Taken',
    '_HttpMethod=POST&name=Taken',
  ]) {
    await owner.get(`/console/account/name?${query}&_csrf=${owner.csrf}`)
    t.notMatch((await owner.get('/console/account')).html, /Taken/, query)
  }
})

const HIDDEN = '\u001b[31m\u0007\u009b2J\u202e\u2066\u2028\u{e0041}\ufeff'

t.test('no refusal of the API repeats a character that a terminal acts on or hides', async (t) => {
  const installation = await shared()
  const { url } = installation
  const { key } = await installation.client('hidden')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const inPath = encodeURIComponent(HIDDEN)
  const claim = { action: HIDDEN, agent_id: HIDDEN, target: HIDDEN, deadline_at: HIDDEN, params: { [HIDDEN]: HIDDEN } }
  const paths = [
    '/v1/claims/X',
    '/v1/claims?state=X&X=1',
    '/v1/receipts/X',
    '/v1/log/proof?index=X',
    '/readyz?X=X',
    '/metrics?X',
  ]
  const bodies = [JSON.stringify({ [HIDDEN]: 1 }), JSON.stringify(claim), HIDDEN, `{"${HIDDEN}":`]
  const texts = await Promise.all([
    ...paths.map(async (path) => (await fetch(url + path.replaceAll('X', inPath), { headers })).text()),
    ...bodies.map(async (body) => (await fetch(`${url}/v1/claims`, { method: 'POST', headers, body })).text()),
  ])
  for (const [index, text] of texts.entries()) t.notMatch(text, /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u, `answer ${index}`)
  t.ok(
    texts.some((text) => text.includes('\\u202e') && JSON.parse(text).detail),
    'a member is named all the same',
  )
})

t.test('a form counts only from our own origin, however the other is written', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  await owner.get('/console/account')
  const port = new URL(host.url).port
  const origins = [
    'null',
    'https://evil.example',
    `https://localhost:${port}`,
    `http://localhost:${port}.evil.example`,
    `http://localhost:${port}@evil.example`,
    `http://evil.localhost:${port}`,
    `http://127.0.0.1:${port}`,
    'http://localhost',
    `http://localhost:${port}/`,
    `HTTP://LOCALHOST:${port}`,
    `http://localhost:${port}, http://evil.example`,
    '',
  ]
  for (const origin of origins) {
    const page = await owner.post('/console/account/name', { name: 'Taken' }, { origin })
    t.equal(page.status, 403, origin)
  }
  t.notMatch((await owner.get('/console/account')).html, /Taken/)
})

t.test('an address in the place of a path names no other host', async (t) => {
  const { url, host } = await shared()
  const { port } = new URL(url)
  for (const target of [
    'http://evil.example/console/account',
    '//evil.example/console/account',
    '/\\evil.example/console',
    '/console/%0d%0aLocation:%20https://evil.example',
  ]) {
    const answer = await exchange(url, `GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`)
    const location = /^location: (.*)\r$/im.exec(answer)?.[1]
    if (location !== undefined) t.equal(new URL(location, host.url).origin, host.url, target)
    t.notOk(/^location: https:\/\/evil/im.test(answer), target)
  }
})
