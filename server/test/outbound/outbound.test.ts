// Test run: every-node
/** The requests of checks: where they go, and what bounds them. Threat W2 of `security.md`. */
import { createServer as createHttpsServer } from 'node:https'
import { inspect } from 'node:util'
import { type CheckLimits, clockOffset } from '@claimcheck/core/hosting'
import { bearer } from '@claimcheck/core/plugin'
import type { CheckRequests } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import {
  code,
  guardOf,
  listen,
  OTHER,
  outboundTo,
  type Resolver,
  resolveTo,
  serve,
  serveSockets,
} from '../support/loopback.ts'

/** Sends these bytes to whoever asks, whatever they are. */
function answer(t: Test, bytes: string | Buffer): Promise<string> {
  return serveSockets(t, (socket) => socket.once('data', () => socket.end(bytes)))
}

function requests(
  t: Test,
  allowPrivate: string[] = [],
  {
    resolver,
    signal = new AbortController().signal,
    now = Date.now,
    limits = {},
  }: { resolver?: Resolver; signal?: AbortSignal; now?: () => number; limits?: CheckLimits } = {},
) {
  const outbound = outboundTo(t, allowPrivate, resolver ? { resolver } : {})
  // A check for each origin, so that no request is refused because its check may read another one.
  const checks = new Map<string, CheckRequests>()
  const checkOf = (url: string): CheckRequests => {
    const parsed = URL.canParse(url) ? new URL(url).origin : 'null'
    const origin = parsed === 'null' ? 'https://nowhere.example' : parsed
    const check = checks.get(origin) ?? outbound.forCheck(guardOf(origin, { timer: { signal }, now, limits }))
    checks.set(origin, check)
    return check
  }
  return {
    fetch: (...[url, init]: Parameters<CheckRequests['fetch']>) => checkOf(url).fetch(url, init),
    resolve: (url: string) => checkOf(url).resolve(url),
    readings: (url: string) => checkOf(url).readings(),
  }
}

for (const url of [
  'http://example.com/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://127.0.0.1./',
  'https://0177.0.0.1/',
  'https://0/',
  'https://[fd00::1]:8443/',
  'https://169.254.169.254/latest/meta-data/',
  'https://user:password@example.com/',
  'https://-example.com/',
  'file:///etc/passwd',
  'ftp://example.com/',
  'nonsense',
]) {
  t.test(`${url} is not reached`, async (t) => {
    const { fetch, resolve } = requests(t, [], { resolver: resolveTo('8.8.8.8') })
    t.equal(await code(fetch(url)), 'unavailable')
    t.equal(await code(resolve(url)), 'unavailable')
  })
}

t.test('a name is reached only when every address it has is public', async (t) => {
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::1'], []]) {
    const { fetch, resolve } = requests(t, [], { resolver: resolveTo(...addresses) })
    t.equal(await code(fetch('https://rebound.example/')), 'unavailable')
    t.equal(await code(resolve('https://rebound.example/')), 'unavailable')
  }
  const { resolve } = requests(t, [], { resolver: resolveTo('8.8.8.8') })
  t.strictSame(await resolve('https://good.example:8443/x'), {
    hostname: 'good.example',
    port: 8443,
    address: '8.8.8.8',
  })
})

t.test('what the operator allows is reached, by exactly that name and port', async (t) => {
  const host = await serve(t, (_, response) => response.end('hello'))
  const port = host.split(':')[1]
  t.equal(await (await requests(t, [host]).fetch(`http://${host}/`)).text(), 'hello')
  t.equal((await requests(t, ['127.0.0.1']).fetch(`http://${host}/`)).status, 200, 'any port, when none is named')
  t.equal(await code(requests(t, ['127.0.0.1:1']).fetch(`http://${host}/`)), 'unavailable')
  t.equal(await code(requests(t, ['localhost']).fetch(`http://${host}/`)), 'unavailable')
  const named = requests(t, [`inner.example:${port}`], { resolver: resolveTo('127.0.0.1') })
  t.equal((await named.fetch(`http://inner.example:${port}/`)).status, 200)
})

t.test('only reads are made, and headers go with them', async (t) => {
  const seen: string[] = []
  const host = await serve(t, (request, response) => {
    seen.push(`${request.method} ${request.headers.authorization} ${request.headers['user-agent']}`)
    response.end()
  })
  const { fetch } = requests(t, [host])
  await fetch(`http://${host}/`, { method: 'HEAD', headers: { authorization: 'Bearer x' } })
  t.match(seen, [/^HEAD Bearer x claimcheck\//])
  t.equal(await code(fetch(`http://${host}/`, { method: 'POST' as 'GET' })), 'breach')
  t.equal(seen.length, 1)
})

t.test('a redirect is followed on the same origin only, and not for ever', async (t) => {
  const elsewhere = await serve(t, (_, response) => response.end('elsewhere'))
  const host = await serve(t, (request, response) => {
    const location = { '/moved': '/here', '/part': '/here#part', '/away': `http://${elsewhere}/`, '/round': '/round' }[
      request.url ?? ''
    ]
    if (location) response.writeHead(301, { location })
    response.end('here')
  })
  const { fetch } = requests(t, [host, elsewhere])
  const moved = await fetch(`http://${host}/moved`)
  t.equal(await moved.text(), 'here')
  t.equal(moved.url, `http://${host}/here`)
  t.equal(await (await fetch(`http://${host}/part`)).text(), 'here', 'a fragment is for browsers')
  t.equal(await code(fetch(`http://${host}/away`)), 'unexpected_response')
  t.equal(await code(fetch(`http://${host}/round`)), 'unexpected_response')
  const { fetch: fetchTwice } = requests(t, [host], { limits: { requests: 2 } })
  t.equal(await code(fetchTwice(`http://${host}/round`)), 'unexpected_response', 'also where the limit comes first')
})

t.test('silence and slow bodies end with the check', async (t) => {
  const host = await serve(t, (request, response) => {
    if (request.url === '/slow') response.write('a')
  })
  const silent = requests(t, [host], { signal: AbortSignal.timeout(150) })
  t.equal(await code(silent.fetch(`http://${host}/silent`)), 'timeout')
  const slow = requests(t, [host], { signal: AbortSignal.timeout(300) })
  t.equal(await code((await slow.fetch(`http://${host}/slow`)).text()), 'timeout')
})

t.test('nobody at home, and an answer that is no HTTP, are unavailable', async (t) => {
  const { fetch } = requests(t, ['127.0.0.1'])
  t.equal(await code(fetch('http://127.0.0.1:1/')), 'unavailable')
})

t.test("the destination's clock is measured, with the whole second of the Date header as doubt", async (t) => {
  const dates = [0, 0, 90_000, -3_600_000].map((offset) => new Date(Date.now() + offset).toUTCString())
  const host = await serve(t, (_, response) => response.setHeader('date', dates.shift()!).end())
  const { fetch, readings } = requests(t, [host])
  const url = `http://${host}/`
  await (await fetch(url)).text()
  t.ok(clockOffset(readings(url))! < 2500, `${clockOffset(readings(url))}`)
  await (await fetch(url)).text()
  await (await fetch(url)).text()
  t.ok(Math.abs(clockOffset(readings(url))! - 90_000) < 2500, `${clockOffset(readings(url))}`)
  await (await fetch(url)).text()
  t.ok(Math.abs(clockOffset(readings(url))! - 3_600_000) < 2500, 'the largest counts')
})

t.test('an answer without a Date header leaves the clock unknown, also after others that had one', async (t) => {
  let isDated = true
  const host = await serve(t, (_, response) => {
    response.sendDate = isDated
    response.setHeader('age', '7').end()
  })
  const { fetch, readings } = requests(t, [host])
  const url = `http://${host}/`
  await (await fetch(url)).text()
  t.match(readings(url), { isUndated: false, ageMs: 7000 })
  isDated = false
  await (await fetch(url)).text()
  t.match(readings(url), { isUndated: true, ageMs: 7000 })
  t.equal(clockOffset(readings(url)), undefined)
})

t.test("a check reads its connection's origin only", async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const other = await serve(t, () => t.fail('it was reached'))
  const { fetch, resolve } = outboundTo(t, ['127.0.0.1']).forCheck(guardOf(`http://${host}`))
  t.equal((await fetch(`http://${host}/any/path`)).status, 200)
  t.match(await resolve(`http://${host}/`), { address: '127.0.0.1' })
  for (const url of [`http://${other}/`, `https://${host}/`, 'https://example.com/']) {
    t.equal(await code(fetch(url)), 'unavailable', url)
    t.equal(await code(resolve(url)), 'unavailable', url)
  }
})

t.test('a check makes a bounded number of requests', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const { fetch } = requests(t, [host])
  for (let i = 0; i < 64; i++) await (await fetch(`http://${host}/`)).text()
  t.equal(await code(fetch(`http://${host}/`)), 'unavailable')
})

t.test('a name that is aimed elsewhere between two requests is not followed', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const port = host.split(':')[1]
  const answers = ['8.8.8.8', '127.0.0.1']
  const resolver: Resolver = (_hostname, _options, done) => done(null, [{ address: answers.shift()!, family: 4 }])
  const { fetch, resolve } = requests(t, [], { resolver })
  t.match(await resolve(`https://rebound.example:${port}/`), { address: '8.8.8.8' })
  t.equal(await code(fetch(`https://rebound.example:${port}/`)), 'unavailable')
  t.strictSame(answers, [], 'what was resolved last was refused')
})

t.test('what is allowed on one port lends no connection to another, nor an address to names', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const port = host.split(':')[1]
  const { fetch } = requests(t, [`inner.example:${port}`], { resolver: resolveTo('127.0.0.1') })
  t.equal((await fetch(`http://inner.example:${port}/`)).status, 200)
  for (const url of [`http://other.example:${port}/`, `https://inner.example/`, `http://127.0.0.1:${port}/`]) {
    t.equal(await code(fetch(url)), 'unavailable', url)
  }
})

t.test('IPv6 addresses are allowed as URLs write them', async (t) => {
  const { resolve } = requests(t, ['[::1]:8080', '[fd00::2]'])
  t.strictSame(await resolve('http://[0:0::1]:8080/'), { hostname: '::1', port: 8080, address: '::1' })
  t.match(await resolve('http://[fd00::2]/'), { port: 80, address: 'fd00::2' })
  t.match(await resolve('https://[fd00::2]/'), { port: 443 })
  t.equal(await code(resolve('http://[::1]:8081/')), 'unavailable')
  t.equal(await code(resolve('http://[::1]/')), 'unavailable')
})

t.test('a redirect to what is not allowed, to credentials and to plain http is not followed', async (t) => {
  let location = ''
  let asked = 0
  const host = await serve(t, (_, response) => {
    asked++
    response.writeHead(302, { location }).end()
  })
  const { fetch } = requests(t, [host])
  for (location of ['http://localhost/', 'file:///etc/passwd', 'https://[', `https://${host}/`, '//169.254.169.254/']) {
    t.equal(await code(fetch(`http://${host}/`)), 'unexpected_response', location)
  }
  location = `http://user:password@${host}/`
  t.equal(await code(fetch(`http://${host}/`)), 'unavailable')
  t.equal(asked, 6)
})

t.test('a redirect that names no place is an answer like others', async (t) => {
  const host = await serve(t, (_, response) => response.writeHead(304, { etag: '"1"' }).end())
  const { status, headers, body } = await requests(t, [host]).fetch(`http://${host}/`)
  t.strictSame([status, headers.get('etag'), body], [304, '"1"', null])
})

t.test('a server whose certificate nobody vouches for is not read, also where it is allowed', async (t) => {
  const server = createHttpsServer(OTHER, (_, response) => response.end('hello'))
  const port = (await listen(t, server)).split(':')[1]
  const { fetch } = requests(t, ['other.example'], { resolver: resolveTo('127.0.0.1') })
  t.equal(await code(fetch(`https://other.example:${port}/`)), 'unavailable')
})

const unreadable: [name: string, bytes: string][] = [
  ['a status above all that there are', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
  ['a status below all that there are', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'],
  ['another protocol that nobody asked for', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['something that is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['headers beyond the bound', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`],
  ['nothing', ''],
]
for (const [name, bytes] of unreadable) {
  t.test(`${name} is no answer`, async (t) => {
    const host = await answer(t, bytes)
    t.match(await code(requests(t, [host]).fetch(`http://${host}/`)), /^(unavailable|unexpected_response)$/)
  })
}

t.test('a body that breaks off is unavailable, and one that is not compressed as it says is no answer', async (t) => {
  const cut = await answer(t, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
  t.equal(await code((await requests(t, [cut]).fetch(`http://${cut}/`)).text()), 'unavailable')
  const garbled = await answer(t, 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nhalf')
  t.equal(await code((await requests(t, [garbled]).fetch(`http://${garbled}/`)).text()), 'unexpected_response')
})

t.test('a body that trickles ends with the check, however long each piece takes', async (t) => {
  const host = await serve(t, (_, response) => {
    const timer = setInterval(() => response.write('a'), 10)
    response.on('close', () => clearInterval(timer))
  })
  const { fetch } = requests(t, [host], { signal: AbortSignal.timeout(200) })
  t.equal(await code((await fetch(`http://${host}/`)).text()), 'timeout')
})

t.test('a check whose time is over asks nothing more', async (t) => {
  let asked = 0
  const host = await serve(t, (_, response) => {
    asked++
    response.end()
  })
  const { fetch } = requests(t, [host], { signal: AbortSignal.abort() })
  t.equal(await code(fetch(`http://${host}/`)), 'timeout')
  t.equal(asked, 0)
})

t.test('no error repeats a credential, not even one that cannot be sent', async (t) => {
  const silent = await answer(t, '')
  const rows = [
    ['s3cret-token', 'unavailable'],
    ['s3cret\ntoken', 'misconfigured'],
    ['s3cret\u0000', 'misconfigured'],
    ['s3cret☃', 'misconfigured'],
  ] as const
  for (const [secret, expected] of rows) {
    const secrets = new Map([['secret:token', secret]])
    const { fetch } = outboundTo(t, [silent]).forCheck(guardOf(`http://${silent}`, { secrets }))
    const error = await fetch(`http://${silent}/`, { auth: bearer('secret:token') }).catch((thrown: unknown) => thrown)
    t.match(error, { code: expected })
    t.notMatch(inspect(error, { depth: 10, showHidden: true }), /s3cret/)
  }
})
