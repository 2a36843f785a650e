// Test run: every-node
/** Digests of what an answer holds: computed as it arrives, far beyond the usual size, and nothing of it is kept. Threat D3 of `security.md`. */
import { createHash } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { bearer } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { code, guardOf, outboundTo, serve } from '../support/loopback.ts'

const MIB = 1024 * 1024
const sha256 = ['sha256'] as const

async function check(t: Test, listener: RequestListener, over: Parameters<typeof guardOf>[1] = {}) {
  const host = await serve(t, listener)
  const requests = outboundTo(t, [host]).forCheck(guardOf(`http://${host}`, over))
  return { requests, origin: `http://${host}` }
}

function digest(algorithm: string, content: string | Buffer): string {
  return createHash(algorithm).update(content).digest('base64')
}

async function zeros(response: ServerResponse, mebibytes: number): Promise<void> {
  const chunks = Array(mebibytes).fill(Buffer.alloc(MIB))
  // A check that has had enough closes the connection.
  await pipeline(chunks, response).catch(() => {})
}

t.test('an answer of any status has its digests, its size and its first bytes', async (t) => {
  const asked: unknown[] = []
  const { requests, origin } = await check(
    t,
    ({ headers, url }, response) => {
      asked.push([headers['accept-encoding'], headers.authorization])
      if (url === '/moved') response.writeHead(302, { location: '/missing' }).end()
      else if (url === '/none') response.writeHead(204).end()
      else response.writeHead(404, { etag: '"1"' }).end('no such page here, it says')
    },
    { secrets: new Map([['secret:token', 'a-token']]) },
  )
  const init = { algorithms: ['sha512', 'sha256'], auth: bearer('secret:token') } as const
  const { headers, ...answer } = await requests.digest(`${origin}/moved`, init)
  t.strictSame(answer, {
    status: 404,
    url: `${origin}/missing`,
    bytes: 26,
    start: Buffer.from('no such page her').toString('hex'),
    digests: {
      sha512: digest('sha512', 'no such page here, it says'),
      sha256: digest('sha256', 'no such page here, it says'),
    },
  })
  t.equal(headers.get('etag'), '"1"')
  t.strictSame(asked, [
    ['identity', 'Bearer a-token'],
    ['identity', 'Bearer a-token'],
  ])
  const none = await requests.digest(`${origin}/none`, { algorithms: sha256 })
  t.match(none, { bytes: 0, start: '', digests: { sha256: digest('sha256', '') } })
  t.not(requests.readings().sentAt, undefined, 'what its answers tell counts')
})

t.test('a digest is made of far more than an answer may have, in little memory', async (t) => {
  const { requests, origin } = await check(t, (_, response) => void zeros(response, 256))
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  t.teardown(() => clearInterval(watch))
  const { bytes, digests } = await requests.digest(origin, { algorithms: sha256 })
  t.equal(bytes, 256 * MIB)
  t.equal(digests.sha256, digest('sha256', Buffer.alloc(256 * MIB)))
  const grown = (most - before) / MIB
  t.ok(grown < 128, `${grown.toFixed(1)} MiB more memory than before`)
})

t.test('a digest ends at 512 MiB, and at the usual size where the content comes compressed', async (t) => {
  const { requests, origin } = await check(t, ({ url }, response) => {
    if (url === '/endless') void zeros(response, 1024)
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(6 * MIB)))
  })
  t.equal(await code(requests.digest(`${origin}/endless`, { algorithms: [] })), 'too_large')
  t.equal(await code(requests.digest(`${origin}/bomb`, { algorithms: sha256 })), 'too_large')
})

t.test('a digest is held to the guards of every request', async (t) => {
  const timer = new AbortController()
  const { requests, origin } = await check(
    t,
    ({ url }, response) => {
      if (url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
      else response.write('and then nothing')
    },
    { timer, limits: { requests: 2 } },
  )
  t.equal(await code(requests.digest('http://127.0.0.1:1/', { algorithms: sha256 })), 'unavailable')
  t.equal(await code(requests.digest(`${origin}/away`, { algorithms: sha256 })), 'unexpected_response')
  void setTimeout(50).then(() => timer.abort())
  t.equal(await code(requests.digest(`${origin}/slow`, { algorithms: sha256 })), 'timeout')
  t.equal(await code(requests.digest(`${origin}/slow`, { algorithms: sha256 })), 'unavailable', 'it may send two')
  t.equal(requests.breach(), undefined)
  t.equal(await code(requests.digest(origin, { algorithms: ['md5' as 'sha256'] })), 'breach')
  t.match(requests.breach()?.message, /sha256 or sha512 only/)
})

t.test('who pays has two digests computed at a time, a guest one of them, and a host eight', async (t) => {
  const open = new Map<string, ServerResponse>()
  const host = await serve(t, ({ url }, response) => {
    response.write('it begins')
    open.set(url!, response)
  })
  const outbound = outboundTo(t, [host])
  const begin = (payer: string, number: number, timer = new AbortController()) => {
    const { digest } = outbound.forCheck(guardOf(`http://${host}`, { timer, payer }))
    return code(digest(`http://${host}/${payer}/${number}`, { algorithms: sha256 }))
  }
  const underWay = async (count: number) => {
    for (const end = Date.now() + 5000; open.size < count && Date.now() < end; ) await setTimeout(5)
    await setTimeout(50)
    return [...open.keys()].sort()
  }
  const guests = [1, 2, 3].map((number) => begin('ann/bob', number))
  t.strictSame(await underWay(1), ['/ann/bob/1'])
  const inviter = begin('ann', 1)
  t.strictSame(await underWay(2), ['/ann/1', '/ann/bob/1'])
  const close = setInterval(() => {
    for (const response of open.values()) response.end()
  }, 5)
  t.strictSame(new Set(await Promise.all([...guests, inviter])), new Set(['no error']))
  clearInterval(close)
  open.clear()
  const alone = [1, 2, 3].map((number) => begin('a', number))
  const timer = new AbortController()
  const hurried = begin('a', 4, timer)
  t.strictSame(await underWay(2), ['/a/1', '/a/2'])
  const others = ['b', 'c', 'd', 'e'].flatMap((payer) => [1, 2, 3].map((number) => begin(payer, number)))
  t.strictSame(
    await underWay(8),
    ['a', 'b', 'c', 'd'].flatMap((id) => [`/${id}/1`, `/${id}/2`]),
  )
  timer.abort()
  open.get('/a/1')!.end()
  t.equal(await alone[0], 'no error')
  t.ok((await underWay(9)).includes('/e/1'), 'who has none goes before one that has two')
  const ending = setInterval(() => {
    for (const response of open.values()) response.end()
  }, 5)
  t.strictSame(new Set(await Promise.all([...alone, ...others])), new Set(['no error']))
  clearInterval(ending)
  t.equal(await hurried, 'timeout', 'one that waits waits within its own time')
  t.notOk(open.has('/a/4'))
})
