// Test run: end-to-end, slow, alone
/** `claimcheck plugin add`, `list`, `update` and `remove`, in an installation of packed packages, with a real npm registry. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { Verdaccio } from '../destinations/verdaccio.ts'
import { afterFile } from '../support/after-file.ts'
import { installPacked } from './installed.ts'

const execute = promisify(execFile)
const { folder: template } = await installPacked()
const top = join(template, '../plugin-commands')
const folder = join(top, 'service')
const CONFIG = join(folder, 'claimcheck.config.json')
const FIRST = '{\n  "plugins": [\n    { "use": "@claimcheck/plugin-http" }\n  ]\n}\n'
const registry = await Verdaccio.start()
const token = await registry.addUser('acme')
const npmrc = join(top, 'npmrc')
const { PATH, HOME } = process.env
const ENV = { PATH, HOME, LOG_LEVEL: 'silent', PORT: '0', npm_config_userconfig: npmrc, npm_config_fetch_retries: '0' }

mkdirSync(top)
// npm writes some files in place.
await execute('cp', ['-al', template, folder])
for (const list of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json']) {
  rmSync(join(folder, list))
  copyFileSync(join(template, list), join(folder, list))
}
const { host } = new URL(registry.url)
writeFileSync(npmrc, `registry=${registry.url}\n//${host}/:_authToken=${token}\ncache=${join(top, 'cache')}\n`)
afterFile(async () => {
  await registry.close()
  rmSync(top, { recursive: true, force: true })
})

interface Made {
  readonly version?: string
  readonly name?: string
  readonly plugin?: string
  readonly hosts?: readonly string[]
  readonly profiles?: readonly string[]
  readonly extra?: string
  /** In place of the whole module. */
  readonly code?: string
}

/** The module of a plugin whose destination never answers. */
function moduleOf({ plugin = 'acme', hosts = ['acme.invalid'], profiles = ['1'], extra = '' }: Made): string {
  return `import { definePlugin, defineVerifier, DestinationError, Type } from '@claimcheck/core/plugin'
${extra}
const closed = { additionalProperties: false }
const profile = (version) => ({
  action: 'acme.ticket.close', version, rulesVersion: 1, summary: 'A ticket is closed.', required: {},
  words: { title: 'Closing of a ticket', target: 'Ticket', claim: '{target} is closed.', outcomes: {
    verified: 'It was closed.', late: 'It was late.', mismatch: 'It was another.', failed: 'It was not closed.' } },
  target: Type.String({ maxLength: 20 }), params: Type.Object({}, closed), facts: Type.Object({}, closed),
  toleranceMs: 60000, deadlineMs: 3600000, maxDeadlineMs: 7200000, access: { permission: 'none', anonymous: true },
})
const provider = { provider: 'acme', title: 'Acme', help: 'A token that reads.',
  options: Type.Object({ token: Type.String({ title: 'Token', 'x-secret': true, maxLength: 100 }) }, closed),
  baseUrl: () => 'https://acme.invalid', fits: () => true,
  probe: async () => { throw new DestinationError('unavailable') } }
const verifier = (version) => defineVerifier({ profile: profile(version), providers: ['acme'],
  anonymousSource: () => ({ provider: 'acme', baseUrl: 'https://acme.invalid' }), limits: { timeMs: 2000 },
  async check() { throw new DestinationError('unavailable') } })
export default definePlugin({ name: '${plugin}', api: 2, manifest: { hosts: ${JSON.stringify(hosts)} }, options: Type.Object({}),
  setup: () => ({ verifiers: ${JSON.stringify(profiles)}.map(verifier), connections: [provider] }) })
`
}

/** Writes the folder of a package. */
function packageOf(made: Made): string {
  const { name = 'claimcheck-plugin-acme', version = '1.0.0', code = moduleOf(made) } = made
  const root = join(top, `${name.replace('/', '+')}-${version}-${readdirSync(top).length}`)
  mkdirSync(root)
  const scripts = { preinstall: `touch ${join(top, 'RAN')}`, prepack: `touch ${join(top, 'RAN')}` }
  const json = {
    name,
    version,
    type: 'module',
    exports: './index.js',
    bin: { claimcheck: './index.js' },
    scripts,
    dependencies: { '@claimcheck/core': '*' },
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify(json))
  writeFileSync(join(root, 'index.js'), code)
  return root
}

async function publish(made: Made): Promise<void> {
  await execute('npm', ['publish', '--ignore-scripts', packageOf(made)], { env: ENV })
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function claimcheck(...args: readonly string[]): Promise<Ended> {
  const bin = join(folder, 'node_modules/.bin/claimcheck')
  try {
    return { code: 0, ...(await execute(bin, [...args], { cwd: folder, env: ENV })) }
  } catch (error) {
    return error as Ended
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers
async function json(...args: readonly string[]): Promise<any> {
  const { stdout } = await claimcheck(...args, '--json')
  return JSON.parse(stdout)
}

/** All that a refusal must leave as it is. */
function state(): object {
  const lists = ['claimcheck.config.json', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json']
  const files = lists.map((list) => [
    list,
    existsSync(join(folder, list)) ? readFileSync(join(folder, list), 'utf8') : null,
  ])
  const hidden = (name: string) => name.startsWith('data')
  return {
    ...Object.fromEntries(files),
    folder: readdirSync(folder)
      .filter((name) => !hidden(name))
      .toSorted(),
    packages: readdirSync(join(folder, 'node_modules')).toSorted(),
  }
}

async function refused(t: Test, args: readonly string[], expected: RegExp): Promise<void> {
  const before = state()
  const { code, stderr } = await claimcheck('plugin', ...args)
  t.not(code, 0, args.join(' '))
  t.match(stderr, expected, args.join(' '))
  t.notMatch(stderr, /^ {4}at /m, 'an error for people')
  t.strictSame(state(), before, `${args.join(' ')}: everything is as it was`)
}

t.beforeEach(() => {
  writeFileSync(CONFIG, FIRST)
})

await publish({})
await publish({ version: '1.1.0', hosts: ['acme.invalid', 'else.invalid'], profiles: ['1', '2'] })
await publish({ version: '2.0.0', profiles: ['2'] })
await publish({ name: 'claimcheck-plugin-throws', code: "throw new Error('it is broken')" })
await publish({ name: 'claimcheck-plugin-hangs', code: 'for (;;);' })
await publish({ name: 'not-a-plugin', code: 'export default 1' })
await publish({ name: 'claimcheck-plugin-imitates', plugin: 'c0dehost' })
await publish({ name: 'claimcheck-plugin-twin', plugin: 'twin' })

t.test('a plugin of the registry is added, listed, updated and removed', async (t) => {
  const installed = state()
  const added = await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  t.match(added, {
    added: {
      name: 'acme',
      package: 'claimcheck-plugin-acme',
      version: '1.0.0',
      code_hash: /^sha256:/,
      isolation: 'isolated',
      hosts: ['acme.invalid'],
      actions: [{ action: 'acme.ticket.close', version: '1' }],
      connections: [{ provider: 'acme' }],
      built_by: null,
      provenance: /^no provenance: 127\.0\.0\.1:\d+ has no attestation of it$/,
    },
  })
  t.equal(readFileSync(CONFIG, 'utf8'), FIRST.replace('" }\n', '" },\n    { "use": "claimcheck-plugin-acme" }\n'))
  t.equal(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies['claimcheck-plugin-acme'],
    '1.0.0',
  )
  t.notOk(existsSync(join(top, 'RAN')), 'no script of the package ran')
  t.match(await claimcheck('--version'), { code: 0, stdout: /^0\./ }, 'and none of its programs replaced one')

  const { plugins, not_loaded } = await json('plugin', 'list')
  t.match(plugins, [
    { package: '@claimcheck/plugin-http', isolation: 'trusted', claims_waiting: 0 },
    { package: 'claimcheck-plugin-acme', code_hash: added.added.code_hash, claims_waiting: 0, connections_in_use: 0 },
  ])
  t.ok(not_loaded.some((one: { package: string }) => one.package === '@claimcheck/plugin-chain'))
  t.match(
    (await claimcheck('plugin', 'list')).stdout,
    /claimcheck-plugin-acme +1\.0\.0 +isolated +acme\.ticket\.close 1/,
  )
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /names claimcheck-plugin-acme already.*plugin update/)
  await refused(
    t,
    ['update', 'claimcheck-plugin-acme@1.1.0'],
    /NEW {3}may ask else\.invalid[\s\S]*Add --yes to confirm/,
  )

  const updated = await claimcheck('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes')
  t.match(updated.stdout, /NEW {3}may ask else\.invalid\nNEW {3}verifies acme\.ticket\.close, version 2/)
  t.match(updated.stdout, /Updated: claimcheck-plugin-acme 1\.1\.0 is installed\./)
  t.match(await json('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes'), { updated: false })
  await refused(t, ['update', '@claimcheck/plugin-http', '--yes'], /comes with the server/)
  await refused(
    t,
    ['update', 'claimcheck-plugin-unknown', '--yes'],
    /names no plugin claimcheck-plugin-unknown.*It names: /,
  )

  t.strictSame(await json('plugin', 'remove', 'claimcheck-plugin-acme'), {
    removed: 'claimcheck-plugin-acme',
    uninstalled: true,
  })
  t.strictSame(
    { ...state(), 'package-lock.json': '', 'node_modules/.package-lock.json': '' },
    { ...installed, 'package-lock.json': '', 'node_modules/.package-lock.json': '' },
  )
})

t.test('a package of the shelf needs its line alone', async (t) => {
  const before = state()
  await json('plugin', 'add', '@claimcheck/plugin-chain', '--yes')
  t.match(JSON.parse(readFileSync(CONFIG, 'utf8')).plugins.at(-1), { use: '@claimcheck/plugin-chain' })
  t.strictSame(await json('plugin', 'remove', '@claimcheck/plugin-chain'), {
    removed: '@claimcheck/plugin-chain',
    uninstalled: false,
  })
  t.strictSame(state(), before)
})

t.test('an archive and a folder are added, and updated by another one alone', async (t) => {
  const root = packageOf({})
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', top, root])
  const archive = join(top, JSON.parse(stdout)[0].filename)
  t.match(await json('plugin', 'add', archive, '--yes'), { added: { provenance: /it comes from a file/ } })
  await refused(
    t,
    ['update', 'claimcheck-plugin-acme', '--yes'],
    /did not come from a registry[\s\S]*name an archive or a folder/,
  )
  const next = packageOf({ version: '1.0.1', hosts: [] })
  t.match(await json('plugin', 'update', next, '--yes'), {
    updated: true,
    from: '1.0.0',
    gained: [],
    lost: ['may ask acme.invalid'],
  })
  t.ok(existsSync(join(folder, 'claimcheck-plugin-acme-1.0.1.tgz')), 'the packed folder stays beside the configuration')
  await refused(t, ['update', next, '--yes'], /is there already: name that archive, or raise the version/)
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
  rmSync(join(folder, 'claimcheck-plugin-acme-1.0.1.tgz'))
  t.notOk(existsSync(join(top, 'RAN')))
})

t.test('what is no plugin, or does not load, is refused, and leaves everything as it was', async (t) => {
  const broken = join(top, 'broken.tgz')
  writeFileSync(broken, 'no archive')
  const rows: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [['claimcheck-plugin-nowhere'], /npm failed \(E404\)[\s\S]*no such package. Check its name/],
    [['claimcheck-plugin-acme@9.9.9'], /npm failed \(ETARGET\)[\s\S]*no such version/],
    [['not-a-plugin'], /definePlugin[\s\S]*It is no plugin of Claimcheck/],
    [['claimcheck-plugin-throws'], /it failed as it was loaded: Error: it is broken[\s\S]*Tell its author/],
    [['claimcheck-plugin-hangs'], /claimcheck-plugin-hangs does not load[\s\S]*Tell its author/],
    [['claimcheck-plugin-imitates'], /looks like codehost, of a plugin that comes with the server/],
    [['@claimcheck/plugin-mail-of-nobody'], /Claimcheck is not published/],
    [['@claimcheck/plugin-chain@9.0.0'], /Claimcheck is not published/],
    [[broken], /npm failed[\s\S]*The archive cannot be read: fetch or pack it again/],
  ]
  for (const [args, expected] of rows) await refused(t, ['add', ...args, '--yes'], expected)
  await refused(
    t,
    ['add', 'claimcheck-plugin-acme'],
    /digest +sha256:[\s\S]*built +no provenance[\s\S]*Nothing was done. Add --yes/,
  )
})

t.test('a name that is taken is refused', async (t) => {
  await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  await refused(
    t,
    ['add', 'claimcheck-plugin-twin', '--yes'],
    /already offers the provider acme[\s\S]*remove the other one first/,
  )
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
})

t.test('a configuration that cannot be read or written, and a registry that is away', async (t) => {
  writeFileSync(CONFIG, FIRST.replace('"plugins"', '"plugin"'))
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /claimcheck\.config\.json: plugin: /)
  writeFileSync(CONFIG, '{ not JSON')
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /is not JSON/)
  writeFileSync(CONFIG, FIRST)
  appendFileSync(npmrc, 'registry=http://127.0.0.1:9/\n')
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /The registry of npm was not reached. Try again/)
  writeFileSync(npmrc, readFileSync(npmrc, 'utf8').replace('registry=http://127.0.0.1:9/\n', ''))
})

/** Runs a command at a terminal, and presses keys when it asks. */
async function atTerminal(keys: string, ...args: readonly string[]): Promise<{ code: number; output: string }> {
  const line = [join(folder, 'node_modules/.bin/claimcheck'), ...args].map((arg) => `'${arg}'`).join(' ')
  const child = spawn('script', ['-qefc', line, '/dev/null'], { cwd: folder, env: { ...ENV, TERM: 'dumb' } })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasAsked = output.includes('(yes/no)')
    output += text
    if (!wasAsked && output.includes('(yes/no)')) child.stdin.write(keys)
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

t.test('consent is asked at a terminal; no, Ctrl-C and Ctrl-D leave everything as it was', async (t) => {
  const before = state()
  for (const [keys, expected] of [
    ['no\r', 'Nothing was done.'],
    ['\u0003', 'Nothing was done.'],
    ['\u0004', 'Nothing was done.'],
  ] as const) {
    const { code, output } = await atTerminal(keys, 'plugin', 'add', 'claimcheck-plugin-acme@1.0.0')
    t.match(output, /may ask +acme\.invalid/)
    t.match(output, expected, JSON.stringify(keys))
    t.equal(code, 1)
    t.strictSame(state(), before, JSON.stringify(keys))
  }
  t.match(await atTerminal('yes\r', 'plugin', 'add', 'claimcheck-plugin-acme@1.0.0'), { code: 0, output: /Added: / })
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
})

t.test('a signal while npm works leaves everything as it was', async (t) => {
  const before = state()
  const slow = createServer(() => {}).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  t.teardown(() => slow.close() && slow.closeAllConnections())
  const env = { ...ENV, npm_config_registry: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` }
  const args = ['plugin', 'add', 'claimcheck-plugin-acme', '--yes']
  const child = spawn(join(folder, 'node_modules/.bin/claimcheck'), args, { cwd: folder, env })
  await once(slow, 'request')
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'close'), [1, null])
  t.strictSame(state(), before)
})

t.test('claims that wait, and connections, keep their plugin', async (t) => {
  await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  const service = spawn(join(folder, 'node_modules/.bin/claimcheck'), ['serve'], { cwd: folder, env: ENV })
  t.teardown(() => service.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface({ input: service.stdout })) {
    url = /is running on (\S+)/.exec(line)?.[1] ?? url
    if (line.includes('docs')) break
  }
  await json('workspace', 'create', 'acme')
  const { key } = await json('key', 'create', '--workspace', 'acme', '--name', 'agent')
  const claim = { client_claim_id: 'c1', agent_id: 'bot', action: 'acme.ticket.close', target: 'A-1', params: {} }
  const answer = await fetch(`${url}/v1/claims`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...claim, claimed_at: new Date().toISOString() }),
  })
  t.equal(answer.status, 202, await answer.text())
  t.match((await json('plugin', 'list')).plugins, [{}, { claims_waiting: 1, latest_deadline: /^20/ }])

  await refused(
    t,
    ['update', 'claimcheck-plugin-acme@2.0.0', '--yes'],
    /1 waiting claims could not be read any more \(1 of acme\.ticket\.close, version 1\)\. The latest deadline is 20[\s\S]*earlierVersion/,
  )
  await refused(
    t,
    ['remove', 'claimcheck-plugin-acme'],
    /1 waiting claims could not be read[\s\S]*when the last claim is decided/,
  )
  t.match(
    await json('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes'),
    { updated: true },
    'a version that has the old profile',
  )

  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
  const token = join(top, 'token')
  writeFileSync(token, 'secret')
  await json('connection', 'add', 'acme', '--workspace', 'acme', '--set', `token=@${token}`, '--untested')
  t.match((await json('plugin', 'list')).plugins, [{}, { connections_in_use: 1 }])
  await refused(t, ['remove', 'claimcheck-plugin-acme'], /1 connections to acme would have no plugin/)
})
