/** Traps of `codehost.commit.push` at hosts that show no push log, over the neutral model. */
import { status } from '../destinations/faults.ts'
import type { Play, Trap } from '../traps/trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

/** A claim of a push, of now or of a while ago. */
function pushed(world: ForgeWorld, target: string, sha: string, branch = 'main', agoMs = 0): Play {
  const claimed_at = new Date(world.clock.now() - agoMs).toISOString()
  return { client: world.client, action: 'codehost.commit.push', target, params: { sha, branch }, claimed_at }
}

/** With a commit on its base that only its author has. */
async function ground(world: ForgeWorld, options?: Parameters<ForgeWorld['repository']>[0]) {
  const { slug, repository, base } = await world.repository(options)
  return { slug, repository, base, sha: await repository.commit({ parents: [base] }) }
}

/** Data Center has more between the two parts. */
function inPaths(slug: string): RegExp {
  return new RegExp(`${slug.replace('/', '(?:/|/repos/)')}(?:/|$)`)
}

const TRAPS: readonly Trap<ForgeWorld>[] = [
  {
    name: "the branch's tip",
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      const { id, uuid } = repository
      const repository_id = world.kind.name === 'bitbucket' ? uuid : String(id)
      const facts = { repository: slug, repository_id, head: sha, branch_listed: true, pushed_at: undefined }
      return { ...pushed(world, slug, sha.toUpperCase()), facts }
    },
  },
  {
    name: 'in the middle of a push',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', await repository.commit({ parents: [sha] }))
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'brought by a merge',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base, sha } = await ground(world)
      await repository.push('topic', sha)
      await repository.push('main', await repository.commit({ parents: [base] }))
      await repository.merge('topic', 'main')
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'squashed into another commit',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('topic', sha)
      await repository.merge('topic', 'main', { squash: true })
      return { ...pushed(world, slug, sha), facts: { found_on: 'topic' } }
    },
  },
  {
    name: 'never pushed',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha } = await ground(world)
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'never pushed, to a branch that there is not',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha } = await ground(world)
      return { ...pushed(world, slug, sha, 'topic'), facts: { branch_listed: false } }
    },
  },
  {
    name: 'never pushed, to a repository without commits',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.deleteBranch('main', { at: world.clock.now() - DAY })
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'pushed too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      return { ...pushed(world, slug, sha), afterMs: TOO_LATE, meanwhile: () => repository.push('main', sha) }
    },
  },
  {
    name: 'pushed while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      return { ...pushed(world, slug, sha), afterMs: 3 * MINUTE, meanwhile: () => repository.push('main', sha) }
    },
  },
  {
    name: 'seen, and forced away then',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base, sha } = await ground(world)
      await repository.push('main', sha)
      const other = await repository.commit({ parents: [base] })
      const meanwhile = () => repository.push('main', other, { force: true })
      return { ...pushed(world, slug, sha), afterMs: MINUTE, meanwhile }
    },
  },
  {
    name: 'forced away before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base, sha } = await ground(world)
      await repository.push('main', sha)
      await repository.push('main', base, { force: true })
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'merged by a squash, and the branch deleted before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('topic', sha)
      await repository.merge('topic', 'main', { squash: true })
      await repository.deleteBranch('topic')
      return { ...pushed(world, slug, sha, 'topic'), facts: { branch_listed: false } }
    },
  },
  {
    name: 'on another branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('topic/a', sha)
      return { ...pushed(world, slug, sha), facts: { found_on: 'topic/a' } }
    },
  },
  {
    name: 'on the main branch, and claimed on another',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, base, sha } = await ground(world)
      await repository.push('main', await repository.commit({ parents: [sha] }))
      await repository.push('develop', base)
      return { ...pushed(world, slug, sha, 'develop'), facts: { found_on: 'main' } }
    },
  },
  {
    name: 'pushed to a fork only, which shares its objects',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      await fork.push('main', sha)
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'a branch of a fork, under the name of the upstream',
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      await fork.push('topic', sha)
      return pushed(world, slug, sha, 'topic')
    },
  },
  {
    name: 'histories with two best common ancestors',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const [one, two] = await Promise.all([1, 2].map(() => repository.commit({ parents: [base] })))
      const criss = await repository.commit({ parents: [one!, two!] })
      const cross = await repository.commit({ parents: [two!, one!] })
      await repository.push('main', criss)
      await repository.push('topic', cross)
      return { ...pushed(world, slug, cross), facts: { found_on: 'topic' } }
    },
  },
  {
    name: 'one of two best common ancestors is on both branches',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const [one, two] = await Promise.all([1, 2].map(() => repository.commit({ parents: [base] })))
      await repository.push('main', await repository.commit({ parents: [one!, two!] }))
      return pushed(world, slug, two!)
    },
  },
  {
    name: 'histories that have nothing in common',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    async play(world) {
      const { slug, repository } = await world.repository()
      const sha = await repository.commit()
      await repository.push('pages', sha)
      return { ...pushed(world, slug, sha), facts: { found_on: 'pages' } }
    },
  },
  {
    name: 'a tag in place of the branch',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      await repository.tag('v1', sha)
      return pushed(world, slug, sha, 'v1')
    },
  },
  {
    name: 'the commit in place of the branch',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      return pushed(world, slug, sha, sha)
    },
  },
  {
    name: 'a branch whose name begins with that of another',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('feature/one', sha)
      return { ...pushed(world, slug, sha, 'feature'), facts: { branch_listed: false, found_on: 'feature/one' } }
    },
  },
  {
    name: 'a branch whose name differs in case',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('Topic', sha)
      return { ...pushed(world, slug, sha, 'topic'), facts: { found_on: 'Topic' } }
    },
  },
  ...['feature/a/b', 'fix#12', '100%', 'a+b', 'zweig-ü', 'a&b=c', 'a;b', 'refs/tags/v1'].map(
    (branch): Trap<ForgeWorld> => ({
      name: `a branch that is called ${branch}`,
      truth: 'in_time',
      verdict: 'verified',
      async play(world) {
        const { slug, repository, sha } = await ground(world)
        await repository.push(branch, sha)
        return pushed(world, slug, sha, branch)
      },
    }),
  ),
  {
    name: 'a repository that was renamed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      world.standIn.rename(repository, slug.replace('/app', '/other'))
      return { ...pushed(world, slug, sha), facts: { repository: slug.replace('/app', '/other') } }
    },
  },
  {
    name: 'a repository that went to another owner',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      world.standIn.rename(repository, `evil-${slug}`)
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'a repository that was deleted and made again while the claim waits',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      return {
        ...pushed(world, slug, sha),
        afterMs: MINUTE,
        async meanwhile() {
          world.standIn.delete(repository)
          await world.repository({ slug })
        },
      }
    },
  },
  {
    name: 'a private repository that the token does not show',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world, { isPrivate: true })
      await repository.push('main', sha)
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'a token that was revoked',
    truth: 'never',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, sha } = await ground(world)
      world.standIn.faults.inject({ fault: status(401), on: inPaths(slug) })
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'a host that limits us until after the deadline',
    truth: 'in_time',
    verdict: 'unverifiable/rate_limited',
    forgets: true,
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      world.standIn.faults.inject({ fault: status(429, { 'retry-after': '30' }), on: inPaths(slug) })
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'a replica that lags, and a commit that was never pushed',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      repository.answering.replicaLagMs = 9000
      return pushed(world, slug, sha)
    },
  },
  {
    name: 'twenty claims of one branch',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, sha } = await ground(world)
      await repository.push('main', sha)
      return { ...pushed(world, slug, sha), beside: 19 }
    },
  },
]

/** Of a commit that is elsewhere nothing tells that it was not here, but a look whose answer is of the submission or later. */
export function pushTraps({ isPrompt }: HostKind): Trap<ForgeWorld>[] {
  return TRAPS.map((trap) => {
    const isOpen = !isPrompt && trap.verdict.startsWith('mismatch/')
    const told = isOpen ? { verdict: 'unverifiable/claim_ambiguous', forgets: true } : {}
    return { ...trap, ...told, name: `commit.push: ${trap.name}` }
  })
}
