import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { overviewOf } from '@claimcheck/server/plugins/overview'
import { PluginError } from '@claimcheck/server/plugins/plugin-error'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { words } from '../support/profile.ts'

const CORE = JSON.stringify(resolve('core/dist/plugin.js'))
const TYPEBOX = JSON.stringify(resolve('node_modules/typebox/build/index.mjs'))

const logger = {
  debug() {},
  info() {},
  warn() {},
  child: () => logger,
}
const options = { logger, now: Date.now }
/** Only for those that never get ready: a busy machine takes its time with the others. */
const SHORT_LIMIT_MS = 500
const NEVER_READY = /500 ms/

/** The text of a good profile, and of what differs from it. */
const profileText = (over = '{}') => `({ action: 'test.thing.do', version: '1', summary: 'A thing.',
  words: ${JSON.stringify(words)}, target: Type.String(), params: Type.Object({}, { additionalProperties: false }),
  facts: Type.Object({}, { additionalProperties: false }), required: {}, toleranceMs: 1, deadlineMs: 2, maxDeadlineMs: 3,
  rulesVersion: 1, access: { permission: 'none', anonymous: true }, ...${over} })`

/** The text of a plugin module; what is given replaces what a good one would have. */
function plugin(
  parts: { name?: string; api?: string; manifest?: string; options?: string; setup?: string; profile?: string } = {},
): string {
  return `import { definePlugin } from ${CORE}
    import Type from ${TYPEBOX}
    export default definePlugin({ name: '${parts.name ?? 'good'}', api: ${parts.api ?? '3'},
      manifest: ${parts.manifest ?? '{ hosts: [] }'}, options: ${parts.options ?? 'Type.Object({})'},
      setup: ${parts.setup ?? `() => ({ verifiers: [{ providers: [], anonymousSource() {}, check() {}, profile: ${profileText(parts.profile)} }] })`} })`
}

async function load(
  t: Test,
  modules: Record<string, string>,
  withOptions: Record<string, object> = {},
  limit: { setupTimeoutMs?: number } = {},
) {
  const folder = t.testdir()
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text)
  const entries = Object.keys(modules).map((name) => ({
    use: `./${name}`,
    with: { ...withOptions[name] },
    trusted: true,
  }))
  return loadPlugins({ plugins: entries, pluginDir: folder, dataDir: join(folder, 'data') }, { ...options, ...limit })
}

t.test('a profile whose age takes blame away is said when it is loaded', async (t) => {
  const warned: unknown[] = []
  const warning = { ...logger, warn: (fields: object) => void warned.push(fields) }
  const folder = t.testdir({ 'aged.mjs': plugin({ name: 'aged', profile: '{ ageMs: 60_000 }' }), 'own.mjs': plugin() })
  for (const use of ['./aged.mjs', './own.mjs'])
    await loadPlugins(
      { plugins: [{ use, with: {}, trusted: true }], pluginDir: folder, dataDir: join(folder, 'data') },
      { ...options, logger: { ...warning, child: () => warning } },
    )
  t.match(warned, [
    { plugin: 'aged', action: 'test.thing.do', version: '1', problem: /^has an ageMs of 60 s: no claim/ },
  ])
  t.equal(warned.length, 1)
})

async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (error instanceof PluginError) return error.problems
    throw error
  }
}

t.test('a plugin offers its actions, and public ones need no connection', async (t) => {
  const registry = await load(t, {
    'good.mjs': plugin({ profile: "{ aliases: { 'other.thing.do': { providers: ['x'] } } }" }),
  })
  t.equal(registry.verifierFor('test.thing.do')?.verifier.profile.version, '1')
  t.equal(registry.verifierFor('other.thing.do')?.verifier, registry.verifierFor('test.thing.do')?.verifier)
  t.equal(registry.verifierFor('test.thing.undo'), undefined)
  t.strictSame(registry.publicActions(), ['test.thing.do'])
  t.strictSame(registry.publicAliases(), ['other.thing.do'])
  t.strictSame(
    registry.profiles().map(({ action }) => action),
    ['test.thing.do'],
  )
})

const VERSIONS = (
  versions: readonly string[],
  over = '{}',
) => `() => ({ verifiers: ${JSON.stringify(versions)}.map((version) => ({
  providers: [], anonymousSource() {}, check() {},
  profile: { ...${profileText()}, version, ...${over} } })) })`

t.test('versions of an action live side by side: the newest takes new claims', async (t) => {
  const setup = VERSIONS(['9', '10', '2'], "{ aliases: { 'other.thing.do': { providers: ['x'] } } }")
  const registry = await load(t, { 'good.mjs': plugin({ setup }) })
  for (const action of ['test.thing.do', 'other.thing.do']) {
    t.equal(registry.verifierFor(action)?.verifier.profile.version, '10')
    for (const version of ['2', '9', '10']) {
      t.equal(registry.verifierFor(action, version)?.verifier.profile.version, version)
    }
    t.equal(registry.verifierFor(action, '3'), undefined)
  }
  const versionsOf = (profiles: readonly { version: string }[]) => profiles.map(({ version }) => version)
  t.strictSame(versionsOf(registry.profiles()), ['10'])
  t.strictSame(versionsOf(registry.allProfiles()).sort(), ['10', '2', '9'])
  t.strictSame(registry.publicActions(), ['test.thing.do'])
})

t.test('a name stands for one action, in each version once', async (t) => {
  const twice = await problemsOf(load(t, { 'bad.mjs': plugin({ setup: VERSIONS(['1', '1']) }) }))
  t.match(twice, [/already offers the action test\.thing\.do/])
  const shared = VERSIONS(
    ['1', '2'],
    "{ action: 'test.thing.do' + version, aliases: { 'other.thing.do': { providers: ['x'] } } }",
  )
  t.match(await problemsOf(load(t, { 'shared.mjs': plugin({ setup: shared }) })), [
    /already offers the action other\.thing\.do/,
  ])
  const two = {
    'a.mjs': plugin({ name: 'a', setup: VERSIONS(['1']) }),
    'b.mjs': plugin({ name: 'b', setup: VERSIONS(['2']) }),
  }
  t.match(await problemsOf(load(t, two)), [/^a: b offers version 2 of the action test\.thing\.do/])
})

/** The text of a setup whose verifier differs from a good one. */
const verifier = (over: string) => `() => {
  const profile = { ...${profileText()}, access: { permission: 'none', anonymous: false } }
  const connection = { provider: 'x', title: 'X', help: 'Help.', options: Type.Object({}), baseUrl() {}, fits() {},
    probe() {} }
  return { verifiers: [{ profile, providers: ['x'], check() {}, ...${over} }], connections: [connection] }
}`

const refused: [name: string, text: string, problem: RegExp][] = [
  ['that is no plugin', 'export default {}', /definePlugin/],
  ['without a default export', 'export const plugin = 1', /definePlugin/],
  ['whose module throws', 'throw new Error("broken module")', /broken module/],
  ['whose module is no JavaScript', 'export default {', /./],
  ['whose module throws what is no error', 'throw null', /null/],
  ['whose module waits for ever', 'await new Promise(() => setTimeout(() => {}, 1000))', NEVER_READY],
  ['for another api', plugin({ api: '1' }), /plugin API 1/],
  ['whose setup throws', plugin({ setup: '() => { throw new Error("no setup") }' }), /no setup/],
  ['whose setup hangs', plugin({ setup: '() => new Promise(() => {})' }), NEVER_READY],
  ['whose setup gives nothing', plugin({ setup: '() => undefined' }), /setup result/],
  [
    'that offers one action twice',
    plugin({ profile: "{ aliases: { 'test.thing.do': { providers: ['x'] } } }" }),
    /already/,
  ],
  ['that reads through what nobody offers', plugin({ setup: verifier("{ providers: ['y'] }") }), /provider y/],
  [
    'that reads without a connection, at no place',
    plugin({ setup: verifier("{ profile: { ...profile, access: { permission: 'none', anonymous: true } } }") }),
    /anonymousSource/,
  ],
]
for (const [name, text, problem] of refused) {
  t.test(`a plugin ${name} is refused, and told`, async (t) => {
    const limit = problem === NEVER_READY ? { setupTimeoutMs: SHORT_LIMIT_MS } : {}
    const problems = await problemsOf(load(t, { 'bad.mjs': text }, {}, limit))
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('an alias is open to the connections it names alone', async (t) => {
  const registry = await load(t, {
    'good.mjs': plugin({
      setup: verifier("{ profile: { ...profile, aliases: { 'x.thing.do': { providers: ['z'] } } } }"),
    }),
  })
  t.strictSame(registry.verifierFor('test.thing.do')?.providers, ['x'])
  t.strictSame(registry.verifierFor('x.thing.do')?.providers, [])
  t.strictSame(registry.actionsFor('x'), ['test.thing.do'])
  t.strictSame(registry.actionsFor('z'), [])
  t.strictSame(registry.publicActions(), [])
  t.equal(registry.connectionType('x')?.title, 'X')
})

t.test('what a plugin is given under `with` is held against its options, and is in no message', async (t) => {
  const text = plugin({
    options: 'Type.Object({ token: Type.String({ maxLength: 2 }) }, { additionalProperties: false })',
  })
  const problems = await problemsOf(load(t, { 'a.mjs': text }, { 'a.mjs': { token: 's3cret', other: 's3cret' } }))
  t.match(problems, [/with\.other/, /with\.token/])
  t.notMatch(problems.join(), /s3cret/)
})

t.test('all problems of all plugins are told at once', async (t) => {
  const modules = {
    'a.mjs': plugin({ name: 'a' }),
    'b.mjs': plugin({ name: 'b' }),
    'c.mjs': plugin({ name: 'c', profile: "{ action: 'test.other.do', version: 'x' }" }),
    'd.mjs': 'export default 1',
  }
  const problems = await problemsOf(load(t, modules))
  t.equal(problems.length, 3, problems.join('\n'))
  t.ok(problems.some((problem) => /b: a already offers the action test\.thing\.do/.test(problem)))
})

t.test('a plugin that is not installed is told with the folder that was looked in', async (t) => {
  const folder = t.testdir()
  const problems = await problemsOf(
    loadPlugins(
      { plugins: [{ use: 'not-here', with: {} }], pluginDir: folder, dataDir: join(folder, 'data') },
      options,
    ),
  )
  t.match(problems, [new RegExp(`not-here.*${folder}`)])
})

const BACKEND = `() => ({ signingBackend: { name: 'the vault', keys() {}, generate() {}, sign() {} } })`

async function loadSigner(
  t: Test,
  setup: string,
  listed: readonly { readonly use: string; readonly trusted?: boolean }[] = [],
) {
  const folder = t.testdir({ 's.mjs': plugin({ name: 's', setup }), 'a.mjs': plugin({ name: 'a', setup: BACKEND }) })
  const signer = { use: './s.mjs', with: {}, trusted: true }
  const plugins = listed.map((entry) => ({ ...entry, with: {} }))
  return loadPlugins({ plugins, signer, pluginDir: folder, dataDir: join(folder, 'data') }, options)
}

t.test('the plugin that is named as signer signs', async (t) => {
  const registry = await loadSigner(t, BACKEND)
  t.match(registry, { signingBackend: { name: 'the vault' } })
  t.match(registry.plugins.map(overviewOf), [{ name: 's', isolation: 'trusted', signsWith: 'the vault' }])
})

t.test('a signer without a signing backend is refused', async (t) => {
  t.match(await problemsOf(loadSigner(t, '() => ({})')), [/^\.\/s\.mjs: it has no signing backend: name a plugin/])
})

t.test('a signing backend that lacks a method is refused', async (t) => {
  const problems = await problemsOf(loadSigner(t, `() => ({ signingBackend: { name: 'x', keys() {}, sign() {} } })`))
  t.match(problems, [/signingBackend\.generate: should be a function/])
})

for (const [what, listed] of [
  ['trusted', { use: './a.mjs', trusted: true }],
  ['isolated', { use: './a.mjs' }],
] as const) {
  t.test(`a signing backend of a plugin that is listed as ${what} is refused`, async (t) => {
    const problems = await problemsOf(loadSigner(t, BACKEND, [listed]))
    t.match(problems, [/^\.\/a\.mjs: it has a signing backend: name it under signer/])
  })
}

t.test('an installation has one anchorer at most', async (t) => {
  const methods = ['identity', 'account', 'prepare', 'sign', 'send', 'look'].map((name) => `${name}() {}`).join()
  const anchorer = `{ chain: 'eip155:1', scheme: 'eas', intervalMs: 1, stuckAfterMs: 1, ${methods} }`
  const setup = `() => ({ anchorer: ${anchorer} })`
  t.match(await load(t, { 'a.mjs': plugin({ name: 'a', setup }) }), { anchorer: { chain: 'eip155:1' } })
  const problems = await problemsOf(
    load(t, { 'a.mjs': plugin({ name: 'a', setup }), 'b.mjs': plugin({ name: 'b', setup }) }),
  )
  t.match(problems, [/b: a already offers the anchorer/])
})
