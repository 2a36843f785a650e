/** Traps of `codehost.pull_request.open`, at any host. */
import { status } from '../destinations/faults.ts'
import type { CommonTrap } from './common-trap.ts'
import { DAY, HOUR, MINUTE, TOO_LATE } from './times.ts'

const ACTION = 'pull_request.open'

export const pullRequestOpenTraps: readonly CommonTrap[] = [
  {
    name: 'opened and claimed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, head } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      const params = { number, base: 'main', head_sha: head.toUpperCase() }
      return { ...world.claim(ACTION, slug, params), facts: { state: 'open', base: 'main', head_sha: head } }
    },
  },
  {
    name: 'a draft',
    truth: 'in_time',
    verdict: 'verified',
    at: ({ tellsDrafts }) => tellsDrafts,
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic', draft: true })
      return { ...world.claim(ACTION, slug, { number }), facts: { draft: true } }
    },
  },
  {
    name: 'opened days ago, and claimed now',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - 3 * DAY })
      const preexisting = world.kind.dates.has('open') ? true : undefined
      return { ...world.claim(ACTION, slug, { number }), facts: { preexisting } }
    },
  },
  {
    name: 'opened too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.topic()
      return {
        ...world.claim(ACTION, slug, { number: 1 }),
        afterMs: TOO_LATE,
        meanwhile: async () => void (await repository.pullRequests.open({ head: 'topic' })),
      }
    },
  },
  {
    name: 'opened while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      return {
        ...world.claim(ACTION, slug, { number: 1 }),
        afterMs: 4 * MINUTE,
        meanwhile: async () => void (await repository.pullRequests.open({ head: 'topic' })),
      }
    },
  },
  {
    name: 'never opened',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - DAY })
      return world.claim(ACTION, slug, { number: number + 1 })
    },
  },
  {
    name: 'the number of an issue',
    truth: 'never',
    verdict: 'failed/not_found',
    at: ({ name }) => name === 'github',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = repository.issues.open({ at: world.clock.now() - DAY })
      await repository.pullRequests.open({ head: 'topic' })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'into another base',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({ head: 'topic', base: 'develop' })
      return { ...world.claim(ACTION, slug, { number, base: 'main' }), facts: { base: 'develop' } }
    },
  },
  {
    name: 'with another head',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      return world.claim(ACTION, slug, { number, head_sha: base })
    },
  },
  {
    name: 'retargeted before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - 6 * MINUTE })
      repository.pullRequests.retarget(number, 'develop')
      return world.claim(ACTION, slug, { number, base: 'main' }, 5 * MINUTE)
    },
  },
  {
    name: 'pushed to again before we look',
    truth: 'in_time',
    verdict: ({ datesLogs }) => (datesLogs ? 'verified' : 'unverifiable/claim_ambiguous'),
    forgets: ({ datesLogs }) => !datesLogs,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const openedAt = world.clock.now() - 6 * MINUTE
      const head = await repository.commit({ parents: [base] })
      await repository.push('topic', head, { at: openedAt - MINUTE })
      const number = await repository.pullRequests.open({ head: 'topic', at: openedAt })
      await repository.push('topic', await repository.commit({ parents: [head] }))
      return world.claim(ACTION, slug, { number, head_sha: head }, 5 * MINUTE)
    },
  },
  {
    name: 'a bot pushes onto it within a second, before it is claimed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, head } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - 900 })
      await repository.push('topic', await repository.commit({ parents: [head] }), { by: 'lint-bot' })
      return world.claim(ACTION, slug, { number, head_sha: head })
    },
  },
  {
    name: 'a bot retargets it within a second, before it is claimed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - 900 })
      repository.pullRequests.retarget(number, 'develop', { by: 'flow-bot' })
      return world.claim(ACTION, slug, { number, base: 'main' })
    },
  },
  {
    name: 'with its base and its head, submitted late',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const opened = world.clock.now() - 12 * MINUTE
      const head = await repository.commit({ parents: [base] })
      await repository.push('topic', head, { at: opened - MINUTE })
      const number = await repository.pullRequests.open({ head: 'topic', at: opened })
      return world.claim(ACTION, slug, { number, base: 'main', head_sha: head }, 12 * MINUTE)
    },
  },
  {
    name: 'into another base, submitted late',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({
        ...{ head: 'topic', base: 'develop', at: world.clock.now() - 6 * MINUTE },
      })
      return world.claim(ACTION, slug, { number, base: 'main' }, 5 * MINUTE)
    },
  },
  {
    name: 'forced away after we looked',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base, head } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      const other = await repository.commit({ parents: [base] })
      return {
        ...world.claim(ACTION, slug, { number, head_sha: head }),
        afterMs: MINUTE,
        meanwhile: () => repository.push('topic', other, { force: true }),
      }
    },
  },
  {
    name: 'merged before we look',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, head } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      await repository.pullRequests.merge(number)
      const params = { number, base: 'main', head_sha: head }
      return { ...world.claim(ACTION, slug, params), facts: { state: 'merged' } }
    },
  },
  {
    name: 'closed before we look',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      repository.pullRequests.close(number)
      return { ...world.claim(ACTION, slug, { number }), facts: { state: 'closed' } }
    },
  },
  {
    name: 'from a fork that was deleted',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      const head = await fork.commit({ parents: [base] })
      await fork.push('topic', head)
      const number = await repository.pullRequests.open({ head: 'topic', from: fork })
      world.standIn.delete(fork)
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a replica that lags',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      repository.answering.replicaLagMs = 9000
      const number = await repository.pullRequests.open({ head: 'topic' })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a clock that is an hour ahead',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      repository.answering.clockAheadMs = HOUR
      const number = await repository.pullRequests.open({ head: 'topic' })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a private repository that the token does not show',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.topic({ isPrivate: true })
      const number = await repository.pullRequests.open({ head: 'topic' })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a token that may not read pull requests',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    at: ({ hasRights }) => hasRights,
    async play(world) {
      const { slug, repository } = await world.topic({ isPrivate: true })
      const number = await repository.pullRequests.open({ head: 'topic' })
      const client = await world.clientWith({ repositories: [repository], rights: ['contents', 'issues'] })
      return { ...world.claim(ACTION, slug, { number }), client }
    },
  },
  {
    name: 'a host that is down',
    truth: 'in_time',
    verdict: 'unverifiable/destination_unavailable',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      world.standIn.faults.inject({ fault: status(502), on: new RegExp(slug.replace('/', '(?:/|%2F)'), 'i') })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a repository that was deleted and made again while the claim waits',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository } = await world.topic()
      return {
        ...world.claim(ACTION, slug, { number: 1 }),
        afterMs: MINUTE,
        async meanwhile() {
          world.standIn.delete(repository)
          const { repository: again } = await world.topic({ slug })
          await again.pullRequests.open({ head: 'topic' })
        },
      }
    },
  },
  {
    name: 'a repository that was renamed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      const renamed = slug.replace('/app', '/app-2')
      world.standIn.rename(repository, renamed)
      return { ...world.claim(ACTION, slug, { number }), facts: { repository: renamed } }
    },
  },
]
