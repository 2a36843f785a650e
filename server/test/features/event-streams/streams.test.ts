import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Event } from '@claimcheck/core/api'
import { createEventPages } from '@claimcheck/server/features/event-streams/pages'
import { createEventStreams, type Listener } from '@claimcheck/server/features/event-streams/streams'
import { answerErrors } from '@claimcheck/server/http/errors'
import type { App } from '@claimcheck/server/http/instance'
import type { EventRow } from '@claimcheck/server/storage/events'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { Listening } from '../../../../test/support/listening.ts'

const NO_LIMITS = { most: 0, perWorkspace: 0 }

/** Streams behind a server, over events that the test records. */
async function begin(
  t: Test,
  { limits = NO_LIMITS, turnMs = 50 }: { limits?: typeof NO_LIMITS; turnMs?: number } = {},
) {
  const stored: EventRow[] = []
  const wakes = new Map<string, () => void>()
  const state = {
    content: '',
    fails: false,
    reads: 0,
    answers: true as boolean | 'none',
    warned: 0,
    /** Keeps what was read after a number back for a while. */
    hold: undefined as { readonly after: number; readonly until: Promise<void> } | undefined,
    onDocuments: () => {},
  }
  const of = (workspaceId: string) => stored.filter((row) => row.workspaceId === workspaceId)
  const pages = createEventPages({
    storage: {
      read: {
        events: {
          async after(workspaceId, number, limit) {
            state.reads++
            if (state.fails) throw new Error('the database is away')
            const rows = of(workspaceId)
              .filter((row) => row.number > number)
              .slice(0, limit)
            if (state.hold?.after === number) await state.hold.until
            return rows
          },
          last: async (ids) => new Map(ids.map((id) => [id, of(id).at(-1)?.number ?? 0])),
        },
      },
    },
    events: {
      async documents(rows) {
        state.onDocuments()
        return rows.map(({ number, type, subject }) => {
          const data = { agent_id: subject, content: state.content }
          return { id: String(number), type, data } as unknown as Event
        })
      },
    },
  })
  const streams = createEventStreams(
    {
      eventPages: pages,
      eventFeed: {
        subscribe(workspaceId, wake) {
          wakes.set(workspaceId, wake)
          return () => wakes.delete(workspaceId)
        },
      },
      config: { eventStreams: limits },
      logger: { warn: () => void state.warned++ },
    },
    turnMs,
  )
  const app: App = fastify().withTypeProvider<TypeBoxTypeProvider>()
  answerErrors(app)
  app.get('/', (request, reply) => {
    const { workspace = 'ws', payer = 'acc', costly, after } = request.query as Record<string, string>
    const listener: Listener = {
      workspaceId: workspace,
      payer,
      after: after === undefined ? undefined : Number(after),
      filter: {},
      credential: workspace,
      isCostly: costly === 'yes',
      async mayListen() {
        if (state.answers === 'none') throw new Error('the database is away')
        return state.answers
      },
      pay: async () => {},
    }
    return streams.open(reply, listener)
  })
  const url = await app.listen({ port: 0 })
  t.teardown(async () => {
    streams.endAll()
    await app.close()
  })
  function record(count = 1, workspaceId = 'ws'): void {
    for (let added = 0; added < count; added++) {
      const number = (of(workspaceId).at(-1)?.number ?? 0) + 1
      stored.push({ workspaceId, number, type: 'claim.decided', at: 0, subject: `agent ${number}`, detail: null })
    }
    wakes.get(workspaceId)?.()
  }
  async function listen(query = ''): Promise<Listening> {
    const listening = await Listening.start(`${url}/${query}`)
    t.teardown(() => listening.stop())
    return listening
  }
  const status = async (query = '') => {
    const { status, body } = await fetch(`${url}/${query}`)
    await body?.cancel()
    return status
  }
  return { streams, state, stored, wakes, record, listen, status, url }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index))
const idsIn = (listening: Listening) => listening.events.map(({ id }) => id)

t.test(
  'events that come while a stream is opened, read on or catches up reach it, each once and in order',
  async (t) => {
    const { record, listen } = await begin(t)
    record(120)
    const early = await listen('?after=0')
    for (let times = 0; times < 40; times++) {
      record(3)
      await setTimeout(times % 3)
    }
    const late = await listen('?after=100')
    record(7)
    await early.until(() => early.events.length >= 247)
    await late.until(() => late.events.length >= 147)
    t.strictSame(idsIn(early), numbers(1, 247))
    t.strictSame(idsIn(late), numbers(101, 247))
  },
)

t.test('a stream that has caught up while a page goes to many others misses nothing', async (t) => {
  const { state, record, listen } = await begin(t)
  record(60)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  // Its last page is read before the next event, and arrives after that was sent to the first of many.
  state.hold = { after: 50, until: held }
  const slow = await listen('?after=0')
  await slow.until(() => slow.events.length === 50)
  const many = await Promise.all(Array.from({ length: 600 }, () => listen()))
  state.onDocuments = () => void setImmediate(release)
  record()
  for (const one of many) await one.until(() => one.events.length === 1)
  record()
  await slow.until(() => slow.lastId === '62')
  t.strictSame(idsIn(slow), numbers(1, 62))
})

t.test('streams of one workspace share what is read, and the last one ends the subscription', async (t) => {
  const { state, record, listen, wakes, streams } = await begin(t)
  const all = await Promise.all(Array.from({ length: 20 }, () => listen()))
  state.reads = 0
  record()
  await Promise.all(all.map((one) => one.until(() => one.events.length === 1)))
  t.ok(state.reads <= 4, `${state.reads} reads`)
  t.equal(streams.size, 20)
  for (const one of all) one.stop()
  while (streams.size > 0) await setTimeout(5)
  t.equal(wakes.size, 0)
})

t.test('a stream without events has a line with its number now and then', async (t) => {
  const { record, listen } = await begin(t, { turnMs: 5 })
  record(4)
  const listening = await listen()
  await listening.until(() => listening.frames.length > 3)
  t.strictSame(new Set(listening.frames.map(({ id }) => id)), new Set(['4']))
  t.strictSame(listening.events, [])
})

t.test('numbers that were set back are told to streams that are open', async (t) => {
  const { stored, record, listen, wakes } = await begin(t)
  record(5)
  const listening = await listen()
  stored.splice(3)
  wakes.get('ws')!()
  await listening.until(() => listening.events.length > 0)
  t.strictSame(listening.events, [{ id: '3', event: 'gap', data: { from: '1', to: '3' } }])
  record()
  await listening.until(() => listening.events.length > 1)
  t.match(listening.events[1], { id: '4', event: 'claim.decided' })
})

t.test('a read that fails is made again, and loses nothing', async (t) => {
  const { state, record, listen } = await begin(t)
  const listening = await listen()
  state.fails = true
  record()
  await setTimeout(150)
  t.ok(state.warned > 0)
  t.strictSame(listening.events, [])
  state.fails = false
  await listening.until(() => listening.events.length === 1)
})

t.test('who may not listen any more hears nothing, and a short outage ends no stream', async (t) => {
  const { state, record, listen, streams } = await begin(t)
  const listening = await listen()
  state.answers = 'none'
  await setTimeout(200)
  t.equal(streams.size, 1)
  state.answers = false
  await listening.ended
  while (streams.size > 0) await setTimeout(5)
  record()
  t.strictSame(listening.events, [])
})

t.test('one account gets as many streams as it leaves free, and a workspace its own number', async (t) => {
  const { listen, status } = await begin(t, { limits: { most: 8, perWorkspace: 3 } })
  for (const workspace of ['a', 'b']) for (let count = 0; count < 2; count++) await listen(`?workspace=${workspace}`)
  t.equal(await status('?workspace=c'), 429, 'four of eight')
  for (let count = 0; count < 2; count++) await listen('?workspace=d&payer=other')
  await listen('?workspace=e&payer=third')
  t.equal(await status('?workspace=e&payer=third'), 429)
  t.equal(await status('?workspace=f&payer=fourth'), 200)
  const { status: other } = await begin(t, { limits: { most: 0, perWorkspace: 1 } })
  t.strictSame([await other(), await other('?workspace=g')], [200, 200])
})

/** A client that reads nothing after the head. */
async function deafClient(t: Test, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
  await once(socket, 'data')
  socket.pause()
  return socket
}

t.test('a request that waits behind a stream of its connection gets none, which would never end', async (t) => {
  const { streams, url } = await begin(t)
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  await once(socket, 'data')
  await setTimeout(50)
  t.equal(streams.size, 1)
  socket.destroy()
  while (streams.size > 0) await setTimeout(5)
})

t.test('a reader who does not keep up is cut, and nobody waits for it', async (t) => {
  const { state, record, listen, streams, url } = await begin(t)
  const [deaf, swift] = [await deafClient(t, url), await listen()]
  state.content = 'x'.repeat(60_000)
  let recorded = 0
  for (; streams.size > 1 && recorded < 2000; recorded += 10) {
    record(10)
    await swift.until(() => swift.events.length === recorded + 10)
  }
  t.equal(streams.size, 1)
  t.ok(recorded < 2000, `after ${recorded}`)
  t.strictSame(idsIn(swift), numbers(1, recorded))
  deaf.destroy()
})

t.test('a reader who catches up slowly is sent no more than it takes', async (t) => {
  const { state, record, url, streams } = await begin(t)
  state.content = 'x'.repeat(60_000)
  record(2000)
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  socket.write('GET /?after=0 HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  await setTimeout(300)
  const read = state.reads
  await setTimeout(300)
  t.equal(state.reads, read, 'it waits')
  t.equal(streams.size, 1)
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text = (text + piece).slice(-200_000)
  })
  socket.resume()
  while (!text.includes('id: 2000\n')) await setTimeout(20)
  t.pass('and goes on')
})

t.test('a service that stops ends all streams, and opens no more', async (t) => {
  const { streams, listen, status } = await begin(t)
  const listening = await listen()
  streams.endAll()
  await listening.ended
  t.equal(await status(), 503)
  await streams.idle()
})
