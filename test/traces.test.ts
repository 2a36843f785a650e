// Test run: slow
/** With an endpoint for OpenTelemetry, a claim is one trace: its request, its checks now and later, and the append of its leaf. */
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runClaimcheck } from './support/command.ts'
import { createDatabase } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { serving } from './support/serving.ts'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[]
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const LONGEST_WAIT_MS = 20_000

/** What receives OTLP over HTTP, as a collector does. */
async function startCollector(t: Test) {
  const spans: Span[] = []
  const resources: unknown[] = []
  const url = await serving(t, async (request, response) => {
    // biome-ignore lint/suspicious/noExplicitAny: the test fails where it is not what OTLP says
    const body = (await json(request)) as any
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(resource)
      for (const { spans: sent } of scopeSpans) spans.push(...sent)
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  return { url, spans, resources }
}

async function start(t: Test, more: Readonly<Record<string, string>> = {}) {
  const collector = await startCollector(t)
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_SERVICE_NAME: 'claims',
    ...more,
  }
  const installation = await Installation.during(t, { database: await createDatabase('sqlite'), env, isNew: true })
  /** The spans of a trace, once there are so many of this name. */
  async function traced(traceId: string, name: string, count: number): Promise<Span[]> {
    for (const end = Date.now() + LONGEST_WAIT_MS; Date.now() < end; await setTimeout(50)) {
      const found = collector.spans.filter((span) => span.traceId === traceId)
      if (found.filter((span) => span.name === name).length >= count) return found
    }
    return []
  }
  return { ...collector, installation, client: await installation.client('acme'), traced }
}

function body(claim: object): string {
  return JSON.stringify({
    agent_id: 'agent-1',
    action: 'test.outcome.reach',
    target: 'secret target',
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
    ...claim,
  })
}

/** The span of a request that was linked to the client's. */
async function linked(spans: readonly Span[]): Promise<Span> {
  const isLinked = ({ name, links = [] }: Span) => name === 'POST /v1/claims' && links.length > 0
  for (let tries = 0; !spans.some(isLinked) && tries < 200; tries++) await setTimeout(50)
  return spans.find(isLinked)!
}

t.test('a claim that is decided at once is one trace, linked to its client, which does not sample', async (t) => {
  const { client, traced, resources, spans } = await start(t)
  const traceparent = `00-${TRACE}-${CALLER}-00`
  t.match(await client.post(body({ client_claim_id: 'one' }), { traceparent }), { body: { state: 'decided' } })
  const request = await linked(spans)
  const found = await traced(request.traceId, 'append', 1)
  t.strictSame(found.map(({ name }) => name).toSorted(), ['POST /v1/claims', 'append', 'check'])
  t.not(request.traceId, TRACE)
  t.notOk(request.parentSpanId)
  t.match(request.links, [{ traceId: TRACE, spanId: CALLER }])
  for (const { name, parentSpanId } of found) if (name !== request.name) t.equal(parentSpanId, request.spanId, name)
  t.match(JSON.stringify(resources[0]), /"service.name","value":\{"stringValue":"claims"\}/)
  t.match(JSON.stringify(found), /"claimcheck.outcome","value":\{"stringValue":"read"\}/)
  t.notMatch(JSON.stringify(spans), /secret target/, 'nothing that the claim says')
})

t.test(
  'checks from the queue are in the trace of the request, which begins one where the client has none',
  async (t) => {
    const { client, traced, spans } = await start(t)
    const params = { see: 'absent', later: { at: Date.now() + 1000, see: 'present' } }
    const { body: claim } = await client.post(body({ client_claim_id: 'two', params }))
    t.equal(claim.state, 'queued')
    await client.decided(claim.claim_id)
    const isRequest = ({ name }: Span) => name === 'POST /v1/claims'
    for (let tries = 0; !spans.some(isRequest) && tries < 100; tries++) await setTimeout(50)
    const request = spans.find(isRequest)!
    const found = await traced(request.traceId, 'append', 1)
    const names = found.map(({ name }) => name)
    t.ok(names.filter((name) => name === 'check').length >= 2, names.join())
    t.ok(names.includes('store'), 'the first check decides nothing')
    t.ok(found.every(({ spanId, parentSpanId }) => spanId === request.spanId || parentSpanId === request.spanId))
  },
)

t.test('a caller that samples is not followed', async (t) => {
  const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  const { client, installation, spans } = await start(t, sampler)
  const traceparent = `00-${TRACE}-${CALLER}-01`
  t.match(await client.post(body({ client_claim_id: 'three' }), { traceparent }), { body: { state: 'decided' } })
  await installation.stop()
  t.strictSame(spans, [])
})

t.test('a collector that is away holds up nothing', async (t) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_BSP_SCHEDULE_DELAY: '50' }
  const installation = await Installation.start({ database: await createDatabase('sqlite'), env, isNew: true })
  const client = await installation.client('acme')
  t.match(await client.submit(), { body: { state: 'decided' } })
  const began = Date.now()
  await installation.remove()
  t.ok(Date.now() - began < 15_000, 'nor the end')
})

t.test('without the SDK the start says what to install', async (t) => {
  const refuse = `export async function resolve(name, context, next) {
    if (name === '@opentelemetry/sdk-trace-base') throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(name, context)
  }`
  const hook = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(refuse))})`
  const env = {
    NODE_OPTIONS: `--import=${dataUrl(hook)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    PORT: '0',
  }
  const { code, stderr } = await runClaimcheck(t.testdir(), ['serve'], env)
  t.equal(code, 1)
  t.match(stderr, /OTEL_EXPORTER_OTLP_ENDPOINT: traces need the SDK of OpenTelemetry.*npm install @opentelemetry/)
})

function dataUrl(code: string): string {
  return `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
}
