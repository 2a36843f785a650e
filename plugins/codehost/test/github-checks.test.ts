// Test run: slow
/** Checks at GitHub: which lists are read for which claim, whose word counts, and what a wrong answer never becomes. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@claimcheck/core/plugin'
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { createCache, failsAlike, outcome } from './context.ts'
import { atGitHub, MINUTE, NOON } from './github-things.ts'

const PASS = 'checks.pass'
const CI = '.github/workflows/ci.yml'
const NIGHTLY = '.github/workflows/nightly.yml'
const named = (name: string, by: string) => ({ checks: [{ name, by }] })
const BY_APP = named('build', 'github-actions')
const BY_FILE = named('build', `workflow:${CI}`)
const COUNTS = { passed: 0, failed: 0, pending: 0, skipped: 0, missing: 0 }
const counts = (counted: JsonObject) => ({ facts: { ...COUNTS, ...counted } })
/** A look two minutes after the claim, when one a second after it saw so many green. */
const settled = (counted: number, passed = counted) => ({
  afterMs: 2 * MINUTE,
  earlier: { kind: 'absent', facts: { settling: true, counted, passed } } as const,
})

t.test('what a claim costs, by what it names', async (t) => {
  const { repository, base: sha, look, costOf, past } = await atGitHub(t)
  past()
  const suite = repository.checks.suite({ sha, workflow: CI })
  repository.checks.run({ suite, name: 'build' })
  repository.checks.run({ suite, name: 'lint' })
  repository.checks.run({ sha, name: 'scan', app: 'scanner' })
  repository.checks.post({ sha, context: 'deploy', state: 'success', by: 'Vercel' })
  const rows: readonly (readonly [what: string, params: JsonObject, requests: number, passed: number])[] = [
    ['a job', BY_APP, 4, 1],
    ['a job by the file of its workflow', BY_FILE, 4, 1],
    ['two jobs', { checks: [...BY_APP.checks, ...named('lint', `workflow:${CI}`).checks] }, 5, 2],
    ['a check by its app', named('scan', 'app:scanner'), 2, 1],
    ['a status by its account', named('deploy', 'account:vercel'), 2, 1],
  ]
  for (const [what, params, requests, passed] of rows) {
    t.match(await look(PASS, { sha, ...params }), { kind: 'present', differs: [], ...counts({ passed }) }, what)
    t.equal(await costOf(() => look(PASS, { sha, ...params })), requests, what)
  }
  const all = settled(4)
  t.match(await look(PASS, { sha }, all), { kind: 'present', differs: [], ...counts({ passed: 4 }) })
  // The repository, four lists, the commit, the runs and the commits of the branch, two lists of the one that is comparable, and the tags.
  t.equal(await costOf(() => look(PASS, { sha }, all)), 11)
  const otherCase = await look(PASS, { sha, ...named('build', `workflow:${CI.toUpperCase()}`) })
  t.match(otherCase, { kind: 'absent', ...counts({ missing: 1 }) }, 'a file in other letters is another file')
})

t.test('a claim that waits costs two requests a look, which are free while nothing changes', async (t) => {
  const { github, repository, base: sha, look, token } = await atGitHub(t)
  const withToken = { token: token(), cache: createCache() }
  const id = repository.checks.queue({ sha, name: 'build', workflow: CI })
  for (const params of [BY_APP, BY_FILE]) {
    t.match(await look(PASS, { sha, ...params }, withToken), { kind: 'absent', facts: { pending: 1, under_way: true } })
  }
  const from = github.requests.length
  for (let minute = 1; minute <= 10; minute++) {
    await look(PASS, { sha, ...BY_APP }, { ...withToken, afterMs: minute * MINUTE })
  }
  t.equal(github.requests.length - from, 20)
  t.ok(github.statuses.slice(from).every((status) => status === 304))
  repository.checks.start(id)
  repository.checks.end(id, 'success')
  const end = { ...withToken, afterMs: 11 * MINUTE }
  t.match(await look(PASS, { sha, ...BY_APP }, end), { kind: 'present', facts: { reported_by: 'github-actions' } })
  const counted = github.statuses.filter((status) => status !== 304).length
  t.ok(counted <= 12, `${counted} requests count`)
  const all = await look(PASS, { sha }, { ...withToken, afterMs: 12 * MINUTE })
  t.match(all, { kind: 'absent', mark: 'unsettled', facts: { settling: true } })
})

t.test('more names than two are read as one list', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const names = ['one', 'two', 'three']
  const suite = repository.checks.suite({ sha, workflow: CI })
  for (const name of names) repository.checks.run({ suite, name })
  const checks = names.map((name) => ({ name, by: 'github-actions' }))
  t.match(await look(PASS, { sha, checks }), { kind: 'present', ...counts({ passed: 3 }) })
  t.equal(github.requests.filter((line) => line.includes('check-runs')).length, 1)

  const cache = createCache()
  const odd = { checks: [{ name: JSON.stringify(names.toSorted()), by: 'github-actions' }] }
  const claims = [{ checks }, { checks }, odd, { checks }]
  const seen = await Promise.all(claims.map((params) => outcome(look(PASS, { sha, ...params }, { cache }))))
  t.strictSame(seen, ['as claimed', 'as claimed', 'absent', 'as claimed'], 'a name that looks like a list is none')
})

t.test('claims about one commit share its lists', async (t) => {
  const { github, repository, base: sha, look, past } = await atGitHub(t)
  past()
  repository.checks.run({ sha, name: 'build', workflow: CI })
  const cache = createCache()
  const claims = [BY_APP, BY_FILE, {}].flatMap((params) => Array.from({ length: 10 }, () => params))
  const all = settled(1)
  const seen = await Promise.all(claims.map((params) => look(PASS, { sha, ...params }, { ...all, cache })))
  t.ok(seen.every(({ kind }) => kind === 'present'))
  t.ok(github.requests.length <= 30, github.requests.join('\n'))
  const before = github.statuses.length
  await look(PASS, { sha }, { ...all, cache })
  t.ok(github.statuses.slice(before).every((status) => status === 304))
})

t.test('how a run ended', async (t) => {
  const { repository, first, look } = await atGitHub(t)
  const rows = [
    ['success', 'as claimed', 'absent'],
    ['failure', 'differs: checks', 'differs: sha'],
    ['timed_out', 'differs: checks', 'differs: sha'],
    ['cancelled', 'differs: checks', 'differs: sha'],
    ['action_required', 'absent', 'absent'],
    ['skipped', 'differs: checks', 'absent'],
    ['neutral', 'differs: checks', 'absent'],
  ] as const
  for (const [ended, byName, alone] of rows) {
    const sha = await repository.commit({ parents: [first], message: ended })
    await repository.hold(sha)
    repository.checks.run({ sha, name: 'build', workflow: CI, outcome: ended })
    t.equal(await outcome(look(PASS, { sha, ...BY_APP })), byName, `${ended}, by its app`)
    // The stand-in has no such word for the whole run.
    t.equal(await outcome(look(PASS, { sha, ...BY_FILE })), byName, `${ended}, by its file`)
    t.equal(await outcome(look(PASS, { sha })), alone, `${ended}, alone`)
  }
})

t.test('what a workflow posts under the name of its app is no job, whatever reads it', async (t) => {
  const { github, repository, base: sha, look, token } = await atGitHub(t, { isPrivate: true })
  const all = { token: token() }
  const fine = { token: token(['contents', 'actions', 'statuses']) }
  repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
  for (const readable of [all, fine]) {
    for (const params of [BY_APP, BY_FILE]) {
      t.match(await look(PASS, { sha, ...params }, readable), { kind: 'absent', ...counts({ missing: 1 }) })
    }
  }
  const byApp = await look(PASS, { sha, ...named('build', 'app:github-actions') }, all)
  t.match(byApp, { kind: 'present', differs: [], facts: { reported_by: 'app-id:15368' } }, 'the app did report it')
  t.match(await look(PASS, { sha }, { ...all, ...settled(1) }), { kind: 'absent', mark: 'unsettled' })

  const job = repository.checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
  for (const readable of [all, fine]) {
    for (const params of [BY_APP, BY_FILE]) {
      t.match(await look(PASS, { sha, ...params }, readable), { differs: ['checks'], ...counts({ failed: 1 }) })
    }
  }
  for (const by of ['app:github-actions', 'app-id:15368']) {
    const seen = await look(PASS, { sha, ...named('build', by) }, all)
    t.match(seen, { differs: ['checks'], ...counts({ passed: 1, failed: 1 }) }, `${by}: the failed job counts, too`)
  }

  // GitHub shows it among the runs of the workflow that ran, and it may be called like a job.
  const check_suite = { id: repository.checks.get(job, NOON + 10 * MINUTE)!.suite.id }
  const run = {
    head_sha: sha,
    name: 'build',
    status: 'completed',
    check_suite,
    app: { id: 15_368, slug: 'github-actions' },
  }
  const posted = {
    ...run,
    id: 9_000_000,
    conclusion: 'success',
    details_url: 'https://github.example/runs/1/job/9000000',
  }
  const failed = { ...run, id: job, conclusion: 'failure', details_url: `https://github.example/runs/1/job/${job}` }
  github.faults.inject({ fault: json({ check_runs: [posted, failed] }), on: /check-runs/ })
  for (const params of [BY_APP, BY_FILE]) {
    t.match(await look(PASS, { sha, ...params }, all), { differs: ['checks'], ...counts({ failed: 1 }) })
  }
  const byName = await look(PASS, { sha, ...named('build', 'app:github-actions') }, all)
  t.match(byName, { differs: ['checks'], ...counts({ passed: 1, failed: 1 }) })
  const both = { kind: 'present', differs: ['sha'], ...counts({ passed: 1, failed: 1 }) }
  t.match(await look(PASS, { sha }, all), both, 'it does not hide that the workflow failed')
})

t.test('a job that runs again is green only when its own job is', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  repository.checks.queue({ sha, name: 'build', workflow: CI })
  repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
  const seen = await look(PASS, { sha, ...BY_APP })
  t.match(seen, { kind: 'absent', stays: [], mark: undefined, ...counts({ pending: 1 }) }, 'what was posted is no pass')
})

t.test('a job that others have to end before is on its way while its workflow runs', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  const first = repository.checks.queue({ sha, name: 'first', workflow: CI })
  const growing = { kind: 'absent', facts: { missing: 1, under_way: true } }
  t.match(await look(PASS, { sha, ...BY_APP }), growing)
  repository.checks.end(first, 'success')
  t.match(await look(PASS, { sha, ...BY_APP }), { kind: 'absent', facts: { missing: 1, under_way: undefined } })
})

t.test('one strange entry does not spoil the claimed one', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const id = repository.checks.run({ sha, name: 'build', workflow: CI })
  repository.checks.run({ sha, name: 'scan', app: 'scanner' })
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'jenkins' })
  const suite = repository.checks.get(id, NOON + MINUTE)!.suite.id
  const run = {
    id,
    name: 'build',
    head_sha: sha,
    status: 'completed',
    conclusion: 'success',
    check_suite: { id: suite },
  }
  const strange = [{}, { name: null }, { ...run, name: 'odd', conclusion: 'great' }, { name: 'odd', app: 7 }]
  const posted = { id: 1, state: 'success', context: 'ci', creator: { login: 'jenkins', id: 2 } }
  const rows: readonly (readonly [on: RegExp, answer: unknown, params: JsonObject])[] = [
    [/check-runs/, { check_runs: [...strange, { ...run, app: { slug: 'scanner' } }] }, named('build', 'app:scanner')],
    [/statuses/, [{ id: 3, context: 'odd', state: 'great' }, { context: 7 }, posted], named('ci', 'account:jenkins')],
  ]
  for (const [on, answer, params] of rows) {
    github.faults.inject({ fault: json(answer), on, times: 1 })
    t.equal(await outcome(look(PASS, { sha, ...params })), 'as claimed', `${on}`)
    github.faults.clear()
    github.faults.inject({ fault: json(answer), on })
    t.equal(await outcome(look(PASS, { sha })), 'unexpected_response', `${on}: where all count`)
    github.faults.clear()
  }
  const fault = (request: IncomingMessage, response: ServerResponse) => {
    const run_id = Number(/runs\/(\d+)/.exec(request.url!)![1])
    const jobs = [...strange, { ...run, run_id, run_attempt: 1 }]
    json({ jobs })(request, response)
  }
  github.faults.inject({ fault, on: /jobs/ })
  t.equal(await outcome(look(PASS, { sha, ...BY_APP })), 'as claimed')
})

t.test('nothing is settled while an app may still begin, for ten minutes', async (t) => {
  const { repository, base: sha, look, past } = await atGitHub(t)
  past()
  repository.checks.run({ sha, name: 'lint', workflow: CI, at: NOON })
  repository.checks.suite({ sha, app: 'slow-ci', isRunByHost: false, at: NOON })
  const waits = { kind: 'absent', mark: 'may_have_been', ...counts({ passed: 1, pending: 1 }) }
  t.match(await look(PASS, { sha }, settled(1)), waits)
  const later = { ...settled(1), afterMs: 11 * MINUTE }
  const seen = await look(PASS, { sha }, later)
  t.match(seen, { kind: 'present', differs: [], facts: { counted: 1, reported_by: 'app-id:15368' } })
  t.strictSame(seen.stays, [{ appeared: { notAfter: NOON + 999 } }])
})

t.test('nothing is settled before what reported on comparable commits has reported', async (t) => {
  const { repository, first, base: sha, look } = await atGitHub(t)
  const at = NOON - 60 * MINUTE
  repository.checks.run({ sha: first, name: 'lint', workflow: CI, branch: 'main', at })
  repository.checks.run({ sha: first, name: 'tests', app: 'slow-ci', at })
  repository.checks.suite({ sha: first, app: 'sleeper', isRunByHost: false, at })
  repository.checks.post({ sha: first, context: 'ci', state: 'failure', by: 'jenkins', at })
  repository.checks.run({ sha, name: 'lint', workflow: CI, at: NOON })
  const open = (awaited: number) => ({ kind: 'absent', mark: 'unsettled', facts: { awaited, settling: true } })
  t.match(await look(PASS, { sha }, settled(1)), open(2))
  repository.checks.run({ sha, name: 'tests', app: 'slow-ci', at: NOON })
  t.match(await look(PASS, { sha }, settled(2)), open(1))
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'jenkins', at: NOON })
  t.match(await look(PASS, { sha }, settled(3)), { kind: 'present', differs: [], facts: { counted: 3 } })
})

t.test('nothing is comparable: the claim has to name the checks', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  repository.checks.run({ sha, name: 'Unit tests', workflow: CI, at: NOON })
  const open = {
    kind: 'absent',
    mark: 'unsettled',
    facts: { unnamed: true, seen: 'Unit%20tests', under_way: undefined },
  }
  t.match(await look(PASS, { sha }), open)
  t.match(await look(PASS, { sha }, settled(1)), open)
})

t.test('outside CI alone: whoever reported on comparable commits, too', async (t) => {
  const { repository, first, base: sha, look } = await atGitHub(t)
  const at = NOON - 60 * MINUTE
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'jenkins', at: NOON })
  t.match(await look(PASS, { sha }, settled(1)), { kind: 'absent', mark: 'unsettled' })
  repository.checks.post({ sha: first, context: 'ci', state: 'failure', by: 'jenkins', at })
  const seen = await look(PASS, { sha }, settled(1))
  t.match(seen, { kind: 'present', differs: [], facts: { reported_by: /^account-id:\d+$/ } })
})

t.test('a fine-grained token cannot read check runs: jobs it can', async (t) => {
  const { repository, base: sha, look, token, past } = await atGitHub(t, { isPrivate: true })
  past()
  repository.checks.run({ sha, name: 'build', workflow: CI })
  repository.checks.run({ sha, name: 'scan', app: 'scanner' })
  repository.checks.post({ sha, context: 'deploy', state: 'success' })
  const fine = { token: token(['contents', 'actions', 'statuses']) }
  const rows: readonly (readonly [what: string, params: JsonObject, code: string])[] = [
    ['a job, by its app', BY_APP, 'as claimed'],
    ['a job, by its file', BY_FILE, 'as claimed'],
    ['a status', named('deploy', 'account:agent'), 'as claimed'],
    ['what another app reports', named('scan', 'app:scanner'), 'forbidden'],
    ['a job that there is not', named('test', 'github-actions'), 'absent'],
    ['a job that there is not, by its file', named('test', `workflow:${CI}`), 'absent'],
    ['what the app of workflows reports', named('build', 'app:github-actions'), 'forbidden'],
    ['all', {}, 'forbidden'],
  ]
  for (const [what, params, code] of rows) t.equal(await outcome(look(PASS, { sha, ...params }, fine)), code, what)
  const none = await repository.commit({ parents: [sha] })
  t.equal(await outcome(look(PASS, { sha: none, ...BY_FILE }, fine)), 'forbidden', 'whether there is the commit')
  await repository.push('main', none)
  t.equal(await outcome(look(PASS, { sha: none, ...BY_FILE }, fine)), 'absent', 'the workflow did not run for it')

  const noStatuses = { token: token(['contents', 'actions', 'checks']) }
  t.equal(await outcome(look(PASS, { sha, ...BY_APP }, noStatuses)), 'as claimed')
  t.equal(await outcome(look(PASS, { sha, ...named('scan', 'app:scanner') }, noStatuses)), 'as claimed')
  t.equal(await outcome(look(PASS, { sha, ...named('deploy', 'account:agent') }, noStatuses)), 'forbidden')
  t.equal(await outcome(look(PASS, { sha }, noStatuses)), 'forbidden')
  const noActions = { token: token(['contents', 'checks', 'statuses']) }
  t.equal(await outcome(look(PASS, { sha, ...BY_FILE }, noActions)), 'forbidden')
  t.equal(await outcome(look(PASS, { sha }, noActions)), 'forbidden')
  t.equal(await outcome(look(PASS, { sha }, { token: token(), ...settled(3) })), 'as claimed')
})

t.test('a workflow in a file that differs in case alone replaces no other', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  repository.checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
  repository.checks.run({ sha, name: 'build', workflow: '.github/workflows/CI.yml' })
  const both = { kind: 'present', ...counts({ passed: 1, failed: 1 }) }
  t.match(await look(PASS, { sha, ...BY_APP }), { ...both, differs: ['checks'] })
  t.match(await look(PASS, { sha }, settled(1)), { ...both, differs: ['sha'] })
})

t.test('a workflow that waits, or that could not start, shows no check run', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  repository.checks.run({ sha, name: 'build', workflow: CI })
  repository.checks.suite({ sha, workflow: NIGHTLY })
  t.match(await look(PASS, { sha }), { kind: 'absent', ...counts({ passed: 1, pending: 1 }) })
  t.match(await look(PASS, { sha, ...named('all', `workflow:${NIGHTLY}`) }), {
    kind: 'absent',
    ...counts({ missing: 1 }),
  })
  const workflow = (change: JsonObject) => ({
    ...{ id: 5, path: NIGHTLY, event: 'push', head_sha: sha, status: 'completed', conclusion: 'startup_failure' },
    ...{ check_suite_id: 6, updated_at: '2026-09-25T12:00:00Z', repository: { id: repository.id } },
    ...change,
  })
  github.faults.inject({ fault: json({ workflow_runs: [workflow({})] }), on: /actions\/runs\?/, times: 1 })
  t.match(await look(PASS, { sha }), { kind: 'present', differs: ['sha'], ...counts({ passed: 1, failed: 1 }) })
  const waits = workflow({ conclusion: 'action_required' })
  github.faults.inject({ fault: json({ workflow_runs: [waits] }), on: /actions\/runs\?/, times: 1 })
  t.match(await look(PASS, { sha }), { kind: 'absent', ...counts({ passed: 1, pending: 1 }) })
})

t.test('a workflow whose other jobs wait for those that passed has not passed', async (t) => {
  const { github, repository, base: sha, look, past } = await atGitHub(t)
  past()
  repository.checks.run({ sha, name: 'build', workflow: CI })
  const run = repository.checks.run({ sha, name: 'lint', workflow: NIGHTLY })
  const suite = repository.checks.get(run, NOON + MINUTE)!.suite.id
  const workflow = (id: number, path: string, change: JsonObject) => ({
    ...{ id, path, event: 'push', head_sha: sha, status: 'completed', conclusion: 'success', check_suite_id: id },
    ...{ updated_at: '2026-09-25T12:00:00Z', repository: { id: repository.id }, ...change },
  })
  const other = repository.checks.suite({ sha, workflow: CI })
  const built = repository.checks.run({ suite: other, name: 'build' })
  const passed = workflow(1, CI, { check_suite_id: repository.checks.get(built, NOON + MINUTE)!.suite.id })
  const rows: readonly (readonly [change: JsonObject, expected: JsonObject])[] = [
    [{}, { kind: 'present', differs: [] }],
    [
      { status: 'in_progress', conclusion: null },
      { kind: 'absent', ...counts({ passed: 3, pending: 1 }) },
    ],
    // Of two jobs with one name the list has the newer one alone.
    [{ conclusion: 'failure' }, { kind: 'present', differs: ['sha'], ...counts({ passed: 3, failed: 1 }) }],
  ]
  for (const [change, expected] of rows) {
    const nightly = workflow(2, NIGHTLY, { check_suite_id: suite, ...change })
    github.faults.inject({ fault: json({ workflow_runs: [nightly, passed] }), on: /actions\/runs\?/, times: 1 })
    t.match(await look(PASS, { sha }, settled(3)), expected, JSON.stringify(change))
  }
})

t.test('one of two jobs of a name ran again and passed, and the run is red for another job', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const id = repository.checks.run({ sha, name: 'build', workflow: CI })
  const check_suite_id = repository.checks.get(id, NOON + MINUTE)!.suite.id
  const ended = { head_sha: sha, status: 'completed', conclusion: 'failure' }
  const time = (ms: number) => new Date(NOON - ms).toISOString()
  const red = {
    ...{ ...ended, id: 1, path: CI, event: 'push', run_attempt: 2, repository: { id: repository.id } },
    ...{ check_suite_id, created_at: time(20 * MINUTE), updated_at: time(10 * MINUTE) },
  }
  const job = (change: JsonObject) => ({ ...ended, run_id: 1, run_attempt: 1, name: 'build', ...change })
  const passed = { conclusion: 'success' }
  const jobs = [job({ id: id + 1 }), job({ id: id + 2, ...passed }), job({ id, ...passed, run_attempt: 2 })]
  github.faults.inject({ fault: json({ workflow_runs: [red] }), on: /actions\/runs\?/, times: 1 })
  github.faults.inject({ fault: json({ jobs }), on: /jobs/, times: 1 })
  const seen = await look(PASS, { sha, ...BY_FILE })
  t.match(seen, { differs: ['checks'], ...counts({ passed: 1, failed: 1 }) })
  t.equal(seen.stays, undefined, 'the failed one may be the one that passed since')
})

t.test('what the end of a run started counts while another run waits for an approval', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const id = repository.checks.run({ sha, name: 'build', workflow: CI, source: 'workflow_run' })
  const check_suite_id = repository.checks.get(id, NOON + MINUTE)!.suite.id
  const time = (ms: number) => new Date(NOON - ms).toISOString()
  const workflow = (id: number, path: string, change: JsonObject) => ({
    ...{ id, path, event: 'push', head_sha: sha, status: 'completed', conclusion: 'success', check_suite_id: id },
    ...{ created_at: time(20 * MINUTE), updated_at: time(10 * MINUTE), repository: { id: repository.id }, ...change },
  })
  const chained = workflow(1, CI, { event: 'workflow_run', created_at: time(10 * MINUTE), check_suite_id })
  const seen = async (status: string) => {
    const deploy = workflow(3, NIGHTLY, { status, conclusion: null })
    const workflow_runs = [chained, workflow(2, '.github/workflows/first.yml', {}), deploy]
    github.faults.inject({ fault: json({ workflow_runs }), on: /actions\/runs\?/, times: 1 })
    const ended = { id, run_id: 1, run_attempt: 1, name: 'build', head_sha: sha, status: 'completed' }
    github.faults.inject({ fault: json({ jobs: [{ ...ended, conclusion: 'success' }] }), on: /jobs/, times: 1 })
    return outcome(look(PASS, { sha, ...BY_FILE }))
  }
  t.equal(await seen('waiting'), 'as claimed')
  t.not(await seen('in_progress'), 'as claimed', 'one of this commit may still come')
})

t.test('two jobs of one name, one of which failed', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const id = repository.checks.run({ sha, name: 'build', workflow: CI })
  const job = (change: JsonObject) => ({
    ...{ id, name: 'build', head_sha: sha, status: 'completed', conclusion: 'success', run_attempt: 1 },
    ...change,
  })
  const seen = async (...jobs: readonly JsonObject[]) => {
    const fault = (request: IncomingMessage, response: ServerResponse) =>
      json({ jobs: jobs.map((one) => job({ run_id: Number(/runs\/(\d+)/.exec(request.url!)![1]), ...one })) })(
        request,
        response,
      )
    github.faults.inject({ fault, on: /jobs/, times: 1 })
    return look(PASS, { sha, ...BY_FILE })
  }
  const failed = { id: id + 1, conclusion: 'failure' }
  t.match(await seen(failed, { id: id + 2 }), { differs: ['checks'], ...counts({ passed: 1, failed: 1 }) })
  const again = await seen(failed, { id: id + 2, run_attempt: 2 })
  t.match(again, { differs: [], ...counts({ passed: 1 }) }, 'it was run again')
  t.equal(again.stays, undefined, 'after the list of runs was read: when, that does not tell')
})

t.test('a file that is called like another one with a version', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  repository.checks.run({ sha, name: 'build', workflow: `${CI}@other.yml` })
  t.match(await look(PASS, { sha, ...BY_FILE }), { kind: 'absent', ...counts({ missing: 1 }) })
  t.equal(await outcome(look(PASS, { sha, ...named('build', `workflow:${CI}@other.yml`) })), 'as claimed')
  repository.checks.run({ sha, name: 'build', workflow: `${CI}@refs/heads/main` })
  t.equal(await outcome(look(PASS, { sha, ...BY_FILE })), 'as claimed')
})

t.test('a branch that is called like a commit of 64 characters is none', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  const sha = 'ab'.repeat(32)
  await repository.push(sha, base)
  const posted = { id: 1, state: 'success', context: 'ci', creator: { login: 'agent', id: 2 } }
  github.faults.inject({ fault: json([posted]), on: /statuses/ })
  github.faults.inject({ fault: json({ check_runs: [] }), on: new RegExp(`${sha}/check-runs`) })
  github.faults.inject({ fault: json({ sha: base }), on: new RegExp(`commits/${sha}$`) })
  t.match(await look(PASS, { sha, ...named('ci', 'account:agent') }), {
    kind: 'absent',
    facts: { commit_found: false },
  })
})

t.test('the newest run of a workflow counts, and earlier ones tell whether it passed before', async (t) => {
  const { repository, base: sha, look, past } = await atGitHub(t)
  past()
  const build = (outcome: 'success' | 'failure') =>
    repository.checks.run({ sha, name: 'build', workflow: CI, outcome, at: NOON - MINUTE })
  build('failure')
  build('success')
  t.equal(await outcome(look(PASS, { sha }, settled(1))), 'as claimed')
  t.equal(await outcome(look(PASS, { sha, ...BY_FILE })), 'as claimed')
  const last = build('failure')
  for (const params of [{}, BY_APP, BY_FILE]) {
    t.match(await look(PASS, { sha, ...params }), { kind: 'present', mark: 'may_have_been' })
  }
  repository.checks.end(repository.checks.rerun(last, { at: NOON }), 'success', { at: NOON })
  t.equal(await outcome(look(PASS, { sha, ...BY_FILE })), 'as claimed')
})

t.test('a run that failed, and never passed, is blamed for; one that passed and runs again is not', async (t) => {
  const { repository, base: sha, head, look } = await atGitHub(t)
  const late = { afterMs: 10 * MINUTE }
  const run = repository.checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
  for (const params of [BY_APP, BY_FILE]) {
    t.notOk((await look(PASS, { sha, ...params }, late)).mark)
  }
  repository.checks.end(run, 'failure')
  repository.checks.rerun(run, { at: NOON + MINUTE })
  for (const params of [BY_APP, BY_FILE]) {
    t.match(await look(PASS, { sha, ...params }, late), { kind: 'absent', mark: undefined, ...counts({ pending: 1 }) })
  }
  const passed = repository.checks.run({ sha: head, name: 'build', workflow: CI })
  repository.checks.rerun(passed, { at: NOON + MINUTE })
  for (const params of [BY_APP, BY_FILE]) {
    t.match(await look(PASS, { sha: head, ...params }, late), { kind: 'absent', mark: 'may_have_been' })
  }
  repository.checks.run({ sha: head, name: 'scan', app: 'scanner', outcome: 'failure' })
  const scan = named('scan', 'app:scanner')
  const scanned = await look(PASS, { sha: head, ...scan }, late)
  t.match(scanned, { differs: ['checks'], mark: undefined, stays: undefined }, 'an app can change what it said')
})

t.test('when a workflow ended is an upper bound, by the clock of GitHub and not of what ran it', async (t) => {
  const { repository, base: sha, look, past } = await atGitHub(t)
  past()
  const run = repository.checks.queue({ sha, name: 'build', workflow: CI, at: NOON })
  repository.checks.start(run, { at: NOON })
  repository.checks.end(run, 'success', { at: NOON + 5 * MINUTE, shownAt: NOON - 60 * MINUTE })
  const late = { afterMs: 10 * MINUTE }
  const appeared = { notAfter: NOON + 5 * MINUTE + 999 }
  t.strictSame((await look(PASS, { sha, ...BY_FILE }, late)).stays, [{ appeared }])
  t.strictSame((await look(PASS, { sha, ...BY_APP }, late)).stays, [{ appeared }])
  t.strictSame((await look(PASS, { sha }, { ...settled(1), ...late })).stays, [{ appeared }])
})

t.test('a status counts for whoever posted it, until another one replaces it', async (t) => {
  const { repository, base: sha, look } = await atGitHub(t)
  const post = (by: string, state: 'success' | 'failure') => repository.checks.post({ sha, context: 'ci', state, by })
  const by = (who: string) => look(PASS, { sha, ...named('ci', `account:${who}`) })
  post('jenkins', 'failure')
  post('agent', 'success')
  t.match(await by('jenkins'), { kind: 'present', differs: ['checks'], mark: undefined, stays: [] })
  t.equal(await outcome(by('agent')), 'as claimed')
  t.match(await look(PASS, { sha }), { kind: 'present', differs: ['sha'], ...counts({ passed: 1, failed: 1 }) })
  post('jenkins', 'success')
  t.equal(await outcome(by('jenkins')), 'as claimed')
  post('agent', 'failure')
  t.match(await by('jenkins'), { kind: 'present', differs: ['checks'], mark: 'may_have_been' }, 'it was replaced')
  t.equal(await outcome(by('somebody')), 'absent')
})

t.test('a commit that the repository does not have', async (t) => {
  const { github, repository, base, look, token } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  for (const params of [{}, BY_APP, BY_FILE, named('ci', 'account:jenkins')]) {
    t.match(
      await look(PASS, { sha, ...params }),
      { kind: 'absent', mark: 'never_before', facts: { commit_found: false } },
      JSON.stringify(params),
    )
  }
  const seen = { kind: 'absent', facts: { commit_found: true } } as const
  t.match(await look(PASS, { sha }, { earlier: seen }), { kind: 'absent', mark: 'may_have_been' })
  github.faults.inject({ fault: status(403), on: /heads%2Fmain/, times: 1 })
  t.equal(await outcome(look(PASS, { sha }, { token: token() })), 'forbidden', 'whether checks can be read')
  const young = await github.createRepository('acme/young', { createdAt: NOON + 500 })
  const other = await young.commit()
  t.match(await look(PASS, { sha: other }, { target: 'acme/young' }), { mark: 'may_have_been' }, 'a new, empty one')
})

t.test('many runs are read to the end, and an endless list is not', async (t) => {
  const { github, repository, base: sha, look, costOf } = await atGitHub(t)
  const suite = repository.checks.suite({ sha, workflow: CI })
  repository.checks.run({ suite, name: 'build', outcome: 'failure' })
  for (let index = 0; index < 120; index++) repository.checks.run({ suite, name: `part ${index}` })
  t.match(await look(PASS, { sha, ...BY_APP }), counts({ failed: 1 }))
  t.match(await look(PASS, { sha, ...BY_FILE }), counts({ failed: 1 }))
  t.match(await look(PASS, { sha }), counts({ failed: 1, passed: 120 }))
  t.equal(await costOf(() => look(PASS, { sha })), 6)
  const [on, link] = [/check-runs/, `<${github.url}/repos/acme/app/elsewhere?page=2>; rel="next"`]
  github.faults.inject({
    on,
    fault: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', link })
      response.end('{"check_runs":[]}')
    },
  })
  t.match(await look(PASS, { sha, ...BY_APP }), counts({ failed: 1 }), 'jobs have a list of their own')
  t.equal(await outcome(look(PASS, { sha, ...named('build', 'app:scanner') })), 'too_large')
  t.match(await look(PASS, { sha }), { differs: ['sha'], facts: { failed: 1 } }, 'and so have workflows')
  t.notOk(
    github.requests.some((line) => line.includes('elsewhere')),
    'the address in the link is not followed',
  )
})

t.test('many workflows of one file: what one check does not read, the next ones do, and none twice', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  for (let index = 0; index < 30; index++) {
    repository.checks.run({ sha, name: 'build', workflow: CI, source: `event_${index}` })
  }
  const cache = createCache()
  t.equal(await outcome(look(PASS, { sha, ...BY_FILE }, { cache })), 'too_large')
  t.match(await look(PASS, { sha, ...BY_FILE }, { cache }), { kind: 'present', differs: [], ...counts({ passed: 30 }) })
  await look(PASS, { sha, ...BY_FILE }, { cache })
  t.equal(github.requests.filter((line) => line.includes('/jobs?')).length, 30)
})

t.test('twelve checks of twelve workflows', async (t) => {
  const { repository, base: sha, look, costOf } = await atGitHub(t)
  const names = Array.from({ length: 12 }, (_, index) => `build ${index}`)
  for (const name of names) repository.checks.run({ sha, name, workflow: `.github/workflows/${name.slice(6)}.yml` })
  const params = { sha, checks: names.map((name) => ({ name, by: 'github-actions' })) }
  t.equal(await costOf(() => look(PASS, params)), 15)
  t.match(await look(PASS, params), { kind: 'present', differs: [], ...counts({ passed: 12 }) })
})

t.test('noise of hundreds of runs by hand hides no failure, and makes nothing green', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const run = (outcome: 'success' | 'failure', more: object = {}) =>
    repository.checks.run({ sha, name: 'build', workflow: CI, outcome, ...more })
  run('failure')
  for (let index = 0; index < 310; index++) run('success', { workflow: NIGHTLY, source: 'workflow_dispatch' })
  t.match(await look(PASS, { sha, ...BY_FILE }), { kind: 'present', differs: ['checks'], ...counts({ failed: 1 }) })
  t.ok(github.requests.some((line) => line.includes('event=push')))
  t.match(await look(PASS, { sha }), { kind: 'present', differs: ['sha'], facts: { failed: 1 } })
  t.equal(await outcome(look(PASS, { sha, ...named('build', `workflow:${NIGHTLY}`) })), 'too_large')
})

t.test('what hundreds of runs hide has passed: it may be the claimed one, or have replaced what failed', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  const old = (name: string, more: object) => repository.checks.run({ sha, name, at: NOON - 48 * 60 * MINUTE, ...more })
  const night = { workflow: '.github/workflows/night.yml', source: 'schedule' }
  old('build', { workflow: CI })
  old('notes', { workflow: '.github/workflows/notes.yml', source: 'release' })
  old('slow', { ...night, outcome: 'failure' })
  old('slow', night)
  for (let index = 0; index < 310; index++)
    repository.checks.run({ sha, name: 'clock', workflow: NIGHTLY, source: 'schedule', at: NOON - 30 * MINUTE })
  const job = (name: string) => ({ sha, ...named(name, 'github-actions') })
  t.equal(await outcome(look(PASS, job('notes'))), 'too_large')
  const red = { kind: 'present', mark: 'may_have_been', stays: undefined }
  t.match(await look(PASS, job('slow')), { ...red, ...counts({ failed: 1 }) })
  const two = { checks: ['notes', 'slow'].map((name) => ({ name, by: 'github-actions' })) }
  t.equal(await outcome(look(PASS, { sha, ...two })), 'too_large')
  t.match(await look(PASS, { sha }), { ...red, facts: { failed: 1 } })
  t.match(
    await look(PASS, job('gone')),
    { kind: 'absent', stays: [], ...counts({ missing: 1 }) },
    'no check run has it',
  )
  t.ok(github.requests.some((line) => line.includes('status=startup_failure')))
})

t.test('an answer that says something else', async (t) => {
  const { github, repository, base: sha, first, look } = await atGitHub(t)
  const id = repository.checks.run({ sha, name: 'build', workflow: CI })
  const run = { id, name: 'build', head_sha: sha, status: 'completed', conclusion: 'success' }
  const suite = repository.checks.get(id, NOON)!.suite.id
  const checkRun = { ...run, check_suite: { id: suite }, app: { slug: 'github-actions' } }
  const workflow = {
    ...{ id: 5, path: CI, event: 'push', head_sha: sha, status: 'completed', conclusion: 'success' },
    ...{ check_suite_id: 1, updated_at: '2026-09-25T12:00:00Z', repository: { id: repository.id } },
  }
  const job = { ...run, run_id: 5, run_attempt: 1 }
  const runs = (change: object = {}) => ({ check_runs: [{ ...checkRun, ...change }] })
  const workflows = (change: object) => ({ workflow_runs: [{ ...workflow, ...change }] })
  const jobs = (change: object) => ({ jobs: [{ ...job, ...change }] })
  const status = (change: object) => [{ id: 1, state: 'success', context: 'ci', ...change }]
  const POSTED = named('ci', 'account:x')
  const BAD = 'unexpected_response'
  const rows: readonly (readonly [name: string, on: RegExp, answer: unknown, params: JsonObject, code: string])[] = [
    ['a check run', /check-runs/, runs(), BY_APP, 'as claimed'],
    ['of a suite that no workflow has', /check-runs/, runs({ check_suite: { id: 1 } }), BY_APP, 'absent'],
    ['without an app', /check-runs/, runs({ app: null }), BY_APP, 'absent'],
    ['of another commit', /check-runs/, runs({ head_sha: first }), BY_APP, BAD],
    ['left alone', /check-runs/, runs({ conclusion: 'stale' }), BY_APP, 'absent'],
    ['an unknown end', /check-runs/, runs({ conclusion: 'great' }), BY_APP, BAD],
    ['an inherited end', /check-runs/, runs({ conclusion: 'constructor' }), BY_APP, BAD],
    ['an end without one', /check-runs/, runs({ conclusion: null }), BY_APP, BAD],
    ['another thing', /check-runs/, [], BY_APP, BAD],
    ['a workflow of another commit', /runs\?/, workflows({ head_sha: first }), BY_FILE, BAD],
    ['of another repository', /runs\?/, workflows({ repository: { id: 1 } }), BY_FILE, BAD],
    ['a job of another run', /jobs/, jobs({ run_id: 6 }), BY_FILE, BAD],
    ['a job of another commit', /jobs/, jobs({ head_sha: first }), BY_FILE, BAD],
    ['a status in another state', /statuses/, status({ state: 'ok' }), POSTED, BAD],
    ['a status of nobody', /statuses/, status({ creator: null }), POSTED, 'absent'],
  ]
  for (const [name, on, answer, params, code] of rows) {
    github.faults.inject({ fault: json(answer), on, times: 1 })
    t.equal(await outcome(look(PASS, { sha, ...params })), code, name)
    github.faults.clear()
  }
})

t.test('nothing is reported while one of the requests fails', async (t) => {
  const { github, repository, base: sha, look } = await atGitHub(t)
  repository.checks.run({ sha, name: 'build', workflow: CI })
  const unknown = await repository.commit({ parents: [sha] })
  const requests: readonly (readonly [on: RegExp, params: JsonObject])[] = [
    [/acme\/app$/, { sha }],
    [/check-runs/, { sha }],
    [/statuses/, { sha }],
    [/actions\/runs\?/, { sha }],
    [/jobs/, { sha, ...BY_FILE }],
    [/statuses/, { sha, ...named('ci', 'account:jenkins') }],
    [/heads%2Fmain/, { sha: unknown }],
  ]
  const looks = requests.map(([on, params]) => [on, () => look(PASS, params)] as const)
  await failsAlike(t, github.faults, looks, [[status(403), 'forbidden']])
})
