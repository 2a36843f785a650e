// Test run: end-to-end, slow
/** @claimcheck/cli as others get it: packed with its scripts, installed in an empty folder, and used against a service. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { freePort } from '../support/free-port.ts'
import { sharedInstallation } from '../support/installation.ts'
import { call, claimOf } from '../support/mcp.ts'
import { packAll } from './installed.ts'

const execute = promisify(execFile)
const PACKED = ['core', 'client', 'cli', 'command-line', 'plugin-anchor-eas']
/** Of ours and of others, all that an installation holds. */
const PACKAGES = [
  '@claimcheck/cli',
  '@claimcheck/client',
  '@claimcheck/command-line',
  '@claimcheck/core',
  '@claimcheck/plugin-anchor-eas',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@noble/curves',
  '@noble/hashes',
  'commander',
  're2js',
  'typebox',
  'zod',
]

const shared = sharedInstallation()
const folder = await realpath(await mkdtemp(join(tmpdir(), 'claimcheck-cli-')))
const PROGRAM = join(folder, 'node_modules/.bin/claimcheck-cli')
afterFile(() => rm(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function ended(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  try {
    return { code: 0, ...(await execute(program, [...args], { cwd, env, maxBuffer: 16 * 1024 * 1024 })) }
  } catch (error) {
    return error as Ended
  }
}

/** With nothing of this environment but the path. */
function cli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return ended(PROGRAM, args, folder, { PATH: process.env.PATH, XDG_CONFIG_HOME: join(folder, 'config'), ...env })
}

t.before(async () => {
  const { paths } = await packAll()
  const archives = PACKED.map((name) => paths[`@claimcheck/${name}`]!)
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const install = ['install', '--prefer-offline', '--ignore-scripts=false', '--no-audit', '--no-fund', ...archives]
  await execute('npm', install, { cwd: folder })
})

t.test('it takes few packages, and none of them runs a script when it is installed', async (t) => {
  const { packages } = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''))
  t.strictSame(names.toSorted(), PACKAGES)
  t.notOk(Object.values(packages).some((one) => (one as { hasInstallScript?: boolean }).hasInstallScript))
})

t.test('every module that it loads when it needs it is there, and loads', async (t) => {
  const dist = join(folder, 'node_modules/@claimcheck/cli/dist')
  const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.js'))
  const named = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(dist, file), 'utf8')
      return [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, name]) => ({ from: join(dist, file), name: name! }))
    }),
  )
  t.ok(named.flat().length > 1)
  const modules = named.flat().map(({ from, name }) => (name.startsWith('.') ? resolve(from, '..', name) : name))
  const code = `for (const name of ${JSON.stringify(modules)})
    await import(name).catch(({ message }) => console.error(name, message))`
  const { stderr } = await ended(process.execPath, ['--input-type=module', '-e', code], dist, process.env)
  t.equal(stderr, '')
})

t.test('it claims, lists, and checks receipts at a service', async (t) => {
  const installation = await shared()
  const { url } = installation
  const { key } = await installation.client('cli-package')
  const env = { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: key }
  const what = ['--action', 'test.outcome.reach', '--target', 'here', '--param', 'see=present']
  const claimed = await cli(['claim', ...what, '--wait', '--json'], env)
  const { receipt_id: receipt, claim_id: claim, verdict } = JSON.parse(claimed.stdout)
  t.equal(verdict, 'verified')
  const got = await cli(['receipt', 'get', receipt], env)
  t.equal(got.stdout, await (await fetch(`${url}/v1/receipts/${receipt}`)).text())
  t.match(await cli(['verify', `${url}/v1/receipts/${receipt}`]), { code: 0, stdout: /verified/ })
  await writeFile(join(folder, 'receipt.json'), got.stdout.replace('"verified"', '"late"'))
  const keys = `${url}/.well-known/poaw-keys.json`
  t.match(await cli(['verify', 'receipt.json', '--keys', keys]), { code: 1, stdout: /signature/ })

  await writeFile(join(folder, 'key.txt'), key)
  t.match(await cli(['login', url, '--key', '@key.txt']), { code: 0, stdout: /Logged in/ })
  t.match(await cli(['claims', 'list']), { code: 0, stdout: claim }, 'with the profile')
  t.match(await cli(['logout']), { code: 0, stdout: /is gone/ })
})

t.test('an agent has its tools over standard input and output', async (t) => {
  const installation = await shared()
  const { url } = installation
  const { key } = await installation.client('cli-package-mcp')
  const agent = new Client({ name: 'test', version: '1' })
  const env = { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: key, PATH: process.env.PATH! }
  await agent.connect(new StdioClientTransport({ command: PROGRAM, args: ['mcp'], env }))
  t.teardown(() => agent.close())
  const { tools } = await agent.listTools()
  t.ok(tools.some(({ name }) => name === 'submit_claim'))
  const { structuredContent } = await call(agent, 'submit_claim', claimOf())
  t.match(structuredContent, { verdict: 'verified', created: true })
})

const CLAIM = ['claim', '--action', 'test.outcome.reach', '--target', 'here']
const refused: [what: string, args: readonly string[], env: Record<string, string>, code: number, said: RegExp][] = [
  ['no service', CLAIM, {}, 1, /^No service is named: run node_modules\/.bin\/claimcheck-cli login ADDRESS/],
  ['an address that is none', [...CLAIM, '--url', 'claimcheck'], { CLAIMCHECK_API_KEY: 'x' }, 2, /is like https:/],
  ['plain http to elsewhere', CLAIM, { CLAIMCHECK_URL: 'http://a.example', CLAIMCHECK_API_KEY: 'x' }, 2, /https/],
  ['no tools without a key', ['mcp'], {}, 1, /claimcheck-cli login/],
  ['a receipt that is not there', ['verify', 'none.json'], {}, 2, /^Could not check: .*none\.json/],
  ['a command of the server', ['serve'], {}, 2, /unknown command 'serve'.*claimcheck-cli help/s],
]

for (const [what, args, env, code, said] of refused) {
  t.test(`${what}: it says so, and what to do`, async (t) => {
    const done = await cli(args, env)
    t.match(done, { code, stdout: '', stderr: said })
    t.notMatch(done.stderr, /at .*\.js/)
  })
}

t.test('a service that does not answer is told after the tries of twenty seconds', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`
  const done = await cli(CLAIM, { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: 'svc_sk_x' })
  t.match(done, { code: 1, stdout: '', stderr: /whether the service runs/ })
})

t.test('the GitHub Action builds its command line from the checkout alone, and without scripts', async (t) => {
  const checkout = join(folder, 'checkout')
  await execute('git', ['clone', '-q', resolve('.'), checkout])
  const text = await readFile('core/cli/integrations/github-action/action.yml', 'utf8')
  const [, script] = /working-directory: .*\n {6}run: (.*)\n/.exec(text)!
  const done = await ended('bash', ['-eo', 'pipefail', '-c', script!], checkout, {
    ...process.env,
    npm_config_prefer_offline: 'true',
  })
  t.equal(done.code, 0, `${done.stdout}${done.stderr}`)
  const program = join(checkout, 'core/cli/bin/claimcheck-cli.js')
  t.match(await ended(process.execPath, [program, 'claim', '--help'], folder, process.env), { code: 0 })
  t.match(await ended(process.execPath, [program, 'mcp', '--help'], folder, process.env), { code: 0 })
})
