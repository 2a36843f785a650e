// Test run: slow
/** Checks at a stand-in for GitHub. Threat A2 of `security.md`. */
import t from 'tap'
import { json } from '../../../test/destinations/faults.ts'
import type { ForgeRepository } from '../../../test/destinations/forge/model.ts'
import { createCache, outcome } from './context.ts'
import { appearedAt, atGitHub, MINUTE, NOON, wholeSecond } from './github-fixture.ts'

t.test("a branch's tip takes three requests, and the push log shows when it was pushed", async (t) => {
  const { github, repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON + MINUTE)
  t.same(await look(sha), {
    kind: 'present',
    differs: [],
    facts: {
      repository: 'acme/app',
      repository_id: repository.id,
      branch_listed: true,
      head: sha,
      pushed_at: '2026-09-25T12:01:00.000Z',
    },
    stays: [{ appeared: wholeSecond(NOON + MINUTE) }],
    ageMs: 10_000,
  })
  t.equal(github.requests.length, 3)
})

t.test('a commit in the middle of a push has the time of that push', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  const middle = await repository.commit({ parents: [base] })
  const tips = [await repository.commit({ parents: [middle] })]
  for (let i = 0; i < 6; i++) tips.push(await repository.commit({ parents: [tips.at(-1)!] }))
  for (const [i, tip] of tips.entries()) await push('main', tip, NOON + i * MINUTE)
  t.same(appearedAt(await look(middle)), wholeSecond(NOON))
})

t.test("a commit's own dates do not count", async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  for (const [i, date] of [new Date('1999-01-01'), new Date('2099-01-01')].entries()) {
    const sha = await repository.commit({ parents: [base], date })
    await push(`topic-${i}`, sha, NOON + MINUTE)
    t.same(appearedAt(await look(sha, { branch: `topic-${i}` })), wholeSecond(NOON + MINUTE))
  }
})

t.test('a commit that was merged has the time of the merge', async (t) => {
  const { clock, repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  clock.now = NOON + 3 * MINUTE
  await repository.merge('topic', 'main')
  t.same(appearedAt(await look(sha)), wholeSecond(NOON + 3 * MINUTE))
})

t.test('a commit that was squashed is on the branch it was squashed from', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  await repository.merge('topic', 'main', { squash: true })
  t.match(await look(sha), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic' } })
})

t.test('a commit on another branch is found as its tip, or on the default branch', async (t) => {
  const { repository, base, first, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  t.match(await look(sha), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic', head: base } })
  const unrelated = await repository.commit()
  await push('other', unrelated, NOON)
  t.match(await look(first, { branch: 'other' }), { kind: 'present', differs: ['branch'], facts: { found_on: 'main' } })
  t.match(await look(first, { branch: 'missing' }), {
    kind: 'present',
    differs: ['branch'],
    facts: { found_on: 'main' },
  })
})

t.test("a fork's commit does not count, although GitHub answers for it under the upstream's name", async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  const fork = await github.fork(repository, 'mallory/app')
  const sha = await fork.commit({ parents: [base] })
  await fork.push('main', sha)
  t.equal((await fetch(`${github.url}/repos/acme/app/commits/${sha}`)).status, 200)
  t.match(await look(sha), { kind: 'absent', facts: { head: base } })
  t.equal(await outcome(look(sha, { target: 'mallory/app' })), 'as claimed')
})

t.test('a commit that was never pushed is absent, and a complete push log shows that it never was there', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  t.match(await look(sha), { kind: 'absent', facts: { head: base }, stays: [], mark: 'never_before' })
  await push('main', await repository.commit({ parents: [base] }), NOON)
  repository.pushes.shift()
  await repository.hold(sha)
  const seen = await look(sha)
  t.match(seen, { kind: 'absent', mark: 'may_have_been' }, 'an incomplete log does not')
  t.notOk(seen.stays)
})

t.test('other names of a commit are not branches', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  const fork = await github.fork(repository, 'mallory/app')
  const sha = await repository.commit({ parents: [base] })
  await fork.push('evil', sha)
  await repository.tag('v1', base)
  for (const branch of ['v1', 'tags/v1', 'heads/main', base, 'HEAD', 'mai', 'Main']) {
    t.equal(await outcome(look(base, { branch })), 'differs: branch', branch)
  }
  t.equal(await outcome(look(sha, { branch: 'mallory:evil' })), 'absent')
})

t.test("an annotated tag's id is not the commit's", async (t) => {
  const { repository, base, look } = await atGitHub(t)
  const object = await repository.tag('v2', base, { annotated: true })
  t.not(object, base)
  t.equal(await outcome(look(object)), 'absent')
})

t.test('a branch may have any name that git allows', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  for (const branch of [
    'feature/a/b',
    '100%',
    'a%2Fb',
    'zweig-ü',
    '枝/😀',
    'a#b',
    'a&ref=c',
    "it's",
    'a+b',
    'refs/tags/x',
  ]) {
    const sha = await repository.commit({ parents: [base] })
    await push(branch, sha, NOON + MINUTE)
    t.match(await look(sha, { branch }), { kind: 'present', facts: { head: sha, branch_listed: true } }, branch)
  }
})

t.test('a branch whose name begins like the claimed one is not the claimed one', async (t) => {
  const { github, base, look } = await atGitHub(t)
  const found = {
    ref: 'refs/heads/main-2',
    node_id: 'x',
    url: github.url,
    object: { type: 'commit', sha: base, url: github.url },
  }
  for (const body of [found, [found]]) {
    github.faults.inject({ fault: json(body), on: /git\/ref/, times: 1 })
    t.equal(await outcome(look(base)), 'unexpected_response')
  }
})

t.test('a commit that a force-push removed', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)

  await t.test('after the claim was there when it was claimed', async (t) => {
    const sha = await repository.commit({ parents: [base] })
    await push('a', sha, NOON - MINUTE)
    await push('a', await repository.commit({ parents: [base] }), NOON + MINUTE, { force: true })
    t.match(await look(sha, { branch: 'a' }), {
      kind: 'absent',
      stays: [{ appeared: wholeSecond(NOON - MINUTE), removed: wholeSecond(NOON + MINUTE), removedWhole: false }],
      facts: { pushed_at: '2026-09-25T11:59:00.000Z', removed_at: '2026-09-25T12:01:00.000Z' },
    })
  })

  await t.test('in the middle of a push was there when it was claimed, too', async (t) => {
    const sha = await repository.commit({ parents: [base] })
    await push('b', base, NOON - 2 * MINUTE)
    await push('b', await repository.commit({ parents: [sha] }), NOON - MINUTE)
    await push('b', await repository.commit({ parents: [base] }), NOON + MINUTE, { force: true })
    t.same(appearedAt(await look(sha, { branch: 'b' })), wholeSecond(NOON - MINUTE))
  })

  await t.test('before the claim was made is told, and is not what was claimed', async (t) => {
    const sha = await repository.commit({ parents: [base] })
    await push('c', sha, NOON - 3 * MINUTE)
    await push('c', await repository.commit({ parents: [base] }), NOON - 2 * MINUTE, { force: true })
    const seen = await look(sha, { branch: 'c' })
    t.match(seen, { kind: 'absent', stays: [{ removed: wholeSecond(NOON - 2 * MINUTE), removedWhole: false }] })
    t.notOk(seen.mark)
    t.notOk(seen.facts.pushed_at)
  })

  await t.test('by deleting its branch was there until then', async (t) => {
    const sha = await repository.commit({ parents: [base] })
    await push('d', sha, NOON)
    await repository.deleteBranch('d')
    t.match(await look(sha, { branch: 'd' }), { stays: [{ appeared: wholeSecond(NOON), removedWhole: true }] })
    t.equal(
      await outcome(look('0'.repeat(40), { branch: 'd' })),
      'absent',
      'the id of zeros, which the log has for the deletion, is not a commit',
    )
  })
})

t.test('a commit that is kept by a force-push has the time of its first push', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  const later = await repository.commit({ parents: [sha] })
  await push('a', sha, NOON - MINUTE)
  await push('a', later, NOON)
  await push('a', await repository.commit({ parents: [sha] }), NOON + 12 * MINUTE, { force: true })
  t.same(appearedAt(await look(sha, { branch: 'a' })), wholeSecond(NOON - MINUTE))

  await push('b', later, NOON)
  await push('b', sha, NOON + 12 * MINUTE, { force: true })
  t.same(appearedAt(await look(sha, { branch: 'b' })), wholeSecond(NOON))
})

t.test('a force-push that adds a commit shows when, if the push before it was checked', async (t) => {
  const { github, repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  const other = await repository.commit({ parents: [base] })
  await push('a', other, NOON - 3 * MINUTE)
  await push('a', sha, NOON + 11 * MINUTE, { force: true })
  t.same(appearedAt(await look(sha, { branch: 'a' })), wholeSecond(NOON + 11 * MINUTE))

  await push('b', other, NOON - 3 * MINUTE)
  await push('b', sha, NOON - 2 * MINUTE, { force: true })
  const requests = github.requests.length
  t.same(appearedAt(await look(sha, { branch: 'b' })), { notAfter: NOON - 2 * MINUTE + 999 })
  t.equal(github.requests.length - requests, 3, 'the push before is not checked when it decides nothing')
})

t.test('a commit that was removed before the claim and pushed again late has both stays', async (t) => {
  const { repository, base, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  const other = await repository.commit({ parents: [base] })
  await push('a', sha, NOON - 3 * MINUTE)
  await push('a', other, NOON - 2 * MINUTE, { force: true })
  await push('a', sha, NOON + 12 * MINUTE, { force: true })
  t.same((await look(sha, { branch: 'a' })).stays, [
    { appeared: wholeSecond(NOON + 12 * MINUTE) },
    { appeared: wholeSecond(NOON - 3 * MINUTE), removed: wholeSecond(NOON - 2 * MINUTE), removedWhole: false },
  ])
})

t.test('in an empty repository a commit is absent', async (t) => {
  const { github, base, look } = await atGitHub(t)
  await github.createRepository('acme/empty', { createdAt: NOON - MINUTE })
  const facts = { repository: 'acme/empty', branch_listed: false }
  t.match(await look(base, { target: 'acme/empty' }), { kind: 'absent', facts, mark: 'never_before' })
})

t.test('a renamed repository is the same repository', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  github.rename(repository, 'acme/new-name')
  const seen = await look(base)
  t.equal(await outcome(Promise.resolve(seen)), 'as claimed')
  t.match(seen, { facts: { repository_id: repository.id } })
})

t.test('a repository that was created again under the same name is another repository', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  const seen = await look(await repository.commit())
  github.delete(repository)
  const again = await github.createRepository('acme/app')
  await again.push('main', await again.commit())
  t.equal(await outcome(look(base, { previous: [{ sentAt: NOON, observation: seen }] })), 'ambiguous_claim')
})

t.test('a repository that cannot be seen is never evidence', async (t) => {
  const { github, repository, base, look, connect } = await atGitHub(t)
  const hidden: ForgeRepository = await github.createRepository('acme/secret', { isPrivate: true })
  const sha = await hidden.commit()
  await hidden.push('main', sha)
  github.addToken({ token: 'reads-all', repositories: [hidden] })
  github.addToken({ token: 'sees-only', repositories: [hidden], contents: false })
  github.addToken({ token: 'sees-none' })
  const target = 'acme/secret'

  t.equal(await outcome(look(sha, { target })), 'forbidden', 'no credentials')
  t.equal(await outcome(look(sha, { target, connection: connect('sees-none') })), 'forbidden')
  t.equal(await outcome(look(sha, { target, connection: connect('sees-only') })), 'forbidden', 'metadata alone')
  t.equal(await outcome(look(sha, { target, connection: connect('revoked') })), 'unauthorized')
  t.equal(await outcome(look(sha, { target, connection: connect('reads-all') })), 'as claimed')
  t.equal(await outcome(look(base, { target, connection: connect('reads-all') })), 'absent')

  github.delete(repository)
  t.equal(await outcome(look(base)), 'forbidden', 'deleted')
})

t.test('a repository that is deleted during a check cannot be seen', async (t) => {
  for (const request of [/git\/ref/, /compare/, /where-head/]) {
    const { github, repository, base, look } = await atGitHub(t)
    const sha = await repository.commit({ parents: [base] })
    github.faults.beforeNext(request, () => github.delete(repository))
    t.equal(await outcome(look(sha)), 'forbidden', String(request))
  }
})

t.test('remembered answers are requested again with their ETags', async (t) => {
  const { github, repository, base, look, connect } = await atGitHub(t)
  github.addToken({ token: 'one', repositories: [repository] })
  const cache = createCache()
  const connection = connect('one')
  const seen = await look(base, { cache, connection })
  t.same(await look(base, { cache, connection }), seen)
  t.same(github.statuses, [200, 200, 200, 304, 304, 304])
})

t.test('a very large answer is read, and not remembered', async (t) => {
  const { github, look } = await atGitHub(t)
  const repository = await github.createRepository('acme/large', { defaultBranch: 'x'.repeat(40_000) })
  const sha = await repository.commit()
  await repository.push('main', sha)
  const cache = createCache()
  for (let i = 0; i < 2; i++) t.equal(await outcome(look(sha, { target: 'acme/large', cache })), 'as claimed')
  t.same(github.statuses, [200, 200, 200, 200, 304, 304])
})
