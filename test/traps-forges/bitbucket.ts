/** Bitbucket Cloud, and the traps that are its own. */
import { json, status } from '../destinations/faults.ts'
import { startBitbucket } from '../destinations/forge/bitbucket.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY, MINUTE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const bitbucket: HostKind = {
  name: 'bitbucket',
  start: startBitbucket,
  connection: ({ url }, token) => ({ base_url: url, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass']),
  // A merge is made in the background, and written down then.
  dates: new Set(['open']),
  merges: ['merge', 'squash', 'fast-forward', 'rebase'],
  runsChecks: true,
  runBy: 'bitbucket-pipelines',
  checkName: 'custom/build',
  // A status replaces the one that had its key.
  tellsEarlierRuns: false,
  isPrompt: false,
  tellsReopening: false,
  datesLogs: false,
  hasReasons: false,
  tellsDrafts: true,
  hasRights: true,
}

/** A pull request that is open. */
async function opened(world: ForgeWorld, at?: number) {
  const ground = await world.topic()
  const pulls = ground.repository.pullRequests
  return { ...ground, pulls, number: await pulls.open({ head: 'topic', ...(at === undefined ? {} : { at }) }) }
}

const unit = [{ name: 'Unit tests', by: 'key:unit' }]

export const bitbucketTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'commit.push: a repository that was made after the claim',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, base } = await world.repository({ createdAt: world.clock.now() - MINUTE })
      const sha = await repository.commit({ parents: [base] })
      const claimed_at = new Date(world.clock.now() - 5 * MINUTE).toISOString()
      return { client: world.client, target: slug, params: { sha, branch: 'main' }, claimed_at }
    },
  },
  {
    name: 'merge: the first look comes after the tolerance, and the activity tells that it was in time',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - 11 * MINUTE })
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'merge: comments move the time of the last change, and not that of the merge',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - 11 * MINUTE })
      for (let index = 0; index < 70; index++) pulls.comment(number)
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'merge: more activity since than we read',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - MINUTE })
      for (let index = 0; index < 600; index++) pulls.comment(number)
      return { ...world.claim('pull_request.merge', slug, { number }), facts: { merged_at: undefined } }
    },
  },
  {
    name: 'merge: the beginning of its commit names none any more',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      const landed = await pulls.merge(number)
      const on = new RegExp(`${slug}/commit/${landed.slice(0, 12)}$`)
      world.standIn.faults.inject({ fault: status(404), on })
      return world.claim('pull_request.merge', slug, { number })
    },
  },
  {
    name: 'merge: the beginning of its commit is answered with another commit',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    async play(world) {
      const { slug, pulls, number, base } = await opened(world)
      const landed = await pulls.merge(number)
      const on = new RegExp(`${slug}/commit/${landed.slice(0, 12)}$`)
      world.standIn.faults.inject({ fault: json({ type: 'commit', hash: base }), on })
      return world.claim('pull_request.merge', slug, { number })
    },
  },
  {
    name: 'open: the head commit is known no more, and claimed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, number, head } = await opened(world)
      world.standIn.faults.inject({ fault: status(404), on: new RegExp(`${slug}/commit/${head.slice(0, 12)}$`) })
      return world.claim('pull_request.open', slug, { number, head_sha: head })
    },
  },
  {
    name: 'open: a number below the newest that is not shown',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, number } = await opened(world)
      world.standIn.faults.inject({ fault: status(404), on: new RegExp(`${slug}/pullrequests/${number}$`) })
      return world.claim('pull_request.open', slug, { number })
    },
  },
  {
    name: 'checks: a posted status, by its key',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
      repository.checks.post({ sha, context: 'Lint', state: 'failure' })
      return world.claim('checks.pass', slug, { sha, checks: [{ name: 'Unit tests', by: 'key:UNIT' }] })
    },
  },
  {
    name: 'checks: a posted status that failed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const at = world.clock.now() - 10 * MINUTE
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'failure', at })
      return world.claim('checks.pass', slug, { sha, checks: unit })
    },
  },
  {
    name: 'checks: a posted status whose account is claimed, which nothing tells',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'success', by: 'ci-bot' })
      return world.claim('checks.pass', slug, { sha, checks: [{ name: 'Unit tests', by: 'account:ci-bot' }] })
    },
  },
  {
    name: 'checks: the next build has replaced the one that passed',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests 13 @ unit', state: 'failure' })
      return world.claim('checks.pass', slug, { sha, checks: [{ name: 'Unit tests 12', by: 'key:unit' }] })
    },
  },
  {
    name: "checks: the agent posts a status with Pipelines' name as its key",
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'default @ Bitbucket-Pipelines', state: 'success' })
      return world.claim('checks.pass', slug, { sha, checks: [{ name: 'default', by: 'bitbucket-pipelines' }] })
    },
  },
  {
    name: 'checks: a failed run that was made again, of none named',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const { checks } = repository
      checks.end(checks.rerun(checks.run({ sha, name: 'default', outcome: 'failure' })), 'success')
      return { ...world.claim('checks.pass', slug, { sha }), facts: { passed: 1, failed: 0 } }
    },
  },
  {
    name: 'checks: one definition on two branches, and one of them fails',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.run({ sha, name: 'default', branch: 'main', outcome: 'failure' })
      repository.checks.run({ sha, name: 'default', branch: 'topic' })
      return world.claim('checks.pass', slug, {
        sha,
        checks: [{ name: 'default', by: 'workflow:bitbucket-pipelines.yml' }],
      })
    },
  },
  {
    name: 'checks: a token that may not read pipelines',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.run({ sha, name: 'default' })
      const client = await world.clientWith({ repositories: [repository], rights: ['contents', 'pull_requests'] })
      return { ...world.claim('checks.pass', slug, { sha }), client }
    },
  },
  {
    name: 'checks: a token that may not read pipelines, and a posted status that is named',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
      const client = await world.clientWith({ repositories: [repository], rights: ['contents'] })
      return { ...world.claim('checks.pass', slug, { sha, checks: unit }), client }
    },
  },
]
