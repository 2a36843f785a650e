/** The program where the package sqlite3 is not installed: Node's own SQLite serves, or the program says what is missing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { createClient } from '@claimcheck/client'
import t from 'tap'
import { afterFile } from './support/after-file.ts'
import { whyMissing } from './support/database.ts'
import { SCRIPTED } from './support/installation.ts'

const SHIPPED = ['assets', 'bin', 'dist', 'docs', 'package.json']
const missing = await whyMissing('node:sqlite')

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'claimcheck-without-')))
afterFile(async () => rmSync(folder, { recursive: true, force: true }))
const program = install()
writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins: [SCRIPTED] }))

/** The checkout's packages but for sqlite3, and the server as a copy: by a link it would find the checkout's. */
function install(): string {
  const packages = join(folder, 'node_modules')
  const server = join(packages, '@claimcheck/server')
  mkdirSync(server, { recursive: true })
  for (const name of readdirSync('node_modules')) {
    if (!['.bin', '@claimcheck', 'sqlite3'].includes(name))
      symlinkSync(resolve('node_modules', name), join(packages, name))
  }
  for (const name of readdirSync('node_modules/@claimcheck')) {
    if (name !== 'server')
      symlinkSync(realpathSync(`node_modules/@claimcheck/${name}`), join(packages, '@claimcheck', name))
  }
  for (const name of SHIPPED) cpSync(join('server', name), join(server, name), { recursive: true })
  symlinkSync(resolve('server/node_modules'), join(server, 'node_modules'))
  return join(server, 'bin/claimcheck.js')
}

function start(...args: readonly string[]) {
  const env = { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'silent' }
  return spawn(process.execPath, [program, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function run(...args: readonly string[]) {
  const child = start(...args)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

t.test(
  'where Node.js has no SQLite either, the start names what to install',
  { skip: !missing && 'it has one' },
  async (t) => {
    const { code, stdout, stderr } = await run('serve')
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, /^SQLite needs a driver: run this with a newer Node\.js/)
    for (const way of ['npm install sqlite3', 'python3, make and g++', 'Postgres']) t.match(stderr, way)
    t.match(stderr, /sqlite3: Cannot find module 'sqlite3'; node:sqlite: Node\.js \S+ does not have it/)
  },
)

t.test('node:sqlite serves, which the start and doctor say, and warns of nothing', { skip: missing }, async (t) => {
  const { id } = JSON.parse((await run('workspace', 'create', 'acme', '--json')).stdout)
  const { key } = JSON.parse((await run('key', 'create', '--workspace', id, '--json')).stdout)
  const service = start('serve')
  const warnings = text(service.stderr)
  const said: string[] = []
  for await (const line of createInterface({ input: service.stdout })) {
    said.push(line)
    if (line.includes('/console')) break
  }
  t.match(said.join('\n'), /database {2}sqlite:.*\.db, by node:sqlite\n/)
  const client = createClient({ baseUrl: /http:\/\/localhost:\d+/.exec(said.join('\n'))![0], key })
  const claim = {
    client_claim_id: 'one',
    agent_id: 'agent',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
  }
  t.match(await client.submit({ ...claim, claimed_at: new Date().toISOString() }), { verdict: 'verified' })
  // Beside the service, from another process.
  t.match(await run('doctor'), {
    code: 0,
    stdout: /No problems: 1 receipts?,.*\nThe database was read by node:sqlite\.\n/,
  })
  service.kill('SIGTERM')
  t.strictSame(await once(service, 'close'), [0, null])
  t.equal(await warnings, '')
})
