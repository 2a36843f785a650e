/** A host with connections through rotating refresh tokens, in this process or in another one, of a database that several share. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Credential } from '@claimcheck/core/hosting'
import { credential, defineConnectionType, secret, statusError, Type } from '@claimcheck/core/plugin'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { ConnectionService } from '@claimcheck/server/features/workspaces/connections'
import { createConcurrencyLimit } from '@claimcheck/server/outbound/concurrency-limit'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import { connectedBy } from '@claimcheck/server/plugins/connected'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import type { Test } from 'tap'
import { openStorage } from '../../../test/support/storage.ts'
import { guardOf } from './loopback.ts'
import { registryOf, WORKING } from './registry.ts'

const ACCOUNT: Credential = {
  scheme: 'oauth2',
  grant: 'refreshToken',
  tokenUrl: '{option.token_url}/token',
  clientId: 'id',
  clientSecret: 'secret',
  refreshToken: 'refresh_token',
}

const type = defineConnectionType({
  ...WORKING,
  provider: 'test',
  options: Type.Object(
    {
      url: Type.String(),
      token_url: Type.String(),
      id: Type.String(),
      secret: secret({ description: 'The secret of the client.' }),
      refresh_token: secret({ description: 'The refresh token.' }),
    },
    { additionalProperties: false },
  ),
  credentials: { account: ACCOUNT },
  baseUrl: ({ url }) => url,
  trial: { title: 'Path', description: 'A path.' },
  async probe({ url }, { fetch, now, target }) {
    // What it names is read with the credentials; otherwise they are not tried.
    const answer = target === undefined ? undefined : await fetch(`${url}/${target}`, { auth: credential('account') })
    if (answer?.ok === false) throw statusError(answer, now())
    return { proves: 'works', scopes: [], warnings: [] }
  },
})

export interface HostOptions {
  readonly databaseUrl: string
  readonly folder: string
  /** `host:port` of what it may reach. */
  readonly allowed: readonly string[]
}

export type RefreshingHost = Awaited<ReturnType<typeof openHost>>

export async function openHost(
  { databaseUrl, folder, allowed }: HostOptions,
  change: (storage: OpenedStorage) => OpenedStorage = (storage) => storage,
) {
  const storage = change(await openStorage({ databaseUrl }))
  const outbound = createOutbound({ allowPrivate: [...allowed] })
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const connections = new ConnectionService({
    storage,
    registry: {
      ...registryOf(
        { connections: [type] },
        { manifest: { hosts: ['connection.url'], tokenHosts: ['connection.token_url'] } },
      ),
      actionsFor: () => [],
      aliasesFor: () => [],
    },
    secrets: openSecrets({ secretKey: Buffer.alloc(32, 1), dataDir: folder }),
    outbound,
    slots: createConcurrencyLimit(256),
    budgets: createRateLimitBudgets({ now }),
    destinations: { of: (origin: string) => [origin] },
    now,
    config: { checks: { timeoutMs: 10_000 } },
  })
  return {
    storage,
    connections,
    clock,
    /** The status of a check's answer, or the code of its error. */
    async check(id: string): Promise<string> {
      const opened = await connections.openById(id)
      if (!opened) throw new Error(`there is no connection ${id}`)
      const reach = { hosts: ['connection.url'], tokenHosts: ['connection.token_url'], mayReveal: false }
      const connected = connectedBy(
        { credentials: { account: ACCOUNT }, reach },
        opened,
        connections.refreshesOf(opened),
      )
      const origin = String(opened.options.url)
      return outbound
        .forCheck(guardOf(origin, { now, connected, reach }))
        .fetch(`${origin}/check`, { auth: credential('account') })
        .then(
          ({ status }) => String(status),
          (error: { readonly code: string }) => error.code,
        )
    },
    async close(): Promise<void> {
      await outbound.close()
      await connections.close()
      await storage.close()
    },
  }
}

/** A process that checks once when it gets a line, and says what came of it. */
export async function startChecking(t: Test, options: HostOptions, id: string) {
  const file = fileURLToPath(import.meta.url)
  const child = spawn(process.execPath, [file, JSON.stringify(options), id], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await lines.next()
  return {
    async check(): Promise<string | undefined> {
      child.stdin.write('check\n')
      return (await lines.next()).value
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const [, main, options, id] = process.argv
if (main === fileURLToPath(import.meta.url)) {
  const host = await openHost(JSON.parse(options!) as HostOptions)
  process.stdout.write('open\n')
  for await (const _ of createInterface({ input: process.stdin })) process.stdout.write(`${await host.check(id!)}\n`)
  await host.close()
}
