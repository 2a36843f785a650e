/** Reading changes nothing: no other site's link or picture does, whoever is signed in. Threat S2 of `security.md`. */
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SCHEMA } from '@claimcheck/server/features'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Application, OAUTH } from '../support/application.ts'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { filled } from '../support/console-routes.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { Mailbox } from '../support/mailbox.ts'
import { OpenIdProvider } from '../support/openid-provider.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { openQuerying } from '../support/sql.ts'
import { Visitor } from '../support/visitor.ts'

const mailbox = await Mailbox.open()
const provider = await OpenIdProvider.start()
const installation = await Installation.start({
  // Its routes are read from what runs.
  inProcess: true,
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
  env: { ...mailbox.env, ...provider.env, ALLOW_PRIVATE: '127.0.0.1' },
  file: {
    webhooks: { allow_private: ['127.0.0.1'] },
    oauth: OAUTH,
    sign_in: provider.section,
    security_contact: 'mailto:security@example.com',
    rate_limits: { sign_in: 0 },
  },
})
const db = await openQuerying(installation.config.databaseUrl)
afterFile(async () => {
  await db.close()
  await installation.remove()
  await provider.close()
  await mailbox.close()
})

/** The addresses that keep what they are asked, and what that is. */
const KEEPING: Readonly<Record<string, string>> = {
  'GET /oauth/authorize': 'what the application asks for, until the person has answered',
  'GET /oauth/authorize/:uid': 'the answer of the person, who is led back to the application',
}

/** What every use leaves behind, by table: when a session was last used, counts of limits, and who works until when. */
const OF_USE: Readonly<Record<string, readonly string[] | 'all'>> = {
  sessions: ['last_seen_at', 'expires_at'],
  api_keys: ['last_used_at', 'last_address'],
  rate_counters: 'all',
  leases: 'all',
}

async function database(): Promise<Readonly<Record<string, readonly string[]>>> {
  const state: Record<string, string[]> = {}
  const isSqlite = installation.config.databaseUrl.startsWith('sqlite:')
  for (const { table, isShared } of SCHEMA.tables) {
    if (isShared && isSqlite) continue
    const excepted = OF_USE[table.name] ?? []
    if (excepted === 'all') continue
    const rows = await db.query(`SELECT * FROM ${table.name}`)
    const kept = rows.map((row) => Object.entries(row).filter(([column]) => !excepted.includes(column)))
    state[table.name] = kept.map((row) => JSON.stringify(row)).toSorted()
  }
  return state
}

async function world() {
  const { host, claimcheck } = installation
  provider.open(`${host.url}/console/sign-in/outside/callback`)
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  await Visitor.joining(host, workspace, 'member', 'Mia')
  const [first, mia] = await claimcheck.members.list(workspace)
  const made = await claimcheck.keys.create(workspace, 'build', { agentIds: ['bot'] })
  const connection = await connect(claimcheck, workspace, 'mailbox', { token: 'a-token' })
  const { body: claim } = await new Client(host, workspace, made.key).submit({ agent_id: 'bot' })
  const application = new Application()
  await application.tokens(owner)
  const [grant] = await claimcheck.applications.list(first!.userId)
  const machine = await claimcheck.machines.create(workspace, 'nightly', ['claims:read'])
  const { target: webhook } = await claimcheck.webhooks.add(workspace, {
    format: 'standard',
    url: 'http://127.0.0.1:9/',
    filters: { ...NO_FILTERS, types: ['anchor.landed'] },
  })
  const ids = {
    workspace,
    key: made.id,
    connection: connection.id,
    provider: 'mailbox',
    claim_id: claim.claim_id!,
    receipt_id: claim.receipt_id!,
    file: claim.receipt_id!,
    index: '0',
    agent_id: 'bot',
    member: mia!.id,
    machine: machine.clientId,
    webhook: webhook.id,
    delivery_id: 'msg_none',
    finding_id: 'fnd_none',
    grant: grant!.grantId,
    uid: (await application.ask(owner)).split('/').at(-1)!,
  }
  const links: Readonly<Record<string, string>> = {
    'GET /console/setup/:token': 'none',
    'GET /console/join/:token': await claimcheck.accounts.inviteToken(workspace, 'owner', null),
    'GET /console/reset/:token': await claimcheck.accounts.resetToken(first!.email),
  }
  const queries: Readonly<Record<string, string>> = {
    'GET /console/sign-in/outside/callback': 'code=x&state=y',
    'GET /console/confirm': 'next=/console/account',
    'GET /console/w/:workspace/developers/agents/release': 'agent=bot',
    'GET /console/w/:workspace/retention/change': 'days=30',
  }
  // Those about what was made above.
  while ((await db.query('SELECT id FROM mails')).length > 0) await setTimeout(100)
  return { owner, ids, links, queries }
}

t.test('from another site, with the session of an owner, no address changes the database', async (t) => {
  const { owner, ids, links, queries } = await world()
  const headers = {
    referer: 'https://evil.example/page',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  const routes = servedRoutes().filter(({ method, url }) => method === 'GET' && !KEEPING[`GET ${url}`])
  let [before, shown] = [await database(), 0]
  for (const { url } of routes) {
    const route = `GET ${url}`
    const path = filled({ url: url.replace('*', 'security') }, { ...ids, token: links[route] ?? '' })
    for (const method of ['GET', 'HEAD']) {
      const response = await owner.once(`${path}?${queries[route] ?? ''}`, { method, headers })
      await response.arrayBuffer()
      t.ok(response.status < 500, `${method} ${url}: ${response.status}`)
      if (response.status === 200) shown++
    }
    const after = await database()
    t.strictSame(after, before, route)
    before = after
  }
  t.ok(
    routes.length > 60 && shown > 1.5 * routes.length,
    `${routes.length} addresses, ${shown} of the answers show something`,
  )
  t.match((await owner.get('/console/account')).html, owner.email, 'and the session is still there')
})
