/** A request of each class of routes, of the usual ones a costly one, and the world that they are about. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import type { CostClass } from '@claimcheck/server/http/costs'
import { connect } from '../../test/support/connect.ts'
import type { Host } from '../../test/support/host.ts'
import { SCRIPTED } from '../../test/support/installation.ts'
import { PASSWORD, Visitor } from '../../test/support/visitor.ts'
import { createWorkspace } from './installation.ts'

export const PLUGINS = [SCRIPTED, { use: resolve('build/test/plugins/reading.js'), trusted: true }]
const CLAIMS = 200

/** Runs a destination that answers every request. @param work gets its host and port */
export async function withDestination<T>(work: (address: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => response.end())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    return await work(`127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The claims and receipts that requests are about. */
export interface World {
  readonly url: string
  readonly key: string
  readonly workspaceId: string
  readonly connectionId: string
  readonly claimId: string
  readonly receiptId: string
  readonly machine: { readonly id: string; readonly secret: string }
  readonly visitor: Visitor
}

export type Sample = (world: World) => readonly [path: string, init?: RequestInit]

const JSON_TYPE = { 'content-type': 'application/json' }
const bearer = (key: string) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` })
let made = 0

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
  hint: () => [`/v1/hints/${'A'.repeat(43)}`, { method: 'POST', headers: JSON_TYPE, body: HINT }],
  search_index: () => ['/docs/search.json'],
  mcp: ({ key }) => ['/mcp', { method: 'POST', headers: { ...bearer(key), ...MCP }, body: MCP_CALL }],
  verification: ({ key, receiptId }) => [
    '/mcp',
    { method: 'POST', headers: { ...bearer(key), ...MCP }, body: callOf('verify_receipt', { receipt_id: receiptId }) },
  ],
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
  export: ({ url, visitor, workspaceId }) => [
    `/console/w/${workspaceId}/claims/export`,
    {
      method: 'POST',
      headers: { origin: url, ...cookiesOf(visitor) },
      body: new URLSearchParams({ _csrf: visitor.csrf!, format: 'csv' }),
    },
  ],
  trial: ({ url, visitor, workspaceId, connectionId }) => [
    `/console/w/${workspaceId}/connections/${connectionId}/test`,
    {
      method: 'POST',
      headers: { origin: url, ...cookiesOf(visitor) },
      body: new URLSearchParams({ _csrf: visitor.csrf! }),
    },
  ],
}

/** A message of a usual size. */
const HINT = JSON.stringify({ repository: { full_name: 'acme/api' }, text: 'x'.repeat(20_000) })
const MCP = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
const MCP_CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

function callOf(name: string, given: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })
}

export function claimText(): string {
  const number = ++made
  return JSON.stringify({
    client_claim_id: `run-${number}`,
    agent_id: `agent-${number % 7}`,
    action: 'test.outcome.reach',
    target: `place ${number}`,
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
  })
}

export function cookiesOf({ cookies }: Visitor) {
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

/** @param base_url answers every request */
export async function prepareWorld(claimcheck: Claimcheck, base_url: string) {
  const { workspaceId, key } = await createWorkspace(claimcheck)
  const { id: connectionId } = await connect(claimcheck, workspaceId, 'pages', { base_url, name: 'pages' })
  const { clientId: id, clientSecret: secret } = await claimcheck.machines.create(workspaceId, 'bench', ['claims:read'])
  const invitation = await claimcheck.accounts.inviteToken(workspaceId, 'owner', null)
  return { workspaceId, key, connectionId, machine: { id, secret }, invitation }
}

/** @param url of the host that serves what was prepared @param claims how many there are then */
export async function enterWorld(
  url: string,
  prepared: Awaited<ReturnType<typeof prepareWorld>>,
  claims = CLAIMS,
): Promise<World> {
  const visitor = await Visitor.enter({ url } as Host, `/console/join/${prepared.invitation}`, 'bench')
  await visitor.get(`/console/w/${prepared.workspaceId}/connections`)
  let last = { claim_id: '', receipt_id: '' }
  for (let count = 0; count < claims; count++) {
    const init = { method: 'POST', headers: bearer(prepared.key), body: claimText() }
    const answer = await fetch(`${url}/v1/claims`, init)
    last = (await answer.json()) as typeof last
  }
  return { url, visitor, claimId: last.claim_id, receiptId: last.receipt_id, ...prepared }
}
