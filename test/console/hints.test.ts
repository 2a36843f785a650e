/** The page of a connection's address for hints: owners make it, its secret is shown once, and replacing or ending it takes effect. */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import t from 'tap'
import { connect } from '../support/connect.ts'
import { sharedInstallation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const CONNECTED = resolve('build/test/plugins/connected.js')
const shared = sharedInstallation({ plugins: [{ use: CODEHOST }, { use: CONNECTED, trusted: true }] })

async function connected(provider: string, options: Record<string, string>) {
  const installation = await shared()
  const { host } = installation
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const { id } = await connect(host.claimcheck, workspaceId, provider, options)
  const path = `/console/w/${workspaceId}/connections`
  return { installation, host, owner, workspaceId, id, path, page: `${path}/${id}/hints` }
}

const GITHUB = { base_url: 'https://github.example.com/api/v3', token: 'a-token' }

t.test('an owner makes the address, and sees its secret once', async (t) => {
  const { installation, host, owner, path, page } = await connected('github', GITHUB)
  t.match((await owner.get(path)).html, `href="${page}"`)
  t.match(textOf((await owner.get(page)).html), /Make an address for hints/)
  const made = await owner.post(page)
  t.equal(made.status, 201)
  const [url = '', secret = ''] = [...made.html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text!)
  t.match(url, /^http:\/\/localhost:\d+\/v1\/hints\/[A-Za-z0-9_-]{43}$/)
  t.match(secret, /^[A-Za-z0-9_-]{43}$/)
  t.match(textOf(made.html), /In the settings of the repository or the organization/)
  const shown = await owner.get(page)
  t.match(shown.html, url)
  t.notMatch(shown.html, secret)
  t.match(textOf(shown.html), /Last hint none with this secret yet/)

  async function hint(by: string): Promise<void> {
    const body = '{"zen":"Design for failure."}'
    const signature = `sha256=${createHmac('sha256', by).update(body).digest('hex')}`
    const headers = { 'x-hub-signature-256': signature, 'content-type': 'application/json' }
    await host.request(new URL(url).pathname, { method: 'POST', body, headers })
  }
  await hint('another')
  t.match(textOf((await owner.get(page)).html), /Last hint none with this secret yet/)
  await hint(secret)
  t.match(textOf((await owner.get(page)).html), /Last hint now/)

  const again = await owner.post(page)
  const [sameUrl, other = ''] = [...again.html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text!)
  t.equal(sameUrl, url, 'the address stays')
  t.not(other, secret)
  await hint(secret)
  t.match(
    textOf((await owner.get(page)).html),
    /Last hint none with this secret yet/,
    'the secret before proves nothing',
  )
  const ended = await owner.post(`${page}/end`)
  t.equal(ended.path, `${path}?done=hints-ended`)
  t.match(textOf((await owner.get(page)).html), /Make an address for hints/)
  const events = await query(
    installation.config.databaseUrl,
    "SELECT event FROM audit_trail WHERE event LIKE 'connection.hints%' ORDER BY position",
  )
  t.strictSame(
    events.map(({ event }) => event),
    ['connection.hints_allowed', 'connection.hints_secret_replaced', 'connection.hints_ended'],
  )
})

t.test(
  'members, owners of other workspaces and connections whose destination tells nothing have no such page',
  async (t) => {
    const { host, workspaceId, page } = await connected('github', GITHUB)
    const member = await Visitor.joining(host, workspaceId, 'member', 'mia')
    for (const answer of [await member.get(page), await member.post(page), await member.post(`${page}/end`)])
      t.equal(answer.status, 403)
    const mailbox = await connected('mailbox', { token: 'a-secret-token' })
    t.equal((await mailbox.owner.get(mailbox.page)).status, 404)
    t.equal((await mailbox.owner.post(mailbox.page)).status, 404)
    t.notMatch((await mailbox.owner.get(mailbox.path)).html, mailbox.page)
    const [, foreign] = page.split('/connections/')
    t.equal((await mailbox.owner.post(`${mailbox.path}/${foreign}`)).status, 404, "another workspace's connection")
    t.strictSame(await host.claimcheck.storage.read.hints.addressOf(foreign!.split('/')[0]!), undefined)
  },
)

t.test('a connection that is removed takes its address with it', async (t) => {
  const { host, owner, id, path, page } = await connected('github', GITHUB)
  await owner.post(page)
  t.ok(await host.claimcheck.storage.read.hints.addressOf(id))
  await owner.post(`${path}/${id}/disconnect`)
  t.equal(await host.claimcheck.storage.read.hints.addressOf(id), undefined)
})
