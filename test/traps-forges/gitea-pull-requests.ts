/** Traps of pull requests at Gitea and Forgejo: merges by hand, heads that are branches, numbers that issues have, and times of other places. */
import { waysOf } from '../destinations/forge/gitea.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld } from './world.ts'

const MERGE = 'pull_request.merge'
const OPEN = 'pull_request.open'

async function opened(world: ForgeWorld) {
  const ground = await world.topic()
  const pulls = ground.repository.pullRequests
  return { ...ground, pulls, number: await pulls.open({ head: 'topic', at: world.clock.now() - DAY }) }
}

/** In a repository that allows to merge by hand. */
async function byHand(world: ForgeWorld) {
  const ground = await opened(world)
  waysOf(world.standIn).mergingByHand.add(ground.repository)
  const { repository, base, head } = ground
  /** The merge, with the dates of yesterday. */
  const merge = () => repository.commit({ parents: [base, head], date: new Date(world.clock.now() - DAY) })
  return { ...ground, merge }
}

export const giteaPullRequestTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'pull_request.merge: by hand, and really',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, pulls, number, head, merge } = await byHand(world)
      const merge_commit = await merge()
      await repository.push('main', merge_commit)
      await pulls.markMerged(number, merge_commit)
      const params = { number, base: 'main', head_sha: head, merge_commit }
      return { ...world.claim(MERGE, slug, params), facts: { preexisting: undefined } }
    },
  },
  {
    name: 'pull_request.merge: by hand, too late, with the date of yesterday',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, pulls, number, merge } = await byHand(world)
      return {
        ...world.claim(MERGE, slug, { number }),
        afterMs: TOO_LATE,
        async meanwhile() {
          const sha = await merge()
          await repository.push('main', sha)
          await pulls.markMerged(number, sha)
        },
      }
    },
  },
  {
    name: 'pull_request.merge: by hand, too late, with the date of yesterday, and we look later still',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, pulls, number, merge } = await byHand(world)
      const sha = await merge()
      await repository.push('main', sha)
      await pulls.markMerged(number, sha)
      return world.claim(MERGE, slug, { number }, TOO_LATE)
    },
  },
  {
    name: 'pull_request.merge: said by hand to be merged, as a commit that was on the base before',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, pulls, number, base } = await byHand(world)
      await pulls.markMerged(number, base)
      return world.claim(MERGE, slug, { number })
    },
  },
  {
    name: 'pull_request.merge: in time, and we look late',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world)
      await pulls.merge(number, { at: world.clock.now() - 12 * MINUTE })
      return world.claim(MERGE, slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'pull_request.merge: its branch goes on after the merge',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      await pulls.merge(number)
      await repository.push('topic', await repository.commit({ parents: [head] }))
      return { ...world.claim(MERGE, slug, { number, head_sha: head }), facts: { head_sha: head } }
    },
  },
  {
    name: 'pull_request.merge: claimed with what was pushed to its branch after the merge',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      await pulls.merge(number)
      const later = await repository.commit({ parents: [head] })
      await repository.push('topic', later)
      return world.claim(MERGE, slug, { number, head_sha: later })
    },
  },
  {
    name: 'pull_request.merge: of a fork that has a pull request of this number itself',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      const head = await fork.commit({ parents: [base] })
      const other = await fork.commit({ parents: [base] })
      await fork.push('main', base)
      await fork.push('topic', head)
      await fork.push('other', other)
      const number = await repository.pullRequests.open({ head: 'topic', from: fork })
      await fork.pullRequests.open({ head: 'other' })
      await repository.pullRequests.merge(number)
      await fork.deleteBranch('topic')
      return { ...world.claim(MERGE, slug, { number, head_sha: head }), facts: { head_sha: head } }
    },
  },
  {
    name: 'pull_request.open: closed, and claimed with what its branch got since',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      pulls.close(number)
      // The model moves the heads of open ones only, as the host does.
      const later = await repository.commit({ parents: [head] })
      await repository.push('topic', later)
      return world.claim(OPEN, slug, { number, head_sha: later })
    },
  },
  {
    name: 'pull_request.open: the number of an issue, claimed a while ago',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = repository.issues.open({ at: world.clock.now() - DAY })
      await repository.pullRequests.open({ head: 'topic' })
      return world.claim(OPEN, slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'pull_request.open: a number of which nothing is kept',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository } = await world.topic()
      const number = repository.issues.open()
      await repository.pullRequests.open({ head: 'topic' })
      repository.issues.delete(number)
      return world.claim(OPEN, slug, { number })
    },
  },
  {
    name: 'pull_request.open: none yet, claimed a while ago, and the newest may be deleted',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, number } = await opened(world)
      return world.claim(OPEN, slug, { number: number + 1 }, 5 * MINUTE)
    },
  },
  {
    name: 'pull_request.open: taken over late from another place, with the times of that',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.topic({ createdAt: world.clock.now() })
      waysOf(world.standIn).migrated.add(repository)
      const number = await repository.pullRequests.open({ head: 'topic', at: world.clock.now() - 12 * MINUTE })
      return { ...world.claim(OPEN, slug, { number }, 12 * MINUTE), facts: { opened_at: undefined } }
    },
  },
]
