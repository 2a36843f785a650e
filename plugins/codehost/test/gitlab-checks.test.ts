// Test run: slow
/** Checks at GitLab: jobs by the source of their pipeline, what they forgive, who posted, and what earlier runs say. */
import t from 'tap'
import { createCache, outcome } from './context.ts'
import { type AtGitLab, atGitLab, type LookOptions, MINUTE, NOON } from './gitlab-fixture.ts'

const CHECKS = 'codehost.checks.pass'

interface Named {
  readonly name: string
  readonly by: string
}
/** After a first look just after the claim, which leaves no room for what came and went before it. */
const green = ({ look }: AtGitLab, sha: string, checks?: readonly Named[]) =>
  look(
    CHECKS,
    { sha, ...(checks ? { checks: checks as never } : {}) },
    { previous: [{ sentAt: NOON + 1000, observation: { kind: 'absent', facts: {} } }] },
  )

/** Two minutes later, when a look a minute before saw so many green. Half an hour before the claim the commit before had a pipeline, too. */
const settled = ({ look, clock, repository, first }: AtGitLab, sha: string, counted: number, passed = counted) => {
  repository.checks.run({ sha: first, name: 'test', at: NOON - 30 * MINUTE, by: 'owner' })
  const at = Math.max(clock.now, NOON + 10 * MINUTE) + 2 * MINUTE
  const observation = { kind: 'absent', facts: { settling: true, counted, passed } } as const
  return look(CHECKS, { sha }, { at, previous: [{ sentAt: at - MINUTE, observation }] })
}

t.test('one pipeline', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, requestsOf, settings } = world
  const suite = repository.checks.suite({ sha: base })
  repository.checks.run({ suite, name: 'build', at: NOON + MINUTE })
  repository.checks.run({ suite, name: 'test 1/2', at: NOON + 2 * MINUTE })
  const stays = [{ appeared: { notAfter: NOON + 2 * MINUTE } }]
  const all = await requestsOf(async () => {
    const facts = { passed: 2, failed: 0, reported_by: 'gitlab-ci' }
    t.match(await settled(world, base, 2), { kind: 'present', differs: [], stays, facts })
  })
  // The project, pipelines, jobs, merge requests, child pipelines, statuses.
  // To compare it: the tip of main, its pipelines, merged merge requests, the last tags; of the commit before its jobs and statuses.
  t.equal(all.length, 12)
  const named = await requestsOf(async () => {
    const one = await green(world, base, [{ name: 'test 1/2', by: 'pipeline:push' }])
    t.match(one, { kind: 'present', differs: [], stays, facts: { passed: 1, missing: 0 } })
  })
  t.strictSame(named, [
    '',
    `/pipelines?sha=${base}&order_by=id&sort=desc&per_page=100&page=1`,
    `/pipelines/${suite}/jobs?include_retried=true&per_page=50&page=1`,
  ])
  for (const by of ['gitlab-ci', 'workflow:.gitlab-ci.yml', 'pipeline:PUSH']) {
    t.match(await green(world, base, [{ name: 'build', by }]), { kind: 'present', differs: [] }, by)
  }
  settings.configPath = 'ci/all.yml'
  t.match(await green(world, base, [{ name: 'build', by: 'workflow:ci/all.yml' }]), { kind: 'present', differs: [] })
  const other = await green(world, base, [{ name: 'build', by: 'workflow:.gitlab-ci.yml' }])
  t.match(other, { kind: 'absent', mark: undefined, facts: { missing: 1 } })
})

t.test('what a pipeline forgives, a claim that names it does not', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const suite = repository.checks.suite({ sha: base })
  repository.checks.run({ suite, name: 'test' })
  repository.checks.run({ suite, name: 'lint', outcome: 'failure', mayFail: true })
  repository.checks.queue({ suite, name: 'deploy', isManual: true, mayFail: true })
  t.match(await settled(world, base, 3, 1), { kind: 'present', differs: [], facts: { passed: 1, skipped: 2 } })
  t.match(await green(world, base, [{ name: 'lint', by: 'pipeline:push' }]), {
    differs: ['checks'],
    facts: { failed: 1 },
  })
  const deploy = await green(world, base, [{ name: 'deploy', by: 'pipeline:push' }])
  t.match(deploy, { kind: 'absent', mark: undefined, facts: { pending: 1 } })
  repository.checks.queue({ suite, name: 'approve', isManual: true })
  t.match(await green(world, base), { kind: 'absent', facts: { pending: 1 } }, 'it blocks the pipeline')
  repository.checks.run({ suite, name: 'stopped', outcome: 'cancelled' })
  t.match(await green(world, base, [{ name: 'stopped', by: 'pipeline:push' }]), { differs: ['checks'] })
})

t.test('failed, run again, passed before', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const test = { name: 'test', by: 'pipeline:push' }
  const failed = repository.checks.run({ sha: base, name: 'test', outcome: 'failure' })
  t.match(await green(world, base), { kind: 'present', differs: ['sha'], mark: undefined, facts: { failed: 1 } })
  t.match(await green(world, base, [test]), { differs: ['checks'], mark: undefined })
  const again = repository.checks.rerun(failed)
  t.match(await green(world, base, [test]), { kind: 'absent', mark: undefined, facts: { pending: 1 } })
  repository.checks.end(again, 'success')
  t.match(await green(world, base, [test]), { kind: 'present', differs: [] })
  repository.checks.end(repository.checks.rerun(again), 'failure')
  t.match(await green(world, base, [test]), { differs: ['checks'], mark: 'may_have_been' })
})

t.test('several pipelines of a commit', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, settings } = world
  repository.checks.run({ sha: base, name: 'test', outcome: 'failure' })
  // Started by hand, with whatever variables: it replaces nothing, and blames nobody.
  repository.checks.run({ sha: base, name: 'test', source: 'web' })
  t.match(await green(world, base), { differs: ['sha'], mark: 'may_have_been', facts: { passed: 1, failed: 1 } })
  t.match(await green(world, base, [{ name: 'test', by: 'pipeline:web' }]), { differs: [] })
  t.match(await green(world, base, [{ name: 'test', by: 'pipeline:push' }]), {
    differs: ['checks'],
    mark: 'may_have_been',
  })
  // The newest of one source on one branch counts; older ones are read where it has not passed.
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha)
  const night = (at: number, name = 'test', outcome: 'success' | 'failure' = 'failure') =>
    repository.checks.run({ sha, name, source: 'schedule', outcome, at: NOON + at * MINUTE })
  night(1, 'test', 'success')
  night(2)
  const nightly = [{ name: 'test', by: 'pipeline:schedule' }]
  t.match(await green(world, sha, nightly), { differs: ['checks'], mark: 'may_have_been' })
  for (let i = 3; i < 14; i++) night(i)
  t.match(await green(world, sha, nightly), { differs: ['checks'], mark: 'may_have_been' }, 'older than what is read')
  night(14, 'test', 'success')
  t.match(await green(world, sha, nightly), { differs: ['checks'] }, 'it may have been started with variables')
  settings.showsVariables = true
  t.match(await green(world, sha, nightly), { kind: 'present', differs: [] })

  // What the newest one left out was not run again.
  const last = await repository.commit({ parents: [sha] })
  await repository.push('main', last)
  repository.checks.run({ sha: last, name: 'audit', outcome: 'failure', at: NOON })
  repository.checks.run({ sha: last, name: 'test', at: NOON + MINUTE })
  t.match(await green(world, last), { differs: ['sha'], mark: 'may_have_been', facts: { passed: 1, failed: 1 } })
  t.match(await green(world, last, [{ name: 'audit', by: 'pipeline:push' }]), { differs: ['checks'], mark: undefined })
  for (let i = 2; i < 13; i++) repository.checks.run({ sha: last, name: 'test', at: NOON + i * MINUTE })
  t.equal(await outcome(green(world, last, [{ name: 'audit', by: 'pipeline:push' }])), 'too_large', 'it is not read')
})

t.test('on two branches, and for a merge request', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  repository.checks.run({ sha: base, name: 'test', branch: 'a' })
  repository.checks.run({
    sha: base,
    name: 'test',
    branch: 'refs/merge-requests/1/head',
    source: 'merge_request_event',
    outcome: 'failure',
  })
  t.match(await green(world, base), { differs: ['sha'], mark: undefined, facts: { passed: 1, failed: 1 } })
  t.match(await green(world, base, [{ name: 'test', by: 'pipeline:push' }]), { differs: [] })
  t.match(await green(world, base, [{ name: 'test', by: 'pipeline:merge_request_event' }]), {
    differs: ['checks'],
    mark: undefined,
  })
})

t.test('a red pipeline, and a newer one of its branch', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, settings } = world
  const run = (outcome: 'failure' | 'success', more: object = {}) =>
    repository.checks.run({ sha: base, name: 'test', outcome, ...more })
  const named = [{ name: 'test', by: 'pipeline:push' }]
  const spoiled = { differs: ['sha'], mark: 'may_have_been', facts: { passed: 1, failed: 1 } }
  run('failure', { at: NOON + MINUTE })
  run('success', { at: NOON + 2 * MINUTE })
  t.match(await green(world, base), spoiled, 'it may have been pushed with variables')
  t.match(await green(world, base, named), { differs: ['checks'], mark: 'may_have_been' })
  settings.showsVariables = true
  t.match(await settled(world, base, 1), { kind: 'present', differs: [] })
  t.match(await green(world, base, named), { kind: 'present', differs: [] })
  for (const { id } of repository.checks.suites(Number.POSITIVE_INFINITY)) settings.variables.set(id, ['SKIP_TESTS'])
  t.match(await green(world, base), spoiled)
  // By hand.
  const sha = await tipAfter(world, base)
  repository.checks.run({ sha, name: 'test', outcome: 'failure', at: NOON + 3 * MINUTE })
  const suite = repository.checks.suite({ sha, source: 'web', at: NOON + 4 * MINUTE })
  repository.checks.run({ suite, name: 'test', at: NOON + 4 * MINUTE })
  t.match(await settled(world, sha, 1), { kind: 'present', differs: [] }, 'without variables')
  settings.variables.set(suite, ['SKIP_TESTS'])
  t.match(await green(world, sha), spoiled)
  settings.showsVariables = false
  t.match(await green(world, sha), spoiled)
})

t.test('a duplicate that was cancelled before anything in it failed', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const push = repository.checks.suite({ sha: base, at: NOON })
  repository.checks.run({ suite: push, name: 'test', outcome: 'cancelled' })
  t.match(await green(world, base), { differs: ['sha'], mark: undefined }, 'it is the only one')
  repository.checks.run({
    sha: base,
    name: 'test',
    source: 'merge_request_event',
    branch: 'refs/merge-requests/1/head',
  })
  for (const checks of [undefined, [{ name: 'test', by: 'pipeline:push' }]]) {
    t.match(await green(world, base, checks), { mark: 'may_have_been', facts: { failed: 1 } })
  }
  repository.checks.run({ suite: push, name: 'lint', outcome: 'failure' })
  t.match(await green(world, base), { differs: ['sha'], mark: undefined }, 'something failed before')
})

t.test('merged results, which are listed with the merge request', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, push, settings } = world
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  const iid = await repository.pullRequests.open({ head: 'topic', at: NOON })
  const merge = await repository.commit({ parents: [base, sha] })
  const other = await repository.commit({ parents: [base] })
  for (const one of [merge, other]) await repository.hold(one, { at: NOON })
  const run = (of: string, name: string, outcome: 'failure' | 'success' = 'success') =>
    repository.checks.run({
      sha: of,
      name,
      outcome,
      source: 'merge_request_event',
      branch: `refs/merge-requests/${iid}/merge`,
    })
  const named = (name: string) => green(world, sha, [{ name, by: 'pipeline:merge_request_event' }])
  run(merge, 'test')
  t.match(await named('test'), { kind: 'absent', facts: { missing: 1 } }, 'main is not protected')
  settings.protected.add('main')
  t.match(await named('test'), { kind: 'present', differs: [] })
  t.match(await settled(world, sha, 1), { kind: 'present', differs: [] })
  run(other, 'lint')
  t.match(await named('lint'), { kind: 'absent', facts: { missing: 1 } }, 'it is no merge of the commit')
  run(merge, 'unit', 'failure')
  t.match(await named('unit'), { differs: ['checks'], mark: undefined })
  t.match(await green(world, sha), { differs: ['sha'], mark: undefined })
})

t.test('what an account posted as passed has not, when another posted since that it has not', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const post = (by: string, state: 'success' | 'failure') =>
    repository.checks.post({ sha: base, context: 'unit', state, by })
  const named = [{ name: 'unit', by: 'account:jenkins' }]
  post('jenkins', 'success')
  post('scan', 'failure')
  t.match(await green(world, base, named), { differs: ['checks'], mark: 'may_have_been' })
  post('jenkins', 'failure')
  post('agent', 'success')
  t.match(await green(world, base, named), { differs: ['checks'] })
})

t.test('child pipelines', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const parent = repository.checks.suite({ sha: base })
  repository.checks.run({ suite: parent, name: 'prepare' })
  const child = repository.checks.suite({ sha: base, parent })
  const unit = repository.checks.run({ suite: child, name: 'unit' })
  t.match(await settled(world, base, 2), { kind: 'present', differs: [], facts: { passed: 2 } })
  t.match(await green(world, base, [{ name: 'unit', by: 'pipeline:parent_pipeline' }]), {
    kind: 'present',
    differs: [],
  })
  t.match(await green(world, base, [{ name: 'start-child', by: 'pipeline:push' }]), { kind: 'present', differs: [] })
  repository.checks.end(repository.checks.rerun(unit), 'failure')
  t.match(await green(world, base), { differs: ['sha'], mark: 'may_have_been' }, 'its parent may forgive it')
})

t.test('posted statuses prove nothing but that somebody posted them', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, push } = world
  repository.checks.post({ sha: base, context: 'sonar', state: 'success', by: 'sonar-bot' })
  t.match(await green(world, base), { kind: 'absent', mark: 'unsettled' }, 'no job ran')
  const sonar = [{ name: 'sonar', by: 'account:sonar-bot' }]
  t.match(await green(world, base, sonar), { kind: 'present', differs: [], stays: undefined })
  t.match(await green(world, base, [{ name: 'sonar', by: 'account:agent' }]), { kind: 'absent', facts: { missing: 1 } })
  repository.checks.post({ sha: base, context: 'sonar', state: 'failure', by: 'sonar-bot' })
  t.match(await green(world, base, sonar), { differs: ['checks'], mark: 'may_have_been' })

  // A pipeline that was skipped takes the posted status, and is a success then.
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON)
  repository.checks.run({ sha, name: 'test', outcome: 'skipped' })
  repository.checks.post({ sha, context: 'test', state: 'success', by: 'somebody' })
  t.match(await green(world, sha), { kind: 'absent', mark: 'unsettled', facts: { unnamed: true } })
  t.match(await green(world, sha, [{ name: 'test', by: 'pipeline:push' }]), {
    differs: ['checks'],
    facts: { skipped: 1 },
  })
  // The account that started the job did not post it.
  t.match(await green(world, sha, [{ name: 'test', by: 'account:agent' }]), { kind: 'absent', facts: { missing: 1 } })
  t.match(await green(world, sha, [{ name: 'test', by: 'account:somebody' }]), { kind: 'present', differs: [] })

  // One that failed spoils the rest.
  repository.checks.post({
    sha: world.first,
    context: 'test',
    state: 'success',
    by: 'somebody',
    at: NOON - 30 * MINUTE,
  })
  repository.checks.run({ sha: await tipAfter(world, sha), name: 'test' })
  const tip = repository.asOf().tip('main')!
  t.match(await settled(world, tip, 1), { kind: 'absent', mark: 'unsettled', facts: { awaited: 1 } })
  repository.checks.post({ sha: tip, context: 'test', state: 'success', by: 'somebody' })
  t.match(await settled(world, tip, 2), {
    kind: 'present',
    differs: [],
    facts: { reported_by: /^account-id:\d+, gitlab-ci$/ },
  })
  repository.checks.post({ sha: tip, context: 'scan', state: 'failure' })
  t.match(await green(world, tip), { differs: ['sha'] })
})

async function tipAfter({ repository }: AtGitLab, parent: string): Promise<string> {
  const sha = await repository.commit({ parents: [parent] })
  await repository.push('main', sha)
  return sha
}

t.test('nothing ran', async (t) => {
  const world = await atGitLab(t)
  const { gitlab, repository, base, settings } = world
  t.match(await green(world, base), { kind: 'absent', mark: undefined, facts: { commit_found: true, passed: 0 } })
  const unknown = await repository.commit({ parents: [base] })
  t.match(await green(world, unknown), { kind: 'absent', mark: 'never_before', facts: { commit_found: false } })
  settings.badFiles.add(repository.checks.suite({ sha: base }))
  t.match(
    await green(world, base),
    { kind: 'present', differs: ['sha'], facts: { failed: 1 } },
    'a mistake in the file',
  )
  gitlab.addToken({ token: 'glpat-code-alone', repositories: [repository], rights: ['contents'] })
  t.equal(await outcome(world.look(CHECKS, { sha: base }, { options: { token: 'glpat-code-alone' } })), 'forbidden')
  const late = await world.look(CHECKS, { sha: unknown }, { at: NOON + 25 * 60 * MINUTE })
  t.match(late, { kind: 'absent', mark: 'may_have_been' }, 'it may be pruned by now')
})

t.test('more pipelines than are read', async (t) => {
  const world = await atGitLab(t)
  const { checks } = world.repository
  for (let i = 0; i < 12; i++)
    checks.run({ sha: world.first, name: `left out ${i}`, outcome: 'failure', at: NOON + i * MINUTE })
  t.match(await green(world, world.first), { differs: ['sha'] })
  checks.run({ sha: world.first, name: 'test', at: NOON + 12 * MINUTE })
  t.match(await green(world, world.first), { differs: ['sha'], mark: 'may_have_been' })
  for (let i = 0; i < 11; i++) world.repository.checks.run({ sha: world.base, name: 'test', branch: `b${i}` })
  t.equal(await outcome(green(world, world.base)), 'too_large')
})

t.test('looks that wait for a job read the project once, and the one that shows its end reads it anew', async (t) => {
  const { repository, base: sha, look, requestsOf } = await atGitLab(t)
  const job = repository.checks.queue({ sha, name: 'build', at: NOON })
  repository.checks.start(job)
  const params = { sha, checks: [{ name: 'build', by: 'gitlab-ci' }] }
  const cache = createCache()
  const waiting = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const
  const count = async (previous: NonNullable<LookOptions['previous']>, at: number, seen: object) =>
    (await requestsOf(async () => t.match(await look(CHECKS, params, { cache, previous, at }), seen))).length
  const pending = { kind: 'absent', facts: { repository: repository.slug, pending: 1 } }
  t.equal(await count([], NOON + 10 * MINUTE, pending), 3, 'the project, its pipelines and their jobs')
  t.equal(await count(waiting, NOON + 11 * MINUTE, pending), 3)
  t.equal(await count(waiting, NOON + 12 * MINUTE, pending), 1, 'the jobs alone')
  const late = waiting.map((look) => ({ ...look, sentAt: NOON + 12 * MINUTE }))
  repository.checks.end(job, 'success')
  t.equal(await count(late, NOON + 13 * MINUTE, { kind: 'present', differs: [] }), 5, 'all is read anew')
  t.equal(await count(late, NOON + 62 * MINUTE, { kind: 'present' }), 3, 'after the tolerance it is read once')
})

t.test('of all checks, looks that wait read the list of pipelines, and jobs where it changed', async (t) => {
  const { repository, base: sha, look, requestsOf } = await atGitLab(t)
  const { checks } = repository
  const job = checks.queue({ sha, name: 'build', at: NOON })
  checks.start(job)
  const cache = createCache()
  const waiting = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const
  let at = NOON + 10 * MINUTE
  const count = async (facts: object) => {
    at += MINUTE / 2
    const looking = async () => t.match(await look(CHECKS, { sha }, { cache, previous: waiting, at }), { facts })
    return (await requestsOf(looking)).length
  }
  t.equal(await count({ pending: 1, settles: true }), 3)
  t.equal(await count({ pending: 1 }), 1, 'the list alone')
  checks.run({ sha, name: 'lint', branch: 'work', outcome: 'failure', at })
  t.equal(await count({ pending: 1, failed: 1 }), 2, 'and the jobs of a pipeline that is new')
  checks.end(job, 'success')
  t.match(await look(CHECKS, { sha }, { cache, previous: waiting, at }), { facts: { passed: 1, failed: 1 } })
})
