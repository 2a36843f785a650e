// Test run: end-to-end, slow
/** Statuses of commits at Gitea and Forgejo. */
import t from 'tap'
import { json } from '../../../test/destinations/faults.ts'
import { createCache, outcome } from './context.ts'
import { atGitea, HOUR, MINUTE, NOON } from './gitea-fixture.ts'

const ACTION = 'codehost.checks.pass'
const BUILD = 'ci.yml / build (push)'
const RUNNER = [{ name: BUILD, by: 'gitea-actions' }]

for (const flavour of ['gitea', 'forgejo'] as const) {
  t.test(`what the runner ran can be named, at ${flavour}`, async (t) => {
    const { look, repository, base: sha } = await atGitea(t, { flavour })
    repository.checks.run({ sha, name: 'build' })
    const checks = [{ name: BUILD, by: `${flavour}-actions` }]
    t.match(await look(ACTION, { sha, checks }), {
      kind: 'present',
      differs: [],
      facts: { commit_found: true, passed: 1, pending: 0 },
      stays: [{ appeared: { notAfter: NOON + 999 } }],
    })
  })

  t.test(`a job that was skipped has not passed, at ${flavour}`, async (t) => {
    const { look, repository, base: sha } = await atGitea(t, { flavour })
    repository.checks.run({ sha, name: 'build', outcome: 'skipped' })
    t.match(await look(ACTION, { sha, checks: RUNNER }), {
      kind: 'present',
      differs: ['checks'],
      facts: { skipped: 1 },
    })
  })
}

/** The earlier checks of a claim that waits: one look, which saw something pending. */
const WAITING = [{ sentAt: NOON, observation: { kind: 'absent', facts: { pending: 1 } } }] as const

for (const params of [{}, { checks: RUNNER }]) {
  const name = 'checks' in params ? 'a named job' : 'all checks'
  t.test(`looks that wait for ${name} read the jobs of the run alone, and the rest every two minutes`, async (t) => {
    const { clock, look, repository, base: sha, requests } = await atGitea(t)
    const { checks } = repository
    const job = checks.queue({ sha, name: 'build' })
    checks.start(job)
    const cache = createCache()
    const count = async (facts: object) => {
      clock.now += MINUTE
      const looking = async () =>
        t.match(await look(ACTION, { sha, ...params }, { cache, previous: WAITING }), { facts })
      return (await requests(looking)).length
    }
    t.equal(await count({ pending: 1 }), 5, 'the repository, the commit, its statuses, its runs and their jobs')
    t.equal(await count({ pending: 1 }), 1)
    t.equal(await count({ pending: 1 }), 3, 'and the statuses and runs')
    checks.end(job, 'failure')
    t.equal(await count({ pending: 0, failed: 1 }), 6, 'all is read anew')
  })
}

t.test('looks that wait for a status of an account read the statuses anew', async (t) => {
  const { clock, look, repository, base: sha, requests } = await atGitea(t)
  const { checks } = repository
  checks.post({ sha, context: 'unit', state: 'pending', by: 'jenkins' })
  const cache = createCache()
  const count = async (facts: object) => {
    clock.now += MINUTE
    const params = { sha, checks: [{ name: 'unit', by: 'account:jenkins' }] }
    const looking = async () => t.match(await look(ACTION, params, { cache, previous: WAITING }), { facts })
    return (await requests(looking)).length
  }
  t.equal(await count({ pending: 1 }), 3)
  t.equal(await count({ pending: 1 }), 1)
  checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })
  t.equal(await count({ pending: 0, passed: 1 }), 4)
})

t.test('looks that wait for a status recall nothing of those that wait for another', async (t) => {
  const { clock, look, repository, base: sha } = await atGitea(t)
  const { checks } = repository
  const job = checks.queue({ sha, name: 'build' })
  checks.start(job)
  checks.post({ sha, context: 'unit', state: 'pending', by: 'jenkins' })
  const cache = createCache()
  const seen = async (wanted: readonly { readonly name: string; readonly by: string }[]) => {
    clock.now += MINUTE
    return look(ACTION, { sha, checks: wanted }, { cache, previous: WAITING })
  }
  t.match(await seen(RUNNER), { facts: { pending: 1 } })
  checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })
  const unit = { name: 'unit', by: 'account:jenkins' }
  t.match(await seen([unit, ...RUNNER]), { facts: { pending: 1, passed: 1 } })
})

t.test('a status that only looks like a job is no reason to wait with what was read before', async (t) => {
  const { clock, look, repository, base: sha, ways } = await atGitea(t)
  const { checks } = repository
  checks.run({ sha, name: 'build' })
  checks.post({ sha, context: 'ci.yml / e2e (push)', state: 'pending', by: 'gone' })
  ways.deleted.add('gone')
  const cache = createCache()
  const seen = () => look(ACTION, { sha }, { cache, previous: WAITING })
  clock.now += MINUTE
  t.match(await seen(), { facts: { pending: 1, passed: 1 } })
  checks.post({ sha, context: 'ci.yml / e2e (push)', state: 'success', by: 'gone' })
  t.match(await seen(), { facts: { pending: 0, passed: 1 } }, 'it is read anew')
})

/** Before the window of a claim at noon. */
const EARLIER = NOON - 30 * MINUTE

/** For a look two minutes after the claim: one a minute before saw so many green. */
const settled = (counted: number, passed = counted) => ({
  previous: [
    { sentAt: NOON + MINUTE, observation: { kind: 'absent', facts: { settling: true, counted, passed } } as const },
  ],
})

t.test('no name: what the runner ran, when it is settled', async (t) => {
  const { clock, look, repository, first, base: sha } = await atGitea(t)
  t.match(await look(ACTION, { sha }), { kind: 'absent', mark: undefined, facts: { passed: 0 } })
  repository.checks.run({ sha, name: 'build' })
  t.match(await look(ACTION, { sha }, settled(1)), { mark: 'unsettled', facts: { unnamed: true } })
  repository.checks.run({ sha: first, name: 'build', at: EARLIER })
  const open = { kind: 'absent', mark: 'unsettled', facts: { passed: 1, settling: true, under_way: true } }
  t.match(await look(ACTION, { sha }), open)
  clock.now = NOON + 2 * MINUTE
  t.match(await look(ACTION, { sha }, settled(1)), {
    kind: 'present',
    differs: [],
    stays: [{ appeared: { notAfter: NOON + 999 } }],
    facts: { counted: 1, reported_by: 'gitea-actions' },
  })
  repository.checks.post({ sha, context: 'scan', state: 'failure', by: 'agent' })
  t.match(await look(ACTION, { sha }), { kind: 'present', differs: ['sha'], mark: undefined, facts: { failed: 1 } })
  repository.checks.post({ sha, context: 'scan', state: 'success', by: 'other' })
  t.match(await look(ACTION, { sha }), { mark: 'may_have_been' }, 'the host shows the newest, by whomever')
})

t.test('no name: what accounts posted counts when they reported on a parent, too', async (t) => {
  const { clock, look, repository, first, base: sha } = await atGitea(t)
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'jenkins' })
  clock.now = NOON + 2 * MINUTE
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'absent', mark: 'unsettled' })
  const before = (context: string, by: string) =>
    repository.checks.post({ sha: first, context, state: 'success', by, at: EARLIER })
  before('ci', 'jenkins')
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'present', differs: [] })
  before('scan', 'scanner')
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'absent', mark: 'unsettled', facts: { awaited: 1 } })
})

t.test("no name: the pusher's own status founds nothing", async (t) => {
  const { clock, look, repository, first, base: sha } = await atGitea(t)
  const post = (sha: string, at: number, by = 'agent') =>
    repository.checks.post({ sha, context: 'ci', state: 'success', by, at })
  post(first, EARLIER)
  post(sha, NOON)
  clock.now = NOON + 2 * MINUTE
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'absent', mark: 'unsettled' })
})

t.test('no name: a workflow that paths leave out is not awaited once another began', async (t) => {
  const { clock, look, repository, first, base: sha, requests } = await atGitea(t)
  const run = (sha: string, file: string, at: number, more: object = {}) =>
    repository.checks.run({ sha, name: 'all', workflow: `.gitea/workflows/${file}`, at, ...more })
  for (const file of ['lint.yml', 'docs.yml']) run(first, file, EARLIER)
  run(first, 'review.yml', EARLIER, { source: 'pull_request', branch: 'topic' })
  run(sha, 'lint.yml', NOON)
  clock.now = NOON + 2 * MINUTE
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'present', differs: [] })
  await repository.pullRequests.open({ head: 'main', base: 'main', headSha: sha })
  t.match(await look(ACTION, { sha }, settled(1)), { kind: 'absent', facts: { awaited: 1 } })
  run(sha, 'night.yml', NOON, { source: 'workflow_dispatch', outcome: 'failure' })
  t.match(await look(ACTION, { sha }), { differs: ['sha'], facts: { failed: 1 } })
  t.ok((await requests(() => look(ACTION, { sha }))).length <= 25)
})

t.test('an account is named by its name or its id, and the newest of each counts', async (t) => {
  const { look, repository, base: sha, host } = await atGitea(t)
  repository.checks.post({ sha, context: 'ci', state: 'failure', by: 'Jenkins' })
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'agent' })
  const by = (name: string) => look(ACTION, { sha, checks: [{ name: 'ci', by: name }] })
  t.match(await by('account:jenkins'), { differs: ['checks'], mark: undefined })
  t.match(await by('account:agent'), { differs: [] })
  t.match(await by('gitea-actions'), { kind: 'absent', facts: { missing: 1 } })
  const [{ creator }] = (await (await fetch(`${host.url}/repos/acme/app/statuses/${sha}`)).json()) as [
    { creator: { id: number } },
  ]
  t.match(await by(`account-id:${creator.id}`), { differs: [] })
  repository.checks.post({ sha, context: 'ci', state: 'pending', by: 'agent' })
  t.match(await by('account:agent'), { kind: 'absent', mark: 'may_have_been', facts: { pending: 1 } })
  repository.checks.post({ sha, context: 'ci', state: 'error', by: 'agent' })
  t.match(await by('account:agent'), { differs: ['checks'], mark: 'may_have_been' })
})

t.test("an account that took the runner's name is not the runner", async (t) => {
  const { look, repository, base: sha } = await atGitea(t)
  repository.checks.post({ sha, context: BUILD, state: 'success', by: 'gitea-actions' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { kind: 'absent', facts: { missing: 1 } })
})

t.test('what an account posted that is gone cannot be told', async (t) => {
  const { look, repository, base: sha, ways } = await atGitea(t)
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'jenkins' })
  const checks = [{ name: 'ci', by: 'account:jenkins' }]
  t.match(await look(ACTION, { sha, checks }), { differs: [] })
  ways.deleted.add('jenkins')
  t.equal(await outcome(look(ACTION, { sha, checks })), 'forbidden')
  t.match(await look(ACTION, { sha, checks: [{ name: 'other', by: 'account:jenkins' }] }), {
    kind: 'absent',
    facts: { missing: 1 },
  })
})

t.test('two workflows with one name: the failed one does not vanish behind the other', async (t) => {
  const { look, repository, base: sha, ways } = await atGitea(t)
  for (const file of ['ci.yml', 'old.yml']) ways.names.set(file, 'CI')
  const run = (file: string, outcome: 'failure' | 'success') =>
    repository.checks.run({ sha, name: 'build', outcome, workflow: `.gitea/workflows/${file}` })
  run('ci.yml', 'failure')
  run('old.yml', 'success')
  const seen = await look(ACTION, { sha, checks: [{ name: 'CI / build (push)', by: 'gitea-actions' }] })
  t.match(seen, { kind: 'present', differs: ['checks'], mark: 'may_have_been', facts: { passed: 1, failed: 1 } })
})

t.test('a newer run of the same file, event and branch replaces the older one', async (t) => {
  const { look, repository, base: sha } = await atGitea(t)
  repository.checks.run({ sha, name: 'build', outcome: 'failure' })
  repository.checks.run({ sha, name: 'build' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { kind: 'present', differs: [] })
  repository.checks.run({ sha, name: 'build', outcome: 'failure', branch: 'work' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], mark: 'may_have_been' })
})

t.test('what an account that is gone posted in green over a red job is not the job, which never passed', async (t) => {
  const { clock, look, repository, base: sha, ways } = await atGitea(t)
  ways.deleted.add('liar')
  repository.checks.run({ sha, name: 'build', outcome: 'failure' })
  clock.now += 60_000
  repository.checks.post({ sha, context: BUILD, state: 'success', by: 'liar' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], mark: undefined, stays: [] })
})

t.test('a job that passed and is red now may have been as claimed, also where an older run passes last', async (t) => {
  const { clock, look, repository, base: sha } = await atGitea(t)
  const older = repository.checks.queue({ sha, name: 'build' })
  repository.checks.start(older)
  repository.checks.run({ sha, name: 'build', outcome: 'failure' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], stays: [] })
  clock.now += 60_000
  repository.checks.end(older, 'success')
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], mark: 'may_have_been' })
  repository.checks.run({ sha, name: 'build', outcome: 'failure' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], mark: 'may_have_been' })
})

for (const flavour of ['gitea', 'forgejo'] as const) {
  for (const runs of ['jobs', 'tasks', 'none'] as const) {
    t.test(`a status of an account that is gone is not the runner's: ${flavour} that lists ${runs}`, async (t) => {
      const { look, repository, base: sha, ways } = await atGitea(t, { flavour })
      Object.assign(ways, { runs })
      ways.deleted.add('liar')
      const seen = () => outcome(look(ACTION, { sha, checks: RUNNER }))
      const all = () => outcome(look(ACTION, { sha }))
      const told = runs === 'none' ? 'unsupported_target' : 'forbidden'
      repository.checks.post({ sha, context: BUILD, state: 'success', by: 'liar' })
      for (const ghost of ['null', 'ghost'] as const) {
        Object.assign(ways, { ghost })
        t.equal(await seen(), told)
        t.equal(await all(), told)
        t.equal(await outcome(look(ACTION, { sha, checks: [{ name: BUILD, by: 'account:liar' }] })), 'forbidden')
      }
      const job = repository.checks.queue({ sha, name: 'build' })
      repository.checks.start(job)
      if (runs === 'none') return
      t.match(await look(ACTION, { sha, checks: RUNNER }), { kind: 'absent', facts: { pending: 1, passed: 0 } })
      repository.checks.end(job, 'failure')
      repository.checks.post({ sha, context: BUILD, state: 'success', by: 'liar' })
      t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], facts: { failed: 1, passed: 0 } })
      t.match(await look(ACTION, { sha }), { differs: ['sha'], facts: { failed: 1, passed: 0 } })
    })
  }
}

t.test(
  'a job is known by the name of its workflow or its file, and by the page to which its status leads',
  async (t) => {
    const { look, repository, base: sha, ways } = await atGitea(t)
    ways.names.set('ci.yml', 'CI')
    repository.checks.run({ sha, name: 'build' })
    repository.checks.run({ sha, name: 'build', outcome: 'failure', workflow: '.gitea/workflows/other.yml' })
    const by = (name: string) => look(ACTION, { sha, checks: [{ name, by: 'gitea-actions' }] })
    t.match(await by('CI / build (push)'), { kind: 'present', differs: [] })
    t.match(await by('other.yml / build (push)'), { differs: ['checks'] })
  },
)

t.test('what an account posted as passed has not, when another posted since that it has not', async (t) => {
  const { look, repository, base: sha } = await atGitea(t)
  const checks = [{ name: 'unit', by: 'account:jenkins' }]
  const post = (by: string, state: 'success' | 'failure' | 'pending') =>
    repository.checks.post({ sha, context: 'unit', state, by })
  post('jenkins', 'success')
  post('scan', 'failure')
  t.match(await look(ACTION, { sha, checks }), { differs: ['checks'], mark: 'may_have_been' })
  post('agent', 'success')
  t.match(await look(ACTION, { sha, checks }), { kind: 'present', differs: [] })
  post('jenkins', 'failure')
  post('agent', 'success')
  t.match(await look(ACTION, { sha, checks }), { differs: ['checks'] })
})

t.test('an unnamed check that is red without a job is blamed on nobody', async (t) => {
  const { look, repository, base: sha, ways } = await atGitea(t)
  ways.deleted.add('scan')
  repository.checks.run({ sha, name: 'build' })
  repository.checks.post({ sha, context: 'scan', state: 'failure', by: 'scan' })
  t.match(await look(ACTION, { sha }), { differs: ['sha'], mark: 'may_have_been', facts: { failed: 1, passed: 1 } })
  repository.checks.post({ sha, context: 'scan', state: 'success', by: 'scan' })
  t.match(await look(ACTION, { sha }), { facts: { failed: 0, passed: 1, skipped: 1, settling: true } })
})

t.test('a run that is made again', async (t) => {
  const { look, repository, base: sha } = await atGitea(t)
  const id = repository.checks.run({ sha, name: 'build', outcome: 'failure' })
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: ['checks'], mark: undefined })
  const again = repository.checks.rerun(id)
  t.match(await look(ACTION, { sha, checks: RUNNER }), { kind: 'absent', facts: { pending: 1 } })
  repository.checks.end(again, 'success')
  t.match(await look(ACTION, { sha, checks: RUNNER }), { differs: [], facts: { passed: 1, failed: 0 } })
})

t.test('all pages are read, by whatever size the server gives them', async (t) => {
  const { look, repository, base: sha, requests } = await atGitea(t)
  repository.checks.post({ sha, context: 'first', state: 'failure', by: 'ci' })
  for (let index = 0; index < 130; index++) repository.checks.post({ sha, context: `part ${index}`, state: 'success' })
  t.match(await look(ACTION, { sha }), { differs: ['sha'], facts: { failed: 1, passed: 130 } })
  t.equal((await requests(() => look(ACTION, { sha }))).length, 6)
  t.equal((await requests(() => look(ACTION, { sha, checks: RUNNER }))).length, 5)
  for (let index = 0; index < 900; index++) repository.checks.post({ sha, context: 'more', state: 'success' })
  t.equal(await outcome(look(ACTION, { sha })), 'too_large')
})

t.test('a commit that the repository does not have, or had', async (t) => {
  const { clock, look, host, connect } = await atGitea(t)
  const sha = 'e'.repeat(40)
  const gone = { kind: 'absent', facts: { commit_found: false } }
  t.match(await look(ACTION, { sha }), { ...gone, mark: 'never_before' })
  const seen = { kind: 'absent', facts: { commit_found: true } } as const
  const previous = [{ sentAt: NOON, observation: seen }]
  t.match(await look(ACTION, { sha }, { previous }), { ...gone, mark: 'may_have_been' })
  clock.now = NOON + 25 * HOUR
  t.match(await look(ACTION, { sha }), { ...gone, mark: 'may_have_been' }, 'it may be pruned')
  t.match(
    await look(ACTION, { sha }, { claimedAt: NOON - 2 * HOUR }),
    { ...gone, mark: 'may_have_been' },
    'older than the repository',
  )

  const hidden = await host.createRepository('acme/secret', { isPrivate: true })
  const tip = await hidden.commit()
  await hidden.push('main', tip)
  host.addToken({ token: 'blind', repositories: [hidden], contents: false, rights: ['issues'] })
  const options = { target: 'acme/secret', connection: connect('blind') }
  t.equal(await outcome(look(ACTION, { sha: tip }, options)), 'forbidden')
})

t.test('answers in other shapes, of another commit, and pages that go round', async (t) => {
  const { look, repository, base: sha, first, host } = await atGitea(t)
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'ci' })
  const url = `${host.url}/repos/acme/app/statuses/${sha}`
  const [entry] = (await (await fetch(url)).json()) as Record<string, unknown>[]
  const seen = async (body: unknown) => {
    host.faults.inject({ fault: json(body), on: /\/statuses\// })
    const result = await outcome(look(ACTION, { sha }))
    host.faults.clear()
    return result
  }
  t.equal(await seen([{ ...entry, url: url.replace(sha, first) }]), 'unexpected_response')
  t.equal(await seen([{ ...entry, status: 'constructor' }]), 'unexpected_response')
  t.equal(await seen([{ ...entry, status: 'great' }]), 'unexpected_response')
  t.equal(await seen([{ ...entry, id: 0 }]), 'unexpected_response')
  t.equal(await seen([{ ...entry, creator: 'me' }]), 'unexpected_response')
  t.equal(await seen({}), 'unexpected_response')
  t.equal(await seen([entry]), 'unexpected_response', 'the same page again and again')
  const named = [{ name: 'ci', by: 'account:ci' }]
  host.faults.inject({ fault: json([{ ...entry, id: 99, context: 'odd', status: 'great' }, entry]), on: /page=1/ })
  host.faults.inject({ fault: json([]), on: /page=2/ })
  t.equal(await outcome(look(ACTION, { sha, checks: named })), 'as claimed', 'one that the claim does not name')
  host.faults.clear()
  host.faults.inject({ fault: json({ sha: first }), on: /git\/commits/ })
  t.equal(await outcome(look(ACTION, { sha })), 'unexpected_response')
})

t.test('a warning is neither', async (t) => {
  const { look, base: sha, host, repository, clock } = await atGitea(t)
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'ci' })
  const [entry] = (await (await fetch(`${host.url}/repos/acme/app/statuses/${sha}`)).json()) as Record<
    string,
    unknown
  >[]
  clock.now = NOON + MINUTE
  host.faults.inject({ fault: json([{ ...entry, status: 'warning' }]), on: /page=1/ })
  host.faults.inject({ fault: json([]), on: /page=2/ })
  const seen = await look(ACTION, { sha, checks: [{ name: 'ci', by: 'account:ci' }] })
  t.match(seen, { differs: ['checks'], mark: 'may_have_been', facts: { skipped: 1 } })
})
