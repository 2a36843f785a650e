// Test run: slow
/**
 * Every route of the service as it ships has a class of cost, and every request takes the tokens of its class from the network that asks.
 * Threat S5 of `security.md`.
 */
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { COSTS, type CostClass } from '@claimcheck/server/http/costs'
import type { FastifyInstance, RouteOptions } from 'fastify'
import t from 'tap'
import { OAUTH } from '../support/application.ts'
import { Installation } from '../support/installation.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { Visitor } from '../support/visitor.ts'

const declared: RouteOptions[] = []
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  fastify.addHook('onRoute', (route) => void declared.push(route))
})

const MANY = 1_000_000
const installation = await Installation.during(t, {
  inProcess: true,
  file: {
    rate_limits: { network: MANY, account: MANY, sign_in: 0 },
    oauth: { ...OAUTH, dynamic_registration: true },
    security_contact: 'mailto:security@example.com',
  },
})

const routes = declared.flatMap(({ method, url, config }) => {
  const { cost, needsCredential = false, needsSession = false, isProbe = false } = config ?? {}
  return [method].flat().map((name) => ({ method: name, url, cost, needsCredential, needsSession, isProbe }))
})

/** What the answer says is left of the network's tokens. */
async function leftAfter(method: string, path: string): Promise<number> {
  const headers = { origin: installation.url, 'content-type': 'application/json' }
  const { headers: answered } = await fetch(installation.url + path, { method, headers, redirect: 'manual' })
  t.match(answered.get('ratelimit-policy'), /^"network";/, `${method} ${path}`)
  return Number(answered.get('ratelimit-remaining'))
}

async function tokensOf(method: string, path: string): Promise<number> {
  const before = await leftAfter('GET', '/no-such-page')
  const tokens = before - (await leftAfter(method, path))
  // The counts began anew between the two.
  return tokens < 0 ? tokensOf(method, path) : tokens
}

/** What the network pays. A credential would pay itself, and the account of a session. */
function tokensOfNetwork({ cost, needsCredential, needsSession }: (typeof routes)[number]): number {
  if (needsCredential) return COSTS.small.tokens
  const { tokens } = COSTS[cost as CostClass]
  return needsSession ? Math.min(tokens, COSTS.page.tokens) : tokens
}

t.test('every route has a class, and every class has a route', async (t) => {
  t.ok(routes.length > 200, `${routes.length} routes`)
  t.strictSame(
    routes.filter(({ cost }) => cost === undefined || !Object.hasOwn(COSTS, cost)),
    [],
  )
  // MCP takes it on top of a message.
  const classes = [...routes.map(({ cost }) => cost), 'verification']
  t.strictSame(new Set(classes), new Set(Object.keys(COSTS)))
})

t.test('what costs more than ten times the smallest answer says why', async (t) => {
  const without = Object.entries(COSTS).filter(([, cost]) => cost.tokens > 10 && !('why' in cost))
  t.strictSame(without, [])
})

t.test('every request takes the tokens of its class', async (t) => {
  const wrong: string[] = []
  for (const route of routes.filter(({ isProbe }) => !isProbe)) {
    const { method, url } = route
    const path = url.replaceAll(/:\w+/g, 'none').replace(/^\*$/, '/*').replaceAll('*', 'none/such')
    const tokens = await tokensOf(method, path)
    if (tokens !== tokensOfNetwork(route)) wrong.push(`${method} ${path}: ${tokens}`)
  }
  t.strictSame(wrong, [])
})

t.test('probes take no tokens, and a good key is not refused for what others used up', async (t) => {
  t.strictSame(
    routes
      .filter(({ isProbe }) => isProbe)
      .map(({ method, url }) => `${method} ${url}`)
      .toSorted(),
    ['/healthz', '/readyz', '/readyz/read'].flatMap((path) => [`GET ${path}`, `HEAD ${path}`]).toSorted(),
  )
  const small = await Installation.start({ inProcess: true, file: { rate_limits: { network: 5 } } })
  t.teardown(() => small.remove())
  const { key } = await small.client('small')
  await minuteWithRoom()
  const statuses = new Set<number>()
  for (let count = 0; count < 7; count++) statuses.add((await small.request('/no-such-page')).status)
  t.strictSame([...statuses], [404, 429])
  for (const path of ['/healthz', '/readyz', '/readyz/read']) t.equal((await small.request(path)).status, 200, path)
  const headers = { authorization: `Bearer ${key}` }
  t.equal((await small.request('/v1/whoami', { headers })).status, 200)
  t.equal((await small.request('/v1/whoami')).status, 429, 'without a key')
})

t.test('what no route fits costs something as well', async (t) => {
  await minuteWithRoom()
  for (const [method, path, status] of [
    ['GET', '/no-such-page', 404],
    ['POST', '/no-such-page', 404],
    ['POST', '/console/no/such/page', 404],
    ['PUT', '/console/sign-in', 404],
    ['DELETE', '/v1/claims', 405],
    ['GET', `/v1/claims/${'x'.repeat(4000)}`, 404],
    ['GET', '/%zz', 404],
  ] as const) {
    const before = await leftAfter('GET', '/no-such-page')
    const answer = await installation.request(path, { method })
    t.equal(answer.status, status, `${method} ${path.slice(0, 30)}`)
    t.equal(before - (await leftAfter('GET', '/no-such-page')), 2, `${method} ${path.slice(0, 30)} and the one before`)
  }
})

t.test(
  'without a session an export or a trial costs the network a page at most, with one the account pays for all',
  async (t) => {
    await minuteWithRoom()
    const visitor = await Visitor.first(installation.host)
    const workspace = await visitor.workspaceId()
    for (const [path, cost] of [
      ['claims/export', 'export'],
      ['audit-trail/export', 'export'],
      ['connections/none/test', 'trial'],
    ] as const) {
      const url = `/console/w/${workspace}/${path}`
      t.equal(await tokensOf('POST', url), Math.min(COSTS[cost].tokens, COSTS.page.tokens), path)
      const left = async () => {
        const before = await visitor.once(`/console/w/${workspace}/claims`)
        t.match(before.headers.get('ratelimit-policy'), /^"account"/)
        return Number(before.headers.get('ratelimit-remaining'))
      }
      const before = await left()
      const body = new URLSearchParams({ _csrf: visitor.csrf!, format: 'csv' })
      const answer = await visitor.once(url, { method: 'POST', body, headers: { origin: installation.url } })
      await answer.text()
      t.match(answer.headers.get('ratelimit-policy'), /^"account"/, path)
      t.equal(before - Number(answer.headers.get('ratelimit-remaining')), COSTS[cost].tokens, path)
    }
  },
)

t.test('each page of somebody signed in has the button to sign out', async (t) => {
  const { id } = await installation.claimcheck.workspaces.create('signed in')
  const visitor = await Visitor.joining(installation.host, id, 'owner', 'Reader')
  const pages: string[] = []
  for (const { url } of routes.filter(({ method, needsSession }) => method === 'GET' && needsSession)) {
    const path = url.replace(':workspace', id).replaceAll(/:\w+/g, 'none')
    const answer = await visitor.once(path)
    const html = await answer.text()
    if (answer.status !== 200 || !/^text\/html/.test(answer.headers.get('content-type')!)) continue
    pages.push(path)
    // Asks who it is, and nothing else.
    if (path !== '/console/confirm' && !html.includes('Sign out')) t.fail(path)
  }
  t.ok(pages.length > 10, `${pages.length} pages`)
})

t.test('the documentation names what each class of routes costs', async (t) => {
  const page = readFileSync('server/docs/configuration.md', 'utf8')
  const [, table = ''] = /\| request \| tokens \|\n([\s\S]*?)\n\n/.exec(page) ?? []
  const named = new Set(
    [...table.matchAll(/\| ([\d; ]+) \|$/gm)].flatMap(([, costs]) => costs!.split('; ').map(Number)),
  )
  t.strictSame(
    [...new Set(Object.values(COSTS).map(({ tokens }) => tokens))].filter((tokens) => !named.has(tokens)),
    [],
  )
})
