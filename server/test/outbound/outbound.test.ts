import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { DestinationError } from '@claimcheck/core'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'

const MIB = 1024 * 1024

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Resolver = NonNullable<Parameters<typeof createOutbound>[1]>['resolver']
const resolveTo =
  (...addresses: string[]): Resolver =>
  (_hostname, _options, done) => {
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }

function requests(
  t: Test,
  allowPrivate: string[] = [],
  {
    resolver,
    signal = new AbortController().signal,
    now = Date.now,
  }: { resolver?: Resolver; signal?: AbortSignal; now?: () => number } = {},
) {
  const outbound = createOutbound({ allowPrivate }, resolver ? { resolver } : {})
  t.teardown(() => outbound.close())
  return outbound.forCheck({ signal, now })
}

async function code(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no error'
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    return error.code
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
  'https://169.254.169.254/latest/meta-data/',
  'https://user:password@example.com/',
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
  t.equal(await code(fetch(`http://${host}/`, { method: 'POST' as 'GET' })), 'unavailable')
  t.equal(seen.length, 1)
})

t.test('a redirect is followed on the same origin only, and not for ever', async (t) => {
  const elsewhere = await serve(t, (_, response) => response.end('elsewhere'))
  const host = await serve(t, (request, response) => {
    const location = { '/moved': '/here', '/away': `http://${elsewhere}/`, '/round': '/round' }[request.url ?? '']
    if (location) response.writeHead(301, { location })
    response.end('here')
  })
  const { fetch } = requests(t, [host, elsewhere])
  const moved = await fetch(`http://${host}/moved`)
  t.equal(await moved.text(), 'here')
  t.equal(moved.url, `http://${host}/here`)
  t.equal(await code(fetch(`http://${host}/away`)), 'unexpected_response')
  t.equal(await code(fetch(`http://${host}/round`)), 'unexpected_response')
})

t.test('a body is cut where it grows too large, also one that was compressed', async (t) => {
  const host = await serve(t, (request, response) => {
    if (request.url === '/bomb') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * MIB)))
    } else if (request.url === '/endless') {
      const timer = setInterval(() => response.write(Buffer.alloc(MIB)), 1)
      response.on('close', () => clearInterval(timer))
    } else {
      response.end(Buffer.alloc(4 * MIB))
    }
  })
  const { fetch } = requests(t, [host])
  t.equal((await (await fetch(`http://${host}/fine`)).arrayBuffer()).byteLength, 4 * MIB)
  for (const path of ['/bomb', '/endless']) {
    t.equal(await code((await fetch(`http://${host}${path}`)).arrayBuffer()), 'unexpected_response', path)
  }
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

t.test("the destination's clock is measured, beyond what the Date header cannot tell", async (t) => {
  const dates = [0, 0, 90_000, -3_600_000].map((offset) => new Date(Date.now() + offset).toUTCString())
  const host = await serve(t, (_, response) => response.setHeader('date', dates.shift()!).end())
  const check = requests(t, [host])
  await (await check.fetch(`http://${host}/`)).text()
  t.equal(check.clockOffsetMs(), 0)
  await (await check.fetch(`http://${host}/`)).text()
  await (await check.fetch(`http://${host}/`)).text()
  t.ok(Math.abs(check.clockOffsetMs() - 89_500) < 1500, `${check.clockOffsetMs()}`)
  await (await check.fetch(`http://${host}/`)).text()
  t.ok(Math.abs(check.clockOffsetMs() - 3_600_000) < 2500, 'the largest counts')
  t.equal(check.requests(), 4)
})

t.test('a check makes a bounded number of requests', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const { fetch } = requests(t, [host])
  for (let i = 0; i < 64; i++) await (await fetch(`http://${host}/`)).text()
  t.equal(await code(fetch(`http://${host}/`)), 'unavailable')
})
