// Test run: end-to-end
/** Owners have verdicts reported on commits: by credentials of their own, at the host of a connection, in the repositories that they name. */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { startGitea } from '../destinations/forge/gitea.ts'
import { accountId } from '../destinations/forge/gitea-answers.ts'
import { afterFile } from '../support/after-file.ts'
import { Client } from '../support/client.ts'
import { sharedInstallation } from '../support/installation.ts'
import { dump, query } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'token-of-the-reporter'
const US = 'claimcheck-bot'
const NAME = 'claimcheck/codehost.checks.pass'
const shared = sharedInstallation({
  plugins: [{ use: CODEHOST }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  file: { webhooks: { allow_private: ['127.0.0.1'] } },
})

const gitea = await startGitea()
const repository = await gitea.createRepository('acme/app', { createdAt: Date.now() - 86_400_000 })
const sha = await repository.commit()
await repository.push('main', sha)
gitea.addToken({ token: TOKEN, repositories: [repository] })
/** The posted reports, oldest first. */
const posted: { readonly path: string; readonly body: Record<string, string> }[] = []

/** The stand-in, with what it lacks: an account that asks who it is, and posts statuses. */
const front = createServer(async (request, response) => {
  const answer = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.method === 'GET' && request.url !== '/api/v1/user') {
    const { authorization } = request.headers
    const read = await fetch(gitea.origin + request.url, { headers: authorization ? { authorization } : {} })
    const headers = Object.fromEntries([...read.headers].filter(([name]) => /^(?:x-|date|content-type)/.test(name)))
    response.writeHead(read.status, headers).end(await read.text())
    return
  }
  if (request.headers.authorization !== `token ${TOKEN}`) return answer(401, { message: 'no' })
  if (request.method === 'GET') return answer(200, { id: accountId(US), login: US })
  const body = (await json(request)) as Record<string, string>
  posted.push({ path: request.url!, body })
  const state = body.state === 'success' || body.state === 'error' ? body.state : 'failure'
  const id = repository.checks.post({ sha: request.url!.slice(-40), context: body.context!, state, by: US })
  return answer(201, { id })
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
afterFile(async () => {
  front.closeAllConnections()
  front.close()
  await gitea.close()
})

t.test('an owner sets reports up, and verdicts come to commits, which no later claim takes for evidence', async (t) => {
  const installation = await shared()
  const { host, claimcheck, config } = installation
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const by = { userId: null, insists: false }
  const options = { base_url: origin }
  const connection = await claimcheck.connections.connect(workspaceId, 'gitea', options, by)
  if (!('id' in connection)) throw new Error('it is not connected')
  const { key } = await claimcheck.keys.create(workspaceId, 'test')
  const client = new Client(host, workspaceId, key)
  const at = `/console/w/${workspaceId}/developers/webhooks`

  t.match((await owner.get(at)).html, `href="${at}/new-report"`)
  const form = await owner.get(`${at}/new-report`)
  t.match(form.html, connection.id)
  const fields = { format: 'gitea', connection: connection.id, repositories: 'acme/app\r\n', credential: TOKEN }
  const post = (change: Record<string, string>) =>
    owner.post(`${at}/new-report`, Object.entries({ ...fields, ...change }) as [string, string][])
  for (const [change, problem] of [
    [{ credential: 'wrong' }, /did not say whose credentials these are/i],
    [{ format: 'github' }, /choose a connection to github/i],
    [{ connection: 'conn_other' }, /name the connection/i],
    [{ repositories: '' }, /name the repositories/i],
    [{ repositories: 'acme/../app' }, /is no repository/i],
    [{ repositories: 'acme/app?x=1' }, /is no repository/i],
    [{ credential: 'a b' }, /give a token/i],
    [{ format: 'github_app', credential: 'x' }, /choose a connection to github/i],
  ] as const) {
    const refused = await post(change)
    t.match(textOf(refused.html), problem)
    t.notMatch(refused.html, TOKEN)
  }
  const made = await post({})
  t.match(made.path, /\/webhooks\/wht_\w+\?done=report-added$/)
  const page = textOf(made.html)
  t.match(page, /commits at Gitea or Forgejo, as statuses/)
  t.match(page, `account-id:${accountId(US)}`)
  const path = made.path.split('?')[0]!
  t.match(textOf((await owner.post(`${path}/test`)).html), /The test has arrived/)
  t.equal(posted.length, 0)
  t.equal((await owner.get(`${path}/change`)).status, 400)
  t.match(textOf((await owner.post(`${path}/secret`, { overlap: '0m' })).html), /Reports are not changed/)

  repository.checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })
  const unit = { sha, checks: [{ name: 'unit', by: 'account:jenkins' }] }
  const claim = { action: 'codehost.checks.pass', target: 'acme/app', params: unit }
  const { body } = await client.submit(claim)
  t.match(body, { verdict: 'verified' }, JSON.stringify(body))
  for (let tries = 0; posted.length === 0 && tries < 200; tries++) await setTimeout(50)
  t.match(posted, [
    {
      path: `/api/v1/repos/acme/app/statuses/${sha}`,
      body: { state: 'success', context: NAME, target_url: new RegExp(`/r/${body.receipt_id}$`) },
    },
  ])

  repository.checks.post({ sha, context: NAME, state: 'failure', by: US })
  const all = { ...claim, client_claim_id: 'all', params: { sha } }
  const own = (await client.submit(all)).body
  t.match(own.last_check.facts, { counted: 1, failed: 0 }, 'our own report is left out')
  const named = { ...claim, client_claim_id: 'own', params: { sha, checks: [{ name: NAME, by: `account:${US}` }] } }
  t.match((await client.submit(named)).body.last_check, { result: 'failed', code: 'unsupported_target' })

  const stored = await dump(config.databaseUrl)
  t.notOk(stored.includes(TOKEN), 'the token is stored encrypted')
  const [audited] = await query(config.databaseUrl, "SELECT details FROM audit_trail WHERE event = 'webhook.added'")
  t.match(String(audited!.details), `account-id:${accountId(US)}`)
  t.notMatch(JSON.stringify((await client.get('/v1/webhooks')).body), TOKEN)
})
