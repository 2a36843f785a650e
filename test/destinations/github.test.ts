/** GitHub's stand-in: what its endpoints answer fits GitHub's description, and shows what GitHub shows in the cases that mislead. */
import t, { type Test } from 'tap'
import { startGitHub } from './forge/github.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE = 60_000
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString().replace('.000Z', 'Z')

// biome-ignore lint/suspicious/noExplicitAny: answers are compared, and held against their description elsewhere
type Body = any

async function setUp(t: Test) {
  const clock = { now: NOON }
  const github = await startGitHub({ now: () => clock.now })
  t.teardown(() => github.close())
  const repository = await github.createRepository('acme/app')
  const base = await repository.commit()
  await repository.push('main', base)
  const topic = async (branch = 'topic') => {
    const sha = await repository.commit({ parents: [base] })
    await repository.push(branch, sha)
    return sha
  }
  async function get(path: string, token?: string) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${github.url}/repos/acme/app${path}`, { headers, redirect: 'manual' })
    const text = await response.text()
    const { status } = response
    if (status === 599) throw new Error(text)
    return { status, body: JSON.parse(text) as Body, headers: response.headers }
  }
  const body = async (path: string) => (await get(path)).body
  return { clock, github, repository, base, topic, get, body }
}

t.test('a pull request, from open to merged', async (t) => {
  const { clock, repository, base, topic, get, body } = await setUp(t)
  const sha = await topic()
  const number = await repository.pullRequests.open({ head: 'topic', draft: true })
  const open = await body(`/pulls/${number}`)
  t.match(open, { state: 'open', draft: true, merged: false, head: { sha }, base: { ref: 'main', sha: base } })
  t.match(open.merge_commit_sha, /^[0-9a-f]{40}$/)
  t.equal((await get(`/commits/${open.merge_commit_sha}`)).status, 200, 'a merge that no branch has')
  t.same(await body(`/commits/${open.merge_commit_sha}/branches-where-head`), [])
  t.match(await body('/pulls?head=acme:topic'), [{ number }])

  clock.now += MINUTE
  const landed = await repository.pullRequests.merge(number, { how: 'squash', by: 'maintainer' })
  const merged = { state: 'closed', merged: true, merged_at: at(1), merge_commit_sha: landed }
  t.match(await body(`/pulls/${number}`), merged)
  t.match(await body(`/issues/${number}`), { state: 'closed', pull_request: { merged_at: at(1) } })
  t.match(await body(`/issues/${number}/events`), [{ event: 'merged', commit_id: landed }, { event: 'closed' }])
  t.same(await body('/pulls'), [])
  t.match(await body('/activity'), [{ activity_type: 'pr_merge', after: landed }, {}, {}])
  t.equal((await get('/pulls/99')).status, 404)
})

t.test('a pull request whose fork is gone, and one that is closed', async (t) => {
  const { github, repository, base, body } = await setUp(t)
  const fork = await github.fork(repository, 'mallory/app')
  const sha = await fork.commit({ parents: [base] })
  await fork.push('main', sha)
  const number = await repository.pullRequests.open({ head: 'main', from: fork })
  t.match(await body(`/pulls/${number}`), { head: { repo: { full_name: 'mallory/app' } } })
  github.delete(fork)
  repository.pullRequests.close(number)
  t.match(await body(`/pulls/${number}`), {
    state: 'closed',
    merged: false,
    merged_at: null,
    head: { sha, repo: null },
  })
})

t.test('an issue: closed, opened again, moved, deleted', async (t) => {
  const { clock, github, repository, get, body } = await setUp(t)
  const number = repository.issues.open()
  t.match(await body(`/issues/${number}`), { state: 'open', state_reason: null, closed_at: null })
  t.equal((await get(`/pulls/${number}`)).status, 404)
  clock.now += MINUTE
  repository.issues.close(number, { reason: 'not_planned' })
  t.match(await body(`/issues/${number}`), { state: 'closed', state_reason: 'not_planned', closed_at: at(1) })
  repository.issues.reopen(number)
  t.match(await body(`/issues/${number}`), { state: 'open', state_reason: 'reopened', closed_at: null })
  t.match(
    (await body(`/issues/${number}/events`)).map((entry: Body) => [entry.event, entry.state_reason]),
    [['closed', 'not_planned'], ['reopened']],
  )
  const other = await github.createRepository('acme/other', { isPrivate: true })
  github.addToken({ token: 'both', repositories: [other] })
  repository.issues.transfer(number, other)
  t.equal((await get(`/issues/${number}`)).status, 404)
  const moved = await get(`/issues/${number}`, 'both')
  t.equal(moved.status, 301)
  t.match(moved.headers.get('location'), `/repositories/${other.id}/issues/1`)
  const gone = repository.issues.open()
  repository.issues.delete(gone)
  t.equal((await get(`/issues/${gone}`)).status, 410)
  t.equal((await get(`/issues/${gone}/events`)).status, 410)
})

t.test('a release is there once it is published, with the date of its commit', async (t) => {
  const { clock, repository, base, get, body } = await setUp(t)
  const draft = await repository.releases.create({ tag: 'v1/a', draft: true, prerelease: true })
  t.equal((await get('/releases/tags/v1/a')).status, 404)
  clock.now += MINUTE
  await repository.releases.publish(draft)
  repository.releases.addAsset(draft, 'app.tgz')
  const shown = await body('/releases/tags/v1/a')
  t.match(shown, {
    tag_name: 'v1/a',
    draft: false,
    prerelease: true,
    published_at: at(1),
    assets: [{ name: 'app.tgz' }],
  })
  t.not(shown.created_at, at(0), 'its author wrote that')
  t.match(await body('/git/ref/tags/v1/a'), { object: { sha: base, type: 'commit' } })
  await repository.tag('v1/a', base, { annotated: true })
  t.match(await body('/git/ref/tags/v1/a'), { object: { type: 'tag' } })
})

t.test('checks: of apps, of workflows, run again, posted by hand', async (t) => {
  const { clock, repository, topic, get, body } = await setUp(t)
  const sha = await topic()
  const ci = repository.checks.suite({ sha, workflow: '.github/workflows/ci.yml', branch: 'topic' })
  const first = repository.checks.run({ suite: ci, name: 'test', outcome: 'failure' })
  repository.checks.run({ sha, app: 'other-ci', name: 'test', endedAt: NOON - MINUTE })
  const again = repository.checks.rerun(first)
  const latest = await body(`/commits/topic/check-runs`)
  t.match(
    latest.check_runs.map((run: Body) => [run.id, run.app.slug, run.status, run.conclusion]),
    [
      [again, 'github-actions', 'queued', null],
      [Number, 'other-ci', 'completed', 'success'],
    ],
  )
  clock.now += MINUTE
  repository.checks.start(again)
  t.match(await body(`/actions/runs?check_suite_id=${ci}`), { workflow_runs: [{ status: 'in_progress' }] })
  repository.checks.end(again, 'success')
  t.match(await body(`/commits/${sha}/check-runs?app_id=15368&check_name=test`), {
    total_count: 1,
    check_runs: [{ conclusion: 'success', completed_at: at(1) }],
  })
  const page = await get(`/commits/${sha}/check-runs?filter=all&per_page=2`)
  t.match([page.body.total_count, page.body.check_runs.length], [3, 2])
  t.match(page.headers.get('link'), /page=2.*rel="next"/)
  const { workflow_runs } = await body(`/actions/runs?check_suite_id=${ci}`)
  t.match(workflow_runs, [{ path: '.github/workflows/ci.yml', event: 'push', conclusion: 'success', run_attempt: 2 }])

  repository.checks.post({ sha, context: 'ci', state: 'failure', by: 'ci-bot' })
  repository.checks.post({ sha, context: 'ci', state: 'success', by: 'agent' })
  t.match(
    (await body(`/commits/${sha}/statuses`)).map((posted: Body) => posted.creator.login),
    ['agent', 'ci-bot'],
  )
  t.equal((await get(`/commits/${'1'.repeat(40)}/check-runs`)).status, 422)
})

t.test('a token without a right, a renamed repository, and a replica', async (t) => {
  const { clock, github, repository, topic, get } = await setUp(t)
  await topic()
  const number = await repository.pullRequests.open({ head: 'topic' })
  repository.isPrivate = true
  github.addToken({ token: 'some', repositories: [repository], rights: ['contents', 'issues'] })
  t.equal((await get(`/pulls/${number}`, 'some')).status, 403)
  t.equal((await get(`/issues/${number}`, 'some')).status, 200)
  t.equal((await get('/git/ref/heads/topic', 'some')).status, 200)
  clock.now += MINUTE
  repository.answering.replicaLagMs = 2 * MINUTE
  t.equal((await get(`/issues/${number}`, 'some')).status, 404)
  repository.answering.replicaLagMs = 0
  github.rename(repository, 'acme/new')
  const moved = await get(`/issues/${number}?x=1`, 'some')
  t.equal(moved.headers.get('location'), `${github.url}/repositories/${repository.id}/issues/${number}?x=1`)
  const headers = { authorization: 'Bearer some' }
  t.equal((await fetch(moved.headers.get('location')!, { headers })).status, 200)
})
