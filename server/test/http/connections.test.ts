/** Senders that are slow on purpose, and crowds of connections: by real sockets, with short times. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createMeters } from '@claimcheck/server/base/meters'
import { type BoundConnections, boundConnections, endConnectionsOnClose } from '@claimcheck/server/http/connections'
import type { App } from '@claimcheck/server/http/instance'
import { proxiesIn } from '@claimcheck/server/http/proxies'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { KEY, startApp } from './support/server.ts'

const TIMES = { request: 300, headers: 200, checkEvery: 20 }
/** A tenth of a second between two bytes would go on for ever. */
const PAUSE_MS = 20

interface Dripped {
  readonly answer: string
  readonly tookMs: number
}

/** Sends the beginning at once and then byte after byte, until the other side ends the connection; never ends its own side. */
async function drip(port: number, beginning: string): Promise<Dripped> {
  const began = performance.now()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  let isOver = false
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isOver = true
  })
  socket.write(beginning)
  while (!isOver && performance.now() - began < 5000) {
    socket.write('x')
    await setTimeout(PAUSE_MS)
  }
  socket.destroy()
  return { answer, tookMs: isOver ? performance.now() - began : Number.POSITIVE_INFINITY }
}

t.test('a request that arrives slowly is answered with 408, and its connection ends', async (t) => {
  const app = await startApp({ arrivalTimes: TIMES })
  t.teardown(app.close)
  const post = (more: string) =>
    `POST /v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${KEY}\r\n${more}`
  const rows = [
    ['a body', post('Content-Length: 50000\r\n\r\n{"')],
    ['a body in chunks', post('Transfer-Encoding: chunked\r\n\r\nffff\r\n{"')],
    ['headers', post('X-Slow: ')],
    ['a first line', 'GET /v1/log/head'],
  ] as const
  const found = await Promise.all(rows.map(([, beginning]) => drip(app.port, beginning)))
  for (const [index, { answer, tookMs }] of found.entries()) {
    const [name] = rows[index]!
    t.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/, name)
    t.ok(tookMs < 20_000, `${name} took ${tookMs} ms`)
  }
  t.equal(app.claims.submitted.length, 0)
})

t.test('so does one that was answered before its body arrived', async (t) => {
  const app = await startApp({ arrivalTimes: TIMES })
  t.teardown(app.close)
  const head =
    'POST /v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n'
  const { answer, tookMs } = await drip(app.port, head)
  t.match(answer, /^HTTP\/1\.1 401 /)
  t.ok(tookMs < 20_000, `${tookMs} ms`)
})

t.test('a body that is too large is read to its end, so that its sender sees the answer', async (t) => {
  const app = await startApp()
  t.teardown(app.close)
  const head = (length: number) =>
    `POST /v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: ${length}\r\n\r\n`
  const rows = [
    { length: 70_000, answers: 2 },
    { length: 1024 * 1024, answers: 2 },
    { length: 1024 * 1024 + 1, answers: 1 },
  ]
  for (const { length, answers } of rows) {
    const socket = connect({ port: app.port, host: '127.0.0.1' })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    const closed = once(socket, 'close')
    socket.write(head(length))
    while (!text.includes('413')) await setTimeout(PAUSE_MS)
    socket.write('x'.repeat(length))
    socket.write('GET /v1/log/head HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await closed
    t.equal(text.match(/HTTP\/1\.1 \d/g)?.length, answers, `${length} bytes`)
  }
})

t.test('a request that arrives in time may take as long as it needs', async (t) => {
  const app = await startApp({
    arrivalTimes: TIMES,
    more: [
      {
        scope: 'own',
        cost: 'small',
        add(app) {
          app.get('/slow', async () => {
            await setTimeout(TIMES.request * 2)
            return { done: true }
          })
        },
      },
    ],
  })
  t.teardown(app.close)
  t.same((await app.ask('/slow')).json, { done: true })
})

async function bounded(t: Test, over: Partial<BoundConnections>) {
  const warnings: object[] = []
  const server: Server = createServer((_request, response) => response.end('ok'))
  const logger = { warn: (fields: object) => warnings.push(fields) } as never
  boundConnections(server, { most: 0, perAddress: 0, isProxy: proxiesIn(0), logger, meters: createMeters(), ...over })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  /** True where the connection is answered. */
  async function opens(localAddress = '127.0.0.1'): Promise<boolean> {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
  }
  return { opens, sockets, warnings, server }
}

async function count(opens: () => Promise<boolean>, times: number): Promise<number> {
  let opened = 0
  for (let index = 0; index < times; index++) opened += (await opens()) ? 1 : 0
  return opened
}

t.test('an address has so many connections, and gets them back', async (t) => {
  const { opens, sockets, warnings, server } = await bounded(t, { perAddress: 5 })
  t.equal(await count(opens, 9), 5)
  t.equal(await opens('127.0.0.2'), true, 'another address has its own')
  t.same(warnings, Array(4).fill({ limit: 'address', network: '127.0.0.1', perAddress: 5 }))
  for (const socket of sockets.slice(0, 2)) socket.destroy()
  for (let left = 6; left > 4; await setTimeout(5)) {
    left = await new Promise<number>((done) => server.getConnections((_error, open) => done(open)))
  }
  t.equal(await count(opens, 4), 2)
})

t.test('a trusted proxy has as many as all of its clients', async (t) => {
  for (const trusted of [1, ['loopback'], ['127.0.0.1']]) {
    const { opens } = await bounded(t, { perAddress: 2, isProxy: proxiesIn(trusted) })
    t.equal(await count(opens, 6), 6, String(trusted))
  }
  const { opens } = await bounded(t, { perAddress: 2, isProxy: proxiesIn(['127.0.0.1']) })
  t.equal(await count(() => opens('127.0.0.2'), 6), 2)
})

t.test('all together have so many', async (t) => {
  const { opens, warnings } = await bounded(t, { most: 3 })
  t.equal(await count(opens, 6), 3)
  t.same(warnings, Array(3).fill({ limit: 'all', most: 3 }))
})

t.test(
  'a server that closes waits for answers, and for requests that arrive, and for neither without end',
  async (t) => {
    const app: App = fastify()
    endConnectionsOnClose(app, { arrivals: 200, answers: 1000 })
    app.get('/late', async () => setTimeout(600, 'late'))
    app.get('/never', () => new Promise(() => {}))
    app.post('/', async ({ body }) => body)
    const { port } = new URL(await app.listen())
    const ended: Record<string, number> = {}
    function send(name: string, bytes: string) {
      const socket = connect(Number(port), '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
      socket.write(bytes)
      const over = once(socket, 'close').then(() => {
        ended[name] = performance.now() - closing
        return answer
      })
      return { socket, over }
    }
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
    const half = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nab'
    let closing = 0
    const sent = {
      stalled: send('stalled', half),
      pipelined: send('pipelined', get('/late') + half),
      arriving: send('arriving', half),
      late: send('late', get('/late')),
      never: send('never', get('/never')),
    }
    await setTimeout(200)
    closing = performance.now()
    const closed = app.close()
    sent.arriving.socket.write('cd')
    const answers = await Promise.all(Object.values(sent).map(({ over }) => over))
    await closed
    t.match(answers, ['', /late$/, /abcd$/, /late$/, ''])
    t.ok(ended.stalled! < 600, `half a request, ${ended.stalled} ms`)
    t.ok(ended.never! >= 900, `an answer that never ends, ${ended.never} ms`)
  },
)
