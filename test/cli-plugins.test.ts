// Test run: end-to-end, slow
/** `claimcheck plugins`: what it lists of trusted plugins, of those in a sandbox, and of those that run open. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { CLAIMCHECK } from './support/command.ts'
import { commandLine } from './support/command-line.ts'

const CODEHOST = resolve('plugins/codehost/dist/index.js')

/** The plugin `scripted` in a package of its own, which no list of trusted plugins names. */
function acmePlugin(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-plugin-'))
  // A host that runs as root gives its plugins another user.
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules/@claimcheck'), { recursive: true })
  symlinkSync(resolve('core'), join(folder, 'node_modules/@claimcheck/core'))
  const root = join(folder, 'acme')
  mkdirSync(root)
  const named = { name: '@acme/plugin', version: '1.2.3', type: 'module', exports: './index.js' }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...named, dependencies: { '@claimcheck/core': '*' } }))
  // A plugin with programs is trusted, or does not start.
  const code = readFileSync(resolve('build/test/plugins/scripted.js'), 'utf8').replace(/, programs: \['none'\]/, '')
  writeFileSync(join(root, 'index.js'), code)
  return root
}

t.test('plugins are listed with their package, digest, isolation, reach and actions', async (t) => {
  const root = acmePlugin(t)
  const cli = await commandLine(t, { plugins: [{ use: CODEHOST }, { use: root }] })
  const { plugins } = await cli.json('plugins')
  t.match(plugins, [
    {
      name: 'codehost',
      package: '@claimcheck/plugin-codehost',
      version: '0.1.0',
      code_hash: /^sha256:[A-Za-z0-9_-]{43}$/,
      isolation: 'trusted',
      state: 'running',
      restarts: 0,
      last_end: null,
      programs: ['git'],
      actions: [{ action: 'codehost.commit.push', version: '2', title: 'Push of a commit' }],
      connections: [{ provider: 'github', title: 'GitHub' }, { provider: 'git' }],
    },
    {
      name: 'scripted',
      package: '@acme/plugin',
      version: '1.2.3',
      code_hash: /^sha256:[A-Za-z0-9_-]{43}$/,
      isolation: 'isolated',
      state: 'running',
      hosts: ['example.com'],
      methods: { json_rpc: [], graphql: [] },
      sockets: [],
      programs: [],
      actions: [{ action: 'test.outcome.reach', version: '1', title: 'Outcome' }],
      connections: [],
    },
  ])
  const { stdout, code } = await cli.run(['plugins'])
  t.equal(code, 0)
  t.match(
    stdout,
    /^codehost\n {2}package +@claimcheck\/plugin-codehost 0\.1\.0\n {2}digest +sha256:\S{43}\n {2}runs +trusted\./,
  )
  t.match(stdout, /\nscripted\n {2}package +@acme\/plugin 1\.2\.3\n/)
  t.match(stdout, /runs +isolated\. Runs in a sandbox of its own/)
  t.match(stdout, /may ask +example\.com\n/)
  t.match(stdout, /verifies +Outcome \(test\.outcome\.reach, version 1\)/)
  t.match(stdout, /state +running, no restarts/)
})

t.test('a plugin that runs open is warned of, by plugins and by doctor', async (t) => {
  const root = acmePlugin(t)
  const cli = await commandLine(t, { plugins: [{ use: root, isolation: 'open' }] })
  const [plugin] = (await cli.json('plugins')).plugins
  t.match(plugin, { isolation: 'open' })
  t.match((await cli.run(['plugins'])).stdout, /runs +open\. Runs WITHOUT a sandbox/)
  const { code, stdout } = await cli.run(['doctor'])
  t.equal(code, 0, 'a notice is no problem')
  t.match(stdout, /No problems: 0 receipts.*\nNotice: the configuration runs the plugin .*acme open/)
  t.match(await cli.json('doctor'), { ok: true, problems: [], notices: [/open/] })
})

t.test('an installation without plugins says so, and doctor has no notices', async (t) => {
  const cli = await commandLine(t, { plugins: [] })
  t.strictSame(await cli.json('plugins'), { plugins: [] })
  t.match((await cli.run(['plugins'])).stdout, 'No plugin is configured.')
  t.strictSame((await cli.json('doctor')).notices, [])
})

t.test('a plugin that cannot be loaded is named, and none is listed', async (t) => {
  const cli = await commandLine(t, { plugins: [{ use: CODEHOST }, { use: './nowhere.js' }] })
  const { code, stdout, stderr } = await cli.run(['plugins'])
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, 'nowhere.js')
})

t.test('a server whose port is taken ends, with a plugin in its sandbox, too', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const cli = await commandLine(t, { plugins: [{ use: acmePlugin(t) }] })
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await cli.run(['serve'], { PORT: String(port) })
  t.equal(code, 1)
  t.match(stderr, `Another program listens on 127.0.0.1:${port}`)
})

/** As in a container whose root has no CAP_SYS_ADMIN, and which allows no user namespaces: below this one, that is. */
const CONTAINER = [
  ...['--user', '--map-root-user', 'sh', '-c'],
  'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"',
  ...['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin'],
]

function inContainer(folder: string, args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const env = { PATH: process.env.PATH!, LOG_LEVEL: 'silent', PORT: '0' }
  return new Promise((resolve) => {
    execFile(
      'unshare',
      [...CONTAINER, process.execPath, CLAIMCHECK, ...args],
      { cwd: folder, env },
      (error, out, err) => resolve({ code: error?.code ?? 0, output: out + err }),
    )
  })
}

t.test('where nothing can be isolated, the server does not start, and doctor says why', async (t) => {
  const probe = await inContainer(process.cwd(), ['--version'])
  if (probe.code !== 0) return void t.comment(`skipped: no container can be imitated here: ${probe.output}`)
  const cli = await commandLine(t, { plugins: [{ use: acmePlugin(t) }] })
  for (const command of ['serve', 'doctor']) {
    const { code, output } = await inContainer(cli.folder, [command])
    t.equal(code, 1, command)
    t.match(output, /acme: this system does not let plugins be isolated \(unshare.*SYS_ADMIN.*user namespaces/)
  }
  const { folder } = await commandLine(t, { plugins: [] })
  // Makes the database.
  t.match(await inContainer(folder, ['plugins']), { code: 0 })
  const { code, output } = await inContainer(folder, ['doctor'])
  t.equal(code, 0, output)
  t.match(output, /Notice: plugins of others do not start here: this system does not let plugins be isolated/)
})

t.test(
  'doctor tells how many processes an isolated plugin may have, and whether they fit into this machine',
  async (t) => {
    const cli = await commandLine(t, {
      plugins: [{ use: acmePlugin(t), processes: { most: 4, memory_mib: 1_000_000 } }],
    })
    t.match(await cli.json('plugins'), {
      plugins: [{ processes: { most: 1, memory_mib: 1_000_000, running: 1, working: 0, starts: 1, evictions: 0 } }],
    })
    const { stdout } = await cli.run(['doctor'])
    t.match(stdout, 'The isolated plugin scripted works in one process, with 1000000 MiB at most.')
    t.match(stdout, /Notice: the processes of plugins may take 1000000 MiB of the \d+ MiB that there are: lower/)
  },
)
