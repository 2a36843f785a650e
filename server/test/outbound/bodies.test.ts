// Test run: every-node
/** Bounds on the bodies of answers: in bytes after decompression, in the memory that a bomb costs, and in time. Threat D3 of `security.md`. */
import type { RequestListener } from 'node:http'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { code, guardOf, outboundTo, serve } from '../support/loopback.ts'

const MIB = 1024 * 1024

async function check(t: Test, listener: RequestListener, bodyBytes?: number) {
  const host = await serve(t, listener)
  const guard = guardOf(`http://${host}`, bodyBytes === undefined ? {} : { limits: { bodyBytes } })
  const { fetch } = outboundTo(t, [host]).forCheck(guard)
  return (path = '/', method: 'GET' | 'HEAD' = 'GET') => fetch(`http://${host}${path}`, { method })
}

t.test('a body is cut where it grows too large, also one that does not end', async (t) => {
  const ask = await check(t, (request, response) => {
    if (request.url !== '/endless') return response.end(Buffer.alloc(4 * MIB))
    const timer = setInterval(() => response.write(Buffer.alloc(MIB)), 1)
    return response.on('close', () => clearInterval(timer))
  })
  t.equal((await (await ask('/fine')).arrayBuffer()).byteLength, 4 * MIB)
  t.equal(await code((await ask('/endless')).arrayBuffer()), 'too_large')
})

t.test("a verifier's own limit counts, to the byte, before and after decompression", async (t) => {
  const ask = await check(
    t,
    (request, response) => {
      const [, size, encoding] = (request.url ?? '').split('/')
      const body = Buffer.alloc(Number(size))
      if (encoding !== 'gzip') return response.end(body)
      return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body))
    },
    1000,
  )
  for (const encoding of ['plain', 'gzip']) {
    t.equal((await (await ask(`/1000/${encoding}`)).arrayBuffer()).byteLength, 1000)
    t.equal(await code((await ask(`/1001/${encoding}`)).arrayBuffer()), 'too_large')
  }
})

/** Zeros: members of one gzip file follow each other. */
function gzippedZeros(mebibytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(16 * MIB))
  return Buffer.concat(Array.from({ length: mebibytes / 16 }, () => member))
}

t.test('a compression bomb is too large, soon, and costs little memory', async (t) => {
  const bomb = gzippedZeros(1024)
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const brotli = brotliCompressSync(Buffer.alloc(128 * MIB), fast)
  const ask = await check(t, (request, response) => {
    if (request.url === '/br') response.writeHead(200, { 'content-encoding': 'br' }).end(brotli)
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  await (await ask()).body?.cancel()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  t.teardown(() => clearInterval(watch))
  for (const path of ['/', '/br']) {
    const begun = performance.now()
    t.equal(await code((await ask(path)).arrayBuffer()), 'too_large')
    const tookMs = performance.now() - begun
    t.ok(tookMs < 10_000, `${path}: ${Math.round(tookMs)} ms`)
  }
  const grown = (most - before) / MIB
  t.ok(grown < 128, `${grown.toFixed(1)} MiB more memory than before`)
  t.comment(`${(bomb.length / MIB).toFixed(1)} MiB that are 1024: ${grown.toFixed(1)} MiB more memory`)
})

t.test('a bomb that nobody reads is not unpacked', async (t) => {
  const bomb = gzippedZeros(256)
  const ask = await check(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  const before = process.memoryUsage().rss
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask()))
  await new Promise((done) => setTimeout(done, 300))
  const grown = (process.memoryUsage().rss - before) / MIB
  t.ok(grown < 128, `${grown.toFixed(1)} MiB more memory than before`)
  await Promise.all(answers.map(({ body }) => body?.cancel()))
})

t.test('a coding beside identity is decoded, and what is not coded as it says is no answer', async (t) => {
  const rows: Readonly<Record<string, readonly [coding: string, body: Buffer]>> = {
    '/gzip': ['gzip, identity', gzipSync('Hello')],
    '/first': ['identity, gzip', gzipSync('Hello')],
    '/deflate': ['deflate,Identity', deflateSync('Hello')],
    '/br': ['br, identity', brotliCompressSync('Hello')],
    '/none': ['identity', Buffer.from('Hello')],
    '/wrong': ['gzip', Buffer.from('Hello')],
    '/wrong-too': ['gzip, identity', Buffer.from('Hello')],
    '/unknown': ['compress, identity', Buffer.from('Hello')],
  }
  const ask = await check(t, ({ url }, response) => {
    const [coding, body] = rows[url!]!
    response.writeHead(200, { 'content-encoding': coding }).end(body)
  })
  for (const path of ['/gzip', '/first', '/deflate', '/br', '/none'])
    t.equal(await (await ask(path)).text(), 'Hello', path)
  for (const path of ['/wrong', '/wrong-too'])
    t.equal(await code((await ask(path)).text()), 'unexpected_response', path)
  t.equal(await code(ask('/unknown')), 'unexpected_response')
})

t.test('an interim 100 that nobody asked for is passed over', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
  const answer = (head: string, body: Uint8Array) =>
    [`${interim}HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n`, body] as const
  const rows: Readonly<Record<string, readonly [head: string, body: Uint8Array]>> = {
    '/plain': answer('404 Not Found', Buffer.from('Hello')),
    '/gzip': answer('200 OK\r\ncontent-encoding: gzip', gzipSync('Hello')),
    '/identity': answer('200 OK\r\ncontent-encoding: gzip, identity', gzipSync('Hello')),
    '/large': answer('200 OK', Buffer.alloc(6 * MIB)),
    '/nothing': [interim, Buffer.alloc(0)],
  }
  const ask = await check(t, ({ url, socket }) => {
    const [head, body] = rows[url!]!
    socket.write(head)
    socket.end(body)
  })
  const plain = await ask('/plain')
  t.equal(plain.status, 404)
  t.match(plain.url, /\/plain$/)
  for (const path of ['/plain', '/gzip', '/identity']) t.equal(await (await ask(path)).text(), 'Hello', path)
  t.equal(await code((await ask('/large')).arrayBuffer()), 'too_large')
  t.equal(await code(ask('/nothing')), 'unavailable')
})

t.test('an answer to HEAD has the codings of a body that does not come', async (t) => {
  const ask = await check(t, ({ url, socket }) => {
    const interim = url!.endsWith('interim') ? 'HTTP/1.1 100 Continue\r\n\r\n' : ''
    const coding = decodeURIComponent(url!.split('/')[1]!)
    socket.end(`${interim}HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: 20\r\n\r\n`)
  })
  for (const coding of ['gzip', 'br', 'gzip, identity', 'gzip, gzip', 'compress, identity']) {
    for (const way of ['plain', 'interim']) {
      const answer = await ask(`/${encodeURIComponent(coding)}/${way}`, 'HEAD')
      t.match(answer, { status: 200, body: null }, `${coding}, ${way}`)
    }
  }
})

t.test('a request that is sent again, for an interim 100, counts twice', async (t) => {
  const host = await serve(t, ({ socket }) => {
    socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-of: answer\r\n\r\nHello')
  })
  const counted: (string | null | undefined)[] = []
  const spending = {
    count: () => (headers?: Headers) => void counted.push(headers?.get('x-of')),
    isRefused: () => false,
  }
  const guard = { ...guardOf(`http://${host}`, { limits: { requests: 3 } }), spending }
  const { fetch } = outboundTo(t, [host]).forCheck(guard)
  t.equal(await (await fetch(`http://${host}/`)).text(), 'Hello')
  t.strictSame(counted, [undefined, 'answer'])
  t.equal(await code(fetch(`http://${host}/`)), 'unavailable', 'the fourth is more than the check may send')
  t.strictSame(counted, [undefined, 'answer', undefined], 'each ends once')
})

t.test('a body that was compressed several times over is no answer', async (t) => {
  const twice = gzipSync(gzipSync(Buffer.alloc(64 * MIB)))
  const ask = await check(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(twice))
  t.equal(await code(ask()), 'unexpected_response')
})
