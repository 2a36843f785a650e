/** Traps of pushes at GitLab: its log is written after the fact and has holes, and its objects are shared by forks. */
import { settingsOf } from '../destinations/forge/gitlab-answers.ts'
import type { Play, Trap } from '../traps/trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld } from './world.ts'

type Row = Trap<ForgeWorld>

/** A claim of `agoMs` ago that a commit was pushed. */
function push(world: ForgeWorld, target: string, sha: string, { branch = 'main', agoMs = 0 } = {}): Play {
  const claimed_at = new Date(world.clock.now() - agoMs).toISOString()
  return { client: world.client, action: 'codehost.commit.push', target, params: { sha, branch }, claimed_at }
}

/** A project whose main branch was moved an hour before, so that its log says what it has. */
async function lively(world: ForgeWorld, slug?: string) {
  const ground = await world.repository(slug === undefined ? {} : { slug })
  const { repository, base } = ground
  const tip = await repository.commit({ parents: [base] })
  await repository.push('main', tip, { at: world.clock.now() - 60 * MINUTE })
  return { ...ground, tip, sha: await repository.commit({ parents: [tip] }) }
}

export const gitlabPushTraps: readonly Row[] = [
  {
    name: 'in nested groups',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await lively(world, 'nested/tools/deep/app')
      await repository.push('feature/a%2Fb', sha)
      return { ...push(world, slug, sha, { branch: 'feature/a%2Fb' }), facts: { repository: slug, head: sha } }
    },
  },
  {
    name: 'in the middle of a push',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', await repository.commit({ parents: [sha] }))
      return push(world, slug, sha)
    },
  },
  {
    name: 'looked at after the tolerance, and in the log in time',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', sha, { at: world.clock.now() - 11 * MINUTE })
      return push(world, slug, sha, { agoMs: 12 * MINUTE })
    },
  },
  {
    name: 'pushed in time, written into the log after the tolerance',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', sha, { at: world.clock.now() - 4 * MINUTE })
      repository.answering.logLagMs = 3 * MINUTE
      return push(world, slug, sha, { agoMs: 12 * MINUTE })
    },
  },
  {
    name: 'pushed too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      return { ...push(world, slug, sha), afterMs: TOO_LATE, meanwhile: () => repository.push('main', sha) }
    },
  },
  {
    name: 'pushed too late, and dated back in the commit',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, tip } = await lively(world)
      const sha = await repository.commit({ parents: [tip], date: new Date(world.clock.now() - DAY) })
      return { ...push(world, slug, sha), afterMs: TOO_LATE, meanwhile: () => repository.push('main', sha) }
    },
  },
  {
    name: 'pushed with four branches at once, in one event that names none',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await lively(world)
      for (const branch of ['b', 'c', 'd']) await repository.push(branch, base, { at: world.clock.now() - DAY })
      const moves = ['main', 'b', 'c', 'd'].map((branch) => ({ branch, sha }))
      await repository.pushAll(moves, { at: world.clock.now() - 11 * MINUTE })
      return push(world, slug, sha, { agoMs: 12 * MINUTE })
    },
  },
  {
    name: 'never pushed, and known to a fork alone',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      const fork = await world.standIn.fork(repository, `fork-of-${slug}`)
      await fork.push('main', sha)
      return push(world, slug, sha)
    },
  },
  {
    name: 'never pushed, claimed a while ago',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha } = await lively(world)
      return push(world, slug, sha, { agoMs: 9 * MINUTE })
    },
  },
  {
    name: 'forced away, by events that are left out of their page',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, tip, sha } = await lively(world)
      await repository.push('main', sha, { at: world.clock.now() - 8 * MINUTE })
      const next = await repository.commit({ parents: [tip] })
      await repository.push('main', next, { force: true, at: world.clock.now() - 7 * MINUTE })
      for (const { id } of repository.pushes.slice(-2)) settingsOf(repository).hiddenPushes.add(id)
      return push(world, slug, sha, { agoMs: 9 * MINUTE })
    },
  },
  {
    name: 'forced away before the claim, and pushed again too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, tip, sha } = await lively(world)
      const at = world.clock.now()
      await repository.push('main', sha, { at: at - 30 * MINUTE })
      await repository.push('main', tip, { force: true, at: at - 20 * MINUTE })
      return { ...push(world, slug, sha), afterMs: TOO_LATE, meanwhile: () => repository.push('main', sha) }
    },
  },
  {
    name: 'merged, and the branch deleted, before the claim',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('topic', sha, { at: world.clock.now() - 5 * MINUTE })
      await repository.deleteBranch('topic', { at: world.clock.now() - MINUTE })
      return push(world, slug, sha, { branch: 'topic' })
    },
  },
  {
    name: 'the branch was deleted, and made again without the commit',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await lively(world)
      await repository.push('topic', sha, { at: world.clock.now() - 5 * MINUTE })
      await repository.deleteBranch('topic', { at: world.clock.now() - 2 * MINUTE })
      await repository.push('topic', base, { at: world.clock.now() - MINUTE })
      return push(world, slug, sha, { branch: 'topic' })
    },
  },
  {
    name: 'deleted after we looked',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('topic', sha)
      const meanwhile = () => repository.deleteBranch('topic')
      return { ...push(world, slug, sha, { branch: 'topic' }), afterMs: MINUTE, meanwhile }
    },
  },
  {
    name: 'to another branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('topic', sha)
      return { ...push(world, slug, sha), facts: { found_on: 'topic' } }
    },
  },
  {
    name: 'a tag in place of a branch',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.tag('v1', sha)
      return { ...push(world, slug, sha, { branch: 'v1' }), facts: { branch_listed: false } }
    },
  },
  {
    name: 'the id of a commit in place of a branch',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, tip } = await lively(world)
      return { ...push(world, slug, tip, { branch: tip }), facts: { branch_listed: false, found_on: 'main' } }
    },
  },
  {
    name: 'a branch whose name differs in case',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', sha)
      return push(world, slug, sha, { branch: 'Main' })
    },
  },
  {
    name: 'a project that was renamed in its group, as it is claimed under the old name',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', sha)
      world.standIn.rename(repository, slug.replace('/app', '/renamed'))
      return { ...push(world, slug, sha), facts: { repository: repository.slug } }
    },
  },
  {
    name: 'a project that was moved to another group',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await lively(world)
      await repository.push('main', sha)
      world.standIn.rename(repository, slug.replace('/app', '/elsewhere/app'))
      return push(world, slug, sha)
    },
  },
  {
    name: 'a Guest, who sees that the project exists and not its code',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.repository({ isPrivate: true })
      const client = await world.clientWith({ repositories: [repository], rights: ['issues'] })
      return { ...push(world, slug, base), client }
    },
  },
]
