/** The real HTTP layer on a real socket, over services in memory. */

import { type IncomingHttpHeaders, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { ProfileList } from '@claimcheck/core/api'
import { type ActionProfile, Type } from '@claimcheck/core/plugin'
import { CLOSING } from '@claimcheck/core/rules'
import { createMeters } from '@claimcheck/server/base/meters'
import { NO_TRACING } from '@claimcheck/server/base/tracing'
import type { ClaimService } from '@claimcheck/server/features/claims/claims'
import { claimsFeature } from '@claimcheck/server/features/claims/feature'
import { profileList } from '@claimcheck/server/features/claims/profile-list'
import { logFeature } from '@claimcheck/server/features/log/feature'
import type { LogService } from '@claimcheck/server/features/log/log'
import type { MetricsSettings } from '@claimcheck/server/features/monitoring/config'
import { monitoringFeature } from '@claimcheck/server/features/monitoring/feature'
import { securityScheme } from '@claimcheck/server/features/oauth/feature'
import { receiptsFeature } from '@claimcheck/server/features/receipts/feature'
import type { ReceiptService } from '@claimcheck/server/features/receipts/receipts'
import type { ConnectionService } from '@claimcheck/server/features/workspaces/connections'
import { workspacesFeature } from '@claimcheck/server/features/workspaces/feature'
import type { Feature } from '@claimcheck/server/host/feature'
import type { Metrics, Readiness } from '@claimcheck/server/host/monitoring'
import { type AppOptions, buildApp, type RouteGroup } from '@claimcheck/server/http/app'
import type { Keys } from '@claimcheck/server/http/auth'
import { createCounters } from '@claimcheck/server/http/counters'
import type { FastifyBaseLogger } from 'fastify'
import { words } from '../../support/profile.ts'
import { UNREAD } from '../../support/rows.ts'
import {
  credentialOf,
  memoryClaims,
  memoryConnections,
  memoryKeys,
  memoryLog,
  memoryReceipts,
  NOW,
} from './services.ts'

export const KEY = `svc_sk_${'k'.repeat(43)}`
export const OTHER_KEY = `svc_sk_${'o'.repeat(43)}`
export const WORKSPACE = 'ws_1'

export const PROFILE: ActionProfile = {
  action: 'codehost.commit.push',
  version: '1',
  summary: 'A commit is on a branch.',
  words,
  aliases: { 'github.commit.push': { providers: ['github'] } },
  target: Type.String({ pattern: '^[^/]+/[^/]+$' }),
  params: Type.Object(
    {
      sha: Type.String({ pattern: '^[0-9a-fA-F]{40}$' }),
      branch: Type.String({ title: 'Branch', minLength: 1, maxLength: 255 }),
    },
    { additionalProperties: false },
  ),
  facts: Type.Object({}),
  required: { sha: 'content' },
  toleranceMs: 600_000,
  deadlineMs: 900_000,
  maxDeadlineMs: 86_400_000,
  rulesVersion: 1,
  access: { permission: 'Contents: read', anonymous: true },
}

export const UNLIMITED = { network: 0, key: 0, workspace: 0, account: 0, refusals: 0 }

export type LogLine = { readonly level: string; readonly fields: Record<string, unknown>; readonly message: string }

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

export interface Ask {
  readonly method?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
  /** Sends the body in pieces, without saying its length. */
  readonly chunked?: boolean
}

interface Services {
  readonly claims: ClaimService
  readonly keys: Keys
  readonly log: LogService
  readonly receipts: ReceiptService
  readonly connections: Pick<ConnectionService, 'list'>
}

/** What takes the place of the service's own, and routes beside them. */
interface Over extends Partial<Omit<AppOptions, 'routes' | 'access'>> {
  readonly services?: Services
  readonly keys?: Parameters<typeof memoryKeys>[0]
  readonly published?: ProfileList
  readonly keyDocument?: () => Promise<object | string>
  readonly readiness?: () => Promise<Readiness>
  readonly metrics?: Metrics
  readonly metricsSettings?: Partial<MetricsSettings>
  readonly securityContact?: string | undefined
  readonly now?: () => number
  readonly more?: readonly RouteGroup[]
}

const SERVICES = (claims: ClaimService, keys: Keys): Services => ({
  claims,
  keys,
  log: memoryLog(),
  receipts: memoryReceipts({}),
  connections: memoryConnections([
    {
      id: 'conn_1',
      workspaceId: WORKSPACE,
      provider: 'github',
      options: { owners: ['acme'] },
      scopes: ['contents:read'],
      ...UNREAD,
      name: 'Git, acme',
      usualName: 'Git, acme',
      connectedAt: NOW,
      disconnectedAt: null,
      actions: ['codehost.commit.push'],
      aliases: [],
    },
  ]),
})

const REGISTRY = {
  profiles: () => [PROFILE],
  publicActions: () => ['codehost.commit.push'],
  publicAliases: () => [],
}

export async function startApp(over: Over = {}) {
  const lines: LogLine[] = []
  const claims = memoryClaims()
  const keys = memoryKeys(
    over.keys ?? {
      [KEY]: credentialOf('key_1', WORKSPACE),
      [OTHER_KEY]: credentialOf('key_2', 'ws_2'),
    },
  )
  const { services = SERVICES(claims, keys), keys: _, securityContact, metricsSettings, more = [], ...options } = over
  const parts = {
    ...services,
    registry: REGISTRY,
    published: async () => over.published ?? profileList([PROFILE], CLOSING),
    keyDocument: over.keyDocument ?? (async () => ({ issuer: 'Claimcheck' })),
    readiness: over.readiness ?? (async () => ({ ok: true, problems: [], reasons: [], warnings: [] })),
    readReadiness: async () => ({ ok: true, problems: [], reasons: [], warnings: [] }),
    metrics: over.metrics ?? {
      contentType: 'text/plain; version=0.0.4',
      text: async () => 'claimcheck_log_tree_size 1\n',
    },
    now: over.now ?? (() => NOW),
    isActive: () => false,
    config: {
      metrics: { listen: undefined, token: undefined, ...metricsSettings },
      publicUrl: over.publicUrl,
      trustProxy: over.trustProxy ?? 0,
      securityContact,
    },
  }
  const served: readonly Feature[] = [claimsFeature, workspacesFeature, receiptsFeature, logFeature, monitoringFeature]
  const routes = await Promise.all(served.map((feature) => feature.routes!(parts)))
  const app = await buildApp({
    access: {
      keys: services.keys,
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' }, oauth: securityScheme(over.publicUrl) },
    },
    routes: [...routes.flat(), ...more],
    rateLimits: UNLIMITED,
    connections: { most: 0, perAddress: 0 },
    meters: createMeters(),
    tracing: NO_TRACING,
    counters: createCounters({ storage: { shared: undefined }, now: () => NOW }),
    trustProxy: 0,
    logger: collectLines(lines),
    ...options,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  return {
    app,
    claims,
    keys,
    lines,
    port,
    ask: (path: string, options: Ask = {}) => ask(port, path, options),
    post: (body: unknown, options: Ask = {}) =>
      ask(port, '/v1/claims', {
        method: 'POST',
        key: KEY,
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        ...options,
        headers: { 'content-type': 'application/json', ...options.headers },
      }),
    close: () => app.close(),
  }
}

// node:http and not fetch, which would tidy up the paths and headers that are the point of some tests.
function ask(
  port: number,
  path: string,
  { method = 'GET', key, headers = {}, body, chunked = false }: Ask,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const outgoing = request(
      { host: '127.0.0.1', port, path, method, headers: { ...authorization, ...headers } },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = /^application\/json/.test(incoming.headers['content-type'] ?? '')
          const json = isJson && text !== '' ? JSON.parse(text) : undefined
          resolve({ status: incoming.statusCode!, headers: incoming.headers, text, json })
        })
      },
    )
    outgoing.on('error', reject)
    if (body === undefined) outgoing.end()
    else if (!chunked) outgoing.setHeader('content-length', Buffer.byteLength(body)).end(body)
    else {
      outgoing.setHeader('transfer-encoding', 'chunked')
      for (let from = 0; from < body.length; from += 8192) outgoing.write(body.slice(from, from + 8192))
      outgoing.end()
    }
  })
}

/** What a socket answers to these bytes. */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

function collectLines(lines: LogLine[]): FastifyBaseLogger {
  const at =
    (level: string) =>
    (fields: unknown, message = '') => {
      lines.push({ level, fields: fields as Record<string, unknown>, message })
    }
  const logger = {
    level: 'trace',
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    silent: () => {},
    child: () => logger,
  } as unknown as FastifyBaseLogger
  return logger
}

export const CLAIM = {
  client_claim_id: 'run-1',
  agent_id: 'release-bot',
  action: 'codehost.commit.push',
  target: 'octo-org/hello-world',
  params: { sha: 'a'.repeat(40), branch: 'main' },
  claimed_at: '2026-09-25T14:02:11.000Z',
}
