/** Traps of `codehost.commit.push` at Gitea and Forgejo: an activity feed that is late, cut, and silent about those who hide. */
import { waysOf } from '../destinations/forge/gitea.ts'
import type { Play, Trap } from '../traps/trap.ts'
import { DAY, HOUR, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld, Ground } from './world.ts'

/** An account of its own for each trap, which hides what it does. */
let shy = 0
function hidden(world: ForgeWorld): string {
  const by = `shy-${++shy}`
  waysOf(world.standIn).hidden.add(by)
  return by
}

/** A repository, and a commit on top of main that only its author has. */
async function unpushed(world: ForgeWorld): Promise<Ground & { readonly sha: string }> {
  const ground = await world.repository()
  return { ...ground, sha: await ground.repository.commit({ parents: [ground.base] }) }
}

function claimed(world: ForgeWorld, target: string, params: Play['params'], agoMs = 0): Play {
  const claimed_at = new Date(world.clock.now() - agoMs).toISOString()
  return { client: world.client, target, params: { branch: 'main', ...params }, claimed_at }
}

export const giteaPushTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'commit.push: pushed and claimed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha)
      const facts = { repository: slug, repository_id: String(repository.id), head: sha, pusher_matches: true }
      return { ...claimed(world, slug, { sha, pusher: 'agent' }), facts }
    },
  },
  {
    name: 'commit.push: an ancestor of the tip',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', await repository.commit({ parents: [sha] }))
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: pushed by somebody who hides',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha, { by: hidden(world) })
      return { ...claimed(world, slug, { sha }), facts: { pushed_at: undefined } }
    },
  },
  {
    name: 'commit.push: we look late, and the feed has it in time',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha, { at: world.clock.now() - 12 * MINUTE })
      return claimed(world, slug, { sha }, 12 * MINUTE)
    },
  },
  {
    name: 'commit.push: we look late, at the sixth of a push, under a later one',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      let tip = sha
      for (let index = 0; index < 7; index++) tip = await repository.commit({ parents: [tip] })
      await repository.push('main', tip, { at: world.clock.now() - 12 * MINUTE })
      await repository.push('main', await repository.commit({ parents: [tip] }))
      return claimed(world, slug, { sha }, 12 * MINUTE)
    },
  },
  {
    name: 'commit.push: we look late, and who pushed hides',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha, { at: world.clock.now() - 12 * MINUTE, by: hidden(world) })
      return claimed(world, slug, { sha }, 12 * MINUTE)
    },
  },
  {
    name: 'commit.push: we look late, and old entries were removed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha, { at: world.clock.now() - 12 * MINUTE })
      repository.pushes.length = 0
      return claimed(world, slug, { sha }, 12 * MINUTE)
    },
  },
  {
    name: 'commit.push: the feed lags for an hour',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      repository.answering.logLagMs = HOUR
      await repository.push('main', sha)
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: the feed fails',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      repository.answering.logStatus = 500
      await repository.push('main', sha)
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: pushed while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      const meanwhile = () => repository.push('main', sha)
      return { ...claimed(world, slug, { sha }), afterMs: 4 * MINUTE, meanwhile }
    },
  },
  {
    name: 'commit.push: pushed late, with the dates of a commit from before',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base], date: new Date(world.clock.now() - DAY) })
      const meanwhile = () => repository.push('main', sha)
      return { ...claimed(world, slug, { sha }), afterMs: TOO_LATE, meanwhile }
    },
  },
  {
    name: 'commit.push: pushed late, and we look later still',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', sha)
      return claimed(world, slug, { sha }, TOO_LATE)
    },
  },
  {
    name: 'commit.push: forced away by somebody who hides, and pushed again late',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await unpushed(world)
      const now = world.clock.now()
      await repository.push('main', sha, { at: now - 30 * MINUTE })
      await repository.push('main', base, { at: now - 20 * MINUTE, force: true, by: hidden(world) })
      await repository.push('main', sha)
      return claimed(world, slug, { sha }, TOO_LATE)
    },
  },
  {
    name: 'commit.push: on a branch that was deleted, and made again late',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      const now = world.clock.now()
      await repository.push('topic', sha, { at: now - 3 * DAY })
      await repository.deleteBranch('topic', { at: now - 2 * DAY, by: hidden(world) })
      await repository.push('topic', await repository.commit({ parents: [sha] }))
      return claimed(world, slug, { sha, branch: 'topic' }, TOO_LATE)
    },
  },
  {
    name: 'commit.push: pushed late, and a branch that is called like the commit leads to what was there before',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await unpushed(world)
      await repository.push(sha, base, { at: world.clock.now() - 30 * MINUTE })
      await repository.push('main', sha)
      return claimed(world, slug, { sha }, TOO_LATE)
    },
  },
  {
    name: 'commit.push: never pushed',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha } = await unpushed(world)
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: of a pull request from a fork, and on no branch',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      const sha = await fork.commit({ parents: [base] })
      await fork.push('main', sha)
      await repository.pullRequests.open({ head: 'main', from: fork })
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: on another branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('topic', sha)
      return { ...claimed(world, slug, { sha }), facts: { found_on: 'topic' } }
    },
  },
  {
    name: 'commit.push: pushed to the branch, and forced off it again, by the feed, while it is on main',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await unpushed(world)
      const now = world.clock.now()
      await repository.push('topic', sha, { at: now - 4 * MINUTE })
      await repository.push('main', sha, { at: now - 2 * MINUTE })
      await repository.push('topic', base, { at: now - MINUTE, force: true })
      return claimed(world, slug, { sha, branch: 'topic' }, 3 * MINUTE)
    },
  },
  {
    name: 'commit.push: merged, and its branch deleted',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('topic', sha)
      await repository.push('main', sha)
      await repository.deleteBranch('topic')
      return { ...claimed(world, slug, { sha, branch: 'topic' }), facts: { found_on: 'main', branch_listed: false } }
    },
  },
  {
    name: 'commit.push: a tag, claimed as a branch',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      await repository.tag('v1', sha)
      return claimed(world, slug, { sha, branch: 'v1' })
    },
  },
  {
    name: 'commit.push: renamed by its owner, and an ancestor of the tip',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      await repository.push('main', await repository.commit({ parents: [sha] }))
      const renamed = slug.replace('/app', '/renamed')
      world.standIn.rename(repository, renamed)
      return { ...claimed(world, slug, { sha }), facts: { repository: renamed } }
    },
  },
  {
    name: 'commit.push: a private repository that the token does not show',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, base: sha } = await world.repository({ isPrivate: true })
      return claimed(world, slug, { sha })
    },
  },
  {
    name: 'commit.push: a token that may not read code',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      const client = await world.clientWith({ repositories: [repository], contents: false, rights: ['issues'] })
      return { ...claimed(world, slug, { sha }), client }
    },
  },
  {
    name: 'commit.push: a repository that was deleted and made again while the claim waits',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await unpushed(world)
      return {
        ...claimed(world, slug, { sha }),
        afterMs: MINUTE,
        async meanwhile() {
          world.standIn.delete(repository)
          await world.repository({ slug })
        },
      }
    },
  },
]
