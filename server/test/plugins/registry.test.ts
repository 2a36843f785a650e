/** Which plugins go together, and who reads a claim where several can. */
import type { PluginParts } from '@claimcheck/core/hosting'
import { type ActionProfile, defineConnectionType, defineVerifier, secret, Type } from '@claimcheck/core/plugin'
import {
  conflicts,
  createRegistry,
  missingProviders,
  missingSources,
  possibleReaders,
  readerOf,
} from '@claimcheck/server/plugins/registry'
import t from 'tap'
import { profile as seconds } from '../support/profile.ts'
import { loaded, WORKING } from '../support/registry.ts'

const ACTION = seconds.action
const profile: ActionProfile = { ...seconds, access: { permission: 'none', anonymous: false } }

const connection = (provider: string) =>
  defineConnectionType({
    ...WORKING,
    provider,
    options: Type.Object({}),
    baseUrl: () => `https://${provider}.example`,
  })

interface Reading {
  readonly over?: Partial<ActionProfile>
  readonly anonymous?: boolean
}

const verifier = (providers: readonly string[], { over = {}, anonymous = false }: Reading = {}) =>
  defineVerifier({
    profile: { ...profile, ...over },
    providers,
    ...(anonymous ? { anonymousSource: () => ({ provider: 'public', baseUrl: 'https://public.example' }) } : {}),
    check: async () => ({ kind: 'absent', facts: {} }),
  })

/** A plugin that offers these providers, and reads the action through them. */
const plugin = (name: string, providers: readonly string[], reading?: Reading, more: PluginParts = {}) =>
  loaded({ connections: providers.map(connection), verifiers: [verifier(providers, reading)], ...more }, { name })

t.test('two plugins read one action, each through its own providers', async (t) => {
  const plugins = [plugin('a', ['one', 'two']), plugin('b', ['three'])]
  t.strictSame(conflicts(plugins), [])
  t.strictSame(missingProviders(plugins), [])
  const registry = createRegistry(plugins)
  const registered = registry.verifierFor(ACTION)!
  t.strictSame(registered.providers, ['one', 'two', 'three'])
  const readers = ['one', 'two', 'three', 'four', 'constructor'].map((provider) => readerOf(registered, provider))
  t.strictSame(
    readers.map((reader) => reader?.plugin.name),
    ['a', 'a', 'b', undefined, undefined],
  )
  t.equal(readers[2]?.verifier, plugins[1]!.parts.verifiers[0])
  t.equal(readerOf(registered, null), undefined, 'nobody reads it without a connection')
  t.strictSame(registry.profiles(), [profile], 'it is one action')
  t.strictSame(registry.allProfiles(), [profile])
  for (const provider of ['one', 'three']) t.strictSame(registry.actionsFor(provider), [ACTION])
})

t.test('of two plugins, the one with an anonymous source reads without a connection', async (t) => {
  for (const plugins of [
    [plugin('a', ['one'], { anonymous: true }), plugin('b', ['two'])],
    [plugin('b', ['two']), plugin('a', ['one'], { anonymous: true })],
  ]) {
    t.strictSame(conflicts(plugins), [])
    t.equal(readerOf(createRegistry(plugins).verifierFor(ACTION)!, null)?.plugin.name, 'a')
  }
})

t.test('an alias is read through the providers that it names, whosever they are', async (t) => {
  const over = { aliases: { 'two.outcome.reach': { providers: ['two'] } } }
  const plugins = [plugin('a', ['one'], { over }), plugin('b', ['two'], { over })]
  t.strictSame(conflicts(plugins), [])
  const registry = createRegistry(plugins)
  const alias = registry.verifierFor('two.outcome.reach')!
  t.strictSame(alias.providers, ['two'])
  t.equal(readerOf(alias, 'two')?.plugin.name, 'b')
  t.equal(readerOf(alias, 'one'), undefined)
  t.strictSame(
    registry.profiles().map(({ action }) => action),
    [ACTION],
  )
})

t.test('a plugin that has the newest version of an action alone reads that version alone', async (t) => {
  const second = { version: '2', deadlineMs: 1500 }
  const both = loaded(
    { connections: [connection('one')], verifiers: [verifier(['one']), verifier(['one'], { over: second })] },
    { name: 'both' },
  )
  for (const plugins of [
    [both, plugin('new', ['two'], { over: second })],
    [plugin('new', ['two'], { over: second }), both],
  ]) {
    t.strictSame(conflicts(plugins), [])
    const registry = createRegistry(plugins)
    t.equal(registry.verifierFor(ACTION)?.verifier.profile.version, '2')
    t.strictSame([...registry.verifierFor(ACTION)!.providers].sort(), ['one', 'two'])
    t.strictSame(registry.verifierFor(ACTION, '1')!.providers, ['one'])
  }
})

const PUBLIC: Reading = { over: { access: { permission: 'none', anonymous: true } } }
t.test('an action whose profile is public is public where a plugin names the place', async (t) => {
  const without = plugin('a', ['one'], PUBLIC)
  const source = plugin('b', ['two'], { ...PUBLIC, anonymous: true })
  t.match(missingSources([without]), [
    /^a: no plugin has the anonymousSource of the action test\.outcome\.reach version 1/,
  ])
  t.equal(missingSources([without, plugin('b', ['two'], PUBLIC)]).length, 1, 'it is told once')
  t.strictSame(missingSources([without, source]), [])
  t.strictSame(createRegistry([without]).publicActions(), [])
  t.strictSame(createRegistry([without, source]).publicActions(), [ACTION])
  const alias = { ...PUBLIC.over, aliases: { 'other.outcome.reach': { providers: ['one'] } } }
  const aliases = (reading: Reading) => createRegistry([plugin('a', ['one'], reading)]).publicAliases()
  t.strictSame(aliases({ over: alias }), [], 'nobody names the place')
  t.strictSame(aliases({ over: alias, anonymous: true }), ['other.outcome.reach'])
})

t.test("a claim may be read by the plugins of its workspace's connections, and without one", async (t) => {
  const plugins = [plugin('a', ['one', 'three'], { ...PUBLIC, anonymous: true }), plugin('b', ['two'], PUBLIC)]
  const registered = createRegistry(plugins).verifierFor(ACTION)!
  const names = (providers: string[]) => possibleReaders(registered, providers).map(({ plugin }) => plugin.name)
  t.strictSame(names(['one', 'three', 'four']), ['a'])
  t.strictSame(names(['two']), ['b', 'a'])
  t.strictSame(names([]), ['a'])
  const closed = createRegistry([plugin('a', ['one']), plugin('b', ['two'])]).verifierFor(ACTION)!
  t.strictSame(
    possibleReaders(closed, ['two']).map(({ plugin }) => plugin.name),
    ['b'],
  )
  t.strictSame(
    possibleReaders(closed, []).map(({ plugin }) => plugin.name),
    ['a', 'b'],
    'nobody may: all are asked',
  )
})

t.test('two plugins of one name are told apart by their packages', (t) => {
  const plugins = ['one', 'two'].map((name) => ({
    ...plugin('acme', ['acme']),
    identity: { package: `${name}-package`, version: '1.0.0', codeHash: `sha256:${'0'.repeat(64)}` },
  }))
  t.match(conflicts(plugins)[0], 'acme (two-package): acme (one-package) already offers the plugin acme')
  t.end()
})

const anchorer = { chain: 'eip155:1' } as unknown as NonNullable<PluginParts['anchorer']>
const ofOne = plugin('a', ['one'])
const elsewhere = { over: { action: 'test.other.do' } }
const together: [what: string, plugins: readonly ReturnType<typeof plugin>[], problem: RegExp][] = [
  ['have one name', [ofOne, plugin('a', [], elsewhere)], /^a: a .*plugin a$/],
  ['offer one provider', [ofOne, plugin('b', ['one'], elsewhere)], /^b: a already offers the provider one$/],
  [
    'read one action through one provider',
    [ofOne, plugin('b', ['one'], {}, { connections: [] })],
    /^b: a already offers the action test\.outcome\.reach version 1 at one$/,
  ],
  [
    'read one action without a connection',
    [plugin('a', ['one'], { anonymous: true }), plugin('b', ['two'], { anonymous: true })],
    /^b: a already offers the action test\.outcome\.reach version 1 without a connection$/,
  ],
  [
    'have profiles that differ in a rule',
    [ofOne, plugin('b', ['two'], { over: { toleranceMs: 999 } })],
    /^b: a already offers the action test\.outcome\.reach version 1, with another toleranceMs$/,
  ],
  [
    'have profiles that differ in a word',
    [ofOne, plugin('b', ['two'], { over: { summary: 'Another outcome.' } })],
    /^b: a already offers the action test\.outcome\.reach version 1, with another summary$/,
  ],
  [
    'have different versions of one action, which the newer would take over',
    [ofOne, plugin('b', ['two'], { over: { version: '2' } })],
    /^a: b offers version 2 of the action test\.outcome\.reach, which takes all new claims; it has version 1$/,
  ],
  [
    'have different newest versions, of which one has both',
    [
      loaded(
        {
          connections: [connection('one')],
          verifiers: [verifier(['one'], { over: { version: '10' } }), verifier(['one'], { over: { version: '9' } })],
        },
        { name: 'a' },
      ),
      plugin('b', ['two'], { over: { version: '9' } }),
    ],
    /^b: a offers version 10 of the action test\.outcome\.reach, which takes all new claims; it has version 9$/,
  ],
  [
    'mean different actions by one alias',
    [
      plugin('a', ['one'], { over: { aliases: { 'one.outcome.reach': { providers: ['one'] } } } }),
      plugin('b', ['two'], { over: { ...elsewhere.over, aliases: { 'one.outcome.reach': { providers: ['two'] } } } }),
    ],
    /^b: a already offers the action one\.outcome\.reach$/,
  ],
  [
    "have an alias that is the other's action",
    [ofOne, plugin('b', ['two'], { over: { ...elsewhere.over, aliases: { [ACTION]: { providers: ['two'] } } } })],
    /^b: a already offers the action test\.outcome\.reach$/,
  ],
  [
    'anchor',
    [loaded({ anchorer }, { name: 'a' }), loaded({ anchorer }, { name: 'b' })],
    /^b: a already offers the anchorer$/,
  ],
]
for (const [what, plugins, problem] of together) {
  t.test(`two plugins that ${what} do not go together`, async (t) => {
    const problems = conflicts(plugins)
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('an action that is read through what nobody offers is told, once for each plugin', async (t) => {
  const a = loaded(
    { verifiers: [verifier(['gone', 'one']), verifier(['gone'], { over: { version: '2' } })] },
    { name: 'a' },
  )
  t.strictSame(missingProviders([a, loaded({ connections: [connection('one')] }, { name: 'b' })]), [
    'a: no plugin offers the provider gone',
  ])
})

t.test('a manifest names options of the connections that its plugin offers or reads through', async (t) => {
  const typed = defineConnectionType({
    ...connection('one'),
    options: Type.Object({ url: Type.String(), token: secret({ description: 'A token.' }) }),
  })
  const offering = (hosts: string[], tokenHosts: string[] = []) =>
    loaded({ connections: [typed] }, { name: 'a', manifest: { hosts, tokenHosts } })
  const reading = (hosts: string[]) => loaded({ verifiers: [verifier(['one'])] }, { name: 'b', manifest: { hosts } })
  t.strictSame(conflicts([offering(['connection.url'], ['connection.url']), reading(['connection.url'])]), [])
  for (const option of ['connection.token', 'connection.other', 'connection.constructor']) {
    t.match(conflicts([offering([option])]).join(), new RegExp(`^a: .*${option}: no connection type has`))
    t.match(conflicts([offering([], [option])]).join(), option)
    t.match(conflicts([offering([]), reading([option])]).join(), new RegExp(`^b: .*${option}`))
  }
  t.match(conflicts([reading(['connection.url'])]).join(), /^b: /, 'nobody offers its connections')
})

t.test('without plugins there is nothing to find', async (t) => {
  const empty = createRegistry([])
  t.equal(empty.verifierFor(ACTION), undefined)
  t.equal(empty.connectionType('one'), undefined)
  t.equal(empty.anchorer, undefined)
  t.equal(empty.signingBackend, undefined)
  t.strictSame([empty.profiles(), empty.allProfiles(), empty.publicActions()], [[], [], []])
})
