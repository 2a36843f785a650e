/** GitHub, and the traps that are set at GitHub alone. */
import { startGitHub } from '../destinations/forge/github.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY, HOUR, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const github: HostKind = {
  name: 'github',
  start: startGitHub,
  connection: ({ url }, token) => ({ base_url: url, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass', 'release.publish', 'issue.close']),
  dates: new Set(['open', 'merge', 'release', 'close']),
  merges: ['merge', 'squash', 'rebase'],
  runsChecks: true,
  runBy: 'github-actions',
  tellsEarlierRuns: true,
  isPrompt: true,
  tellsReopening: true,
  datesLogs: true,
  hasReasons: true,
  tellsDrafts: true,
  hasRights: true,
}

const CI = '.github/workflows/ci.yml'
const byFile = { checks: [{ name: 'build', by: `workflow:${CI}` }] }
const byHost = { checks: [{ name: 'build', by: 'github-actions' }] }
/** What fine-grained tokens can be given. */
const FINE_GRAINED = ['contents', 'actions', 'statuses'] as const
const TAG = 'v1.0.0'

const checkTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'named by its workflow',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', workflow: CI })
      return world.claim('checks.pass', slug, { sha, ...byFile })
    },
  },
  {
    name: 'posted by a workflow of the agent, under the name of the app',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
      return { ...world.claim('checks.pass', slug, { sha, ...byFile }), facts: { missing: 1 } }
    },
  },
  {
    name: 'posted by a workflow of the agent, over the job that failed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
      repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
      return { ...world.claim('checks.pass', slug, { sha, ...byHost }), facts: { failed: 1 } }
    },
  },
  {
    name: 'the same, read with a fine-grained token',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
      repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
      const client = await world.clientWith({ repositories: [repository], rights: [...FINE_GRAINED] })
      return { ...world.claim('checks.pass', slug, { sha, ...byHost }), client }
    },
  },
  {
    name: 'none named, the linter has passed, and the slow CI begins later and fails',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'lint', workflow: CI })
      repository.checks.suite({ sha, app: 'slow-ci', isRunByHost: false, at: world.clock.now() - HOUR })
      const meanwhile = async () => {
        repository.checks.run({ sha, name: 'tests', app: 'slow-ci', outcome: 'failure' })
      }
      return { ...world.claim('checks.pass', slug, { sha }), afterMs: 30_000, meanwhile }
    },
  },
  {
    name: 'none named, and only outside CI reports, as it did on the parent',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', sha)
      for (const one of [base, sha])
        repository.checks.post({ sha: one, context: 'ci', state: 'success', by: 'jenkins' })
      return world.claim('checks.pass', slug, { sha })
    },
  },
  {
    name: 'posted by an account that is called like the app',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'build', state: 'success', by: 'github-actions' })
      return world.claim('checks.pass', slug, { sha, ...byHost })
    },
  },
  {
    name: 'without a kind, who reports it is refused',
    truth: 'unknowable',
    verdict: '422',
    async play(world) {
      const { slug, base: sha } = await world.repository()
      const params = { sha, checks: [{ name: 'build', by: 'jenkins' }] }
      return { ...world.claim('checks.pass', slug, params), refusal: /Write `github-actions` for a job/ }
    },
  },
  {
    name: 'none named, and only what a workflow posted',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false })
      return world.claim('checks.pass', slug, { sha })
    },
  },
  {
    name: 'none named, and a workflow waits that shows no check run yet',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', workflow: CI })
      repository.checks.suite({ sha, workflow: '.github/workflows/deploy.yml' })
      return { ...world.claim('checks.pass', slug, { sha }), facts: { passed: 1, pending: 1 } }
    },
  },
  {
    name: 'none named, and a nightly run failed that a later one replaced',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const nightly = { sha, name: 'scan', workflow: '.github/workflows/nightly.yml', source: 'schedule' }
      repository.checks.run({ sha, name: 'build', workflow: CI })
      repository.checks.run({ ...nightly, outcome: 'failure', at: world.clock.now() - 2 * DAY })
      repository.checks.run({ ...nightly, at: world.clock.now() - DAY })
      return world.claim('checks.pass', slug, { sha })
    },
  },
  {
    name: 'none named, and a run failed that began after the claim, before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'build', workflow: CI, at: world.clock.now() - 20 * MINUTE })
      const deploy = { sha, name: 'deploy', workflow: '.github/workflows/deploy.yml', source: 'workflow_dispatch' }
      repository.checks.run({ ...deploy, outcome: 'failure' })
      return world.claim('checks.pass', slug, { sha }, 10 * MINUTE)
    },
  },
  {
    name: 'a status that somebody else replaced since',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const status = { sha, context: 'ci/jenkins' }
      repository.checks.post({ ...status, state: 'success', by: 'jenkins', at: world.clock.now() - 6 * MINUTE })
      repository.checks.post({ ...status, state: 'failure', by: 'mallory' })
      const params = { sha, checks: [{ name: 'ci/jenkins', by: 'account:jenkins' }] }
      return world.claim('checks.pass', slug, params, 5 * MINUTE)
    },
  },
  {
    name: 'a status that failed, and that the agent posted over',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const status = { sha, context: 'ci/jenkins' }
      repository.checks.post({ ...status, state: 'failure', by: 'jenkins' })
      repository.checks.post({ ...status, state: 'success' })
      const params = { sha, checks: [{ name: 'ci/jenkins', by: 'account:jenkins' }] }
      return world.claim('checks.pass', slug, params)
    },
  },
  {
    name: 'a workflow, read with a fine-grained token, which sees no check runs',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.run({ sha, name: 'build', workflow: CI })
      const client = await world.clientWith({ repositories: [repository], rights: [...FINE_GRAINED] })
      return { ...world.claim('checks.pass', slug, { sha, ...byFile }), client }
    },
  },
  {
    name: 'none named, and a fine-grained token, which sees no check runs',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.run({ sha, name: 'build', workflow: CI })
      const client = await world.clientWith({ repositories: [repository], rights: [...FINE_GRAINED] })
      return { ...world.claim('checks.pass', slug, { sha }), client }
    },
  },
]

export const githubTraps: readonly Trap<ForgeWorld>[] = [
  ...checkTraps,
  {
    name: 'a pull request gets the claimed head too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, head } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      const next = await repository.commit({ parents: [head] })
      return {
        ...world.claim('pull_request.open', slug, { number, head_sha: next }),
        afterMs: TOO_LATE,
        meanwhile: () => repository.push('topic', next),
      }
    },
  },
  {
    name: 'a merge, read with a token that sees no contents',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.topic({ isPrivate: true })
      const number = await repository.pullRequests.open({ head: 'topic' })
      await repository.pullRequests.merge(number)
      const client = await world.clientWith({ repositories: [repository], rights: ['pull_requests'] })
      return { ...world.claim('pull_request.merge', slug, { number }), client }
    },
  },
  {
    name: 'a release, read with a token that sees no contents',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository({ isPrivate: true })
      await repository.releases.create({ tag: TAG })
      const client = await world.clientWith({ repositories: [repository], rights: ['pull_requests', 'issues'] })
      return { ...world.claim('release.publish', slug, { tag: TAG }), client }
    },
  },
  {
    name: 'a release that was deleted and published again before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const now = world.clock.now()
      const id = await repository.releases.create({ tag: TAG, at: now - 13 * MINUTE })
      repository.releases.delete(id, { at: now - 2 * MINUTE })
      await repository.releases.create({ tag: TAG, at: now - MINUTE })
      return world.claim('release.publish', slug, { tag: TAG }, 12 * MINUTE)
    },
  },
  {
    name: 'an issue that was closed in time, opened again, and closed once more too late',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      const now = world.clock.now()
      const number = repository.issues.open({ at: now - DAY })
      repository.issues.close(number, { at: now - 11 * MINUTE })
      repository.issues.reopen(number, { at: now - 5 * MINUTE })
      repository.issues.close(number, { at: now - MINUTE })
      return world.claim('issue.close', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'an issue of 301 events, closed and opened again in time',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      const now = world.clock.now()
      const number = repository.issues.open({ at: now - DAY })
      for (let index = 0; index < 150; index++) {
        repository.issues.close(number, { at: now - DAY / 2 })
        repository.issues.reopen(number, { at: now - DAY / 2 })
      }
      repository.issues.close(number, { at: now - 4 * MINUTE })
      repository.issues.reopen(number, { at: now - MINUTE })
      return world.claim('issue.close', slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'an issue that is open, with 302 events of a liar after the time to close it',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository } = await world.repository()
      const now = world.clock.now()
      const number = repository.issues.open({ at: now - DAY })
      for (let index = 0; index < 301; index++) {
        repository.issues.close(number, { at: now - MINUTE, reason: 'duplicate' })
      }
      repository.issues.reopen(number, { at: now })
      return world.claim('issue.close', slug, { number, reason: 'not_planned' }, 12 * MINUTE)
    },
  },
  {
    name: 'an issue whose reason a bot changes within a second',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const now = world.clock.now()
      const number = repository.issues.open({ at: now - DAY })
      repository.issues.close(number, { at: now - 900, reason: 'not_planned' })
      repository.issues.close(number, { at: now, reason: 'duplicate', by: 'triage-bot' })
      return world.claim('issue.close', slug, { number, reason: 'not_planned' })
    },
  },
  {
    name: 'a pull request whose head may not be read, in a fork that is hidden',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const fork = await world.standIn.fork(repository, `hidden/${slug.replace('/', '-')}`)
      const head = await fork.commit({ parents: [base] })
      await fork.push('topic', head)
      const number = await repository.pullRequests.open({ head: 'topic', from: fork })
      fork.isPrivate = true
      return world.claim('pull_request.open', slug, { number, head_sha: base })
    },
  },
  {
    name: 'an issue that was closed too late, before we look',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.repository()
      const number = repository.issues.open({ at: world.clock.now() - DAY })
      repository.issues.close(number, { at: world.clock.now() - MINUTE })
      return world.claim('issue.close', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'an issue whose reason is changed too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.repository()
      const closedAt = world.clock.now()
      const number = repository.issues.open({ at: closedAt - DAY })
      repository.issues.close(number, { at: closedAt, reason: 'not_planned' })
      return {
        ...world.claim('issue.close', slug, { number, reason: 'completed' }),
        afterMs: TOO_LATE,
        // GitHub keeps since when it is closed.
        meanwhile: async () => repository.issues.close(number, { reason: 'completed', shownAt: closedAt }),
      }
    },
  },
  {
    name: 'an issue that was transferred before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const { repository: other } = await world.repository()
      const number = repository.issues.open({ at: world.clock.now() - DAY })
      repository.issues.close(number)
      repository.issues.transfer(number, other)
      return world.claim('issue.close', slug, { number })
    },
  },
]
