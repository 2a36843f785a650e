/** An installation of packed packages that a test may change, beside a real npm registry, and packages for it. */
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { Verdaccio } from '../destinations/verdaccio.ts'
import { afterFile } from '../support/after-file.ts'
import { installPacked } from './installed.ts'

export const execute = promisify(execFile)
const { folder: template } = await installPacked()
export const top = join(template, '../plugin-commands')
export const folder = join(top, 'service')
export const CONFIG = join(folder, 'claimcheck.config.json')
export const FIRST = '{\n  "plugins": [\n    { "use": "@claimcheck/plugin-http" }\n  ]\n}\n'
const registry = await Verdaccio.start()
const token = await registry.addUser('acme')
export const npmrc = join(top, 'npmrc')
const { PATH, HOME } = process.env
export const ENV = {
  PATH,
  HOME,
  LOG_LEVEL: 'silent',
  PORT: '0',
  npm_config_userconfig: npmrc,
  npm_config_fetch_retries: '0',
}

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
export default definePlugin({ name: '${plugin}', api: 3, manifest: { hosts: ${JSON.stringify(hosts)} }, options: Type.Object({}),
  setup: () => ({ verifiers: ${JSON.stringify(profiles)}.map(verifier), connections: [provider] }) })
`
}

/** Writes the folder of a package. */
export function packageOf(made: Made): string {
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

export async function publish(made: Made): Promise<void> {
  await execute('npm', ['publish', '--ignore-scripts', packageOf(made)], { env: ENV })
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function claimcheck(...args: readonly string[]): Promise<Ended> {
  const bin = join(folder, 'node_modules/.bin/claimcheck')
  try {
    return { code: 0, ...(await execute(bin, [...args], { cwd: folder, env: ENV })) }
  } catch (error) {
    return error as Ended
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers
export async function json(...args: readonly string[]): Promise<any> {
  const { stdout } = await claimcheck(...args, '--json')
  return JSON.parse(stdout)
}

/** All that a refusal must leave as it is. */
export function state(): object {
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

export async function refused(t: Test, args: readonly string[], expected: RegExp): Promise<void> {
  const before = state()
  const { code, stderr } = await claimcheck('plugin', ...args)
  t.not(code, 0, args.join(' '))
  t.match(stderr, expected, args.join(' '))
  t.notMatch(stderr, /^ {4}at /m, 'an error for people')
  t.strictSame(state(), before, `${args.join(' ')}: everything is as it was`)
}
