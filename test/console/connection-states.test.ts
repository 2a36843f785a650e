/** What the connections screen says of a connection: that it works, that it is reached, that it is refused; and when its credentials end. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { status } from '../destinations/faults.ts'
import { startGitHub } from '../destinations/forge/github.ts'
import { GitServer } from '../destinations/git-server.ts'
import { afterFile } from '../support/after-file.ts'
import { Client } from '../support/client.ts'
import { sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'ghp_a-token-text'

const shared = sharedInstallation({ plugins: [{ use: CODEHOST }], env: { ALLOW_PRIVATE: '127.0.0.1' } })
const github = await startGitHub()
afterFile(() => github.close())
github.addToken({ token: TOKEN, scopes: 'read:org' })

async function workspace() {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const path = `/console/w/${workspaceId}/connections`
  await owner.get(path)
  return {
    ...{ host, owner, workspaceId, path, connections: host.claimcheck.connections },
    connect: (fields: Record<string, string>, provider = 'github') => owner.post(`${path}/new/${provider}`, fields),
  }
}

t.test(
  'wrong credentials of a git server never look as if they worked, and a refused check shows at once',
  async (t) => {
    const { host, owner, workspaceId, path, connections, connect } = await workspace()
    const server = await GitServer.start()
    t.teardown(() => server.close())
    const credentials = { username: 'reader', password: 'right-token-text' }
    const repository = await server.createRepository('team/app', { credentials })
    const sha = await repository.commit()
    await server.createRepository('team/open')
    const fields = { option_base_url: server.url, option_username: 'reader', option_password: 'wrong-token-text' }
    const refused = await connect({ ...fields, try: 'team/app' }, 'git')
    t.match(textOf(refused.html), /Not connected: the destination refused the credentials/)
    t.notMatch(refused.html, 'name="insist"')

    const open = await connect({ ...fields, try: 'team/open' }, 'git')
    t.equal(open.path, `${path}?done=connected-reached`)
    t.match(textOf(open.html), /Reached, but not tried, now : .* Anybody can read the repository that was tried/)
    t.notMatch(open.html, /class="health working"/)
    const [{ id } = { id: '' }] = await connections.list(workspaceId)
    t.equal((await owner.post(`${path}/${id}/test`)).path, `${path}?done=connection-reached`)

    const { key } = await host.claimcheck.keys.create(workspaceId, 'test')
    const client = new Client(host, workspaceId, key)
    const claim = { action: 'codehost.commit.push', target: 'team/app', params: { sha, branch: 'main' } }
    t.match((await client.submit(claim)).body, { last_check: { code: 'unauthorized' } })
    // The service notes it a little later.
    while ((await connections.list(workspaceId))[0]?.state !== 'refused') await setTimeout(50)
    t.match(await connections.list(workspaceId), [{ state: 'refused', trialTarget: 'team/open' }])
    const shown = await owner.get(path)
    t.match(
      textOf(shown.html),
      /A connection could not be read\. .* Refused [^:]+: the destination refused the credentials/,
    )

    const tested = await owner.post(`${path}/${id}/test`, { try: 'team/app' })
    t.equal(tested.path, `${path}?done=connection-refused`)
    const replaced = await owner.post(`${path}/${id}/credentials`, {
      option_password: 'right-token-text',
      try: 'team/app',
    })
    t.equal(replaced.path, `${path}?done=replaced-warned`)
    t.match(textOf(replaced.html), /Works: read team\/app now/)
    t.match(await connections.list(workspaceId), [{ state: 'works', trialTarget: 'team/app' }])
  },
)

t.test('plugins are asked once which claims fit several connections, until a connection changes', async (t) => {
  const { host, workspaceId, connections, connect } = await workspace()
  const second = await startGitHub()
  t.teardown(() => second.close())
  second.addToken({ token: TOKEN, scopes: 'read:org' })
  const insisting = { option_token: TOKEN, insist: 'yes' }
  await connect({ ...insisting, option_base_url: github.url })
  await connect({ ...insisting, option_base_url: second.url })
  const type = host.claimcheck.registry.connectionType('github')!
  const { fits } = type
  let asked = 0
  Object.assign(type, {
    fits: (...given: Parameters<typeof fits>) => {
      asked++
      return fits(...given)
    },
  })
  t.teardown(() => Object.assign(type, { fits }))
  const found = await connections.overlaps(workspaceId)
  t.equal(found.size, 2)
  t.ok(asked > 0)
  const once = asked
  t.strictSame(await connections.overlaps(workspaceId), found)
  t.equal(asked, once, 'another look asks nobody')
  await connections.remove([...found.keys()][0]!, workspaceId)
  t.equal((await connections.overlaps(workspaceId)).size, 1)
})

t.test(
  'a claim about what is not there says nothing of its connection; a trial of what it showed before does',
  async (t) => {
    const { host, owner, workspaceId, path, connections, connect } = await workspace()
    const repository = await github.createRepository('acme/shown', { isPrivate: true })
    const token = 'ghp_shown-token-text'
    github.addToken({ token, scopes: 'read:org', repositories: [repository] })
    await connect({ option_base_url: github.url, option_token: token, try: 'acme/shown' })
    const [{ id } = { id: '' }] = await connections.list(workspaceId)
    const { key } = await host.claimcheck.keys.create(workspaceId, 'test')
    const claim = {
      action: 'codehost.commit.push',
      target: 'acme/none',
      params: { sha: '0'.repeat(40), branch: 'main' },
    }
    t.match((await new Client(host, workspaceId, key).submit(claim)).body, { last_check: { code: 'forbidden' } })
    while ((await connections.list(workspaceId))[0]?.lastFailure !== 'forbidden') await setTimeout(50)
    const after = textOf((await owner.get(path)).html)
    t.match(after, /Works: read acme\/shown .* Last failure [^:]+ : what was asked for is not there/)
    t.notMatch(after, /could not be read\./)

    const misspelt = await owner.post(`${path}/${id}/test`, { try: 'acme/none' })
    t.equal(misspelt.path, `${path}?done=connection-hidden`)
    t.match(textOf(misspelt.html), /Tested: what was tried is not there, .* Works: read acme\/shown /)
    github.addToken({ token, scopes: 'read:org', repositories: [] })
    t.equal((await owner.post(`${path}/${id}/test`)).path, `${path}?done=connection-hidden`)
    const hidden = textOf((await owner.get(path)).html)
    t.match(hidden, /A connection could not be read\. .* Not shown [^:]+: what was asked for is not there/)
    github.addToken({ token, scopes: 'read:org', repositories: [repository] })
    t.equal((await owner.post(`${path}/${id}/test`)).path, `${path}?done=connection-works`)
  },
)

t.test('what claims of a connection may fit too is said where it is made, and in the list', async (t) => {
  const { owner, workspaceId, path, connections, connect } = await workspace()
  const server = await GitServer.start()
  t.teardown(() => server.close())
  const other = 'ghp_other-token-text'
  github.addToken({ token: other, scopes: 'read:org' })
  const named = (connection_name: string) => ({ option_base_url: github.url, option_token: TOKEN, connection_name })
  const first = await connect({ ...named('First'), option_owners: 'acme' })
  t.notMatch(textOf(first.html), /Reads the same as|can fit/)
  const beside = await connect({ ...named('Beside'), option_owners: 'beta' })
  t.notMatch(textOf(beside.html), /Reads the same as|can fit/, 'each has its own owners')
  const all = await connect({ ...named('All'), option_token: other })
  t.equal(all.path, `${path}?done=connected-reached`)
  const twin = await connect({ ...named('Twin'), option_token: other })
  t.match(textOf(twin.html), /All .* Reads the same as Twin : the oldest that is shown what a claim names reads it/)
  t.notMatch(textOf(twin.html), /can fit/)

  const [{ id } = { id: '' }] = await connections.list(workspaceId)
  github.addToken({ token: TOKEN, scopes: '', repositories: [await github.createRepository('acme/app')] })
  await owner.post(`${path}/${id}/test`, { try: 'acme/app' })
  const elsewhere = await connect(
    { option_base_url: server.url, connection_name: 'Elsewhere', option_owners: 'acme' },
    'git',
  )
  t.equal(elsewhere.path, `${path}?done=connected-ambiguous`)
  const text = textOf(elsewhere.html)
  t.match(text, /Connected\. The same claim can fit this connection and another one/)
  t.match(
    text,
    /Claims that fit this connection can fit First , All , Twin too\. Such a claim is unverifiable, unless its host param names one of them: /,
  )
  t.match(text, /First .* Claims that fit this connection can fit Elsewhere too\..* Beside/)
})

t.test('when the credentials end is shown, and warned of for a week before', async (t) => {
  const { host, owner, workspaceId, path, connections, connect } = await workspace()
  const now = host.claimcheck.now()
  const DAY_MS = 24 * 60 * 60_000
  const ending = (at: number) =>
    status(
      200,
      { 'github-authentication-token-expiration': `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC` },
      { resources: {} },
    )
  const fields = { option_base_url: github.url, option_token: TOKEN }
  github.faults.inject({ fault: ending(now + 20 * DAY_MS), times: 1, on: /rate_limit/ })
  const far = await connect(fields)
  t.match(textOf(far.html), /Credentials end in \d+ days/)
  t.notMatch(far.html, 'aria-label="Credentials that end"')
  const [{ id } = { id: '' }] = await connections.list(workspaceId)
  for (const [at, words] of [
    [now + 3 * DAY_MS, /The credentials of GitHub, [\d.:]+ end in [23] days : replace them/],
    [now - DAY_MS, /The credentials of GitHub, [\d.:]+ ended .* ago : replace them/],
  ] as const) {
    github.faults.inject({ fault: ending(at), times: 1, on: /rate_limit/ })
    t.match(textOf((await owner.post(`${path}/${id}/test`)).html), words)
  }
})
