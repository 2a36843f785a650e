// Test run: end-to-end, slow
/** What the command line says to whoever uses it wrongly, and what `verify` ends with. Whichever the database, it is the same. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { runClaimcheck } from './support/command.ts'
import { commandLine } from './support/command-line.ts'
import { Installation, SCRIPTED } from './support/installation.ts'

t.test('verify ends with 0 for a valid receipt, 1 for a bad one, 2 for one that could not be checked', async (t) => {
  const installation = await Installation.during(t)
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

t.test('wrong usage is explained, and ends with 2', async (t) => {
  const cli = await commandLine(t)
  for (const args of [['nonsense'], ['serve', '--nonsense'], ['key', 'nonsense'], ['workspace', 'create']]) {
    t.match(await cli.run(args), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
  t.match(await cli.run(['--help']), { code: 0, stdout: /serve/ })
  t.match(await cli.run(['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})

t.test('with --json, a command that fails prints one JSON value, and ends as without', async (t) => {
  const cli = await commandLine(t)
  const rows: [args: readonly string[], exitCode: number, code: string, message: RegExp][] = [
    [['workspace', 'create'], 2, 'usage', /missing required argument/],
    [['workspace', 'create', 'ws_sneaky'], 1, 'bad_request', /name/],
    [['key', 'create', '--workspace', 'nobody'], 1, 'not_found', /nobody/],
    [['nonsense'], 2, 'usage', /nonsense/],
    [['verify', 'missing.json', '--keys', 'keys.json'], 2, 'could_not_check', /missing\.json/],
    [['connection', 'add', 'git', '--workspace', 'w', '--set', 'token=@missing'], 1, 'not_found', /w/],
    [['anchor', 'now', '--timeout', 'soon'], 2, 'usage', /soon/],
    [['log', 'new'], 1, 'not_confirmed', /--yes/],
  ]
  for (const [args, exitCode, code, message] of rows) {
    const { code: ended, stdout, stderr } = await cli.run([...args, '--json'])
    t.equal(ended, exitCode, args.join(' '))
    t.match(JSON.parse(stdout), { error: { code, message } }, args.join(' '))
    t.match(stderr, message, 'people read it, too')
    t.equal((await cli.run(args)).stdout, '', 'nothing without --json')
  }
  const broken = await cli.run(['migrate', '--json'], { PORT: 'x' })
  t.match(JSON.parse(broken.stdout), { error: { code: 'invalid_config', message: /PORT/ } })
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
