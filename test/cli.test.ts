import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { Installation, SCRIPTED } from './support/installation.ts'

const CLAIMCHECK = resolve('server/bin/claimcheck.js')

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [CLAIMCHECK, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const read = async (stream: NodeJS.ReadableStream) => {
    let text = ''
    for await (const chunk of stream) text += chunk
    return text
  }
  const [stdout, stderr, [code]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

async function json(folder: string, ...args: string[]) {
  const { code, stdout, stderr } = await run(folder, [...args, '--json'])
  if (code !== 0) throw new Error(`claimcheck ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

function folderWith(t: Test, configuration?: object): string {
  const folder = t.testdir()
  if (configuration) writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify(configuration))
  return folder
}

t.test('workspaces and keys are made, listed and revoked', async (t) => {
  const folder = folderWith(t)
  const workspace = await json(folder, 'workspace', 'create', 'acme')
  t.match(workspace, { id: /^ws_/, name: 'acme' })
  t.match(await run(folder, ['workspace', 'create', 'acme']), { code: 1, stderr: /acme/ })
  t.match(await run(folder, ['workspace', 'create', 'ws_sneaky']), { code: 1, stdout: '' })

  const key = await json(folder, 'key', 'create', '--workspace', 'acme', '--name', 'ci')
  t.match(key, { id: /^key_/, key: /^svc_sk_[A-Za-z0-9_-]{43}$/ })
  t.match(await json(folder, 'key', 'create', '--workspace', workspace.id), { key: /^svc_sk_/ })
  t.match(await run(folder, ['key', 'create', '--workspace', 'nobody']), { code: 1, stderr: /nobody/ })
  t.match(await run(folder, ['key', 'create']), { code: 2, stderr: /--workspace/ })

  t.match(await json(folder, 'key', 'revoke', key.id), { id: key.id, revoked_at: /Z$/ })
  t.match(await run(folder, ['key', 'revoke', 'key_unknown']), { code: 1, stderr: /key_unknown/ })
  const listed = await json(folder, 'key', 'list')
  t.match(listed, [{ id: key.id, name: 'ci', revoked_at: /Z$/ }, { revoked_at: null }])
  t.notOk(JSON.stringify(listed).includes(key.key), 'the key is not shown again')
  const database = readFileSync(join(folder, 'data/claimcheck.db'), 'latin1')
  t.notOk(database.includes(key.key), 'nor kept')
})

t.test('connections keep their secrets sealed, and are listed until they are removed', async (t) => {
  const plugin = createRequire(join(process.cwd(), 'x.js')).resolve('@claimcheck/plugin-codehost')
  const folder = folderWith(t, { plugins: [{ use: plugin }], checks: { timeout_ms: 300 } })
  await json(folder, 'workspace', 'create', 'acme')
  writeFileSync(join(folder, 'token.txt'), 'secret-token-1234\n')
  const add = ['connection', 'add', 'github', '--workspace', 'acme', '--set']
  const { id } = await json(
    folder,
    ...add,
    'base_url=https://github.invalid/api/v3',
    'token=@token.txt',
    'owners=acme,beta',
  )
  t.match(id, /^conn_/)
  t.match(await json(folder, 'connection', 'list'), [{ id, provider: 'github', actions: ['codehost.commit.push'] }])
  t.notOk(readFileSync(join(folder, 'data/claimcheck.db'), 'latin1').includes('secret-token'))
  t.equal(statSync(join(folder, 'data/secret.key')).mode & 0o777, 0o600)

  t.match(await run(folder, [...add, 'nonsense=1']), { code: 1, stderr: /nonsense/ })
  t.match(await run(folder, [...add, 'novalue']), { code: 1, stderr: /novalue/ })
  t.match(await run(folder, ['connection', 'add', 'nowhere', '--workspace', 'acme']), { code: 1, stderr: /nowhere/ })

  t.strictSame(await json(folder, 'connection', 'remove', id), { id })
  t.match(await run(folder, ['connection', 'remove', id]), { code: 1 })
  t.strictSame(await json(folder, 'connection', 'list'), [])
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

  t.match(await run(folder, ['verify', address]), { code: 0, stdout: /verified/ })
  t.match(await run(folder, ['verify', 'receipt.json', '--keys', 'keys.json']), { code: 0 })
  const report = await run(folder, ['verify', 'receipt.json', '--keys', 'keys.json', '--json'])
  t.match(JSON.parse(report.stdout), { valid: true, verdict: 'verified', checks: { signature: true } })

  t.match(await run(folder, ['verify', 'tampered.json', '--keys', 'keys.json']), { code: 1 })

  for (const args of [
    ['receipt.json'],
    ['receipt.json', '--keys', 'missing.json'],
    ['receipt.json', '--keys', 'no-keys.json'],
    ['missing.json', '--keys', 'keys.json'],
    [`${installation.url}/v1/receipts/rcpt_unknown`],
    ['http://127.0.0.1:1/receipt'],
    [],
  ]) {
    t.match(await run(folder, ['verify', ...args]), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
})

t.test('doctor finds a changed byte, and names the row', async (t) => {
  const folder = folderWith(t, { plugins: [SCRIPTED] })
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
  const client = await installation.client('doctor')
  for (let i = 0; i < 3; i++) await client.submit()
  await installation.stop()
  const env = { DATA_DIR: installation.config.dataDir }
  t.match(await run(folder, ['doctor'], env), { code: 0, stdout: /3 receipts/ })

  const sqlite3 = createRequire(resolve('server/package.json'))('sqlite3')
  const database = new sqlite3.Database(join(installation.config.dataDir, 'claimcheck.db'))
  await new Promise<void>((done, fail) => {
    const sql = `DROP TRIGGER receipts_no_update;
      UPDATE receipts SET entry = replace(entry, 'verified', 'verifies') WHERE leaf_index = 1;`
    database.exec(sql, (error: Error | null) => (error ? fail(error) : done()))
  })
  await new Promise((done) => database.close(done))
  const { code, stdout } = await run(folder, ['doctor', '--json'], env)
  t.equal(code, 1)
  t.match(JSON.parse(stdout), { ok: false, problems: [/leaf 1/] })
})

t.test('wrong usage is explained, and ends with 2', async (t) => {
  const folder = folderWith(t)
  for (const args of [['nonsense'], ['serve', '--nonsense'], ['key', 'nonsense'], ['workspace', 'create']]) {
    t.match(await run(folder, args), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
  t.match(await run(folder, ['--help']), { code: 0, stdout: /serve/ })
  t.match(await run(folder, ['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})

t.test('a configuration with several mistakes is refused with each of them listed', async (t) => {
  const folder = folderWith(t, { plugins: 'all', rate_limits: { key: -1 }, checks: { grace: 5 } })
  const env = { PORT: '99999', SECRET_KEY: 'short', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://u:password@host/db' }
  const { code, stderr } = await run(folder, ['serve'], env)
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
  const folder = folderWith(t, {
    plugins: [{ use: './misnamed.mjs' }, { use: 'not-installed' }, { use: './throws.mjs' }, SCRIPTED, SCRIPTED],
  })
  writeFileSync(join(folder, 'misnamed.mjs'), 'export default { name: "no plugin" }')
  writeFileSync(join(folder, 'throws.mjs'), 'throw new Error("a mistake at its top")')
  const { code, stderr } = await run(folder, ['serve'])
  t.equal(code, 1)
  for (const named of ['misnamed', 'not-installed', 'a mistake at its top', 'test.outcome.reach'])
    t.match(stderr, named)
})

t.test('a port in use, and a folder or a database that cannot be used, are told in a line', async (t) => {
  const folder = folderWith(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const inUse = await run(folder, ['serve'], { PORT: String(port) })
  t.match(inUse, { code: 1, stderr: new RegExp(`${port}`) })
  t.notMatch(inUse.stderr, /at .*\.js/)

  writeFileSync(join(folder, 'a-file'), '')
  t.match(await run(folder, ['migrate'], { DATA_DIR: join(folder, 'a-file/data') }), { code: 1, stderr: /a-file/ })
  writeFileSync(join(folder, 'no-database'), 'this is no database, whatever its name says'.repeat(100))
  t.match(await run(folder, ['migrate'], { DATABASE_URL: 'sqlite:no-database' }), { code: 1, stderr: /no-database/ })
})

t.test('a database from a newer version is refused', async (t) => {
  const folder = folderWith(t)
  t.match(await json(folder, 'migrate'), { migrated: ['001-initial'] })
  t.match(await json(folder, 'migrate'), { migrated: [] })
  const sqlite3 = createRequire(resolve('server/package.json'))('sqlite3')
  const database = new sqlite3.Database(join(folder, 'data/claimcheck.db'))
  await new Promise((done) => database.exec("INSERT INTO migrations (name, batch) VALUES ('999-later', 9)", done))
  await new Promise((done) => database.close(done))
  t.match(await run(folder, ['migrate']), { code: 1, stderr: /999-later/ })
})

t.test('a lost signing key is told, and brought back', async (t) => {
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
  await installation.stop()
  const keys = join(installation.config.dataDir, 'signing-keys')
  const [name] = readdirSync(keys)
  const pem = readFileSync(join(keys, name!))
  writeFileSync(join(keys, name!), 'not a key')
  t.match(await run(installation.folder, ['serve'], { PORT: '0' }), { code: 1, stderr: new RegExp(name!) })
  writeFileSync(join(keys, name!), pem)
  chmodSync(join(keys, name!), 0o644)
  t.match(await run(installation.folder, ['serve'], { PORT: '0' }), { code: 1, stderr: /600/ })
  chmodSync(join(keys, name!), 0o600)
  await installation.resume()
  t.equal((await installation.request('/readyz')).status, 200)
})
