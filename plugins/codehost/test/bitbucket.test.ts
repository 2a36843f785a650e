/** What is read at Bitbucket Cloud, what it costs, and what is refused. */
import t, { type Test } from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { atBitbucket, DAY, MINUTE, NOON } from './bitbucket-fixture.ts'
import { createCache, outcome, probe } from './context.ts'

type World = Awaited<ReturnType<typeof atBitbucket>>

t.test('a push, and what it costs', async (t) => {
  const { repository, first, base, head, lookAtPush, requestsOf, clock } = await atBitbucket(t)
  const facts = { repository: 'acme/app', repository_id: repository.uuid, head: base, branch_listed: true }
  t.equal(
    await requestsOf(async () =>
      t.match(await lookAtPush(base), { kind: 'present', differs: [], facts, ageMs: 60_000 }),
    ),
    1,
    'the tip',
  )
  const cache = createCache()
  t.equal(await requestsOf(() => lookAtPush(first, { cache })), 2, 'in the history of the tip')
  t.equal(await requestsOf(() => lookAtPush(first, { cache })), 1, 'and again')
  await requestsOf(async () => t.notOk((await lookAtPush(first)).stays))

  t.match(await lookAtPush(head), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic' } })
  t.match(await lookAtPush(first, { branch: 'gone' }), {
    kind: 'present',
    differs: ['branch'],
    facts: { branch_listed: false, found_on: 'main' },
    mark: 'may_have_been',
  })
  const unknown = await repository.commit({ parents: [base] })
  t.match(await lookAtPush(unknown), { kind: 'absent', mark: 'never_before', facts: { head: base } })
  t.match(await lookAtPush(unknown, { branch: 'gone' }), { kind: 'absent', mark: 'never_before' })
  await repository.hold(unknown)
  t.match(await lookAtPush(unknown), { kind: 'absent', mark: 'may_have_been' }, 'a fork may have it')
  clock.now = NOON + 2 * DAY
  const late = await repository.commit({ parents: [base] })
  t.match(await lookAtPush(late), { kind: 'absent', mark: undefined }, 'objects are not kept for ever')
})

t.test('a head that was forced away', async (t) => {
  const { repository, base, first, lookAtPush } = await atBitbucket(t)
  const other = await repository.commit({ parents: [first] })
  await repository.push('main', other, { force: true })
  const unknown = await repository.commit({ parents: [base] })
  await repository.hold(unknown)
  await repository.push('side', unknown)
  const observation = { kind: 'present' as const, differs: ['branch'], facts: { head: base } }
  const seen = await lookAtPush(unknown, { previous: [{ sentAt: NOON, observation }] })
  t.match(seen, { kind: 'present', differs: ['branch'], mark: 'may_have_been' })
})

t.test('an open pull request, and what it costs', async (t) => {
  const { repository, head, clock, lookAtOpen, requestsOf } = await atBitbucket(t)
  const number = await repository.pullRequests.open({ head: 'topic', draft: true })
  clock.now += MINUTE
  const cache = createCache()
  const params = { number, base: 'main', head_sha: head }
  const looking = async () =>
    t.match(await lookAtOpen(params, { cache }), {
      kind: 'present',
      differs: [],
      facts: { state: 'open', draft: true, head_sha: head, opened_at: new Date(NOON).toISOString() },
    })
  t.equal(await requestsOf(looking), 2)
  t.equal(await requestsOf(looking), 1)
  t.match(await lookAtOpen({ number }), { stays: [{ appeared: { notBefore: NOON, notAfter: NOON } }] })
  repository.pullRequests.close(number)
  t.match(await lookAtOpen({ number }), { facts: { state: 'closed' } })
})

t.test('a merged pull request, and what it costs', async (t) => {
  const { repository, base, clock, lookAtMerge, requestsOf } = await atBitbucket(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  clock.now += MINUTE
  const landed = await repository.pullRequests.merge(number)
  clock.now += MINUTE
  for (let index = 0; index < 60; index++) repository.pullRequests.comment(number)
  const params = { number, base: 'main', merge_commit: landed }
  const facts = {
    state: 'merged',
    merge_commit: landed,
    merge_commit_on_base: true,
    merged_at: new Date(NOON + MINUTE).toISOString(),
  }
  const stays = [{ appeared: { notAfter: NOON + MINUTE } }]
  const looking = async () => t.match(await lookAtMerge(params), { kind: 'present', differs: [], facts, stays })
  t.equal(await requestsOf(looking), 6, 'the pull request, two ids, two pages of activity, the branch')
  await repository.push('main', await repository.commit({ parents: [landed] }))
  t.equal(await requestsOf(looking), 7, 'and whether the branch has it')
  await repository.push('main', base, { force: true })
  t.match(await lookAtMerge(params), { kind: 'absent', facts: { merge_commit_on_base: false }, mark: 'may_have_been' })
  await repository.deleteBranch('main')
  t.match(await lookAtMerge(params), { kind: 'present', facts: { merge_commit_on_base: undefined } }, 'no base')
})

t.test('its title was edited after the merge: the first entry that says so is the merge', async (t) => {
  const { standIn, repository, clock, lookAtMerge } = await atBitbucket(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  clock.now += MINUTE
  await repository.pullRequests.merge(number)
  const update = (state: string, minutes: number) => ({
    update: { state, date: new Date(NOON + minutes * MINUTE).toISOString() },
  })
  const values = [update('MERGED', 9), { comment: {} }, update('MERGED', 2), update('MERGED', 1), update('OPEN', 0)]
  const merged = async () => (await lookAtMerge({ number })).stays?.[0]?.appeared
  standIn.faults.inject({ fault: json({ values }), on: /activity/ })
  t.same(await merged(), { notAfter: NOON + MINUTE })
  standIn.faults.clear()
  standIn.faults.inject({ fault: json({ values: [] }), on: /activity/ })
  t.same(await merged(), undefined)
  standIn.faults.clear()
  // Without the time of the merge, an old one would be taken for this one.
  standIn.faults.inject({ fault: status(403), on: /activity/ })
  t.equal(await outcome(lookAtMerge({ number })), 'forbidden')
})

t.test('a pull request that is not shown', async (t) => {
  const { standIn, repository, lookAtOpen, lookAtMerge } = await atBitbucket(t)
  const facts = { repository: 'acme/app' }
  t.match(await lookAtOpen({ number: 51 }), { kind: 'absent', mark: 'never_before', facts })
  t.match(await lookAtOpen({ number: 1 }), { kind: 'absent', mark: 'may_have_been' }, 'it may be hidden')
  const number = await repository.pullRequests.open({ head: 'topic' })
  t.match(await lookAtOpen({ number: number + 51 }), { kind: 'absent', mark: 'never_before' })
  const before = { claimedAt: repository.createdAt - MINUTE }
  t.match(await lookAtOpen({ number: number + 51 }, before), { mark: 'may_have_been' }, 'of the one before')
  standIn.faults.inject({ fault: status(404), on: /pullrequests\/1$/ })
  t.match(await lookAtMerge({ number }), { kind: 'absent', mark: 'may_have_been' })
  standIn.faults.inject({ fault: status(403), on: /pullrequests\?/ })
  t.equal(await outcome(lookAtMerge({ number: 7 })), 'forbidden')
})

t.test('checks, and what they cost', async (t) => {
  const { clock, repository, first, base: sha, lookAtChecks, requestsOf } = await atBitbucket(t)
  const { checks } = repository
  const named = (name: string, by: string) => ({ sha, checks: [{ name, by }] })
  /** For a look two minutes after the claim: one a minute before saw so many green. */
  const settled = (counted: number) => ({
    previous: [
      {
        sentAt: NOON + MINUTE,
        observation: { kind: 'absent' as const, facts: { settling: true, counted, passed: counted } },
      },
    ],
  })
  t.match(await lookAtChecks({ sha }), { kind: 'absent', facts: { commit_found: true, passed: 0 } })
  checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
  t.match(await lookAtChecks({ sha }), { kind: 'absent', mark: 'unsettled' }, 'posted by whomever')
  t.equal(
    await requestsOf(async () =>
      t.match(await lookAtChecks(named('Unit tests', 'key:unit')), { kind: 'present', differs: [] }),
    ),
    3,
  )
  const name = 'f'.repeat(40)
  await repository.push(name, sha)
  const ofBranch = lookAtChecks({ ...named('Unit tests', 'key:unit'), sha: name })
  t.equal(await outcome(ofBranch), 'unexpected_response', 'a branch that is called like a commit')
  const run = checks.run({ sha, name: 'branches/main', outcome: 'failure' })
  const onMain = named('branches/main', 'bitbucket-pipelines')
  t.match(await lookAtChecks(onMain), { kind: 'present', differs: ['checks'], facts: { failed: 1 } })
  checks.end(checks.rerun(run), 'success')
  const stays = [{ appeared: { notAfter: NOON } }]
  t.equal(await requestsOf(async () => t.match(await lookAtChecks(onMain), { kind: 'present', differs: [], stays })), 2)
  clock.now = NOON + 2 * MINUTE
  t.match(await lookAtChecks({ sha }, settled(2)), { mark: 'unsettled', facts: { unnamed: true } })
  const before = (context: string) => checks.post({ sha: first, context, state: 'error', at: NOON - 30 * MINUTE })
  checks.run({ sha: first, name: 'branches/main', at: NOON - 30 * MINUTE })
  t.equal(
    await requestsOf(async () =>
      t.match(await lookAtChecks({ sha }, settled(2)), {
        kind: 'present',
        differs: [],
        facts: { passed: 2, reported_by: 'bitbucket-pipelines, key:unit' },
      }),
    ),
    // The repository, the commit, statuses, pipelines.
    // To compare it: the tip of main, open pull requests, the commits of main, pipelines, and statuses of two commits.
    11,
  )
  before('Scan @ scan')
  t.match(await lookAtChecks({ sha }, settled(2)), { kind: 'absent', mark: 'unsettled', facts: { awaited: 1 } })
  checks.start(checks.queue({ sha, name: 'default' }))
  t.match(await lookAtChecks({ sha }), { kind: 'absent', facts: { pending: 1 } })
  for (const [name, by] of [
    ['Unit tests', 'account:ci-bot'],
    ['Unit tests', 'key:other'],
    ['Unit tests', 'key:UNIT'],
    ['Other tests', 'key:unit'],
  ] as const) {
    t.equal(await outcome(lookAtChecks(named(name, by))), 'forbidden', `${name} by ${by}`)
  }
  t.match(await lookAtChecks(named('Other tests', 'key:other')), { kind: 'absent', facts: { missing: 1 } })
  const nowhere = { sha: 'e'.repeat(40) }
  t.match(await lookAtChecks(nowhere), { kind: 'absent', mark: 'never_before', facts: { commit_found: false } })
  const runsNowhere = { ...onMain, ...nowhere }
  t.match(await lookAtChecks(runsNowhere), { kind: 'absent', facts: { commit_found: false } })
  const observation = { kind: 'absent' as const, facts: { commit_found: true } }
  t.match(await lookAtChecks(nowhere, { previous: [{ sentAt: NOON, observation }] }), { mark: 'may_have_been' })
})

t.test('a pipeline that a person started replaces none, and founds nothing', async (t) => {
  const { clock, repository, first, base: sha, lookAtChecks } = await atBitbucket(t)
  const { checks } = repository
  const named = { sha, checks: [{ name: 'branches/main', by: 'bitbucket-pipelines' }] }
  const run = (sha: string, more: object = {}) => checks.run({ sha, name: 'branches/main', ...more })
  run(sha, { outcome: 'failure' })
  run(sha, { source: 'web' })
  t.match(await lookAtChecks(named), { differs: ['checks'], mark: 'may_have_been', facts: { passed: 1, failed: 1 } })
  run(sha)
  t.match(await lookAtChecks(named), { kind: 'present', differs: [] })
  run(first, { source: 'web' })
  run(first, { at: NOON - 30 * MINUTE })
  const by = (counted: number) => ({
    previous: [
      { sentAt: NOON, observation: { kind: 'absent' as const, facts: { settling: true, counted, passed: counted } } },
    ],
  })
  clock.now = NOON + 2 * MINUTE
  t.match(await lookAtChecks({ sha }, by(1)), { kind: 'present', differs: [] })
  const other = await repository.commit({ parents: [sha] })
  await repository.push('main', other)
  checks.run({ sha: other, name: 'custom/build', source: 'web', at: NOON })
  t.match(await lookAtChecks({ sha: other }, by(1)), { kind: 'absent', facts: { awaited: 1 } })
})

t.test('pipelines that are not those that were asked for', async (t) => {
  const { standIn, base: sha, head, lookAtChecks } = await atBitbucket(t)
  const params = { sha, checks: [{ name: 'default', by: 'bitbucket-pipelines' }] }
  const pipeline = (hash: string, more: object = {}) => ({
    build_number: 1,
    state: { name: 'COMPLETED', result: { name: 'SUCCESSFUL' } },
    target: { commit: { hash }, ref_name: 'main', selector: { type: 'default' } },
    completed_on: new Date(NOON).toISOString(),
    ...more,
  })
  const answered = async (values: readonly object[], more: object = {}) => {
    standIn.faults.clear()
    standIn.faults.inject({ fault: json({ values, pagelen: 100, size: values.length, ...more }), on: /pipelines/ })
    return outcome(lookAtChecks(params))
  }
  t.equal(await answered([pipeline(sha)]), 'as claimed')
  t.equal(await answered([pipeline(sha.slice(0, 12))]), 'as claimed', 'an abbreviated id of it')
  t.equal(await answered([pipeline(head)]), 'absent', 'another commit')
  t.equal(await answered([{ ...pipeline(sha), target: {} }]), 'absent')
  const twin = `${sha.slice(0, 12)}${'0'.repeat(28)}`
  t.equal(await answered([pipeline(twin)]), 'absent', 'a commit that begins alike')
  t.equal(await answered([pipeline(sha, { state: { name: 'PAUSED' } })]), 'absent')
  for (const result of ['FAILED', 'ERROR', 'STOPPED', 'EXPIRED']) {
    const state = { name: 'COMPLETED', result: { name: result } }
    t.equal(await answered([pipeline(sha, { state })]), 'differs: checks', result)
  }
  t.equal(await answered([pipeline(sha, { state: { name: 'COMPLETED', result: null } })]), 'unexpected_response')
  t.equal(await answered([pipeline(sha, { state: { name: 'SOMETHING' } })]), 'unexpected_response')
  const into = (destination: string, build_number: number, result: string) => {
    const target = { commit: { hash: sha }, source: 'topic', destination, selector: { type: 'default' } }
    return pipeline(sha, { build_number, target, state: { name: 'COMPLETED', result: { name: result } } })
  }
  const older = into('main', 1, 'FAILED')
  t.equal(await answered([into('main', 2, 'SUCCESSFUL'), older]), 'as claimed', 'run again')
  t.equal(await answered([into('old', 2, 'SUCCESSFUL'), older]), 'differs: checks', 'another pull request')
  t.equal(await answered([pipeline(sha)], { size: 5000 }), 'too_large', 'pages without end')
  t.equal(await answered([], { size: 5 }), 'unexpected_response', 'a page that is empty before the end')
  t.equal(await answered([pipeline(sha)], { size: undefined, pagelen: 1 }), 'too_large')
  standIn.faults.clear()
  standIn.faults.inject({ fault: status(404), on: /pipelines/ })
  t.equal(await outcome(lookAtChecks(params)), 'forbidden')
  t.equal(await outcome(lookAtChecks({ sha })), 'forbidden')
})

t.test('answers that are not those of what was asked', async (t) => {
  const { standIn, repository, base, first, head, lookAtPush, lookAtOpen, lookAtMerge, lookAtChecks } =
    await atBitbucket(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  await repository.pullRequests.merge(number)
  const uuid = `{${repository.uuid}}`
  const other = '{00000000-0000-4000-8000-000000000000}'
  const here = { uuid, full_name: 'acme/app' }
  const commit = (hash: string) => ({ hash })
  const pull = {
    id: number,
    state: 'MERGED',
    created_on: new Date(NOON).toISOString(),
    source: { commit: { hash: head } },
    destination: { branch: { name: 'main' }, repository: here },
    merge_commit: { hash: base },
  }
  const branch = { name: 'main', target: { hash: base, repository: here } }
  const page = { uuid, full_name: 'acme/app', created_on: new Date(NOON).toISOString() }
  const otherRepository = { uuid: other, full_name: 'acme/other' }
  const pushes = () => lookAtPush(base)
  const pushesFirst = () => lookAtPush(first)
  const older = () => lookAtPush(head, { branch: 'old' })
  const opens = () => lookAtOpen({ number })
  const merges = () => lookAtMerge({ number })
  const checks = () => lookAtChecks({ sha: base })
  await repository.push('old', first)
  for (const [on, body, expected, looking] of [
    [/branches\/main/, { ...branch, name: 'Main' }, 'unexpected_response', pushes],
    [/branches\/main/, { ...branch, target: { hash: base.slice(0, 12) } }, 'unexpected_response', pushes],
    [/branches\/main/, { ...branch, target: { hash: base } }, 'as claimed', pushes],
    [/branches\/main/, { ...branch, target: { hash: base, repository: otherRepository } }, 'ambiguous_claim', pushes],
    [/branches\/main/, [], 'unexpected_response', pushes],
    [/merge-base/, commit(first.slice(0, 7)), 'unexpected_response', pushesFirst],
    [/merge-base/, commit(head), 'unavailable', pushesFirst],
    [/commits\//, { values: [] }, 'unavailable', older],
    [/commits\//, { values: [commit(first)] }, 'unavailable', older],
    [/commit\/[0-9a-f]{40}$/, commit(base), 'unexpected_response', () => lookAtPush(head, { branch: 'gone' })],
    [/branches\?/, { values: [{ name: 'old', target: commit(first) }] }, 'differs: branch', older],
    [/pullrequests\/1$/, { ...pull, id: 2 }, 'unexpected_response', merges],
    [/pullrequests\/1$/, { ...pull, state: 'LOCKED' }, 'unexpected_response', merges],
    [/pullrequests\/1$/, { ...pull, created_on: 'today' }, 'unexpected_response', opens],
    [/pullrequests\/1$/, { ...pull, destination: { branch: { name: 'main' } } }, 'unexpected_response', opens],
    [/pullrequests\/1$/, { ...pull, merge_commit: null }, 'absent', merges],
    [/pullrequests\/1$/, { ...pull, state: 'SUPERSEDED' }, 'absent', merges],
    [/commit\/[0-9a-f]{12}$/, commit(base), 'unexpected_response', merges],
    [/activity/, { values: [], next: 'nonsense' }, 'unexpected_response', merges],
    [/activity/, { values: [], next: `${standIn.url}/x?page=1` }, 'as claimed', merges],
    [/statuses/, { values: [], next: 'https://evil.example/x?page=1' }, 'too_large', checks],
    [/statuses/, { values: [{ key: 'a', state: 'GREEN' }] }, 'unexpected_response', checks],
    [/repositories\/acme\/app$/, { ...page, full_name: '../..' }, 'unexpected_response', checks],
    [/repositories\/acme\/app$/, { ...page, uuid: '{1}' }, 'unexpected_response', checks],
  ] as const) {
    standIn.faults.clear()
    standIn.faults.inject({ fault: json(body), on })
    t.equal(await outcome(looking()), expected, `${on} ${JSON.stringify(body).slice(0, 80)}`)
  }
  t.notOk(
    standIn.requests.some((one) => one.includes('/x?')),
    'links are followed within the list alone',
  )
})

t.test('refusals', async (t) => {
  const world = await atBitbucket(t)
  const { standIn, base, lookAtPush, lookAtChecks, lookAtOpen } = world
  for (const [code, expected] of [
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'forbidden'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [302, 'unexpected_response'],
  ] as const) {
    standIn.faults.clear()
    standIn.faults.inject({ fault: status(code), on: /./ })
    for (const looking of [
      () => lookAtPush(base),
      () => lookAtOpen({ number: 1 }),
      () => lookAtChecks({ sha: base }),
    ]) {
      t.equal(await outcome(looking()), expected, String(code))
    }
  }
  standIn.faults.clear()
  standIn.faults.inject({ fault: status(404), on: /statuses/ })
  standIn.faults.inject({ fault: status(500), on: /app$/, after: 1 })
  t.equal(await outcome(lookAtPush('e'.repeat(40), { branch: 'gone' })), 'absent')
  await statusesBreakOff(t, world)
})

/** What a first page shows is not taken back by a second one that is not found. */
async function statusesBreakOff(t: Test, { standIn, repository, base: sha, lookAtChecks }: World) {
  standIn.faults.clear()
  for (let index = 0; index < 101; index++) repository.checks.post({ sha, context: `part ${index}`, state: 'success' })
  standIn.faults.inject({ fault: status(404), on: /statuses.*page=2/ })
  t.equal(await outcome(lookAtChecks({ sha })), 'unexpected_response')
}

t.test('the connection type', async (t) => {
  const { standIn } = await atBitbucket(t)
  const options = (token: string) => ({ base_url: standIn.url, token })
  standIn.addToken({ token: 'reader' })
  standIn.addToken({ token: 'writer', account: 'agent', scopes: 'repository:write, pullrequest, read:user:bitbucket' })
  standIn.addToken({ token: 'unknown', account: 'agent', scopes: '' })
  t.same(await probe('bitbucket', options('reader')), {
    proves: 'reached',
    scopes: ['repository', 'pullrequest', 'pipeline'],
    warnings: [],
  })
  t.match(await probe('bitbucket', options('writer')), { warnings: [/can also write \(repository:write\)/] })
  t.match(await probe('bitbucket', options('unknown')), { warnings: [/not known/] })
  await t.rejects(probe('bitbucket', options('wrong')), { code: 'unauthorized' })
  standIn.faults.inject({ fault: status(403), on: /user/ })
  await t.rejects(probe('bitbucket', options('reader')), { code: 'forbidden' })
})

t.test('the activity of a pull request tells whether it changed since it was opened', async (t) => {
  const { standIn, repository, base, clock, lookAtOpen } = await atBitbucket(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  await repository.push('next', base)
  t.match(await lookAtOpen({ number, base: 'next' }), { differs: ['base'], stays: [], mark: undefined })
  for (const fault of [status(404), json({ values: [] })]) {
    standIn.faults.inject({ fault, on: /activity/, times: 1 })
    clock.now = NOON + 11 * MINUTE
    const seen = await lookAtOpen({ number, base: 'next' })
    t.match(seen, { differs: ['base'], stays: undefined, mark: 'may_have_been' }, 'it does not show its opening')
    clock.now = NOON
  }
  repository.pullRequests.retarget(number, 'next')
  t.match(await lookAtOpen({ number, base: 'main' }), { differs: ['base'], stays: undefined, mark: 'may_have_been' })
  t.match(await lookAtOpen({ number, head_sha: base }), { differs: ['head_sha'], mark: 'may_have_been' })
  const old = await repository.pullRequests.open({ head: 'topic', at: NOON - DAY })
  repository.pullRequests.retarget(old, 'next', { at: NOON - DAY / 2 })
  t.match(await lookAtOpen({ number: old, base: 'main' }), { stays: [], mark: undefined }, 'before the window')
  clock.now = NOON + 11 * MINUTE
  const late = await lookAtOpen({ number: old, base: 'next' })
  t.strictSame(late.stays, [{ appeared: { notBefore: NOON - DAY, notAfter: NOON - 60 * MINUTE } }])
  for (let index = 0; index < 2001; index++) repository.pullRequests.comment(old)
  t.match(await lookAtOpen({ number: old, base: 'main' }), { mark: 'may_have_been' }, 'longer than a check reads')
  for (const [code, failure] of [
    [503, 'unavailable'],
    [403, 'forbidden'],
  ] as const) {
    standIn.faults.inject({ fault: status(code), on: /activity/, times: 1 })
    t.equal(await outcome(lookAtOpen({ number, base: 'main' })), failure)
  }
})

t.test(
  'looks that wait for a run read the repository once, and the one that shows its end reads it anew',
  async (t) => {
    const { repository, base: sha, lookAtChecks, requestsOf, clock } = await atBitbucket(t)
    const run = repository.checks.queue({ sha, name: 'branches/main' })
    const cache = createCache()
    const waiting = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const
    const count = (previous: typeof waiting | readonly [], seen: object) => {
      clock.now += MINUTE
      return requestsOf(async () => t.match(await lookAtChecks({ sha }, { cache, previous }), seen))
    }
    const pending = { kind: 'absent', facts: { repository: repository.slug, pending: 1 } }
    t.equal(await count([], pending), 4, 'the repository, the commit, statuses, pipelines')
    t.equal(await count(waiting, pending), 4)
    t.equal(await count(waiting, pending), 1, 'the pipelines alone')
    repository.checks.end(run, 'failure')
    t.equal(await count(waiting, { kind: 'present', differs: ['sha'] }), 6, 'all is read anew')
  },
)

t.test('looks that wait for a status read the statuses anew, and pipelines every two minutes', async (t) => {
  const { repository, base: sha, lookAtChecks, requestsOf, clock } = await atBitbucket(t)
  const { checks } = repository
  checks.run({ sha, name: 'branches/main' })
  checks.post({ sha, context: 'unit', state: 'pending', by: 'jenkins' })
  const cache = createCache()
  const waiting = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const
  const count = (facts: object) => {
    clock.now += MINUTE
    const looking = async () => t.match(await lookAtChecks({ sha }, { cache, previous: waiting }), { facts })
    return requestsOf(looking)
  }
  t.equal(await count({ pending: 1 }), 4)
  t.equal(await count({ pending: 1 }), 1, 'the statuses alone')
  t.equal(await count({ pending: 1 }), 2, 'and the pipelines')
  checks.post({ sha, context: 'unit', state: 'failure', by: 'jenkins' })
  t.equal(await count({ pending: 0, failed: 1 }), 5, 'all is read anew')
})

t.test('looks that wait for a named status recall nothing of those that wait for all', async (t) => {
  const { repository, base: sha, lookAtChecks, clock } = await atBitbucket(t)
  const { checks } = repository
  const [run, slow] = ['branches/main', 'branches/slow'].map((name) => checks.queue({ sha, name })) as [number, number]
  const cache = createCache()
  const previous = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const
  const seen = (params: object) => {
    clock.now += MINUTE
    return lookAtChecks({ sha, ...params }, { cache, previous })
  }
  t.match(await seen({}), { facts: { pending: 2 } })
  checks.end(run, 'success')
  const named = [run, slow].map((id) => ({ name: `Pipeline #${id} for main`, by: `key:-${id}` }))
  t.match(await seen({ checks: named }), { facts: { pending: 1, passed: 1 } })
})

t.test('a red run that is the first under its number never passed, and of another one nothing is told', async (t) => {
  const { repository, base: sha, lookAtChecks, clock } = await atBitbucket(t)
  const { checks } = repository
  const named = { sha, checks: [{ name: 'branches/main', by: 'bitbucket-pipelines' }] }
  clock.now = NOON - 2 * MINUTE
  const id = checks.run({ sha, name: 'branches/main', outcome: 'failure' })
  clock.now = NOON + MINUTE
  for (const params of [named, { sha }]) t.match(await lookAtChecks(params), { kind: 'present', stays: [] })
  clock.now = NOON - MINUTE
  const again = checks.rerun(id)
  checks.start(again)
  checks.end(again, 'failure')
  clock.now = NOON + MINUTE
  for (const params of [named, { sha }]) {
    const seen = await lookAtChecks(params)
    t.match(seen, { kind: 'present', stays: undefined, mark: undefined })
  }
})
