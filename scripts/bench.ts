/** `npm run bench`: what a decided claim costs, beside what the framework alone costs, in one run on one machine. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import autocannon from 'autocannon'

const CONNECTIONS = 64
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
const WARM_UP_SECONDS = 2

interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

interface Target {
  readonly url: string
  readonly key?: string
}

async function withProcess<T>(script: string, work: (target: Target) => Promise<T>): Promise<T> {
  const child: ChildProcess = fork(new URL(`bench/${script}.js`, import.meta.url))
  try {
    const [target] = (await once(child, 'message')) as [Target]
    return await work(target)
  } finally {
    child.disconnect()
    await Promise.race([once(child, 'exit'), setTimeout(5000)])
    child.kill('SIGKILL')
  }
}

let claims = 0

/** Each request submits another claim. */
async function submitClaims({ url, key }: Target, duration: number): Promise<autocannon.Result> {
  const claim = {
    agent_id: 'bench',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
  }
  const body = () => JSON.stringify({ client_claim_id: `bench-${++claims}`, ...claim })
  const result = await autocannon({
    url: `${url}/v1/claims`,
    method: 'POST',
    connections: CONNECTIONS,
    duration,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    requests: [{ setupRequest: (request) => ({ ...request, body: body() }) }],
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refusals, ${result.errors} errors`)
  return result
}

async function measure(target: Target): Promise<autocannon.Result> {
  await submitClaims(target, WARM_UP_SECONDS)
  return submitClaims(target, SECONDS)
}

// biome-ignore lint/suspicious/noExplicitAny: answers are used as they come, and fail when they are not what they say.
async function get(url: string, init: RequestInit = {}): Promise<any> {
  return (await fetch(url, init)).json()
}

/** How many receipts there are, once every claim that arrived is decided: the last ones were under way when the load ended. */
async function countDecided({ url, key }: Target): Promise<number> {
  const headers = { authorization: `Bearer ${key}` }
  for (let tries = 0; tries < 100; tries++) {
    const queued = await get(`${url}/v1/claims?state=queued&limit=1`, { headers })
    if (queued.claims.length === 0) return (await get(`${url}/v1/log/head`)).tree_head.body.tree_size
    await setTimeout(100)
  }
  throw new Error('claims were left undecided')
}

function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits))
}

const bare = await withProcess('baseline', measure)
const { submitted, decided } = await withProcess('service', async (target) => ({
  submitted: await measure(target),
  decided: await countDecided(target),
}))
const bareRate = bare.requests.total / bare.duration
const claimRate = submitted.requests.total / submitted.duration

const figures: Figure[] = [
  { name: 'bare Fastify POST, same validation', value: round(bareRate), unit: 'requests/s' },
  { name: 'decided claims over HTTP, SQLite', value: round(claimRate), unit: 'claims/s' },
  { name: 'ratio to bare Fastify', value: round(claimRate / bareRate, 3), unit: '' },
  { name: `POST to decided, ${CONNECTIONS} connections, p50`, value: submitted.latency.p50, unit: 'ms' },
  { name: `POST to decided, ${CONNECTIONS} connections, p99`, value: submitted.latency.p99, unit: 'ms' },
  { name: 'receipts in the log at the end', value: decided, unit: '' },
]
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
} else {
  const width = Math.max(...figures.map(({ name }) => name.length))
  for (const { name, value, unit } of figures) {
    process.stdout.write(`${name.padEnd(width)}  ${styleText('bold', String(value).padStart(9))} ${unit}\n`)
  }
}
