/** Traps of `codehost.issue.close`, at any host that has issues. */
import type { CommonTrap } from './common-trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld } from './world.ts'

const ACTION = 'issue.close'

async function opened(world: ForgeWorld) {
  const ground = await world.topic()
  const { issues } = ground.repository
  return { ...ground, issues, number: issues.open({ at: world.clock.now() - DAY }) }
}

export const issueTraps: readonly CommonTrap[] = [
  {
    name: 'closed and claimed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number)
      return { ...world.claim(ACTION, slug, { number }), facts: { state: 'closed' } }
    },
  },
  {
    name: 'closed for the claimed reason',
    truth: 'in_time',
    verdict: 'verified',
    at: ({ hasReasons }) => hasReasons,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number, { reason: 'not_planned' })
      return { ...world.claim(ACTION, slug, { number, reason: 'not_planned' }), facts: { closed_as: 'not_planned' } }
    },
  },
  {
    name: 'closed for another reason',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: ({ hasReasons }) => hasReasons,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number, { reason: 'not_planned' })
      return world.claim(ACTION, slug, { number, reason: 'completed' })
    },
  },
  {
    name: 'a reason at a host that records none',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    at: ({ hasReasons }) => !hasReasons,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number)
      return world.claim(ACTION, slug, { number, reason: 'completed' })
    },
  },
  {
    name: 'open',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, number } = await opened(world)
      return { ...world.claim(ACTION, slug, { number }), facts: { state: 'open' } }
    },
  },
  {
    name: 'open, and claimed a while ago',
    truth: 'never',
    verdict: ({ tellsReopening }) => (tellsReopening ? 'failed/not_found' : 'unverifiable/claim_ambiguous'),
    forgets: ({ tellsReopening }) => !tellsReopening,
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim(ACTION, slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'closed and opened again before we look',
    truth: 'in_time',
    verdict: ({ datesLogs }) => (datesLogs ? 'verified' : 'unverifiable/claim_ambiguous'),
    forgets: ({ datesLogs }) => !datesLogs,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number, { at: world.clock.now() - 4 * MINUTE })
      issues.reopen(number, { at: world.clock.now() - MINUTE })
      return world.claim(ACTION, slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'a bot opens it again within a second, before it is claimed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number, { at: world.clock.now() - 900 })
      issues.reopen(number, { by: 'keep-open-bot' })
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'opened again after we looked',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number)
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: MINUTE,
        meanwhile: async () => issues.reopen(number),
      }
    },
  },
  {
    name: 'closed while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, issues, number } = await opened(world)
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: 4 * MINUTE,
        meanwhile: async () => issues.close(number),
      }
    },
  },
  {
    name: 'closed too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, issues, number } = await opened(world)
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: TOO_LATE,
        meanwhile: async () => issues.close(number),
      }
    },
  },
  {
    name: 'closed too late, and dated back where people can choose the time',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    at: ({ dates }) => !dates.has('close'),
    async play(world) {
      const { slug, issues, number } = await opened(world)
      const shownAt = world.clock.now()
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: TOO_LATE,
        meanwhile: async () => issues.close(number, { shownAt }),
      }
    },
  },
  {
    name: 'closed days ago, and claimed now',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.close(number, { at: world.clock.now() - DAY / 2 })
      const facts = world.kind.dates.has('close') ? { preexisting: true } : {}
      return { ...world.claim(ACTION, slug, { number }), facts }
    },
  },
  {
    name: 'never opened',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim(ACTION, slug, { number: number + 7 })
    },
  },
  {
    name: 'deleted',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, issues, number } = await opened(world)
      issues.open({ at: world.clock.now() - DAY })
      issues.close(number)
      issues.delete(number)
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'the number of a pull request that was closed',
    truth: 'never',
    verdict: ({ name }) => (name === 'gitlab' ? 'failed/not_found' : 'unverifiable/claim_ambiguous'),
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = await repository.pullRequests.open({ head: 'topic' })
      repository.pullRequests.close(number)
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a replica that lags',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, issues, number } = await opened(world)
      repository.answering.replicaLagMs = 9000
      issues.close(number)
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'a token that may not read issues',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    at: ({ hasRights }) => hasRights,
    async play(world) {
      const { slug, repository } = await world.topic({ isPrivate: true })
      const number = repository.issues.open()
      repository.issues.close(number)
      const client = await world.clientWith({ repositories: [repository], rights: ['contents', 'pull_requests'] })
      return { ...world.claim(ACTION, slug, { number }), client }
    },
  },
]
