/** GitLab as a place for traps: in what it differs from other code hosts, and the traps that it alone has. */
import { gitlabKind } from '../destinations/forge/gitlab.ts'
import { settingsOf } from '../destinations/forge/gitlab-answers.ts'
import { StandIn } from '../destinations/forge/stand-in.ts'
import type { Trap } from '../traps/trap.ts'
import { gitlabPushTraps } from './gitlab-push.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const gitlab: HostKind = {
  name: 'gitlab',
  start: (options) => StandIn.start(gitlabKind, options),
  connection: ({ origin }, token) => ({ base_url: origin, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass', 'release.publish', 'issue.close']),
  // Of a merge it writes the time down afterwards; owners choose those of issues.
  dates: new Set(['open', 'release']),
  // A rebase at GitLab comes before the merge, and gives the merge request another head.
  merges: ['merge', 'squash', 'fast-forward', 'squash-merge'],
  runsChecks: true,
  runBy: 'gitlab-ci',
  tellsEarlierRuns: true,
  isPrompt: false,
  tellsReopening: true,
  datesLogs: false,
  hasReasons: false,
  tellsDrafts: true,
  hasRights: true,
}

type Row = Trap<ForgeWorld>

/** A merge request that is open. */
async function opened(world: ForgeWorld, agoMs = DAY) {
  const ground = await world.topic()
  const pulls = ground.repository.pullRequests
  return { ...ground, pulls, number: await pulls.open({ head: 'topic', at: world.clock.now() - agoMs }) }
}

const mergeTraps: readonly Row[] = [
  {
    name: 'looked at after the tolerance, and merged in time by its record',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      await pulls.merge(number, { at: world.clock.now() - 11 * MINUTE })
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'looked at after the tolerance, and recorded as merged too late: the record comes after the merge',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      await pulls.merge(number, { at: world.clock.now() - MINUTE })
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'being merged when we look',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      pulls.beginMerge(number)
      return {
        ...world.claim('pull_request.merge', slug, { number }),
        afterMs: MINUTE,
        meanwhile: async () => void (await pulls.merge(number)),
      }
    },
  },
  {
    name: 'being merged, and never done with it',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      pulls.beginMerge(number)
      return world.claim('pull_request.merge', slug, { number })
    },
  },
  {
    name: 'the number above the newest, which an owner may have deleted, claimed a while ago',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim('pull_request.open', slug, { number: number + 1 }, 5 * MINUTE)
    },
  },
  {
    name: 'a number far above the newest, claimed a while ago',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim('pull_request.open', slug, { number: number + 9 }, 5 * MINUTE)
    },
  },
  {
    name: 'imported after the tolerance, with a time from before the project was made',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.topic()
      const { createdAt } = repository
      return {
        ...world.claim('pull_request.open', slug, { number: 1 }),
        afterMs: TOO_LATE,
        async meanwhile() {
          // The time that it shows, and not that of its appearing.
          const number = await repository.pullRequests.open({ head: 'topic' })
          const shown = repository.asOf().pullRequest(number)!
          Object.assign(shown, { openedAt: createdAt - DAY })
        },
      }
    },
  },
]

/** The tip of main, whose checks are claimed. */
async function checked(world: ForgeWorld) {
  const { slug, repository, base: sha } = await world.repository()
  const checks = repository.checks
  const claim = (named?: readonly { readonly name: string; readonly by: string }[]) =>
    world.claim('checks.pass', slug, named ? { sha, checks: named } : { sha })
  return { repository, sha, checks, suite: checks.suite({ sha }), claim }
}

const checkTraps: readonly Row[] = [
  {
    name: 'all passed but what may fail and what waits for somebody',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'test' })
      checks.run({ suite, name: 'lint', outcome: 'failure', mayFail: true })
      checks.queue({ suite, name: 'deploy', isManual: true, mayFail: true })
      return { ...claim(), facts: { passed: 1, skipped: 2 } }
    },
  },
  {
    name: 'named, failed, and forgiven by its pipeline',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'lint', outcome: 'failure', mayFail: true })
      return claim([{ name: 'lint', by: 'workflow:.gitlab-ci.yml' }])
    },
  },
  {
    name: 'named, and never started by hand',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { suite, checks, claim } = await checked(world)
      checks.queue({ suite, name: 'deploy', isManual: true, mayFail: true })
      return claim([{ name: 'deploy', by: 'pipeline:push' }])
    },
  },
  {
    name: 'a skipped pipeline that the agent made green with a status',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { sha, checks, claim } = await checked(world)
      checks.post({ sha, context: 'test', state: 'success' })
      return claim()
    },
  },
  {
    name: 'failed, and started again by the agent with variables that leave the failing job out',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { sha, suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'test', outcome: 'failure' })
      checks.run({ suite, name: 'build' })
      checks.run({ suite: checks.suite({ sha, at: world.clock.now() + 2000 }), name: 'build' })
      return claim()
    },
  },
  {
    name: 'passed for the push, failed for the merge request',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { sha, suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'test' })
      const branch = 'refs/merge-requests/1/head'
      checks.run({ sha, branch, source: 'merge_request_event', name: 'test', outcome: 'failure' })
      return claim()
    },
  },
  {
    name: 'named by its source, of which it passed; it failed for another',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { sha, suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'test' })
      const branch = 'refs/merge-requests/1/head'
      checks.run({ sha, branch, source: 'merge_request_event', name: 'test', outcome: 'failure' })
      return claim([{ name: 'test', by: 'pipeline:push' }])
    },
  },
  {
    name: 'a job of a child pipeline',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { sha, suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'prepare' })
      checks.run({ suite: checks.suite({ sha, parent: suite }), name: 'unit' })
      return claim([{ name: 'unit', by: 'pipeline:parent_pipeline' }])
    },
  },
  {
    name: 'a child pipeline failed, which its parent may forgive',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { sha, suite, checks, claim } = await checked(world)
      checks.run({ suite, name: 'prepare' })
      checks.run({ suite: checks.suite({ sha, parent: suite }), name: 'unit', outcome: 'failure' })
      return claim()
    },
  },
  {
    name: 'a status that a bot posted, and the claim names the bot',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { sha, checks, claim } = await checked(world)
      checks.post({ sha, context: 'scan', state: 'success', by: 'scan-bot' })
      return claim([{ name: 'scan', by: 'account:scan-bot' }])
    },
  },
  {
    name: 'a status that the agent posted in the name of the bot',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { sha, checks, claim } = await checked(world)
      checks.post({ sha, context: 'scan', state: 'success', by: 'agent' })
      return claim([{ name: 'scan', by: 'account:scan-bot' }])
    },
  },
  {
    name: 'a mistake in the file, so that nothing ran',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { suite, repository, claim } = await checked(world)
      settingsOf(repository).badFiles.add(suite)
      return claim()
    },
  },
]

const TAG = 'v1.0.0'

const releaseTraps: readonly Row[] = [
  {
    name: 'made too late, and dated back by its author',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.repository()
      const releasedAt = world.clock.now() - MINUTE
      return {
        ...world.claim('release.publish', slug, { tag: TAG }),
        afterMs: TOO_LATE,
        meanwhile: async () => void (await repository.releases.create({ tag: TAG, releasedAt })),
      }
    },
  },
  {
    name: 'dated back by its author, looked at after the tolerance',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository } = await world.repository()
      await repository.releases.create({ tag: TAG, releasedAt: world.clock.now() - 14 * MINUTE })
      return world.claim('release.publish', slug, { tag: TAG }, 14 * MINUTE)
    },
  },
  {
    name: 'made, and still to come by its own account',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository } = await world.repository()
      await repository.releases.create({ tag: TAG, releasedAt: world.clock.now() + DAY })
      return world.claim('release.publish', slug, { tag: TAG })
    },
  },
  {
    name: 'the tag was moved long ago, and the release names the commit of its making',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const at = world.clock.now() - 3 * DAY
      await repository.releases.create({ tag: TAG, at })
      await repository.tag(TAG, await repository.commit({ parents: [base] }), { at: at + DAY })
      return world.claim('release.publish', slug, { tag: TAG, commit: base })
    },
  },
]

const issueTraps: readonly Row[] = [
  {
    name: 'closed by moving it to another project',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const [from, to] = [await world.repository(), await world.repository()]
      const number = from.repository.issues.open()
      from.repository.issues.transfer(number, to.repository)
      return world.claim('issue.close', from.slug, { number })
    },
  },
  {
    name: 'closed, and confidential, read by a Reporter',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      const number = repository.issues.open()
      repository.issues.close(number)
      settingsOf(repository).confidential.add(number)
      return world.claim('issue.close', slug, { number })
    },
  },
  {
    name: 'closed, and confidential, hidden from a Guest',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const number = repository.issues.open()
      repository.issues.close(number)
      const settings = settingsOf(repository)
      settings.confidential.add(number)
      settings.role = 10
      return world.claim('issue.close', slug, { number })
    },
  },
  {
    name: 'issues were turned off since',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const number = repository.issues.open()
      repository.issues.close(number)
      settingsOf(repository).off.add('issues')
      return world.claim('issue.close', slug, { number })
    },
  },
  {
    name: 'the newest was closed and deleted, claimed a while ago',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const number = repository.issues.open({ at: world.clock.now() - DAY })
      repository.issues.close(number, { at: world.clock.now() - 5 * MINUTE })
      repository.issues.delete(number)
      return world.claim('issue.close', slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'a number below a newer issue that its owner dated back',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const { issues } = repository
      issues.open()
      const numbers = Array.from({ length: 5 }, () => issues.open({ shownAt: world.clock.now() - 9 * DAY }))
      issues.close(numbers[2]!)
      issues.delete(numbers[2]!)
      return world.claim('issue.close', slug, { number: numbers[2]! }, 5 * MINUTE)
    },
  },
]

const named = (action: string, rows: readonly Row[]) =>
  rows.map((row): Row => ({ ...row, name: `gitlab, ${action}: ${row.name}` }))

export const gitlabTraps: readonly Row[] = [
  ...named('push', gitlabPushTraps),
  ...named('merge request', mergeTraps),
  ...named('checks', checkTraps),
  ...named('release', releaseTraps),
  ...named('issue', issueTraps),
]
