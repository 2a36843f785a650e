/** The third way to start: `npx @claimcheck/server serve` in an empty folder, from a registry that has what this checkout publishes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { Verdaccio } from './destinations/verdaccio.ts'
import { afterFile } from './support/after-file.ts'

const execute = promisify(execFile)
const MOST_BYTES = 64 * 1024 * 1024

const folder = await realpath(await mkdtemp(join(tmpdir(), 'claimcheck-npx-')))
const empty = join(folder, 'empty')
const registry = await Verdaccio.start()
const mirror = await startMirror()
afterFile(async () => {
  mirror.server.close()
  await registry.close()
  await rm(folder, { recursive: true, force: true })
})

/** Where sqlite3's installer finds a binary: that of the checkout. To compile it takes minutes. */
async function startMirror() {
  const archive = join(folder, 'sqlite3.tar.gz')
  await execute('tar', ['czf', archive, '-C', 'node_modules/sqlite3', 'build/Release/node_sqlite3.node'])
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(request.url!)
    response.end(await readFile(archive))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** What npm has of others it takes from this machine's cache, as far as it can; what it runs is installed anew. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const { stdout } = await execute('npm', ['config', 'get', 'cache'])
  await mkdir(join(folder, 'cache'))
  await symlink(join(stdout.trim(), '_cacache'), join(folder, 'cache/_cacache'))
  const { PATH, HOME } = process.env
  return {
    PATH,
    HOME,
    npm_config_cache: join(folder, 'cache'),
    npm_config_prefer_offline: 'true',
    npm_config_yes: 'true',
    'npm_config_@claimcheck:registry': registry.url,
    npm_config_sqlite3_binary_host: mirror.url,
  }
}

const env = await environment()

/** Npx runs the same program, and takes as long again to find it. */
async function claimcheck(...args: readonly string[]) {
  const [npx] = await readdir(join(folder, 'cache/_npx'))
  const program = join(folder, 'cache/_npx', npx!, 'node_modules/.bin/claimcheck')
  const { stdout } = await execute(program, [...args, '--json'], { cwd: empty, env })
  return JSON.parse(stdout)
}

t.test('every package of this repository can be published', async (t) => {
  // By their digests the server knows the plugins that it trusts, where npm installs them.
  await execute(process.execPath, ['build/scripts/shipped-plugins.js', '--packed'])
  const token = `--//${new URL(registry.url).host}/:_authToken=any`
  const args = ['publish', '--workspaces', '--ignore-scripts', '--json', `--registry=${registry.url}`, token]
  const { stdout } = await execute('npm', args, { maxBuffer: MOST_BYTES })
  t.equal(stdout.match(/"id": "@claimcheck\//g)?.length, 9)
})

let service: ChildProcess
t.test('npx serves in an empty folder, and says what to do next', async (t) => {
  await mkdir(empty)
  // A group of its own: npx starts a shell, and that the program.
  service = spawn('npx', ['@claimcheck/server', 'serve'], {
    cwd: empty,
    env: { ...env, PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const said: string[] = []
  for await (const line of createInterface({ input: service.stdout! })) {
    said.push(line)
    if (line.includes('/console/setup/')) break
  }
  const text = said.join('\n')
  t.match(text, /is running on http:\/\/localhost:\d+\n/)
  t.match(text, /verifies {2}codehost\.commit\.push, .*http\.url\.status, registry\.package\.publish\n/)
  t.match(text, /written {3}claimcheck\.config\.json, which names the plugins\n/)
  t.match(text, /Next: open this link to become the owner/)
  t.match(mirror.asked, [/\/v6\.\d+\.\d+\/sqlite3-.*\.tar\.gz$/], 'sqlite3 came prebuilt')
  t.strictSame((await readdir(empty)).toSorted(), ['claimcheck.config.json', 'data'])

  const url = /http:\/\/localhost:\d+/.exec(text)![0]
  t.equal((await fetch(`${url}/docs/changelog`)).status, 200)
  t.equal((await fetch(/http\S+\/console\/setup\/\S+/.exec(text)![0])).status, 200)
  await claimcheck('workspace', 'create', 'acme')
  const { key } = await claimcheck('key', 'create', '--workspace', 'acme')
  const claim = {
    client_claim_id: 'run-1',
    agent_id: 'my-agent',
    action: 'http.url.status',
    target: 'https://example.com/',
    params: { status: 200 },
    claimed_at: new Date().toISOString(),
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/claims`, { method: 'POST', headers, body: JSON.stringify(claim) })
  t.match(await answer.json(), { created: true, action: 'http.url.status' })
})

t.test('the plugins that came with it are trusted, as in the repository', async (t) => {
  const { plugins } = await claimcheck('plugins')
  t.strictSame(
    plugins.map(({ package: name, isolation }: { package: string; isolation: string }) => [name, isolation]),
    ['codehost', 'http', 'registry'].map((name) => [`@claimcheck/plugin-${name}`, 'trusted']),
  )
})

t.test('it ends as it is told to', async (t) => {
  const ended = once(service, 'exit')
  process.kill(-service.pid!, 'SIGTERM')
  await ended
  t.pass()
})

t.test('where the service ran before, or a file is, none is written', async (t) => {
  const other = join(folder, 'other')
  await mkdir(join(other, 'data'), { recursive: true })
  const { writeFirstConfig } = await import('@claimcheck/server/config/first-config')
  t.equal(writeFirstConfig({}, other), undefined)
  t.equal(writeFirstConfig({ CONFIG: 'mine.json', DATA_DIR: 'new' }, other), undefined)
  t.equal(writeFirstConfig({ DATABASE_URL: 'postgres://x', DATA_DIR: 'new' }, other), undefined)
  t.equal(writeFirstConfig({ DATA_DIR: 'new' }, join(folder, 'nowhere')), undefined)
  await writeFile(join(other, 'claimcheck.config.json'), '{}')
  t.equal(writeFirstConfig({ DATA_DIR: 'new' }, other), undefined)
  t.equal(await readFile(join(other, 'claimcheck.config.json'), 'utf8'), '{}')
})
