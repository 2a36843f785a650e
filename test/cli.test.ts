// Test run: both-databases, every-node
import { spawn } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { CLAIMCHECK, runClaimcheck } from './support/command.ts'
import { commandLine } from './support/command-line.ts'
import { TEST_DATABASE } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { dump, query } from './support/sql.ts'
import { SCHEMA } from './support/storage.ts'

const ON_SQLITE = TEST_DATABASE === 'sqlite'

/** What keeps receipts as they are. */
const DROP_GUARD = {
  sqlite: 'DROP TRIGGER receipts_no_update',
  postgres: 'DROP TRIGGER receipts_append_only ON receipts',
}

t.test('workspaces and keys are made, listed and revoked', async (t) => {
  const cli = await commandLine(t)
  const workspace = await cli.json('workspace', 'create', 'acme')
  t.match(workspace, { id: /^ws_/, name: 'acme' })
  t.match(await cli.run(['workspace', 'create', 'acme']), { code: 1, stderr: /acme/ })
  t.match(await cli.run(['workspace', 'create', 'ws_sneaky']), { code: 1, stdout: '' })

  const key = await cli.json('key', 'create', '--workspace', 'acme', '--name', 'ci')
  t.match(key, { id: /^key_/, key: /^svc_sk_[A-Za-z0-9_-]{43}$/ })
  t.match(await cli.json('key', 'create', '--workspace', workspace.id), { key: /^svc_sk_/ })
  t.match(await cli.run(['key', 'create', '--workspace', 'nobody']), { code: 1, stderr: /nobody/ })
  t.match(await cli.run(['key', 'create']), { code: 2, stderr: /--workspace/ })

  t.match(await cli.json('key', 'revoke', key.id), { id: key.id, revoked_at: /Z$/ })
  t.match(await cli.run(['key', 'revoke', 'key_unknown']), { code: 1, stderr: /key_unknown/ })
  const listed = await cli.json('key', 'list')
  t.match(listed, [{ id: key.id, name: 'ci', revoked_at: /Z$/ }, { revoked_at: null }])
  t.notOk(JSON.stringify(listed).includes(key.key), 'the key is not shown again')
  t.notOk((await dump(cli.databaseUrl)).includes(key.key), 'nor kept')
})

t.test('keys are held to a time, networks and agents, changed, and replaced with an overlap', async (t) => {
  const cli = await commandLine(t)
  await cli.json('workspace', 'create', 'acme')
  const limits = ['--expires', '90d', '--network', '10.1.2.3/8', '--network', '2001:db8::1', '--agent', 'bot']
  const { id } = await cli.json('key', 'create', '--workspace', 'acme', '--name', 'ci', ...limits)
  const [listed] = await cli.json('key', 'list')
  t.match(listed, { id, networks: ['10.0.0.0/8', '2001:db8::1/128'], agent_ids: ['bot'], last_address: null })
  const days = (Date.parse(listed.expires_at) - Date.now()) / 86_400_000
  t.ok(days > 89.9 && days <= 90)
  t.match(
    (await cli.run(['key', 'list'])).stdout,
    /active, expires .*10\.0\.0\.0\/8, 2001:db8::1\/128, agent bot +never/,
  )
  t.match(await cli.json('key', 'agents'), [{ agent_id: 'bot', keys: [id] }])

  const made = await cli.json('key', 'rotate', id, '--overlap', '2h')
  t.match(made, { id: /^key_/, key: /^svc_sk_/, replaces: id })
  t.match(await cli.run(['key', 'rotate', id]), { code: 1, stderr: /replaced already/ })
  t.match(await cli.run(['key', 'change', id, '--name', 'old']), { code: 1, stderr: /replaced already/ })
  t.match(await cli.json('key', 'change', made.id, '--any-network', '--expires', 'never', '--name', 'new'), {
    name: 'new',
    networks: [],
    agent_ids: ['bot'],
    expires_at: null,
  })
  for (const holder of [id, made.id]) {
    t.match(await cli.run(['key', 'release', 'bot', '--workspace', 'acme']), { code: 1, stderr: /is bound to the key/ })
    await cli.json('key', 'revoke', holder)
  }
  t.match(await cli.json('key', 'release', 'bot', '--workspace', 'acme'), { released: 'bot' })
  const { id: other } = await cli.json('key', 'create', '--workspace', 'acme', '--agent', 'bot')
  t.match(await cli.json('key', 'change', other, '--any-agent', '--expires', '2099-01-31T00:00:00+01:00'), {
    agent_ids: null,
    expires_at: '2099-01-30T23:00:00.000Z',
  })
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['--expires', 'soon'], /not a length of time/],
    [['--expires', '2020-01-01T00:00:00Z'], /in the future/],
    [['--network', '10.0.0.0/40'], /not a network/],
    [['--network', '10.0.0.0/8', '--any-network'], /not both/],
  ]
  for (const [options, stderr] of wrong)
    t.match(await cli.run(['key', 'change', other, ...options]), { code: 1, stderr })
})

t.test('machines are made, listed and revoked', async (t) => {
  const cli = await commandLine(t)
  await cli.json('workspace', 'create', 'acme')
  const scopes = ['--scope', 'claims:read', 'connections:read']
  const machine = await cli.json('machine', 'create', '--workspace', 'acme', '--name', 'nightly', ...scopes)
  t.match(machine, { client_id: /^machine_/, client_secret: /^svc_cs_/ })
  t.match(await cli.run(['machine', 'create', '--workspace', 'acme', '--scope', 'all']), { code: 1, stderr: /scopes/ })
  t.match(await cli.json('machine', 'revoke', machine.client_id), { revoked_at: /Z$/ })
  const listed = await cli.json('machine', 'list')
  t.match(listed, [{ client_id: machine.client_id, scopes: ['claims:read', 'connections:read'], revoked_at: /Z$/ }])
  t.notMatch(await dump(cli.databaseUrl), machine.client_secret.slice(7))
})

t.test('connections keep their secrets sealed, and are listed until they are removed', async (t) => {
  const plugin = createRequire(join(process.cwd(), 'x.js')).resolve('@claimcheck/plugin-codehost')
  const cli = await commandLine(t, { plugins: [{ use: plugin }], checks: { timeout_ms: 300 } })
  await cli.json('workspace', 'create', 'acme')
  writeFileSync(join(cli.folder, 'token.txt'), 'secret-token-1234\n')
  const add = ['connection', 'add', 'github', '--workspace', 'acme', '--set']
  const settings = ['base_url=https://github.invalid/api/v3', 'token=@token.txt', 'owners=acme,beta']
  t.match(await cli.run([...add, ...settings]), { code: 1, stdout: '', stderr: /Nothing was connected.*--untested/ })
  t.strictSame(await cli.json('connection', 'list'), [], 'as in the console, a connection is tried before it is kept')
  const { id, notes } = await cli.json(...add, ...settings, '--untested')
  t.match(notes, [/could not be read just now/])
  t.match(id, /^conn_/)
  t.match(await cli.run(['connection', 'test', id]), {
    code: 1,
    stdout: '',
    stderr: /could not be read \(GET https:\/\/github\.invalid\/api\/v3/,
  })
  t.match(await cli.json('connection', 'list'), [
    { id, name: 'GitHub, acme, beta', state: null, failure: 'unavailable' },
  ])
  const second = await cli.json(...add, 'base_url=https://elsewhere.invalid/api/v3', 'token=@token.txt', '--untested')
  t.strictSame(second.ambiguous_with, [], 'a workspace that reads the repositories of some owners at each')
  const third = await cli.run([...add, 'base_url=https://other.invalid/api/v3', 'token=@token.txt', '--untested'])
  t.match(
    third.stdout,
    `Note: Claims that fit it can fit GitHub, elsewhere.invalid (${second.id}) too. Such a claim is`,
  )
  const [, , { id: thirdId, ambiguous_with }] = await cli.json('connection', 'list')
  t.strictSame(ambiguous_with, [second.id])
  for (const one of [second.id, thirdId]) await cli.json('connection', 'remove', one)
  t.strictSame(await cli.json('connection', 'rename', id, 'Production'), { id, name: 'Production' })
  t.match((await cli.run(['connection', 'list'])).stdout, /NAME .*STATE +SINCE +CREDENTIALS END.*\n.* Production /)
  t.match(await cli.run(['connection', 'rename', id, 'x'.repeat(101)]), { code: 1, stderr: /name is not valid/ })
  t.match(await cli.json('connection', 'rename', id, ''), { name: 'GitHub, acme, beta' })
  t.match(await cli.json('connection', 'list'), [{ id, provider: 'github', actions: ['codehost.commit.push'] }])
  t.notOk((await dump(cli.databaseUrl)).includes('secret-token'))
  if (ON_SQLITE) t.equal(statSync(join(cli.folder, 'data/secret.key')).mode & 0o777, 0o600)

  t.match(await cli.run([...add, 'nonsense=1']), { code: 1, stderr: /nonsense/ })
  const nameless = await cli.run([...add, 'secret-token-alone'])
  t.match(nameless, { code: 2, stderr: /name=value/ })
  t.notMatch(nameless.stderr, 'secret-token-alone')
  for (const file of ['missing.txt', '.']) {
    const unread = await cli.run([...add, `token=@${file}`])
    t.match(unread, { code: 2, stdout: '', stderr: /^--set token=@.*\n$/ })
    t.equal(unread.stderr.split('\n').length, 2, 'one line')
  }
  t.match(await cli.run(['connection', 'add', 'nowhere', '--workspace', 'acme']), { code: 1, stderr: /nowhere/ })

  writeFileSync(join(cli.folder, 'newer.txt'), 'newer-token-5678\n')
  const update = ['connection', 'update', id, '--set', 'token=@newer.txt']
  t.match(await cli.run(update), { code: 1, stdout: '', stderr: /Nothing was changed.*unavailable/ })
  t.match(await cli.json(...update, '--untested'), { id, provider: 'github', notes: [/could not be read just now/] })
  t.notOk((await dump(cli.databaseUrl)).includes('newer-token'))
  const stays = { code: 1, stdout: '', stderr: /only secrets.*owners/s }
  t.match(await cli.run(['connection', 'update', id, '--set', 'owners=gamma']), stays)
  t.match(await cli.run(['connection', 'update', 'conn_unknown', '--set', 'token=a']), {
    code: 1,
    stderr: /conn_unknown/,
  })
  t.match(await cli.run(['connection', 'update', id]), { code: 2, stderr: /--set/ })

  t.strictSame(await cli.json('connection', 'remove', id), { id })
  t.match(await cli.run(['connection', 'remove', id]), { code: 1 })
  t.strictSame(await cli.json('connection', 'list'), [])
})

t.test('whether receipts name the address of a connection is said when it is added, and listed', async (t) => {
  const plugin = createRequire(join(process.cwd(), 'x.js')).resolve('@claimcheck/plugin-codehost')
  const sources = { git: ['https://git.invalid'] }
  const cli = await commandLine(t, { plugins: [{ use: plugin }], checks: { timeout_ms: 300 }, sources })
  await cli.json('workspace', 'create', 'acme')
  const rows: [base: string, args: readonly string[], address: string, told: RegExp][] = [
    ['https://a.invalid', [], 'withheld', /withhold its address.*add it again with --publish-address/],
    ['https://b.invalid', ['--publish-address'], 'published', /Receipts name its address\./],
    ['https://git.invalid/', [], 'listed', /the operator lists it/],
    ['https://git.invalid', ['--publish-address'], 'listed', /the operator lists it/],
  ]
  for (const [base, args, address, told] of rows) {
    const add = ['connection', 'add', 'git', '--workspace', 'acme', '--set', `base_url=${base}`, '--untested', ...args]
    t.match(await cli.json(...add), { provider: 'git', address }, base)
    t.match((await cli.run(add)).stdout, told, base)
  }
  const listed = await cli.json('connection', 'list')
  const addresses = rows.flatMap(([, , address]) => [address, address])
  t.strictSame(
    listed.map((connection: { address: string }) => connection.address),
    addresses,
  )
  const { stdout } = await cli.run(['connection', 'list'])
  t.match(stdout, /^ID +NAME +WORKSPACE +PROVIDER +ADDRESS +STATE +SINCE +CREDENTIALS END +AMBIGUOUS WITH +ACTIONS\n/)
  t.match(stdout, / git +withheld +unavailable +- +- +6 +codehost/)
})

t.test('doctor finds a changed byte, and names the row', async (t) => {
  const installation = await Installation.during(t)
  const client = await installation.client('doctor')
  for (let i = 0; i < 3; i++) await client.submit()
  await installation.stop()
  const doctor = (...args: string[]) => runClaimcheck(t.testdir(), ['doctor', ...args], installation.env)
  t.match(await doctor(), { code: 0, stdout: /3 receipts/ })

  const { databaseUrl } = installation.config
  await query(databaseUrl, DROP_GUARD[TEST_DATABASE])
  await query(databaseUrl, `UPDATE receipts SET entry = replace(entry, 'verified', 'verifies') WHERE leaf_index = 1`)
  const { code, stdout } = await doctor('--json')
  t.equal(code, 1)
  t.match(JSON.parse(stdout), { ok: false, problems: [/leaf 1/] })
})

t.test('a database from a newer version is refused', async (t) => {
  const cli = await commandLine(t)
  t.strictSame(await cli.json('migrate'), { migrated: Object.keys(SCHEMA.migrations), lacking: [] })
  t.strictSame(await cli.json('migrate'), { migrated: [], lacking: [] })
  await query(cli.databaseUrl, `INSERT INTO migrations (name, batch) VALUES ('999-later', 9)`)
  t.match(await cli.run(['migrate']), { code: 1, stderr: /999-later/ })
})

t.test('a lost signing key is told, and brought back', { skip: !ON_SQLITE && 'it is in the database' }, async (t) => {
  const installation = await Installation.during(t)
  await installation.stop()
  const keys = join(installation.config.dataDir, 'signing-keys')
  const [name] = readdirSync(keys)
  const pem = readFileSync(join(keys, name!))
  writeFileSync(join(keys, name!), 'not a key')
  t.match(await runClaimcheck(installation.folder, ['serve'], { PORT: '0' }), { code: 1, stderr: new RegExp(name!) })
  writeFileSync(join(keys, name!), pem)
  chmodSync(join(keys, name!), 0o644)
  t.match(await runClaimcheck(installation.folder, ['serve'], { PORT: '0' }), { code: 1, stderr: /600/ })
  chmodSync(join(keys, name!), 0o600)
  await installation.resume()
  t.equal((await installation.request('/readyz')).status, 200)
})

t.test('the start names the private hosts that every owner can have read', async (t) => {
  const folder = t.testdir({ 'claimcheck.config.json': '{"allow_private":["127.0.0.1:8081"],"plugins":[]}' })
  const env = { ...process.env, PORT: '0', LOG_LEVEL: 'silent', HEAD_MEMORY: 'none', ALLOW_PRIVATE: 'intranet' }
  const service = spawn(process.execPath, [CLAIMCHECK, 'serve'], { cwd: folder, env })
  t.teardown(() => service.kill('SIGKILL'))
  let said = ''
  for await (const chunk of service.stdout) {
    said += chunk
    if (said.includes('/console/setup/')) break
  }
  t.match(
    said,
    / private {3}every owner of a workspace can have intranet, 127\.0\.0\.1:8081 read, which ALLOW_PRIVATE or allow_/,
  )
})
