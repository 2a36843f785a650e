import codehost from '@claimcheck/plugin-codehost'
import http from '@claimcheck/plugin-http'
import registry from '@claimcheck/plugin-registry'
import { lookAlikeProblems, SHIPPED } from '@claimcheck/server/plugins/look-alikes'
import t from 'tap'
import { loaded, SILENT, WORKING } from '../support/registry.ts'

const STRANGER = { package: 'acme', version: '1.0.0', codeHash: `sha256:${'1'.repeat(64)}` }

function problemsOf({ provider = 'acme', title = 'Acme', name = 'acme' }, identity = {}) {
  const type = {
    ...WORKING,
    provider,
    title,
    options: { type: 'object', properties: {} },
    baseUrl: () => 'https://a.example',
  }
  const { parts } = loaded({ connections: [type as never] })
  return lookAlikeProblems({ name, identity: { ...STRANGER, ...identity }, parts })
}

const ALIKE = [
  { provider: 'github' },
  { provider: 'gith-ub' },
  { provider: 'glthub' },
  { provider: 'g1tlab' },
  { provider: 'bitbucket_server' },
  { title: 'GitHub' },
  { title: 'GITHUB' },
  { title: 'Git Hub' },
  { title: 'GitHub.' },
  { title: 'GitНub' },
  { title: 'ԌitLаb' },
  { title: 'GıtHub' },
  { title: 'npm reɡistry' },
  { title: 'nprn registry' },
  { title: 'Асmе' },
  { name: 'codehost' },
  { name: 'c0dehost' },
]
for (const one of ALIKE) {
  t.test(`a stranger's plugin is refused with ${JSON.stringify(one)}`, async (t) => {
    t.match(problemsOf(one), [/looks like|letters that look like others/])
    t.strictSame(problemsOf(one, { isShipped: true }), [])
    t.strictSame(problemsOf(one, { isNamed: true }), [])
  })
}

t.test('names of their own are not', async (t) => {
  for (const title of [
    'Acme',
    'GitHub Enterprise of Acme',
    'Тикеты',
    'Gitlawb Tracker',
    'チケット',
    'Émile',
    'PyPI mirror',
  ]) {
    t.strictSame(problemsOf({ title }), [], title)
  }
  for (const provider of ['acme', 'linear', 'jira', 'git-acme', 'sites'])
    t.strictSame(problemsOf({ provider }), [], provider)
})

t.test('the list is that of the plugins that come with the server', async (t) => {
  const host = { logger: SILENT, now: Date.now }
  const made = await Promise.all([codehost.setup(host, {}), http.setup(host, {}), registry.setup(host, {})])
  const types = made.flatMap(({ connections = [] }) => connections)
  const sorted = (texts: Iterable<string>) => [...new Set(texts)].toSorted()
  t.strictSame(sorted(SHIPPED.providers), sorted(types.map(({ provider }) => provider)))
  t.strictSame(sorted(SHIPPED.titles), sorted(types.map(({ title }) => title)))
  const titles = made.flatMap(({ verifiers = [] }) =>
    verifiers.map(({ profile }) => [profile.action, profile.words.title] as const),
  )
  t.strictSame(SHIPPED.actions, Object.fromEntries(titles))
  for (const { close } of made) await close?.()
})
