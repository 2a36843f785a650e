/** Two connections to one server: a claim is read through the oldest that sees its target, and keeps it. */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import t from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { Installation } from '../support/installation.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const MAILBOX = { use: resolve('build/test/plugins/connected.js'), trusted: true }

t.test('a claim is read through the oldest connection to its server that sees the target', async (t) => {
  const github = await startGitHub()
  t.teardown(() => github.close())
  const [shared, hidden] = await Promise.all(
    ['acme/shared', 'acme/hidden'].map((name) => github.createRepository(name, { isPrivate: true })),
  )
  github.addToken({ token: 'ghp_first', scopes: '', repositories: [shared!] })
  github.addToken({ token: 'ghp_second', scopes: '', repositories: [shared!, hidden!] })
  const push = async (repository: typeof hidden) => {
    const sha = await repository!.commit()
    await repository!.push('main', sha)
    return sha
  }
  const [inShared, inHidden] = await Promise.all([push(shared), push(hidden)])
  const installation = await Installation.during(t, {
    plugins: [{ use: CODEHOST }, MAILBOX],
    env: { ALLOW_PRIVATE: '127.0.0.1' },
    inProcess: true,
  })
  const client = await installation.client('acme')
  const { connections, claims } = installation.claimcheck
  const connect = async (provider: string, options: Record<string, string>) => {
    const connected = await connections.connect(client.workspaceId, provider, options, { userId: null, insists: false })
    if (!('id' in connected)) throw new Error('it is not connected')
    return connected.id
  }
  const first = await connect('github', { base_url: github.url, token: 'ghp_first' })
  const second = await connect('github', { base_url: github.url, token: 'ghp_second' })
  await connect('github', { base_url: github.url, token: 'ghp_first' })
  const submit = (target: string, sha: string) =>
    client.submit({ action: 'codehost.commit.push', target, params: { sha, branch: 'main' } })
  const throughOf = async (claimId: string) => (await claims.detail(client.workspaceId, claimId))?.connectionId

  const seen = (await submit('acme/shared', inShared)).body
  t.match(seen, { verdict: 'verified' })
  t.equal(await throughOf(seen.claim_id), first, 'both see it: the oldest')

  const found = (await submit('acme/hidden', inHidden)).body
  t.match(found, { verdict: 'verified' })
  t.equal(await throughOf(found.claim_id), second, 'the oldest that sees it')
  const { history } = (await claims.detail(client.workspaceId, found.claim_id))!
  t.equal(history.length, 1, 'what another connection refused is no check of the claim')

  const waiting = (await submit('acme/hidden', '0'.repeat(40))).body
  t.match(waiting, { state: 'queued' })
  t.equal(await throughOf(waiting.claim_id), second, 'what is not there yet is looked for where it can be seen')

  const nowhere = (await submit('acme/none', inHidden)).body
  t.match(nowhere, { state: 'queued', last_check: { code: 'forbidden' } })
  t.equal(await throughOf(nowhere.claim_id), first, 'no connection sees it')

  github.revokeToken('ghp_first')
  const later = (await submit('acme/shared', inShared)).body
  t.match(later, { verdict: 'verified' }, 'nor is what refuses everything in the way')
  t.equal(await throughOf(later.claim_id), second)

  const mailbox = { action: 'test.message.send', params: {} }
  await connect('mailbox', { token: 'one-secret-token' })
  await connect('mailbox', { token: 'one-secret-token' })
  t.match((await client.submit({ ...mailbox, agent_id: 'one' })).body, { state: 'queued' }, 'equal connections are one')
  await connect('mailbox', { token: 'other-secret-token' })
  t.match(
    (await client.submit({ ...mailbox, agent_id: 'other' })).body,
    { verdict: 'unverifiable', reason_code: 'claim_ambiguous' },
    'each account has a mailbox of its own',
  )
})
