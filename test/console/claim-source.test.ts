/**
 * What a claim's page says of where it was read, of what its verdict vouches for, and of several connections that fit.
 * Threat W1 of `security.md`.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { afterFile } from '../support/after-file.ts'
import { type ClaimsConsole, claimsConsole } from '../support/claims-console.ts'
import { connect } from '../support/connect.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { textOf } from '../support/visitor.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const SHA = '0123456789abcdef0123456789abcdef01234567'

const github = await startGitHub()
afterFile(() => github.close())
const shared = sharedInstallation({ plugins: [SCRIPTED, { use: CODEHOST }], env: { ALLOW_PRIVATE: '127.0.0.1' } })

async function person(t: Test): Promise<ClaimsConsole> {
  return claimsConsole(t, shared)
}

async function pageOf({ owner, path }: ClaimsConsole, claimId: string): Promise<string> {
  return textOf((await owner.get(`${path}/${claimId}`)).html)
}

async function connectGitHub({ installation, workspaceId }: ClaimsConsole, address: 'published' | 'withheld') {
  const options = { base_url: github.url }
  const by = { userId: null, insists: false, address }
  return installation.claimcheck.connections.connect(workspaceId, 'github', options, by)
}

/** A claim about a commit that was pushed now. */
async function pushed(slug: string, more: object = {}) {
  const repository = await github.createRepository(slug)
  const sha = await repository.commit()
  await repository.push('main', sha)
  return { action: 'codehost.commit.push', target: slug, params: { sha, branch: 'main', ...more } }
}

t.test('a verified claim says where it was read, by whose log, and what that does not vouch for', async (t) => {
  const all = await person(t)
  await connectGitHub(all, 'published')
  const claim = await pushed('acme/named', { pusher: 'nobody-there' })
  const { sha } = claim.params
  const { body } = await all.client.submit(claim)
  t.match(await all.client.decided(body.claim_id), { verdict: 'verified' })
  const text = await pageOf(all, body.claim_id)
  t.match(text, `Commit ${sha.slice(0, 12)} was on main of acme/named in time verified It was there `)
  t.match(text, `The agent says: Commit ${sha.slice(0, 12)} was pushed to main of acme/named.`)
  t.match(text, 'Repository acme/named Action Push of a commit codehost.commit.push')
  t.match(text, `Repository acme/named acme/named Commit ${sha} ${sha} Branch main main Pusher nobody-there –`)
  t.match(text, /Branch listed – true .*Pushed at – 2/)
  t.match(text, /Checked by \S*codehost/)
  t.match(text, `Destination ${github.url} The workspace or the issuer chose this destination, and the issuer does not`)
  t.match(text, 'Only this workspace reads here that this workspace chose it, as GitHub.')
  t.match(text, 'Its recipients read “ Verified, at a destination that the issuer does not list ”')
  const { receipt_id } = await all.client.decided(body.claim_id)
  const shown = textOf((await all.owner.get(`/r/${receipt_id}`)).html)
  t.match(
    shown,
    /Verified, at a destination that the issuer does not list/,
    'as the page of the receipt says to anybody',
  )
  t.match(shown, `${github.url} The workspace or the issuer chose this destination`)
  t.match(text, /It was pushed at 2\S+, by the destination's own log\./)
  t.match(text, /The destination's own log names another pusher than the claim\./)
  t.match(text, /It does not say who brought it there, or that it was new\./)
  t.match(text, /The evidence : every check, from which anyone can recompute the verdict/)
})

t.test('an address that the workspace withholds is told as that, and is nowhere on the page', async (t) => {
  const all = await person(t)
  await connectGitHub(all, 'withheld')
  const { body } = await all.client.submit(await pushed('acme/hidden'))
  await all.client.decided(body.claim_id)
  const text = await pageOf(all, body.claim_id)
  t.match(text, 'A destination with a withheld address The workspace chose this destination.')
  t.notMatch(text, github.url)
})

t.test('a place that is read without a connection was not chosen by the workspace', async (t) => {
  const all = await person(t)
  const { body } = await all.client.submit()
  const text = await pageOf(all, body.claim_id)
  t.match(text, 'https://example.com The workspace or the issuer chose this destination')
  t.match(text, 'Only this workspace reads here that this service chose it')
})

t.test('a claim of which nothing was read does not say where', async (t) => {
  const all = await person(t)
  const { body } = await all.client.submit({ action: 'other.thing.do', params: {} })
  const text = await pageOf(all, body.claim_id)
  t.notMatch(text, 'Destination')
})

t.test('a claim that several connections fit names the hosts to choose from', async (t) => {
  const all = await person(t)
  const { claimcheck } = all.installation
  await connectGitHub(all, 'withheld')
  const git = await connect(claimcheck, all.workspaceId, 'git', { base_url: 'https://127.0.0.1:1/team/sub/' })
  const claim = { action: 'codehost.commit.push', target: 'acme/app', params: { sha: SHA, branch: 'main' } }
  const { body } = await all.client.submit(claim)
  t.match(body, { verdict: 'unverifiable', reason_code: 'claim_ambiguous' })
  const { host } = new URL(github.url)
  t.match(
    await pageOf(all, body.claim_id),
    `name the one to read with host in its params: ${host} , 127.0.0.1:1/team/sub .`,
  )
  const chosen = await all.client.submit({ ...claim, params: { ...claim.params, host: '127.0.0.1:1/team/sub' } })
  t.not(chosen.body.reason_code, 'claim_ambiguous', 'such a host is taken')

  const other = { base_url: 'https://127.0.0.1:1/team/sub', prunes_at_once: true }
  const twin = await connect(claimcheck, all.workspaceId, 'git', other)
  t.match(
    await pageOf(all, body.claim_id),
    `in its params: ${host} . 2 others have no host that names one of them alone`,
  )
  for (const { id } of [git, twin]) await claimcheck.connections.remove(id)
  t.match(await pageOf(all, body.claim_id), /That is no longer so: submit it again/)
})

t.test('connections to one address, by which an answer counts otherwise, are told to be alike', async (t) => {
  const all = await person(t)
  for (const prunes_at_once of [false, true]) {
    const options = { base_url: 'https://127.0.0.1:1', prunes_at_once }
    await connect(all.installation.claimcheck, all.workspaceId, 'git', options)
  }
  const claim = { action: 'codehost.commit.push', target: 'acme/app', params: { sha: SHA, branch: 'main' } }
  const { body } = await all.client.submit(claim)
  t.match(await pageOf(all, body.claim_id), /They have no host that names one of them alone/)
})
