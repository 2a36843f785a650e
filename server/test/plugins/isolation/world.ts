/** A folder as an operator has it, with a plugin in a package of its own, and a destination that it reads. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutSecretValues } from '@claimcheck/core/hosting'
import type { Connection, Logger } from '@claimcheck/core/plugin'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { connectedBy } from '@claimcheck/server/plugins/connected'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import type { Test } from 'tap'
import { makePluginPackage } from '../../../../test/support/plugin-package.ts'

export const TOKEN = 'a-token-that-nobody-guesses'
/** Of the path. */
export const HOOK = 'h00k-of-the-deeds'

interface Line {
  readonly fields: Readonly<Record<string, unknown>>
  readonly text: string
}

/**
 * In a folder that is removed after the test.
 * @param others the packages that it depends on beside core, and where they are
 */
export function installedPlugin(
  t: Test,
  built: string,
  others: Readonly<Record<string, string>> = {},
): { readonly folder: string; readonly use: string } {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-plugin-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, use: makePluginPackage(folder, built, others) }
}

/** As large as an answer may be. */
export const LARGE_BYTES = 5 * 1024 * 1024
const BODIES: Readonly<Record<string, Buffer>> = {
  '/large': Buffer.alloc(LARGE_BYTES, 'x'),
  '/controls': Buffer.alloc(LARGE_BYTES, 1),
  '/quotes': Buffer.alloc(LARGE_BYTES, '"'),
}

/** Answers each page with JSON, and 404 for `missing`; `/echo` repeats the credential. */
export async function destination(t: Test) {
  let large = 0
  const server = createServer(({ url, headers }, response) => {
    if (url === '/large') large++
    if (url === `/${HOOK}/page`) return void response.end('{}')
    const status = url === '/missing' ? 404 : 200
    response.writeHead(headers.authorization === `Bearer ${TOKEN}` ? status : 401, {
      'content-type': 'application/json',
    })
    const body = BODIES[url!]
    if (body !== undefined) response.end(body)
    else if (url === '/torn') response.write(Buffer.alloc(LARGE_BYTES, 'x'), () => response.destroy())
    else response.end(url === '/echo' ? JSON.stringify({ sent: headers.authorization }) : '{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, largeAnswers: () => large }
}

/** The plugin of deeds as the service loads it, and checks of it as the service makes them. */
export async function startDeeds(t: Test, options: { readonly trusted?: boolean; readonly memoryMib?: number } = {}) {
  const { folder, use } = installedPlugin(t, 'build/server/test/plugins/isolation/deeds.js')
  const { url, port, largeAnswers } = await destination(t)
  const lines: Line[] = []
  const log = (fields: Line['fields'], text: string) => void lines.push({ fields, text })
  const logger = { debug: log, info: log, warn: log, child: () => logger } as Logger & { child(): Logger }
  const config = { plugins: [{ use, with: {}, ...options }], pluginDir: folder, dataDir: join(folder, 'data') }
  const registry = await loadPlugins(config, { logger: logger as never, now: Date.now })
  const outbound = createOutbound({ allowPrivate: [`127.0.0.1:${port}`] })
  const [plugin] = registry.plugins
  t.teardown(async () => {
    await plugin!.parts.close()
    await outbound.close()
  })
  const { verifier } = registry.verifierFor('test.deed.do')!
  const type = registry.connectionType('deeds')!
  const connection: Connection = {
    id: 'conn_1',
    provider: 'deeds',
    options: { base_url: url, token: TOKEN, hook: HOOK },
  }

  /** What the check returns; its error's name and code as a text. */
  async function check(
    target: string,
    deed?: string,
    at?: string,
    limitMs = 60_000,
    workspaceId = 'wsp_1',
  ): Promise<unknown> {
    const timer = new AbortController()
    const limit = setTimeout(() => timer.abort(), limitMs)
    if (limitMs === 0) timer.abort()
    const requests = outbound.forCheck({
      timer,
      now: Date.now,
      origin: new URL(url).origin,
      connected: connectedBy(type, connection),
      reach: verifier.reach,
      pace: verifier.pace,
      secrets: withoutSecretValues(type, connection.options).secrets,
      limits: verifier.limits,
    })
    const params = { ...(deed === undefined ? {} : { deed }), ...(at === undefined ? {} : { at }) }
    const now = Date.now()
    const claim = { action: 'test.deed.do', target, params, claimedAt: now, deadlineAt: now + 60_000, submittedAt: now }
    try {
      const tenant = { workspaceId, payer: workspaceId }
      return withSpaces(await verifier.check({ claim, connection, previous: [], requests, timer, tenant, origin: url }))
    } catch (error) {
      const { name, code } = error as { name: string; code?: string }
      return code === undefined ? name : `${name} ${code}`
    } finally {
      clearTimeout(limit)
      timer.abort()
    }
  }

  return { check, plugin: plugin!, type, connection, lines, folder, url, largeAnswers }
}

/** No fact has words with spaces: the plugin of deeds writes a dot for each. */
function withSpaces(seen: unknown): unknown {
  const { facts } = seen as { readonly facts?: { readonly told?: string } }
  if (facts?.told === undefined) return seen
  return { ...(seen as object), facts: { ...facts, told: facts.told.replaceAll('·', ' ') } }
}
