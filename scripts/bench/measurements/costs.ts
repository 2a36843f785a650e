/** What one request of each class of routes costs, against the smallest answer of the same server: the gate takes tokens by it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { COSTS, type CostClass } from '@claimcheck/server/http/costs'
import { connect } from '../../../test/support/connect.ts'
import type { Host } from '../../../test/support/host.ts'
import { NO_LIMITS, SCRIPTED } from '../../../test/support/installation.ts'
import { PASSWORD, Visitor } from '../../../test/support/visitor.ts'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, withInstallation, withOpened } from '../installation.ts'
import { type Served, withProcess } from '../process.ts'
import { median } from '../statistics.ts'

const ROUNDS = 5
const ROUND_MS = 600
const WARM_UP_MS = 1500
const AT_ONCE = 8
const CLAIMS = 200
/** Shared machines measure a class higher or lower by so much. */
const MOST_OVER = 1.5
const READING = { use: resolve('build/test/plugins/reading.js'), trusted: true }

/** What the requests are about. */
interface World {
  readonly url: string
  readonly key: string
  readonly workspaceId: string
  readonly connectionId: string
  readonly claimId: string
  readonly receiptId: string
  readonly machine: { readonly id: string; readonly secret: string }
  readonly visitor: Visitor
}

type Sample = (world: World) => readonly [path: string, init?: RequestInit]

const JSON_TYPE = { 'content-type': 'application/json' }
const bearer = (key: string) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` })
let claims = 0

/** A request of each class: of the usual ones a costly one. */
export const SAMPLES: Readonly<Record<CostClass, Sample>> = {
  small: () => ['/healthz'],
  file: () => ['/docs/quickstart'],
  readiness: () => ['/readyz'],
  metrics: () => ['/metrics'],
  receipt: ({ receiptId }) => [`/v1/receipts/${receiptId}`],
  receipt_page: ({ receiptId }) => [`/r/${receiptId}`],
  log: () => ['/v1/log/entries?limit=100'],
  log_page: () => ['/log'],
  read: ({ key, claimId }) => [`/v1/claims/${claimId}`, { headers: bearer(key) }],
  claim_list: ({ key }) => ['/v1/claims?limit=50', { headers: bearer(key) }],
  claim: ({ key }) => ['/v1/claims', { method: 'POST', headers: bearer(key), body: claimText() }],
  mcp: ({ key }) => ['/mcp', { method: 'POST', headers: { ...bearer(key), ...MCP }, body: MCP_CALL }],
  oauth: ({ machine: { id, secret } }) => [
    '/oauth/token',
    {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
    },
  ],
  page: ({ visitor, workspaceId }) => [`/console/w/${workspaceId}/claims`, { headers: cookiesOf(visitor) }],
  password: ({ url, visitor: { email } }) => [
    '/console/sign-in',
    { method: 'POST', headers: { origin: url }, body: new URLSearchParams({ email, password: PASSWORD }) },
  ],
  export: ({ visitor, workspaceId }) => [`/console/w/${workspaceId}/claims.csv`, { headers: cookiesOf(visitor) }],
  trial: ({ url, visitor, workspaceId, connectionId }) => [
    `/console/w/${workspaceId}/connections/${connectionId}/test`,
    {
      method: 'POST',
      headers: { origin: url, ...cookiesOf(visitor) },
      body: new URLSearchParams({ _csrf: visitor.csrf! }),
    },
  ],
}

const MCP = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
const MCP_CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

function claimText(): string {
  const number = ++claims
  return JSON.stringify({
    client_claim_id: `run-${number}`,
    agent_id: `agent-${number % 7}`,
    action: 'test.outcome.reach',
    target: `place ${number}`,
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
  })
}

function cookiesOf({ cookies }: Visitor) {
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

export async function measureCosts(): Promise<Figure[]> {
  const healthy = createServer((_request, response) => response.end())
  await new Promise<void>((listening) => healthy.listen(0, '127.0.0.1', listening))
  const place = `127.0.0.1:${(healthy.address() as AddressInfo).port}`
  const options = {
    plugins: [SCRIPTED, READING],
    env: { ALLOW_PRIVATE: place, METRICS_TOKEN: '' },
    limits: { ...NO_LIMITS, refusals: 0, sign_in: 0 },
  }
  try {
    return await withInstallation(options, async (installation) => {
      const prepared = await withOpened(installation, (claimcheck) => prepare(claimcheck, `http://${place}`))
      return withProcess('host', installation, async (served) => measure(served, await visit(served, prepared)))
    })
  } finally {
    healthy.closeAllConnections()
    healthy.close()
  }
}

async function prepare(claimcheck: Claimcheck, base_url: string) {
  const { workspaceId, key } = await createWorkspace(claimcheck)
  const { id: connectionId } = await connect(claimcheck, workspaceId, 'pages', { base_url, name: 'pages' })
  const { clientId: id, clientSecret: secret } = await claimcheck.machines.create(workspaceId, 'bench', ['claims:read'])
  const invitation = await claimcheck.accounts.inviteToken(workspaceId, 'owner', null)
  return { workspaceId, key, connectionId, machine: { id, secret }, invitation }
}

async function visit({ url }: Served, prepared: Awaited<ReturnType<typeof prepare>>): Promise<World> {
  const visitor = await Visitor.enter({ url } as Host, `/console/join/${prepared.invitation}`, 'bench')
  await visitor.get(`/console/w/${prepared.workspaceId}/connections`)
  let last = { claim_id: '', receipt_id: '' }
  for (let count = 0; count < CLAIMS; count++) {
    const init = { method: 'POST', headers: bearer(prepared.key), body: claimText() }
    const answer = await fetch(`${url}/v1/claims`, init)
    last = (await answer.json()) as typeof last
  }
  return { url, visitor, claimId: last.claim_id, receiptId: last.receipt_id, ...prepared }
}

async function measure(served: Served, world: World): Promise<Figure[]> {
  const names = Object.keys(COSTS) as CostClass[]
  for (const name of names) await ask(world, SAMPLES[name], WARM_UP_MS)
  const taken = new Map<CostClass, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const smallest = await cpuOfOne(served, world, 'small')
    for (const name of names) taken.get(name)!.push((await cpuOfOne(served, world, name)) / smallest)
  }
  return names.map((name) => {
    const { tokens } = COSTS[name]
    return figure(`cost of ${name}: ${tokens} tokens`, median(taken.get(name)!), '', { atMost: MOST_OVER * tokens })
  })
}

async function cpuOfOne(served: Served, world: World, name: CostClass): Promise<number> {
  const before = served.cpuMs()
  const requests = await ask(world, SAMPLES[name], ROUND_MS)
  return (served.cpuMs() - before) / requests
}

/** Returns how many were answered. */
async function ask(world: World, sample: Sample, durationMs: number): Promise<number> {
  const end = performance.now() + durationMs
  let count = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        const [path, init] = sample(world)
        const answer = await fetch(world.url + path, { ...init, redirect: 'manual' })
        const text = await answer.text()
        if (answer.status >= 400) throw new Error(`${path} answers with ${answer.status}: ${text.slice(0, 500)}`)
        count++
      }
    }),
  )
  return count
}
