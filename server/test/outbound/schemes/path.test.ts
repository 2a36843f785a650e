// Test run: every-node
/** A secret in the path arrives where it belongs, and the plugin sees it nowhere. Threat P9 of `security.md`. */
import { credential, header } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { code, serve } from '../../support/loopback.ts'
import { seenIn, spendingAt } from '../../support/spending.ts'

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const AUTH = { auth: credential('bot') }

async function bot(t: Test, token = TOKEN) {
  const arrived: string[] = []
  const host = await serve(t, (request, response) => {
    const { url = '' } = request
    arrived.push(url)
    if (url.endsWith('/moved')) response.writeHead(302, { location: url.replace('/moved', '/getMe?again') })
    if (url.endsWith('/lost')) response.writeHead(302, { location: '/elsewhere' })
    if (url.endsWith('/away')) response.writeHead(302, { location: `http://127.0.0.1:9${url}` })
    if (url.endsWith('/echo'))
      response.writeHead(200, { link: `<${url}>; rel=next`, 'x-path': decodeURIComponent(url), 'set-cookie': 'a=b' })
    response.end('{"ok":true}')
  })
  const check = spendingAt(t, {
    url: `http://${host}`,
    credentials: { bot: { scheme: 'path', secret: 'token' } },
    options: { token },
    secret: ['token'],
  })
  return { url: `http://${host}`, check, arrived }
}

t.test('the secret stands in the path that arrives, and the answer shows the handle', async (t) => {
  const { url, check, arrived } = await bot(t)
  for (const path of ['/secret:token/getMe?offset=1', '/secret%3Atoken/echo', '/secret:token/moved']) {
    const response = await check().fetch(url + path, AUTH)
    t.equal(response.status, 200)
    const seen = await seenIn(response)
    t.notOk(seen.includes(TOKEN) || seen.includes(encodeURIComponent(TOKEN)) || seen.includes('a=b'), seen)
    t.match(response.url, /\/secret(?::|%3A)token\//)
  }
  t.strictSame(arrived, [`/${TOKEN}/getMe?offset=1`, `/${TOKEN}/echo`, `/${TOKEN}/moved`, `/${TOKEN}/getMe?again`])
})

t.test('a call of JSON-RPC may have the secret as the last segment after the base address', async (t) => {
  const seen: string[] = []
  const host = await serve(t, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  const check = spendingAt(t, {
    url: `http://${host}`,
    credentials: { node: { scheme: 'path', secret: 'key' } },
    options: { key: 'a/key of 1' },
    secret: ['key'],
    methods: { jsonRpc: ['eth_chainId'], paths: ['/v3'] },
  })
  const send = (path: string) =>
    code(
      check().fetch(`http://${host}${path}`, {
        call: { jsonRpc: 'eth_chainId', params: [] },
        auth: credential('node'),
      }),
    )
  t.equal(await send('/v3/secret:key'), 'no error')
  for (const path of ['/v3/x/secret:key', '/secret:key', '/v3/secret:key/x', '/v3/secret:other'])
    t.equal(await send(path), 'breach', path)
  t.strictSame(seen, ['POST /v3/a%2Fkey%20of%201'])
})

t.test('a redirect to where no secret belongs is the fault of the destination', async (t) => {
  const { url, check } = await bot(t)
  const asked = check()
  t.equal(await code(asked.fetch(`${url}/secret:token/lost`, AUTH)), 'unexpected_response')
  t.equal(asked.breach(), undefined)
})

t.test('a redirect to another address is not followed, and an answer to a manual one shows the handle', async (t) => {
  const { url, check, arrived } = await bot(t)
  t.equal(await code(check().fetch(`${url}/secret:token/away`, AUTH)), 'unexpected_response')
  const manual = await check().fetch(`${url}/secret:token/away`, { ...AUTH, redirect: 'manual' })
  t.equal(manual.headers.get('location'), 'http://127.0.0.1:9/secret:token/away')
  t.equal(arrived.length, 2)
})

for (const path of [
  '/getMe',
  '/secret:token2/getMe',
  '/secret:token/secret:token',
  '/xsecret:token/getMe',
  '/getMe?secret:token',
  '/secret:token/getMe?x=secret:token',
  '/secret:other/getMe',
]) {
  t.test(`the secret is put into no other place than its own: ${path}`, async (t) => {
    const { url, check, arrived } = await bot(t)
    const asked = check()
    t.equal(await code(asked.fetch(url + path, AUTH)), 'breach')
    t.ok(asked.breach())
    t.strictSame(arrived, [])
  })
}

t.test('a URL with the handle and no auth is sent as it is', async (t) => {
  const { url, check, arrived } = await bot(t)
  await check().fetch(`${url}/secret:token/getMe`)
  t.strictSame(arrived, ['/secret:token/getMe'])
})

t.test('the secret of a path goes into no header', async (t) => {
  const { url, check, arrived } = await bot(t)
  t.equal(await code(check().fetch(url, { auth: header('x-token', 'secret:token') })), 'breach')
  t.strictSame(arrived, [])
})

t.test('a secret that would name another path is not sent', async (t) => {
  const none = await bot(t, '')
  t.equal(await code(none.check().fetch(`${none.url}/secret:token/getMe`, AUTH)), 'misconfigured')
  t.strictSame(none.arrived, [])
  const { url, check, arrived } = await bot(t, '/../../admin?x#y')
  await check().fetch(`${url}/secret:token/getMe`, AUTH)
  t.strictSame(arrived, ['/%2F..%2F..%2Fadmin%3Fx%23y/getMe'])
})

t.test('a secret of dots alone is not sent', async (t) => {
  const arrived: string[] = []
  const host = await serve(t, (request, response) => {
    arrived.push(request.url!)
    response.end()
  })
  for (const token of ['.', '..']) {
    const check = spendingAt(t, {
      url: `http://${host}`,
      credentials: { hook: { scheme: 'path', secret: 'token' } },
      options: { token },
      secret: ['token'],
    })()
    t.equal(await code(check.fetch(`http://${host}/a/secret:token/b`, { auth: credential('hook') })), 'misconfigured')
  }
  t.strictSame(arrived, [])
})
