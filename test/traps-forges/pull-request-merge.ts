/** Traps of `codehost.pull_request.merge`, at any host. */
import type { CommonTrap } from './common-trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

const ACTION = 'pull_request.merge'

/** A pull request that is open. */
async function opened(world: ForgeWorld, at?: number) {
  const ground = await world.topic()
  const number = await ground.repository.pullRequests.open({ head: 'topic', ...(at === undefined ? {} : { at }) })
  return { ...ground, pulls: ground.repository.pullRequests, number }
}

function merged(how: HostKind['merges'][number]): CommonTrap {
  return {
    name: `merged: ${how}`,
    truth: 'in_time',
    verdict: 'verified',
    at: ({ merges }) => merges.includes(how),
    async play(world) {
      const { slug, pulls, number, head } = await opened(world)
      const merge_commit = await pulls.merge(number, { how })
      const params = { number, base: 'main', head_sha: head, merge_commit }
      return {
        ...world.claim(ACTION, slug, params),
        facts: { state: 'merged', merge_commit, merge_commit_on_base: true },
      }
    },
  }
}

export const pullRequestMergeTraps: readonly CommonTrap[] = [
  merged('merge'),
  merged('squash'),
  merged('fast-forward'),
  merged('rebase'),
  merged('squash-merge'),
  {
    name: 'closed, which is not merged',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      pulls.close(number)
      return { ...world.claim(ACTION, slug, { number }), facts: { state: 'closed' } }
    },
  },
  {
    name: 'open still, and claimed a while ago',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, number } = await opened(world, world.clock.now() - DAY)
      return { ...world.claim(ACTION, slug, { number }, 5 * MINUTE), facts: { state: 'open' } }
    },
  },
  {
    name: 'the test merge of an open one, claimed as its merge',
    truth: 'never',
    verdict: 'failed/not_found',
    at: ({ name }) => name === 'github',
    async play(world) {
      const { slug, repository, number } = await opened(world)
      const { testMerge } = repository.asOf().pullRequest(number)!
      return world.claim(ACTION, slug, { number, merge_commit: testMerge })
    },
  },
  {
    name: 'merged too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: TOO_LATE,
        meanwhile: async () => void (await pulls.merge(number)),
      }
    },
  },
  {
    name: 'merged while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      return {
        ...world.claim(ACTION, slug, { number }),
        afterMs: 3 * MINUTE,
        meanwhile: async () => void (await pulls.merge(number)),
      }
    },
  },
  {
    name: 'merged days ago, and claimed now',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - 3 * DAY)
      await pulls.merge(number, { at: world.clock.now() - 2 * DAY })
      const preexisting = world.kind.dates.has('merge') ? true : undefined
      return { ...world.claim(ACTION, slug, { number }), ...(preexisting ? { facts: { preexisting } } : {}) }
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
      await repository.pullRequests.merge(number)
      return { ...world.claim(ACTION, slug, { number, base: 'main' }), facts: { base: 'develop' } }
    },
  },
  {
    name: 'retargeted after the claim, and merged there',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({ head: 'topic' })
      return {
        ...world.claim(ACTION, slug, { number, base: 'main' }),
        afterMs: MINUTE,
        async meanwhile() {
          repository.pullRequests.retarget(number, 'develop')
          await repository.pullRequests.merge(number)
        },
      }
    },
  },
  {
    name: 'another head',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      await repository.push('topic', await repository.commit({ parents: [head] }))
      await pulls.merge(number)
      return world.claim(ACTION, slug, { number, head_sha: head })
    },
  },
  {
    name: 'another merge commit',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, pulls, number, base } = await opened(world)
      await pulls.merge(number)
      return world.claim(ACTION, slug, { number, merge_commit: base })
    },
  },
  {
    name: 'forced off the base since',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, pulls, number, base } = await opened(world)
      await pulls.merge(number)
      await repository.push('main', base, { force: true })
      return { ...world.claim(ACTION, slug, { number }), facts: { merge_commit_on_base: false } }
    },
  },
  {
    name: 'the base was deleted since',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.topic()
      await repository.push('develop', base)
      const number = await repository.pullRequests.open({ head: 'topic', base: 'develop' })
      await repository.pullRequests.merge(number)
      await repository.deleteBranch('develop')
      return world.claim(ACTION, slug, { number, base: 'develop' })
    },
  },
  {
    name: 'the merged branch was deleted',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      await pulls.merge(number)
      await repository.deleteBranch('topic')
      return world.claim(ACTION, slug, { number, head_sha: head })
    },
  },
  {
    name: 'said to be merged, by a commit that no branch has',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, pulls, number, base } = await opened(world)
      await pulls.markMerged(number, await repository.commit({ parents: [base] }))
      return world.claim(ACTION, slug, { number })
    },
  },
  {
    name: 'never opened',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim(ACTION, slug, { number: number + 5 })
    },
  },
  {
    name: 'a replica that lags',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, pulls, number } = await opened(world, world.clock.now() - DAY)
      repository.answering.replicaLagMs = 9000
      await pulls.merge(number)
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
      await repository.pullRequests.merge(number)
      const client = await world.clientWith({ repositories: [repository], rights: ['contents', 'issues'] })
      return { ...world.claim(ACTION, slug, { number }), client }
    },
  },
]
