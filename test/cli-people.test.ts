// Test run: end-to-end, slow
/** The commands about people: links that work on a running server, and nothing printed that is kept. */
import { paths } from '@claimcheck/server/web/console-paths'
import t, { type Test } from 'tap'
import { setUpSecondStep } from './support/authenticator.ts'
import { runClaimcheck } from './support/command.ts'
import { Installation } from './support/installation.ts'
import { emailOf, PASSWORD, textOf, Visitor } from './support/visitor.ts'

async function installed(t: Test) {
  const installation = await Installation.during(t)
  const run = (...args: string[]) =>
    runClaimcheck(t.testdir(), args, { ...installation.env, PUBLIC_URL: installation.url })
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  return { installation, host: installation.host, run, json }
}

t.test('accounts are listed, without anything that signs in', async (t) => {
  const { host, run, json } = await installed(t)
  t.strictSame(await json('user', 'list'), [])
  await Visitor.first(host)
  const users = await json('user', 'list')
  t.match(users, [{ id: /^usr_/, email: emailOf('owner'), name: 'owner', has_password: true, created_at: /Z$/ }])
  t.notMatch(JSON.stringify(users), /argon2/)
  t.match((await run('user', 'list')).stdout, /E-MAIL.*\n.*owner@example\.com/)
})

t.test('an invited account shares an allowance until the operator gives it one', async (t) => {
  const { installation, host, run, json } = await installed(t)
  const owner = await Visitor.first(host)
  const [ann] = await installation.claimcheck.accounts.list()
  const token = await installation.claimcheck.accounts.inviteToken(await owner.workspaceId(), 'member', ann!.id)
  await Visitor.enter(host, paths.invitation(token), 'bob')
  const sharing = async () =>
    (await json('user', 'list')).map((user: Record<string, unknown>) => [user.name, user.shares_with])
  t.strictSame(await sharing(), [
    ['owner', null],
    ['bob', emailOf('owner')],
  ])
  t.match((await run('user', 'list')).stdout, /SHARES WITH.*\n.*\n.*bob@example\.com +bob +owner@example\.com/)
  t.match(await run('user', 'allowance', emailOf('bob'), '--separate'), { code: 0, stdout: /bob@example\.com has/ })
  t.strictSame((await sharing())[1], ['bob', null])
  const again = await json('user', 'allowance', emailOf('bob'), '--shared-with', emailOf('owner'))
  t.strictSame(again, { email: emailOf('bob'), shares_with: emailOf('owner') })
  t.strictSame((await sharing())[1], ['bob', emailOf('owner')])
  t.match(await run('user', 'allowance', emailOf('bob')), { code: 2, stderr: /--separate, or --shared-with/ })
  const both = ['--separate', '--shared-with', emailOf('owner')]
  t.match(await run('user', 'allowance', emailOf('bob'), ...both), { code: 2, stderr: /cannot be used with/ })
  t.match(await run('user', 'allowance', 'none@example.com', '--separate'), { code: 1, stderr: /none@example\.com/ })
})

t.test('a new password is chosen by the link that the command prints, once', async (t) => {
  const { host, run, json } = await installed(t)
  await Visitor.first(host)
  const { url } = await json('user', 'reset', emailOf('owner'))
  const { pathname, origin } = new URL(url)
  t.equal(origin, host.url)
  const password = 'another password altogether'
  const page = await new Visitor(host).post(pathname, { password })
  t.equal(page.path, '/console/account?done=password-reset', 'where every way into the account is listed')
  t.equal((await new Visitor(host).post(pathname, { password })).status, 404)
  const old = await new Visitor(host).post('/console/sign-in', { email: emailOf('owner'), password: PASSWORD })
  t.equal(old.status, 422)
  t.match(await run('user', 'reset', 'nobody@example.com'), { code: 1, stdout: '', stderr: /nobody@example\.com/ })
  t.match(await run('user', 'reset'), { code: 2 })
})

t.test('an invitation that the command prints makes one member, of the role that it names', async (t) => {
  const { installation, host, run, json } = await installed(t)
  const owner = await Visitor.first(host)
  const id = await owner.workspaceId()
  for (const role of ['owner', 'member'] as const) {
    const invited = await json('workspace', 'invite', 'acme', '--role', role)
    t.match(invited, { workspace_id: id, name: 'acme', role })
    await Visitor.enter(host, new URL(invited.url).pathname, `new ${role}`)
    const joined = (await installation.claimcheck.members.list(id)).find(({ name }) => name === `new ${role}`)
    t.equal(joined?.role, role)
  }
  t.match(await json('workspace', 'invite', id), { role: 'member' }, 'members, unless told otherwise')
  t.match((await run('workspace', 'invite', 'acme')).stdout, /\/console\/join\/[\w-]{43}\n/)
  t.match(await run('workspace', 'invite', 'nobody'), { code: 1, stderr: /nobody/ })
  t.match(await run('workspace', 'invite', 'acme', '--role', 'king'), { code: 2 })
})

t.test('a reset can switch the second step off for who has lost it', async (t) => {
  const { host, run, json } = await installed(t)
  const owner = await Visitor.first(host)
  await setUpSecondStep(owner)
  t.match(await json('user', 'reset', owner.email), { second_step_removed: false })
  const off = await json('user', 'reset', owner.email, '--without-second-step')
  t.match(off, { second_step_removed: true })
  t.match((await run('user', 'reset', owner.email, '--without-second-step')).stdout, /The account has no second step\./)
  const page = await new Visitor(host).post(new URL(off.url).pathname, { password: 'another password altogether' })
  t.equal(page.path, '/console/account?done=password-reset', 'no code is asked for')
})

t.test(
  'an account is closed once that is confirmed, with the workspaces that nobody else is in if that is said',
  async (t) => {
    const { host, run, json } = await installed(t)
    const owner = await Visitor.first(host)
    const mia = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
    t.match(await run('user', 'close', mia.email), { code: 1, stdout: '', stderr: /cannot be undone.*Add --yes/s })
    t.equal((await mia.get('/console/account')).status, 200)
    t.match(await run('user', 'close', owner.email, '--yes'), {
      code: 1,
      stderr: /only owner of acme, which has other members/,
    })
    t.strictSame(await json('user', 'close', mia.email, '--yes'), { email: mia.email, deleted_workspaces: [] })
    t.match((await mia.get('/console/account')).path, /sign-in/)
    t.match(await run('user', 'close', mia.email, '--yes'), { code: 1, stderr: /there is no account/ })
    t.match(await run('user', 'close', owner.email, '--yes'), {
      code: 1,
      stderr: /this account is the only member of acme/,
    })
    const closed = await json('user', 'close', owner.email, '--yes', '--with-workspaces')
    t.strictSame(closed, { email: owner.email, deleted_workspaces: ['acme'] })
    t.strictSame(await json('user', 'list'), [])
  },
)

t.test('a workspace is deleted once that is confirmed, and its name is free', async (t) => {
  const { host, run, json } = await installed(t)
  const { id } = await json('workspace', 'create', 'acme')
  const { key } = await json('key', 'create', '--workspace', 'acme')
  const headers = { authorization: `Bearer ${key}` }
  t.match(await run('workspace', 'delete', 'acme'), { code: 1, stdout: '', stderr: /cannot be undone.*Add --yes/s })
  t.equal((await host.request('/v1/whoami', { headers })).status, 200)
  t.strictSame(await json('workspace', 'delete', 'acme', '--yes'), { id, name: 'acme' })
  t.equal((await host.request('/v1/whoami', { headers })).status, 401)
  t.match(await run('workspace', 'delete', id, '--yes'), { code: 1, stderr: /there is no workspace/ })
  t.not((await json('workspace', 'create', 'acme')).id, id)
})

t.test('a workspace is renamed, and keeps its id', async (t) => {
  const { run, json } = await installed(t)
  const { id } = await json('workspace', 'create', 'before')
  await json('workspace', 'create', 'other')
  t.strictSame(await json('workspace', 'rename', 'before', 'after'), { id, name: 'after' })
  t.match((await run('workspace', 'rename', id, 'last')).stdout, 'The workspace after is called last now.')
  t.match(await run('workspace', 'rename', 'last', 'other'), {
    code: 1,
    stderr: /the name other is taken, or looks like one that is: choose another name/,
  })
  t.match(await run('workspace', 'rename', 'last', 'ws_1'), { code: 1, stderr: /name is not valid/ })
  t.match(await run('workspace', 'rename', 'before', 'x'), { code: 1, stderr: /before/ })
})

t.test(
  'a workspace of the command line belongs to the account that set the service up, and to nobody else',
  async (t) => {
    const { installation, host, run, json } = await installed(t)
    t.match(await json('workspace', 'create', 'before'), { owner: null })
    t.match((await run('workspace', 'create', 'before too')).stdout, /set-up link of the server becomes its owner/)

    const owner = await Visitor.first(host)
    const created = await json('workspace', 'create', 'later')
    t.match(created, { id: /^ws_/, name: 'later', owner: { id: /^usr_/, email: emailOf('owner') } })
    t.match((await run('workspace', 'create', 'latest')).stdout, /Its owner is owner \(owner@example\.com\)/)
    const page = textOf((await owner.get('/console/workspaces/new')).html)
    for (const name of ['before', 'before too', 'later', 'latest']) t.match(page, `${name} owner`)

    const { members } = installation.claimcheck
    const mia = await Visitor.joining(host, created.id, 'owner', 'Mia')
    const [first] = await members.list(created.id)
    await members.remove(created.id, first!.id)
    t.equal((await owner.get(`/console/w/${created.id}/claims`)).status, 404, 'who was removed does not come back')
    await json('workspace', 'create', 'another')
    t.strictSame(
      (await members.list(created.id)).map(({ name }) => name),
      ['Mia'],
    )
    t.notMatch(textOf((await mia.get('/console/workspaces/new')).html), 'another')
  },
)

t.test('who came by an invitation before the set-up owns no workspace of the command line', async (t) => {
  const { installation, host, run, json } = await installed(t)
  const { id } = await json('workspace', 'create', 'first')
  await Visitor.joining(host, id, 'member', 'Mia')
  t.match(await json('workspace', 'create', 'second'), { owner: null })
  t.match((await run('workspace', 'create', 'third')).stdout, /workspace invite third --role owner/)
  t.strictSame(
    (await installation.claimcheck.members.list(id)).map(({ name }) => name),
    ['Mia'],
  )
})

t.test('without a public address, links lead to where the service listens', async (t) => {
  const { installation, host } = await installed(t)
  await Visitor.first(host)
  const rows = [
    [{ HOST: '127.0.0.1', PORT: '8123' }, /^http:\/\/localhost:8123\/console\/reset\//],
    [{ HOST: '0.0.0.0', PORT: '8123' }, /^http:\/\/localhost:8123\/console\/reset\//],
    [{ HOST: '192.0.2.7', PORT: '8123' }, /^http:\/\/192\.0\.2\.7:8123\/console\/reset\//],
    [{ HOST: '::1', PUBLIC_URL: 'https://claims.example.com/' }, /^https:\/\/claims\.example\.com\/console\/reset\//],
  ] as const
  for (const [env, expected] of rows) {
    const { stdout } = await runClaimcheck(t.testdir(), ['user', 'reset', emailOf('owner')], {
      ...installation.env,
      ...env,
    })
    t.match(stdout, expected)
  }
})
