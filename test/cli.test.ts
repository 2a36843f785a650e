import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Env, type Outcome, runClaimcheck } from './support/command.ts'
import { createDatabase, TEST_DATABASE } from './support/database.ts'
import { Installation, SCRIPTED } from './support/installation.ts'
import { dump, query } from './support/sql.ts'

const ON_SQLITE = TEST_DATABASE === 'sqlite'

/** What keeps receipts as they are. */
const DROP_GUARD = {
  sqlite: 'DROP TRIGGER receipts_no_update',
  postgres: 'DROP TRIGGER receipts_append_only ON receipts',
}

/** The command in a folder of its own, with an empty database. */
interface CommandLine {
  readonly folder: string
  readonly databaseUrl: string
  run(args: readonly string[], env?: Env): Promise<Outcome>
  /** Of a command that succeeds, with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  json(...args: string[]): Promise<any>
}

async function commandLine(t: Test, configuration?: object): Promise<CommandLine> {
  const folder = t.testdir()
  if (configuration) writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify(configuration))
  const database = await createDatabase()
  t.teardown(() => database.remove())
  const run: CommandLine['run'] = (args, env) => runClaimcheck(folder, args, { ...database.env, ...env })
  return {
    folder,
    databaseUrl: database.env.DATABASE_URL ?? `sqlite:${join(folder, 'data/claimcheck.db')}`,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run([...args, '--json'])
      if (code !== 0) throw new Error(`claimcheck ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
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

t.test('connections keep their secrets sealed, and are listed until they are removed', async (t) => {
  const plugin = createRequire(join(process.cwd(), 'x.js')).resolve('@claimcheck/plugin-codehost')
  const cli = await commandLine(t, { plugins: [{ use: plugin }], checks: { timeout_ms: 300 } })
  await cli.json('workspace', 'create', 'acme')
  writeFileSync(join(cli.folder, 'token.txt'), 'secret-token-1234\n')
  const add = ['connection', 'add', 'github', '--workspace', 'acme', '--set']
  const { id } = await cli.json(
    ...add,
    'base_url=https://github.invalid/api/v3',
    'token=@token.txt',
    'owners=acme,beta',
  )
  t.match(id, /^conn_/)
  t.match(await cli.json('connection', 'list'), [{ id, provider: 'github', actions: ['codehost.commit.push'] }])
  t.notOk((await dump(cli.databaseUrl)).includes('secret-token'))
  if (ON_SQLITE) t.equal(statSync(join(cli.folder, 'data/secret.key')).mode & 0o777, 0o600)

  t.match(await cli.run([...add, 'nonsense=1']), { code: 1, stderr: /nonsense/ })
  t.match(await cli.run([...add, 'novalue']), { code: 1, stderr: /novalue/ })
  t.match(await cli.run(['connection', 'add', 'nowhere', '--workspace', 'acme']), { code: 1, stderr: /nowhere/ })

  t.strictSame(await cli.json('connection', 'remove', id), { id })
  t.match(await cli.run(['connection', 'remove', id]), { code: 1 })
  t.strictSame(await cli.json('connection', 'list'), [])
})

t.test('verify ends with 0 for a valid receipt, 1 for a bad one, 2 for one that could not be checked', async (t) => {
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
  const client = await installation.client('verify')
  const { receipt_id } = (await client.submit()).body
  const address = `${installation.url}/v1/receipts/${receipt_id}`
  const receipt = await (await fetch(address)).text()
  const keys = await (await fetch(`${installation.url}/.well-known/poaw-keys.json`)).text()
  const folder = t.testdir({
    'receipt.json': receipt,
    'keys.json': keys,
    'tampered.json': receipt.replace('"verified"', '"failed"'),
    'no-keys.json': '{}',
  })

  const run = (args: readonly string[]) => runClaimcheck(folder, args, {})
  t.match(await run(['verify', address]), { code: 0, stdout: /verified/ })
  t.match(await run(['verify', 'receipt.json', '--keys', 'keys.json']), { code: 0 })
  const report = await run(['verify', 'receipt.json', '--keys', 'keys.json', '--json'])
  t.match(JSON.parse(report.stdout), { valid: true, verdict: 'verified', checks: { signature: true } })

  t.match(await run(['verify', 'tampered.json', '--keys', 'keys.json']), { code: 1 })

  for (const args of [
    ['receipt.json'],
    ['receipt.json', '--keys', 'missing.json'],
    ['receipt.json', '--keys', 'no-keys.json'],
    ['missing.json', '--keys', 'keys.json'],
    [`${installation.url}/v1/receipts/rcpt_unknown`],
    ['http://127.0.0.1:1/receipt'],
    [],
  ]) {
    t.match(await run(['verify', ...args]), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
})

t.test('doctor finds a changed byte, and names the row', async (t) => {
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
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

t.test('wrong usage is explained, and ends with 2', async (t) => {
  const cli = await commandLine(t)
  for (const args of [['nonsense'], ['serve', '--nonsense'], ['key', 'nonsense'], ['workspace', 'create']]) {
    t.match(await cli.run(args), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
  t.match(await cli.run(['--help']), { code: 0, stdout: /serve/ })
  t.match(await cli.run(['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})

t.test('a configuration with several mistakes is refused with each of them listed', async (t) => {
  const cli = await commandLine(t, { plugins: 'all', rate_limits: { key: -1 }, checks: { grace: 5 } })
  const env = { PORT: '99999', SECRET_KEY: 'short', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://u:password@host/db' }
  const { code, stderr } = await cli.run(['serve'], env)
  t.equal(code, 1)
  for (const named of [
    'PORT',
    'SECRET_KEY',
    'LOG_LEVEL',
    'DATABASE_URL',
    'plugins',
    'rate_limits.key',
    'checks.grace',
  ]) {
    t.match(stderr, named)
  }
  t.notMatch(stderr, /password|short|at .*\.js/)
})

t.test('plugins that cannot be used are refused with each problem listed', async (t) => {
  const cli = await commandLine(t, {
    plugins: [{ use: './misnamed.mjs' }, { use: 'not-installed' }, { use: './throws.mjs' }, SCRIPTED, SCRIPTED],
  })
  writeFileSync(join(cli.folder, 'misnamed.mjs'), 'export default { name: "no plugin" }')
  writeFileSync(join(cli.folder, 'throws.mjs'), 'throw new Error("a mistake at its top")')
  const { code, stderr } = await cli.run(['serve'])
  t.equal(code, 1)
  for (const named of ['misnamed', 'not-installed', 'a mistake at its top', 'test.outcome.reach'])
    t.match(stderr, named)
})

t.test('a port in use, and a folder or a database that cannot be used, are told in a line', async (t) => {
  const cli = await commandLine(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const inUse = await cli.run(['serve'], { PORT: String(port) })
  t.match(inUse, { code: 1, stderr: new RegExp(`${port}`) })
  t.notMatch(inUse.stderr, /at .*\.js/)

  writeFileSync(join(cli.folder, 'a-file'), '')
  t.match(await cli.run(['migrate'], { DATABASE_URL: '', DATA_DIR: join(cli.folder, 'a-file/data') }), {
    code: 1,
    stderr: /a-file/,
  })
  writeFileSync(join(cli.folder, 'no-database'), 'this is no database, whatever its name says'.repeat(100))
  t.match(await cli.run(['migrate'], { DATABASE_URL: 'sqlite:no-database' }), { code: 1, stderr: /no-database/ })
})

t.test('a database from a newer version is refused', async (t) => {
  const cli = await commandLine(t)
  t.match(await cli.json('migrate'), { migrated: [/^001-/] })
  t.strictSame(await cli.json('migrate'), { migrated: [] })
  await query(cli.databaseUrl, `INSERT INTO migrations (name, batch) VALUES ('999-later', 9)`)
  t.match(await cli.run(['migrate']), { code: 1, stderr: /999-later/ })
})

t.test('a lost signing key is told, and brought back', { skip: !ON_SQLITE && 'it is in the database' }, async (t) => {
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
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
