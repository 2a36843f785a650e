// Test run: slow
/** Releases at GitHub: what is read, what an absence rests on, and what a wrong answer never becomes. */
import type { JsonObject } from '@claimcheck/core/plugin'
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { failsAlike, outcome } from './context.ts'
import { atGitHub, NOON } from './github-things.ts'

const PUBLISH = 'release.publish'
const TAG = 'v1.0.0'

t.test('a release takes three requests, and four of an annotated tag', async (t) => {
  const { repository, base, look, costOf } = await atGitHub(t)
  await repository.releases.create({ tag: TAG })
  t.equal(await costOf(() => look(PUBLISH, { tag: TAG })), 3)
  t.match(await look(PUBLISH, { tag: TAG }), {
    kind: 'present',
    stays: [{ appeared: { notAfter: NOON + 999 } }],
    facts: { commit: base, prerelease: false, published_at: '2026-09-25T12:00:00.000Z' },
  })
  await repository.tag('v2', base, { annotated: true })
  await repository.releases.create({ tag: 'v2', prerelease: true })
  t.equal(await costOf(() => look(PUBLISH, { tag: 'v2' })), 4)
  t.match(await look(PUBLISH, { tag: 'v2', commit: base }), { differs: [], facts: { commit: base, prerelease: true } })
})

t.test('its time is that of its publication, whenever it was drafted and its commit was made', async (t) => {
  const { repository, look } = await atGitHub(t)
  const id = await repository.releases.create({ tag: TAG, draft: true, at: NOON - 60_000 })
  t.match(await look(PUBLISH, { tag: TAG }), { kind: 'absent' }, 'a draft is not shown')
  await repository.releases.publish(id, { at: NOON })
  t.match(await look(PUBLISH, { tag: TAG }), { stays: [{ appeared: { notAfter: NOON + 999 } }] })
})

t.test('tags with odd names, tags that are gone, and tags of tags', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  for (const tag of ['app/v1', '@acme/app@1.0.0', '100%', 'ü&=', 'a+b']) {
    await repository.releases.create({ tag })
    t.match(await look(PUBLISH, { tag, commit: base }), { kind: 'present', differs: [], facts: { commit: base } }, tag)
  }
  await repository.deleteTag('app/v1')
  t.match(await look(PUBLISH, { tag: 'app/v1' }), { kind: 'present', differs: [] })
  t.match(await look(PUBLISH, { tag: 'app/v1', commit: base }), { differs: ['commit'], mark: 'may_have_been' })
  const object = { type: 'tag', sha: 'd'.repeat(40) }
  const ref = (object: JsonObject) => json({ ref: 'refs/tags/100%', object })
  github.faults.inject({ fault: ref({ ...object, type: 'tree' }), on: /git\/ref/, times: 1 })
  t.equal(await outcome(look(PUBLISH, { tag: '100%', commit: base })), 'differs: commit', 'a tag of a folder')
  github.faults.inject({ fault: ref(object), on: /git\/ref/ })
  github.faults.inject({ fault: json({ object }), on: /git\/tags/ })
  t.equal(await outcome(look(PUBLISH, { tag: '100%' })), 'unexpected_response', 'a tag that names itself')
})

t.test('a release that the list has is not absent because its own address is not answered', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  await repository.releases.create({ tag: 'app/v1' })
  github.faults.inject({ fault: status(404), on: /%2F/ })
  t.equal(await outcome(look(PUBLISH, { tag: 'app/v1' })), 'unavailable')
  t.equal(await outcome(look(PUBLISH, { tag: 'app/v2' })), 'absent')
})

t.test('files that were uploaded count, also where there are many', async (t) => {
  const { github, repository, look, costOf } = await atGitHub(t)
  const id = await repository.releases.create({ tag: TAG })
  for (let index = 0; index < 120; index++) repository.releases.addAsset(id, `part-${index}`)
  const params = { tag: TAG, assets: ['part-0', 'part-119'] }
  t.match(await look(PUBLISH, params), { differs: [], facts: { assets_missing: 0 } })
  t.equal(await costOf(() => look(PUBLISH, params)), 5)
  const release = { id, tag_name: TAG, draft: false, prerelease: false, published_at: '2026-09-25T12:00:00Z' }
  const assets = [{ name: 'app.zip', state: 'starter' }]
  github.faults.inject({ fault: json({ ...release, assets }), on: /releases\/tags/, times: 1 })
  t.equal(
    await outcome(look(PUBLISH, { tag: TAG, assets: ['app.zip'] })),
    'differs: assets',
    'an upload that broke off',
  )
})

t.test('files have the names that GitHub gives them, or had before', async (t) => {
  const { repository, look } = await atGitHub(t)
  const id = await repository.releases.create({ tag: TAG })
  const KEPT: readonly (readonly [file: string, kept: string])[] = [
    ['My App Setup 1.0.0.exe', 'My.App.Setup.1.0.0.exe'],
    ['app (x64) [beta].zip', 'app.x64.beta.zip'],
    ['tool_1.0-1~buster_amd64.deb', 'tool_1.0-1.buster_amd64.deb'],
    ['.env', 'default.env'],
    ['façade.exposé', 'facade.expose'],
    ['Hello, दुनिया', 'default.Hello'],
    ['a+b@c.zip', 'a+b@c.zip'],
  ]
  for (const [, kept] of KEPT) repository.releases.addAsset(id, kept)
  for (const name of KEPT.flat()) {
    t.match(await look(PUBLISH, { tag: TAG, assets: [name] }), { differs: [], facts: { assets_missing: 0 } }, name)
  }
  const missing = async (name: string) => outcome(look(PUBLISH, { tag: TAG, assets: [name] }))
  t.equal(await missing('My App.exe'), 'differs: assets')
  t.match(await look(PUBLISH, { tag: TAG, assets: ['My App.exe'] }), { mark: undefined })
  for (const name of ['żółw.zip', 'x+y.zip'])
    t.match(await look(PUBLISH, { tag: TAG, assets: [name] }), { differs: ['assets'], mark: 'may_have_been' }, name)
})

t.test('without the right to contents nothing is absent', async (t) => {
  const { look, token } = await atGitHub(t, { isPrivate: true })
  t.equal(await outcome(look(PUBLISH, { tag: TAG }, { token: token(['issues', 'pull_requests']) })), 'forbidden')
  t.equal(await outcome(look(PUBLISH, { tag: TAG }, { token: token() })), 'absent', 'an empty list is one that is seen')
})

t.test('an answer that says something else, or fails, reports nothing', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  await repository.releases.create({ tag: TAG })
  const release = (change: JsonObject = {}) => ({
    ...{ id: 1, tag_name: TAG, draft: false, prerelease: false, published_at: '2026-09-25T12:00:00Z', assets: [] },
    ...change,
  })
  const rows: readonly (readonly [name: string, answer: unknown, code: string])[] = [
    ['as it should be', release(), 'as claimed'],
    ['of another tag', release({ tag_name: 'v1.0.0-rc1' }), 'unexpected_response'],
    ['of a tag in other letters', release({ tag_name: 'V1.0.0' }), 'unexpected_response'],
    ['a draft', release({ draft: true }), 'unexpected_response'],
    ['never published', release({ published_at: null }), 'unexpected_response'],
    ['with a time that is none', release({ published_at: 'now' }), 'unexpected_response'],
    ['another thing', {}, 'unexpected_response'],
  ]
  for (const [name, answer, code] of rows) {
    github.faults.inject({ fault: json(answer), on: /releases\/tags/, times: 1 })
    t.equal(await outcome(look(PUBLISH, { tag: TAG })), code, name)
  }
  github.faults.inject({
    fault: json({ ref: 'refs/tags/v1.0.0-rc1', object: { type: 'commit', sha: 'd'.repeat(40) } }),
    on: /git\/ref/,
    times: 1,
  })
  t.equal(await outcome(look(PUBLISH, { tag: TAG })), 'unexpected_response', 'another tag')
  const publishing = (tag: string) => () => look(PUBLISH, { tag })
  await failsAlike(t, github.faults, [
    [/acme\/app$/, publishing(TAG)],
    [/releases\/tags/, publishing(TAG)],
    [/git\/ref/, publishing(TAG)],
    [/releases\?/, publishing('v9')],
  ])
})
