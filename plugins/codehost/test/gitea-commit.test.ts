// Test run: end-to-end, slow
/** Commits at Gitea and Forgejo: what the API, git and the activity feed tell together. */
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { createCache, outcome } from './context.ts'
import { atGitea, HOUR, MINUTE, NOON } from './gitea-fixture.ts'

for (const flavour of ['gitea', 'forgejo'] as const) {
  t.test(`a commit is on a branch as its tip or as an ancestor of it, at ${flavour}`, async (t) => {
    const { find, first, base, repository } = await atGitea(t, { flavour })
    const facts = { repository: 'acme/app', repository_id: String(repository.id), branch_listed: true, head: base }
    t.match(await find(base), { kind: 'present', differs: [], facts, ageMs: 2000 })
    t.match(await find(first), { kind: 'present', differs: [], facts })
  })
}

t.test('a server with a path in front, and a branch with a slash and other signs', async (t) => {
  const { find, base, first, repository } = await atGitea(t, { prefix: '/git' })
  for (const branch of ['feature/x', 'ü#1', '100%']) {
    await repository.push(branch, base)
    t.match(await find(base, { branch }), { kind: 'present', differs: [] }, branch)
    t.match(await find(first, { branch }), { kind: 'present', differs: [] }, `${branch}, by git`)
  }
})

t.test('a tip costs three requests, and claims that wait together share them', async (t) => {
  const { find, base, requests } = await atGitea(t)
  t.same(await requests(() => find(base)), ['GET ', 'GET /branches/main', 'GET /activities/feeds?page=1&limit=30'])
  const cache = createCache()
  const shared = await requests(() => Promise.all(Array.from({ length: 20 }, () => find(base, { cache }))))
  t.ok(shared.length <= 9, `${shared.length} requests`)
})

t.test('the feed tells since when and by whom; an entry long before the claim is marked', async (t) => {
  const { clock, find, repository, base } = await atGitea(t)
  t.match(await find(base), { facts: { preexisting: true, pushed_at: '2026-09-25T11:00:00.000Z' } })
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha, { by: 'Robot' })
  clock.now = NOON + MINUTE
  const { facts } = await find(sha, { pusher: 'robot' })
  t.match(facts, { pushed_at: '2026-09-25T12:00:00.000Z', pusher_matches: true, preexisting: undefined })
  t.match(await find(sha, { pusher: 'other' }), { facts: { pusher_matches: false } })
})

t.test('after the tolerance the feed shows that it came in time', async (t) => {
  const { clock, find, repository, base, ways } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha)
  const at = NOON + 999
  clock.now = NOON + 12 * MINUTE
  t.same((await find(sha)).stays, [{ appeared: { notAfter: at } }])

  const next = await repository.commit({ parents: [sha] })
  await repository.push('main', next)
  t.same((await find(sha)).stays, [{ appeared: { notAfter: at } }], 'under a later push')
  t.same((await find(next)).stays, undefined, 'not one that came later')

  await repository.push('main', await repository.commit({ parents: [next] }), { by: 'shy' })
  ways.hidden.add('shy')
  t.same((await find(sha)).stays, undefined, 'a gap: somebody who hides pushed')
})

t.test('a commit that is not among the newest five of its push', async (t) => {
  const { clock, find, repository, base } = await atGitea(t)
  const shas = [base]
  for (let index = 0; index < 8; index++) shas.push(await repository.commit({ parents: [shas.at(-1)!] }))
  await repository.push('main', shas.at(-1)!)
  clock.now = NOON + 11 * MINUTE
  await repository.push('main', await repository.commit({ parents: [shas.at(-1)!] }))
  clock.now = NOON + 12 * MINUTE
  t.same((await find(shas[1]!)).stays, [{ appeared: { notAfter: NOON + 999 } }])
})

t.test('what was forced away by somebody who hides, and came back late, is not dated back', async (t) => {
  const { clock, find, repository, base, ways } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha, { at: NOON - 30 * MINUTE })
  await repository.push('main', base, { at: NOON - 20 * MINUTE, force: true, by: 'shy' })
  ways.hidden.add('shy')
  await repository.push('main', sha, { at: NOON + 11 * MINUTE })
  clock.now = NOON + 12 * MINUTE
  t.same((await find(sha)).stays, undefined)
})

t.test('a branch that was made again does not go on from the one before', async (t) => {
  const { clock, find, repository, base } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  const next = await repository.commit({ parents: [sha] })
  await repository.push('topic', sha, { at: NOON - 30 * HOUR })
  await repository.deleteBranch('topic', { at: NOON - 29 * HOUR, by: 'shy' })
  await repository.push('topic', next, { at: NOON + 11 * MINUTE })
  clock.now = NOON + 12 * MINUTE
  t.same((await find(sha, { branch: 'topic' })).stays, undefined)
})

t.test('a branch that is called like the commit does not date it back', async (t) => {
  const { clock, find, repository, base } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push(sha, base)
  clock.now = NOON + 11 * MINUTE
  await repository.push('main', sha)
  clock.now = NOON + 12 * MINUTE
  const found = await find(sha)
  t.match(found, { kind: 'present', differs: [] })
  t.same(found.stays, undefined)
})

t.test('the feed in other shapes, lagging, refused or without end adds nothing', async (t) => {
  const { clock, find, repository, base, host } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha)
  clock.now = NOON + 12 * MINUTE
  const entry = {
    repo_id: repository.id,
    op_type: 'commit_repo',
    ref_name: 'refs/heads/main',
    created: '2026-09-25T12:00:00Z',
  }
  const content = (told: object) =>
    JSON.stringify({ Commits: null, HeadCommit: { Sha1: sha }, CompareURL: '', ...told })
  const seen = async (body: unknown) => {
    host.faults.inject({ fault: Array.isArray(body) ? json(body) : status(Number(body)), on: /feeds/ })
    const found = await find(sha)
    host.faults.clear()
    t.match(found, { kind: 'present', differs: [] })
    return found.stays
  }
  t.same(
    await seen([{ ...entry, content: content({}) }]),
    [{ appeared: { notAfter: NOON + 999 } }],
    'the least that does',
  )
  const bad = [
    'not json',
    content({ HeadCommit: null }),
    content({ HeadCommit: { Sha1: 'x' } }),
    content({ HeadCommit: { Sha1: base } }),
    '['.repeat(100_000),
  ]
  for (const one of bad) t.same(await seen([{ ...entry, content: one }]), undefined, one.slice(0, 40))
  t.same(await seen([{ ...entry, repo_id: 7, content: content({}) }]), undefined, 'of another repository')
  t.same(await seen([{ ...entry, ref_name: 'refs/heads/other', content: content({}) }]), undefined, 'of another branch')
  t.same(await seen([{ ...entry, ref_name: 'refs/tags/main', content: content({}) }]), undefined, 'of a tag')
  t.same(await seen([{ ...entry, created: 'yesterday', content: content({}) }]), undefined)
  for (const code of [403, 404, 429, 500]) t.same(await seen(code), undefined, String(code))
  const endless = Array.from({ length: 30 }, () => ({ ...entry, op_type: 'star_repo', content: '' }))
  host.faults.inject({ fault: json(endless), on: /feeds/ })
  const before = host.requests.length
  t.same((await find(sha)).stays, undefined)
  t.equal(host.requests.slice(before).filter((line) => line.includes('feeds')).length, 3)
})

t.test('a commit that is elsewhere, nowhere, or was there', async (t) => {
  const { clock, find, repository, base, first } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  t.match(await find(sha), { kind: 'absent', mark: 'never_before', facts: { branch_listed: true, head: base } })
  await repository.push('topic', sha)
  t.match(await find(sha), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic' } })
  t.match(await find(first, { branch: 'missing' }), {
    kind: 'present',
    differs: ['branch'],
    mark: 'may_have_been',
    facts: { branch_listed: false, found_on: 'main' },
  })
  await repository.push('topic', base, { force: true })
  t.match(await find(sha, { branch: 'topic' }), { kind: 'absent', mark: 'may_have_been' })

  await repository.push('main', sha)
  await repository.push('late', sha)
  await repository.push('late', base, { force: true })
  clock.now = NOON + MINUTE
  const onMain = { kind: 'present', differs: ['branch'], mark: 'may_have_been' }
  t.match(await find(sha, { branch: 'late' }), onMain, 'the feed has it on the branch once')
})

t.test('a feed that fails is no sign of absence, one that is refused is', async (t) => {
  const { find, repository, base } = await atGitea(t)
  const sha = await repository.commit({ parents: [base] })
  repository.answering.logStatus = 500
  t.equal(await outcome(find(sha)), 'unavailable')
  repository.answering.logStatus = 404
  t.match(await find(sha), { kind: 'absent', mark: 'never_before' })
})

t.test('a repository that is younger than the claim', async (t) => {
  const { clock, find, host } = await atGitea(t)
  clock.now = NOON + MINUTE
  const young = await host.createRepository('acme/young')
  const only = await young.commit()
  await young.push('main', only)
  t.match(await find('e'.repeat(40), { target: 'acme/young' }), { kind: 'absent', mark: 'may_have_been' })
})

t.test("a renamed repository, somebody else's, and one with groups", async (t) => {
  const { find, host, repository, base, first } = await atGitea(t)
  host.rename(repository, 'acme/app-2')
  t.match(await find(base), { kind: 'present', facts: { repository: 'acme/app-2' } })
  t.match(await find(first), { kind: 'present', facts: { repository: 'acme/app-2' } })
  host.rename(repository, 'mallory/app')
  t.equal(await outcome(find(base)), 'ambiguous_claim')
  t.equal(await outcome(find(base, { target: 'acme/tools/app' })), 'unsupported_target')
})

t.test('a private repository: who may see it, and who may read its code', async (t) => {
  const { find, host, connect } = await atGitea(t)
  const hidden = await host.createRepository('acme/secret', { isPrivate: true })
  const old = await hidden.commit()
  const tip = await hidden.commit({ parents: [old] })
  await hidden.push('main', tip)
  host.addToken({ token: 'reader', repositories: [hidden] })
  host.addToken({ token: 'blind', repositories: [hidden], contents: false, rights: ['issues'] })
  const target = 'acme/secret'
  const by = (token: string, sha = tip) => outcome(find(sha, { target, connection: connect(token) }))
  t.equal(await by('reader'), 'as claimed')
  t.equal(await by('reader', old), 'as claimed', 'git is given the token, too')
  t.equal(await by('blind'), 'forbidden')
  t.equal(await by('wrong'), 'unauthorized')
  t.equal(await outcome(find(tip, { target })), 'forbidden')
})

t.test('answers that name something else, and answers in other shapes', async (t) => {
  const { find, host, base } = await atGitea(t)
  const branch = (name: string, id: string) => json({ name, commit: { id } })
  const cases = [
    [/branches\/main/, branch('Main', base)],
    [/branches\/main/, branch('main', base.slice(0, 12))],
    [/branches\/main/, json([])],
    [/repos\/acme\/app$/, json({ id: -1, full_name: 'acme/app', created_at: '2026-09-25T11:00:00Z' })],
    [/repos\/acme\/app$/, json({ id: 1e300, full_name: 'acme/app', created_at: 'now' })],
    [/repos\/acme\/app$/, json({ id: 1, full_name: '../admin', created_at: '2026-09-25T11:00:00Z' })],
  ] as const
  for (const [on, fault] of cases) {
    host.faults.inject({ fault, on })
    t.equal(await outcome(find(base)), 'unexpected_response', String(on))
    host.faults.clear()
  }
  for (const [code, expected] of [
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'forbidden'],
    [429, 'rate_limited'],
    [502, 'unavailable'],
    [418, 'unexpected_response'],
  ] as const) {
    host.faults.inject({ fault: status(code), on: /repos\/acme\/app$/ })
    t.equal(await outcome(find(base)), expected, String(code))
    host.faults.clear()
  }
})
