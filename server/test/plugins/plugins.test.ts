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
    export default definePlugin({ name: '${parts.name ?? 'good'}', api: ${parts.api ?? '2'},
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

const refused: [name: string, text: string, problem: RegExp][] = [
  ['that is no plugin', 'export default {}', /definePlugin/],
  ['without a default export', 'export const plugin = 1', /definePlugin/],
  ['whose module throws', 'throw new Error("broken module")', /broken module/],
  ['whose module is no JavaScript', 'export default {', /./],
  ['for another api', plugin({ api: '1' }), /api 1/],
  ['whose options are not given', plugin({ options: 'Type.Object({ token: Type.String() })' }), /with\.token/],
  ['whose setup throws', plugin({ setup: '() => { throw new Error("no setup") }' }), /no setup/],
  ['whose setup hangs', plugin({ setup: '() => new Promise(() => {})' }), NEVER_READY],
  ['whose setup gives nothing', plugin({ setup: '() => undefined' }), /setup result/],
  ['whose anchorer is nothing', plugin({ setup: '() => ({ anchorer: true })' }), /setup result\.anchorer/],
  ['whose setup gives a list', plugin({ setup: '() => []' }), /setup result/],
  ['whose setup gives a misspelt part', plugin({ setup: '() => ({ verifier: [] })' }), /verifier/],
  ['whose verifiers are no list', plugin({ setup: '() => ({ verifiers: {} })' }), /verifiers/],
  ['whose connections hold nothing', plugin({ setup: '() => ({ connections: [null] })' }), /connections\.0/],
  ['whose close is no function', plugin({ setup: '() => ({ close: 1 })' }), /close/],
  ['whose module throws what is no error', 'throw null', /null/],
  [
    'whose module waits for ever',
    'await new Promise(() => setTimeout(() => {}, 1000)); export default {}',
    NEVER_READY,
  ],
  ['without a name', plugin({ name: '' }), /name/],
  ['without a setup', plugin({ setup: 'undefined' }), /setup/],
  ['without options', plugin({ options: 'undefined' }), /options/],
  ['with options that do not compile', plugin({ options: "{ type: 'nonsense' }" }), /options/],
  [
    'with a keyword that schemas do not have',
    plugin({ profile: "{ facts: { type: 'object', propertys: {}, additionalProperties: false } }" }),
    /facts/,
  ],
  [
    'with an alias of two parts',
    plugin({ profile: "{ aliases: { 'other.thing': { providers: ['x'] } } }" }),
    /aliases/,
  ],
  ['with an alias for nobody', plugin({ profile: "{ aliases: { 'a.b.c': { providers: [] } } }" }), /aliases/],
  [
    'that offers one action twice',
    plugin({ profile: "{ aliases: { 'test.thing.do': { providers: ['x'] } } }" }),
    /already/,
  ],
  [
    'whose setup gives a verifier without a profile',
    plugin({ setup: '() => ({ verifiers: [{ providers: [], check() {} }] })' }),
    /verifiers\.0\.profile/,
  ],
  ['with an action of two parts', plugin({ profile: "{ action: 'test.thing' }" }), /action/],
  ['with a version that is not digits', plugin({ profile: "{ version: '1.0' }" }), /version/],
  ['with a deadline within the tolerance', plugin({ profile: '{ toleranceMs: 2 }' }), /deadline/],
  ['with a furthest deadline before the deadline', plugin({ profile: '{ maxDeadlineMs: 1 }' }), /maxDeadlineMs/],
  ['with a role that is none', plugin({ profile: "{ required: { thing: 'other' } }" }), /required/],
  ['of rules that core does not have', plugin({ profile: '{ rulesVersion: 4 }' }), /rulesVersion/],
  ['without the version of its rules', plugin({ profile: '{ rulesVersion: undefined }' }), /rulesVersion/],
  ['with an age that is no length of time', plugin({ profile: '{ ageMs: -1 }' }), /ageMs/],
  [
    'with a removal window that is no length of time',
    plugin({ profile: '{ removedWithinMs: 0.5 }' }),
    /removedWithinMs/,
  ],
  ['with params that are no object', plugin({ profile: '{ params: Type.String() }' }), /params/],
  [
    'with a schema that does not compile',
    plugin({
      profile: "{ target: { type: 'string', pattern: '(' } }",
    }),
    /target/,
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

const verifier = (over: string) => `() => {
  const profile = { ...${profileText()}, access: { permission: 'none', anonymous: false } }
  const connection = { provider: 'x', title: 'X', help: 'Help.', options: Type.Object({}), baseUrl() {}, fits() {},
    probe() {} }
  return { verifiers: [{ profile, providers: ['x'], check() {}, ...${over}.verifier }],
    connections: [{ ...connection, ...${over}.connection }] }
}`
const misshapen: [name: string, over: string, problem: RegExp][] = [
  ['a verifier that checks nothing', '{ verifier: { check: 1 } }', /verifiers\.0\.check/],
  [
    'a verifier that is read without a connection, at no place',
    "{ verifier: { profile: { ...profile, access: { permission: 'none', anonymous: true } } } }",
    /anonymousSource/,
  ],
  ['a verifier that normalizes by no function', '{ verifier: { normalize: {} } }', /verifiers\.0\.normalize/],
  ['a verifier without providers', '{ verifier: { providers: undefined } }', /verifiers\.0\.providers/],
  ['a verifier that reads through what nobody offers', "{ verifier: { providers: ['y'] } }", /provider y/],
  ['a connection without a provider', '{ connection: { provider: undefined } }', /connections\.0\.provider/],
  ['a connection without an address', '{ connection: { baseUrl: undefined } }', /connections\.0\.baseUrl/],
  ['a connection without help', "{ connection: { help: '' } }", /connections\.0\.help/],
  [
    'a connection whose options are no object',
    "{ connection: { options: { type: 'array', properties: {} } } }",
    /connections\.0\.options/,
  ],
  [
    'a connection whose options do not compile',
    "{ connection: { options: { type: 'object', properties: { a: { type: 'b' } } } } }",
    /connections\.0\.options/,
  ],
  ['a connection that fits nothing', '{ connection: { fits: undefined } }', /connections\.0\.fits/],
  ['a connection that cannot be probed', '{ connection: { probe: undefined } }', /connections\.0\.probe/],
]
for (const [name, over, problem] of misshapen) {
  t.test(`a plugin with ${name} is refused, and told`, async (t) => {
    t.strictSame(await problemsOf(load(t, { 'good.mjs': plugin({ setup: verifier('{}') }) })), [])
    const problems = await problemsOf(load(t, { 'bad.mjs': plugin({ setup: verifier(over) }) }))
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('an alias is open to the connections it names alone', async (t) => {
  const registry = await load(t, {
    'good.mjs': plugin({
      setup: verifier("{ verifier: { profile: { ...profile, aliases: { 'x.thing.do': { providers: ['z'] } } } } }"),
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
