// Test run: every-node
/** Events and watches of the client, against a running service whose connections break. */
import { createClient, type Event, type GapEvent, UnexpectedAnswerError } from '@claimcheck/client'
import t from 'tap'
import { sharedInstallation } from '../../../test/support/installation.ts'

const shared = sharedInstallation()
let workspaces = 0

/** A client whose requests are counted, and whose streams the test breaks or refuses. */
async function setUp() {
  const installation = await shared()
  const { key, workspaceId } = await installation.client(`events ${++workspaces}`)
  const asked: string[] = []
  const control = { refusal: undefined as Response | undefined, cut: () => {} }
  const client = createClient({
    baseUrl: installation.url,
    key,
    agentId: 'release-bot',
    async fetch(input, init) {
      const { pathname, search } = new URL(String(input))
      asked.push(pathname + search)
      if (pathname !== '/v1/events') return fetch(input, init)
      if (control.refusal) return control.refusal.clone()
      const cutting = new AbortController()
      control.cut = () => cutting.abort()
      return fetch(input, { ...init, signal: AbortSignal.any([init!.signal!, cutting.signal]) })
    },
  })
  const claim = { action: 'test.outcome.reach', target: 'here', params: { see: 'present' } }
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((done) => setTimeout(done, 10))
  }
  return { installation, client, claim, asked, control, until, workspaceId }
}

t.test('events come in their order, also after a connection that broke', { timeout: 60_000 }, async (t) => {
  const { client, claim, asked, control } = await setUp()
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await client.submit(claim)).claim_id)
  const seen: string[] = []
  for await (const event of client.events({ after: 0 })) {
    if (event.type === 'claim.decided') seen.push(event.data.claim_id)
    if (seen.length === 2) control.cut()
    if (seen.length === 3) ids.push((await client.submit(claim)).claim_id)
    if (seen.length === 4) break
  }
  t.strictSame(seen, ids)
  t.match(asked.filter((path) => path.startsWith('/v1/events'))[1], /after=[23]$/, 'it goes on where it was')
})

t.test('a gap is told, and a filter is passed on', async (t) => {
  const { client, claim, asked } = await setUp()
  const { claim_id } = await client.submit(claim)
  const seen: (Event | GapEvent)[] = []
  for await (const event of client.events({ after: '7', agent_id: 'release-bot' })) {
    seen.push(event)
    if (seen.length === 1) await client.submit(claim)
    else break
  }
  t.match(seen, [
    { id: '1', type: 'gap', data: { from: '1', to: '1' } },
    { id: '2', type: 'claim.decided', data: { agent_id: 'release-bot' } },
  ])
  t.not((seen[1] as Event & { data: { claim_id: string } }).data.claim_id, claim_id)
  t.ok(asked.includes('/v1/events?after=7&agent_id=release-bot'))
})

t.test('a listener ends with its signal, and an answer that is no stream is an error', async (t) => {
  const { client, control } = await setUp()
  const reason = new Error('enough')
  const stop = new AbortController()
  setTimeout(() => stop.abort(reason), 100)
  const listening = async () => {
    for await (const _ of client.events({}, { signal: stop.signal })) t.fail('nothing happens')
  }
  await t.rejects(listening(), reason)
  control.refusal = new Response('<html>', { headers: { 'content-type': 'text/html' } })
  await t.rejects(client.events().next(), UnexpectedAnswerError)
  control.refusal = Response.json({ detail: 'no' }, { status: 403 })
  await t.rejects(client.events().next(), { name: 'ForbiddenError' })
})

t.test('a watch reads a claim when it was decided, and not again and again', async (t) => {
  const { client, claim, asked } = await setUp()
  const later = { at: Date.now() + 3000, see: 'present' }
  const { claim_id } = await client.submit({ ...claim, params: { see: 'absent', later } })
  const seen: string[] = []
  for await (const { state } of client.watch(claim_id)) seen.push(state)
  t.strictSame([seen[0], seen.at(-1)], ['queued', 'decided'])
  const reads = asked.filter((path) => path === `/v1/claims/${claim_id}`).length
  t.ok(reads <= 6, `${reads} reads`)
})

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
}

t.test('events are read wherever the connection cuts them, with any ends of lines', async (t) => {
  const event = (id: string) =>
    `id: ${id}\r\nevent: claim.decided\r\ndata: {"id":"${id}",\r\ndata:"type":"claim.decided"}\r\n\r\n`
  const text = `\n: hello\n\nretry: 20\nid: 1\n:\n\n${event('2')}id: 3\nevent: gap\ndata: {"from":"3","to":"3"}\n\nid: 4\n\n`
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 2, 3, 7, bytes.length]) {
    let asked = ''
    const client = createClient({
      baseUrl: 'http://localhost',
      async fetch(input) {
        asked = String(input)
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.slice(at * size, (at + 1) * size),
        )
        return new Response(streamOf(pieces), { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const seen: unknown[] = []
    for await (const event of client.events({ after: 1 })) if (seen.push(event) === 3) break
    t.strictSame(seen.slice(0, 2), [
      { id: '2', type: 'claim.decided' },
      { id: '3', type: 'gap', data: { from: '3', to: '3' } },
    ])
    t.match(asked, /after=4$/, 'an id alone counts, too')
  }
  const endless = createClient({
    baseUrl: 'http://localhost',
    fetch: async () =>
      new Response(streamOf([bytes, new Uint8Array(5_000_000).fill(120)]), {
        headers: { 'content-type': 'text/event-stream' },
      }),
  })
  const listening = async () => {
    for await (const event of endless.events()) t.ok(event)
  }
  await t.rejects(listening(), UnexpectedAnswerError)
})

t.test('a watch at a service without streams reads again and again', async (t) => {
  const { client, claim, control } = await setUp()
  control.refusal = Response.json({ detail: 'not found' }, { status: 404 })
  const later = { at: Date.now() + 1000, see: 'present' }
  const { claim_id } = await client.submit({ ...claim, params: { see: 'absent', later } })
  const seen: string[] = []
  for await (const { state } of client.watch([claim_id])) seen.push(state)
  t.equal(seen.at(-1), 'decided')
})
