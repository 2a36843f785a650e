// Test run: end-to-end, slow
/** Plugins that start late, not at all, or only sometimes. Threat P4 of `security.md`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from '@claimcheck/core/plugin'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { memoryLimit } from '@claimcheck/server/base/memory'
import { keptDescription } from '@claimcheck/server/plugins/isolation/kept-description'
import { idlePlugins } from '@claimcheck/server/plugins/overview'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { makePluginPackage, pluginChecking } from '../../../../test/support/plugin-package.ts'

const skip = (await isolationProblem()) ?? false
const FAILS = `process.stderr.write('\\u001b[2J')
  process.exit(1)`
/** What a plugin imports is in its digest: chance is not. */
const FAILS_AT_TIMES = `if (Math.random() < 0.7) { ${FAILS} }`
const MOST_LOADS = 50
const TENANT = { workspaceId: 'acme', payer: 'acme' }

/** A plugin with this code before it, and how the service loads it. */
function installed(t: Test, code: string, plugin = pluginChecking('')) {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-plugin-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'built.js'), `${code}\n${plugin}`)
  const use = makePluginPackage(folder, join(folder, 'built.js'))
  const texts: string[] = []
  const log = (fields: object, text: string) => void texts.push(`${text} ${JSON.stringify(fields)}`)
  const logger = { debug: log, info: log, warn: log, child: () => logger } as Logger & { child(): Logger }

  async function load() {
    const config = { plugins: [{ use, with: {} }], pluginDir: folder, dataDir: join(folder, 'data') }
    const registry = await loadPlugins(config, { logger: logger as never, now: Date.now })
    t.teardown(() => registry.plugins[0]!.parts.close())
    return registry
  }

  return { load, texts }
}

type Loaded = Awaited<ReturnType<typeof loadPlugins>>

/** Loads again until it comes out as wanted. */
async function loadUntil(load: () => Promise<Loaded>, isWanted: (registry: Loaded) => boolean): Promise<Loaded> {
  for (let loads = 1; ; loads++) {
    const registry = await load().catch((error: unknown) => {
      if (loads === MOST_LOADS) throw error
      return undefined
    })
    if (registry && isWanted(registry)) return registry
    if (registry) await registry.plugins[0]!.parts.close()
    if (loads === MOST_LOADS) throw new Error('it never came out as wanted')
  }
}

t.test('a plugin that loads for longer than a message may take starts', { skip }, async (t) => {
  const { load } = installed(t, 'while (process.cpuUsage().user < 2_000_000);')
  const { plugins } = await load()
  t.match(plugins[0]!.parts.state(), { status: 'running', restarts: 0 })
})

t.test('a call that goes down with another one waits for a process that starts slowly', { skip }, async (t) => {
  const ends = pluginChecking('').replace('= () => ({', "= ({ target }) => (target === 'ends' && process.exit(1), {")
  // Longer than the call may take.
  const { load } = installed(t, 'await new Promise((resolve) => setTimeout(resolve, 3500))', ends)
  const { verifier } = (await load()).verifierFor('test.outcome.reach')!
  const source = (target: string) => verifier.anonymousSource!({ target, params: {} } as never, TENANT)
  const [killer, ...others] = await Promise.allSettled([source('ends'), source('there'), source('there')])
  t.match(killer, { status: 'rejected', reason: /the process of the plugin ended: it exited/ })
  for (const other of others) t.match(other, { value: { baseUrl: 'https://test.example' } })
})

t.test('a plugin that does not start any more keeps its actions, and starts when it can', { skip }, async (t) => {
  const { load, texts } = installed(t, FAILS_AT_TIMES)
  const before = await loadUntil(load, ({ plugins }) => plugins[0]!.parts.state().status === 'running')
  await before.plugins[0]!.parts.close()
  const registry = await loadUntil(load, ({ plugins }) => plugins[0]!.parts.state().status === 'restarting')
  const [plugin] = registry.plugins
  const { verifier } = registry.verifierFor('test.outcome.reach')!
  t.strictSame(verifier.profile, before.verifierFor('test.outcome.reach')!.verifier.profile)
  t.match(plugin!.parts.state(), { status: 'restarting', lastEnd: /./ })
  t.match(idlePlugins(registry.plugins), [/^the plugin test does not run \(.+\): its claims wait$/])
  t.ok(texts.some((text) => /its claims wait/.test(text)))
  t.notMatch(texts.join(), /u001b/)
  const from = performance.now()
  while (plugin!.parts.state().status !== 'running' && performance.now() - from < 60_000) await setTimeout(50)
  t.match(plugin!.parts.state(), { status: 'running' })
  t.strictSame(idlePlugins(registry.plugins), [])
})

t.test('a plugin of which nothing is known is tried again, and has to start', { skip }, async (t) => {
  const { load, texts } = installed(t, FAILS)
  await t.rejects(load(), /its process ended: it exited/)
  t.equal(texts.filter((text) => /did not start: it is tried again/.test(text)).length, 2)
})

t.test('what a plugin said holds for the same code and options, and is no more than that', async (t) => {
  const folder = t.testdir()
  const located = { name: 'acme', entry: '/acme.js', codeHash: 'sha256:1' }
  const description = { plugin: { isPlugin: true, data: {}, functions: [] }, made: { a: 1 } }
  const kept = keptDescription(folder, located, { token: 'a-secret' })
  t.equal(kept.read(), undefined)
  kept.write(description)
  kept.write(description)
  t.strictSame(keptDescription(folder, located, { token: 'a-secret' }).read(), description)
  t.equal(keptDescription(folder, located, { token: 'another' }).read(), undefined)
  t.equal(keptDescription(folder, { ...located, codeHash: 'sha256:2' }, { token: 'a-secret' }).read(), undefined)
  const [file] = readdirSync(join(folder, 'plugins'))
  const path = join(folder, 'plugins', file!)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.notMatch(readFileSync(path, 'utf8'), /a-secret/)
  for (const spoilt of ['{', '{}', 'null', '[]']) {
    writeFileSync(path, spoilt)
    t.equal(kept.read(), undefined, spoilt)
  }
})

t.test('a plugin that fails by its own code is not tried again', { skip }, async (t) => {
  const { load, texts } = installed(t, "throw new Error('a mistake')")
  await t.rejects(load(), /it failed as it was loaded: Error: a mistake/)
  t.notOk(texts.some((text) => /tried again/.test(text)))
})

t.test('by default, the processes of all plugins together leave half of the memory', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-plugin-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const entries = ['one', 'two', 'three', 'four'].map((name) => {
    writeFileSync(
      join(folder, `${name}.js`),
      pluginChecking('').replace('test.outcome', `test.${name}`).replace("name: 'test'", `name: '${name}'`),
    )
    return { use: makePluginPackage(folder, join(folder, `${name}.js`)), with: {} }
  })
  const logger = { debug() {}, info() {}, warn() {}, child: () => logger } as Logger & { child(): Logger }
  const config = { plugins: entries, pluginDir: folder, dataDir: join(folder, 'data') }
  const { plugins } = await loadPlugins(config, { logger, now: Date.now })
  t.teardown(() => Promise.all(plugins.map(({ parts }) => parts.close())))
  const limits = plugins.map(({ parts }) => parts.state().cells!.memoryMib)
  const part = Math.max(1024, Math.floor(memoryLimit() / 1024 ** 2 / 8))
  t.strictSame(limits, [part, part, part, part])
})
