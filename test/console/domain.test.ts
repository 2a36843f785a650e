/** Whose a bound agent is, from the form of the console to what readers of its receipts see. Threat A9 of `security.md`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { runClaimcheck } from '../support/command.ts'
import { Installation } from '../support/installation.ts'
import { startNameServer } from '../support/name-server.ts'
import { textOf, Visitor } from '../support/visitor.ts'

/** One with a DNS that the test writes. */
async function start(t: Test) {
  const installation = await Installation.during(t, { inProcess: true })
  const names = await startNameServer(t)
  const outbound = createOutbound({ allowPrivate: [] }, { nameServers: [names.address] })
  t.teardown(() => outbound.close())
  Object.assign(installation.claimcheck.outbound, { textRecords: outbound.textRecords })
  return { installation, names }
}

/** An owner with a key that is bound to `release-bot`. */
async function tenant({ host }: Installation, name: string) {
  const owner = await Visitor.owner(host, name)
  const workspaceId = await owner.workspaceId()
  const { key } = await host.claimcheck.keys.create(workspaceId, 'bound', { agentIds: ['release-bot'] })
  const path = `/console/w/${workspaceId}/developers`
  await owner.get(path)
  return { owner, workspaceId, path, client: new Client(host, workspaceId, key) }
}

async function receiptOf({ host }: Installation, client: Client, agentId = 'release-bot') {
  const { body } = await client.submit({ agent_id: agentId })
  const { receipt_id } = await client.decided(body.claim_id)
  const { body: receipt } = await host.request(`/v1/receipts/${receipt_id}`)
  return receipt
}

t.test('a reader tells the agents of two workspaces apart, and whose domain DNS showed', async (t) => {
  const { installation, names } = await start(t)
  const [acme, mallory] = [await tenant(installation, 'acme'), await tenant(installation, 'mallory')]
  const before = (await receiptOf(installation, acme.client)).body.agent
  t.match(before, { id: 'release-bot', bound: true, pseudonym: /^[A-Za-z0-9_-]{43}$/ })
  t.equal(before.domain, undefined)

  const saved = await acme.owner.post(`${acme.path}/domain`, { domain: 'acme.com' })
  t.equal(saved.path, `${acme.path}?done=domain-changed`)
  const [, name, value] = /(_claimcheck\.acme\.com)\. IN TXT "([^"]+)"/.exec(textOf(saved.html))!
  t.match(textOf(saved.html), /Receipts do not name acme\.com: its record was not found/)
  t.match(textOf(saved.html), /release-bot bound .*…/, 'owners see the pseudonym')
  t.ok(saved.html.includes(before.pseudonym))
  const host = new URL(installation.url).host
  t.match(value, new RegExp(`^claimcheck=${host.replaceAll('.', '\\.')}/`))

  names.records.set(name!, [value!])
  t.match(
    textOf((await acme.owner.post(`${acme.path}/domain`, { domain: 'acme.com' })).html),
    /Receipts of bound agents name acme\.com/,
  )
  await mallory.owner.post(`${mallory.path}/domain`, { domain: 'acme.com' })

  const proven = await receiptOf(installation, acme.client)
  t.strictSame(proven.body.agent, { ...before, domain: 'acme.com' })
  const other = (await receiptOf(installation, mallory.client)).body.agent
  t.match(other, { id: 'release-bot', bound: true })
  t.not(other.pseudonym, before.pseudonym)
  t.equal(other.domain, undefined, 'another workspace proves nothing by the same record')
  const { key } = await installation.claimcheck.keys.create(acme.workspaceId, 'open')
  const open = await receiptOf(installation, new Client(installation.host, acme.workspaceId, key), 'agent-1')
  t.strictSame(open.body.agent, { id: 'agent-1' }, 'an agent that is not bound has neither')

  const said = [
    /Receipts of this issuer are of this agent if they have its pseudonym/,
    /saw in DNS that acme\.com is the workspace’s own/,
  ]
  const page = textOf(await (await fetch(`${installation.url}/r/${proven.body.receipt_id}`)).text())
  for (const sentence of said) t.match(page, sentence)
  t.ok(page.includes(before.pseudonym))
  const file = join(t.testdir(), 'receipt.json')
  writeFileSync(file, JSON.stringify(proven))
  const args = ['verify', file, '--keys', `${installation.url}/.well-known/poaw-keys.json`]
  const checked = await runClaimcheck(installation.folder, args, installation.env)
  t.equal(checked.code, 0, checked.stderr)
  for (const sentence of said) t.match(checked.stdout.replace(/\s+/g, ' '), sentence)
  t.match(checked.stdout, new RegExp(`pseudonym of the agent +${before.pseudonym}`))
  t.match(checked.stdout, /domain of its workspace +acme\.com/)
  writeFileSync(file, JSON.stringify({ ...proven, body: { ...proven.body, agent: { ...other, domain: 'acme.com' } } }))
  t.equal((await runClaimcheck(installation.folder, args, installation.env)).code, 1, 'and nobody writes them in later')

  names.records.set(name!, [])
  await acme.owner.post(`${acme.path}/domain`, { domain: 'acme.com' })
  t.strictSame((await receiptOf(installation, acme.client)).body.agent, before, 'what is gone is in no new receipt')
  const doctor = await runClaimcheck(installation.folder, ['doctor'], installation.env)
  t.match(doctor, { code: 0 }, doctor.stdout + doctor.stderr)
})

t.test('only owners name the domain of a workspace, and a wrong one is explained', async (t) => {
  const { installation } = await start(t)
  const { owner, path, workspaceId } = await tenant(installation, 'acme')
  const wrong = await owner.post(`${path}/domain`, { domain: 'https://acme.com' })
  t.equal(wrong.status, 422)
  t.match(textOf(wrong.html), /the domain is as before: a domain is a public name such as acme\.com/)
  t.match(wrong.html, 'value="https://acme.com"')
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'Mia')
  await member.get(path)
  t.equal((await member.post(`${path}/domain`, { domain: 'acme.com' })).status, 403)
})
