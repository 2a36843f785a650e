/** What is read at Bitbucket Data Center, what it costs, and what is refused. */
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { atBitbucketServer, MINUTE, NOON } from './bitbucket-fixture.ts'
import { createCache, outcome, probe } from './context.ts'

for (const hasMergeBase of [true, false]) {
  t.test(hasMergeBase ? 'a push, and what it costs' : 'a push, at a server without merge bases', async (t) => {
    const { repository, first, base, head, lookAtPush, requestsOf } = await atBitbucketServer(t, {
      hasMergeBase,
      prefix: '/git',
    })
    const facts = { repository: 'acme/app', repository_id: String(repository.id), head: base, branch_listed: true }
    t.equal(
      await requestsOf(async () =>
        t.match(await lookAtPush(base), { kind: 'present', differs: [], facts, ageMs: 2000 }),
      ),
      2,
      'the tip',
    )
    const cache = createCache()
    const looking = async () => t.match(await lookAtPush(first, { cache }), { kind: 'present', differs: [] })
    t.equal(await requestsOf(looking), hasMergeBase ? 3 : 5, 'in the history of the tip')
    t.equal(await requestsOf(looking), 2, 'and again')

    t.match(await lookAtPush(head), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic' } })
    t.match(await lookAtPush(first, { branch: 'gone' }), {
      kind: 'present',
      differs: ['branch'],
      facts: { branch_listed: false, found_on: 'main' },
      mark: 'may_have_been',
    })
    const unknown = await repository.commit({ parents: [base] })
    t.match(await lookAtPush(unknown), { kind: 'absent', mark: 'never_before', facts: { head: base } })
    await repository.hold(unknown)
    t.match(await lookAtPush(unknown), { kind: 'absent', mark: 'may_have_been' }, 'a fork may have it')
    const alone = await repository.commit()
    const name = 'f'.repeat(64)
    await repository.push(name, first)
    t.not(await outcome(lookAtPush(name)), 'as claimed', 'a branch that is called like a commit')
    await repository.push('pages', alone)
    t.match(await lookAtPush(alone), { kind: 'present', differs: ['branch'], facts: { found_on: 'pages' } })
  })
}

t.test('the filter finds other branches, too, on more pages than one', async (t) => {
  const { standIn, repository, base, head, lookAtPush } = await atBitbucketServer(t)
  const branch = (id: string, latestCommit = base) => ({ id, latestCommit })
  const page = (values: readonly object[], nextPageStart: number | null) =>
    json({ values, isLastPage: nextPageStart === null, nextPageStart })
  const answers = (on: RegExp, ...given: Parameters<typeof page>) =>
    standIn.faults.inject({ fault: page(...given), on })
  await repository.push('x', head)
  answers(/start=0/, [branch('refs/heads/x/1'), branch('refs/heads/X'), branch('refs/heads/max')], 3)
  answers(/start=3/, [branch('refs/tags/x'), branch('refs/heads/x', head)], null)
  t.match(await lookAtPush(head, { branch: 'x' }), { kind: 'present', differs: [], facts: { head } })
  t.match(await lookAtPush(head, { branch: 'y' }), { facts: { branch_listed: false } })
  standIn.faults.clear()
  for (const next of [0, -1, 1.5, null, '9', -0.5]) {
    standIn.faults.clear()
    standIn.faults.inject({ fault: json({ values: [], isLastPage: false, nextPageStart: next }), on: /branches\?/ })
    t.equal(await outcome(lookAtPush(head)), 'unexpected_response', String(next))
  }
  standIn.faults.clear()
  let at = 0
  standIn.faults.inject({
    fault: (request, response) => json({ values: [], isLastPage: false, nextPageStart: ++at })(request, response),
    on: /branches\?/,
  })
  t.equal(await outcome(lookAtPush(head)), 'too_large')
})

t.test('pull requests, and what they cost', async (t) => {
  const { repository, base, head, clock, lookAtOpen, lookAtMerge, requestsOf } = await atBitbucketServer(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  const opened = { notBefore: NOON, notAfter: NOON }
  clock.now += MINUTE
  t.equal(
    await requestsOf(async () => {
      const facts = { state: 'open', draft: false, base: 'main', head_sha: head }
      t.match(await lookAtOpen({ number }), { differs: [], facts, stays: [{ appeared: opened }] })
    }),
    1,
  )
  t.match(await lookAtMerge({ number }), { kind: 'absent', facts: { state: 'open' }, mark: 'never_before' })
  const landed = await repository.pullRequests.merge(number)
  const merged = { notBefore: NOON + MINUTE, notAfter: NOON + MINUTE }
  const looking = async () => {
    const facts = { state: 'merged', merge_commit: landed, merge_commit_on_base: true }
    t.match(await lookAtMerge({ number, base: 'main' }), { differs: [], facts, stays: [{ appeared: merged }] })
  }
  t.equal(await requestsOf(looking), 2)
  await repository.push('main', await repository.commit({ parents: [landed] }))
  t.equal(await requestsOf(looking), 3)
  await repository.push('main', base, { force: true })
  t.match(await lookAtMerge({ number }), { kind: 'absent', mark: 'may_have_been' })

  const pushed = await repository.pullRequests.open({ head: 'topic' })
  await repository.push('main', head)
  await repository.pullRequests.markMerged(pushed, head)
  t.match(await lookAtMerge({ number: pushed }), { kind: 'absent', facts: { state: 'merged' }, mark: 'may_have_been' })
})

t.test('a pull request that is not shown may have been deleted', async (t) => {
  const { standIn, repository, clock, lookAtOpen } = await atBitbucketServer(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  t.strictSame((await lookAtOpen({ number: number + 1 })).mark, undefined, 'it was not there a moment ago')
  clock.now += MINUTE
  t.match(
    await lookAtOpen({ number: number + 1 }),
    { kind: 'absent', mark: undefined },
    'the rules know how late it is',
  )
  standIn.faults.inject({ fault: status(404), on: /pull-requests\/1$/ })
  clock.now = NOON
  t.match(await lookAtOpen({ number }), { kind: 'absent', mark: 'may_have_been' }, 'its number was given out')
  standIn.faults.inject({ fault: status(401), on: /pull-requests\?/ })
  t.equal(await outcome(lookAtOpen({ number })), 'unauthorized')
})

t.test('builds, and what they cost', async (t) => {
  const { standIn, repository, base: sha, lookAtChecks, requestsOf } = await atBitbucketServer(t)
  const { checks } = repository
  const named = (name: string, by: string) => ({ sha, checks: [{ name, by }] })
  checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
  checks.post({ sha, context: 'Lint @ lint', state: 'error' })
  t.equal(
    await requestsOf(async () => {
      const seen = await lookAtChecks(named('Unit tests', 'key:unit'))
      t.match(seen, { kind: 'present', differs: [], facts: { passed: 1 } })
      t.notOk(seen.stays, 'whoever posts a build chooses its date')
    }),
    3,
  )
  const both = { sha, checks: [...named('Unit tests', 'key:unit').checks, ...named('Lint', 'key:lint').checks] }
  t.match(await lookAtChecks(both), { kind: 'present', differs: ['checks'], facts: { passed: 1, skipped: 1 } })
  t.match(await lookAtChecks(named('Deploy', 'key:deploy')), { kind: 'absent', facts: { missing: 1 } })
  for (const [name, by] of [
    ['Unit tests', 'account:jenkins'],
    ['Unit tests', 'key:UNIT'],
    ['Unit tests 2', 'key:unit'],
  ] as const) {
    t.equal(await outcome(lookAtChecks(named(name, by))), 'forbidden', `${name} by ${by}`)
  }
  t.equal(await outcome(lookAtChecks({ sha })), 'unsupported_target')
  const fork = await standIn.fork(repository, 'mallory/app')
  fork.checks.post({ sha, context: 'Deploy @ deploy', state: 'success' })
  t.equal(await outcome(lookAtChecks(named('Deploy', 'key:deploy'))), 'forbidden', 'of another repository')
  const nowhere = { ...named('Unit tests', 'key:unit'), sha: 'e'.repeat(40) }
  t.match(await lookAtChecks(nowhere), { kind: 'absent', mark: 'never_before', facts: { commit_found: false } })
  const unpushed = await repository.commit({ parents: [sha] })
  checks.post({ sha: unpushed, context: 'Unit tests @ unit', state: 'success' })
  const ofNone = await lookAtChecks({ ...named('Unit tests', 'key:unit'), sha: unpushed })
  t.match(ofNone, { kind: 'absent', facts: { commit_found: false } }, 'of a commit that the repository does not have')
  standIn.faults.inject({ fault: json({ key: 'unit', name: 'Unit tests', state: 'UNKNOWN' }), on: /builds/ })
  t.equal(await outcome(lookAtChecks(named('Unit tests', 'key:unit'))), 'unexpected_response')
})

t.test('a project of a person, and a name in capitals', async (t) => {
  const { standIn, connection, lookAtPush } = await atBitbucketServer(t)
  const repository = await standIn.createRepository('~jane/My-Repo')
  const sha = await repository.commit()
  await repository.push('main', sha)
  const seen = await lookAtPush(sha, { connection, target: '~jane/My-Repo' })
  t.match(seen, { kind: 'present', facts: { repository: '~jane/my-repo', repository_id: String(repository.id) } })
  t.equal(await outcome(lookAtPush(sha, { target: 'a/b/c' })), 'unsupported_target')
})

t.test('answers that are not those of what was asked', async (t) => {
  const { standIn, repository, base, first, head, lookAtPush, lookAtOpen, lookAtMerge, lookAtChecks } =
    await atBitbucketServer(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  await repository.pullRequests.merge(number, { how: 'fast-forward' })
  await repository.push('old', first)
  const here = { id: repository.id, slug: 'app', project: { key: 'acme' } }
  const pull = {
    id: number,
    state: 'MERGED',
    createdDate: NOON,
    closedDate: NOON,
    fromRef: { latestCommit: head },
    toRef: { id: 'refs/heads/main', repository: here },
    properties: { mergeCommit: { id: head } },
  }
  const toRef = (more: object) => ({ ...pull, toRef: { ...pull.toRef, ...more } })
  const page = (...values: object[]) => ({ values, isLastPage: true })
  const pushes = () => lookAtPush(base)
  const older = () => lookAtPush(head, { branch: 'old' })
  const opens = () => lookAtOpen({ number })
  const merges = () => lookAtMerge({ number })
  const builds = () => lookAtChecks({ sha: base, checks: [{ name: 'unit', by: 'key:unit' }] })
  for (const [on, body, expected, looking] of [
    [/repos\/app$/, { ...here, id: 0 }, 'unexpected_response', pushes],
    [/repos\/app$/, { ...here, slug: '..' }, 'unexpected_response', pushes],
    [/repos\/app$/, { ...here, slug: 'app', project: { key: 'other' } }, 'ambiguous_claim', pushes],
    [/branches\?/, page({ id: 'refs/heads/main', latestCommit: base.slice(9) }), 'unexpected_response', pushes],
    [/branches\?/, { values: [] }, 'unexpected_response', pushes],
    [/merge-base/, { id: first }, 'as claimed', () => lookAtPush(first)],
    [/merge-base/, { id: head }, 'unavailable', () => lookAtPush(first)],
    [/commits\?/, page(), 'unavailable', older],
    [/commits\?/, page({ id: first }), 'unavailable', older],
    [/commits\?/, { ...page(), isLastPage: false }, 'unavailable', older],
    [/pull-requests\/1$/, { ...pull, id: 2 }, 'unexpected_response', opens],
    [/pull-requests\/1$/, { ...pull, state: 'LOCKED' }, 'unexpected_response', opens],
    [/pull-requests\/1$/, { ...pull, createdDate: 1e300 }, 'unexpected_response', opens],
    [/pull-requests\/1$/, { ...pull, createdDate: -1 }, 'unexpected_response', opens],
    [/pull-requests\/1$/, toRef({ id: 'refs/tags/main' }), 'unexpected_response', opens],
    [/pull-requests\/1$/, toRef({ repository: { ...here, slug: 'app-2', id: 7 } }), 'ambiguous_claim', opens],
    [/pull-requests\/1$/, toRef({ repository: { ...here, slug: 'app-2' } }), 'as claimed', opens],
    [/pull-requests\/1$/, pull, 'as claimed', merges],
    [/pull-requests\/1$/, { ...pull, properties: {} }, 'absent', merges],
    [/pull-requests\/1$/, { ...pull, properties: { mergeCommit: { id: 'f00' } } }, 'unexpected_response', merges],
    [/builds/, { key: 'other', name: 'unit', state: 'SUCCESSFUL' }, 'unexpected_response', builds],
    [/builds/, { key: 'unit', state: 'GREEN' }, 'unexpected_response', builds],
    [/builds/, { key: 'unit', state: 'SUCCESSFUL' }, 'as claimed', builds],
    [/commits\/[0-9a-f]+$/, { id: head }, 'unexpected_response', builds],
  ] as const) {
    standIn.faults.clear()
    standIn.faults.inject({ fault: json(body), on })
    t.equal(await outcome(looking()), expected, `${on} ${JSON.stringify(body).slice(0, 80)}`)
  }
  for (const [code, expected] of [
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'forbidden'],
    [429, 'rate_limited'],
    [503, 'unavailable'],
  ] as const) {
    standIn.faults.clear()
    standIn.faults.inject({ fault: status(code), on: /./ })
    for (const looking of [pushes, opens, builds]) t.equal(await outcome(looking()), expected, String(code))
  }
})

t.test('the connection type', async (t) => {
  const { standIn, repository } = await atBitbucketServer(t)
  const options = (token: string) => ({ base_url: `${standIn.origin}/`, token })
  standIn.addToken({ token: 'reader', repositories: [repository] })
  standIn.addToken({ token: 'writer', repositories: [repository], scopes: 'REPO_WRITE' })
  t.same(await probe('bitbucket-server', options('reader')), {
    proves: 'reached',
    scopes: [],
    warnings: ['The token is sent unencrypted: use https.'],
  })
  t.match(await probe('bitbucket-server', options('writer')), { warnings: [/can also write/, /unencrypted/] })
  await t.rejects(probe('bitbucket-server', options('wrong')), { code: 'unauthorized' })
})

t.test('the activities of a pull request tell whether it changed', async (t) => {
  const { standIn, repository, base, clock, lookAtOpen } = await atBitbucketServer(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  await repository.push('next', base)
  t.match(await lookAtOpen({ number, base: 'next' }), { differs: ['base'], stays: [], mark: undefined })
  for (const fault of [status(404), json({ values: [], isLastPage: true })]) {
    standIn.faults.inject({ fault, on: /activities/, times: 2 })
    clock.now = NOON
    t.match(await lookAtOpen({ number, base: 'next' }), { differs: ['base'], mark: undefined }, 'a later look may')
    clock.now = NOON + 11 * MINUTE
    t.match(await lookAtOpen({ number, base: 'next' }), { differs: ['base'], stays: undefined, mark: 'may_have_been' })
  }
  clock.now = NOON
  repository.pullRequests.retarget(number, 'next')
  t.match(await lookAtOpen({ number, base: 'main' }), { differs: ['base'], stays: undefined, mark: 'may_have_been' })
  clock.now = NOON + 11 * MINUTE
  const late = await repository.pullRequests.open({ head: 'topic', at: NOON + MINUTE })
  const exact = { notBefore: NOON + MINUTE, notAfter: NOON + MINUTE }
  t.strictSame((await lookAtOpen({ number: late, base: 'main' })).stays, [{ appeared: exact }])
})
