/** Traps at a git server about branches that come and go: a place that forgets. */
import { git } from '../destinations/git.ts'
import type { GitRepository, GitRepositoryOptions } from '../destinations/git-server.ts'
import { connect } from '../support/connect.ts'
import type { Play, Trap, Truth } from './trap.ts'
import type { World } from './world.ts'

const DAY_MS = 24 * 3_600_000

interface Scene {
  readonly world: World
  readonly slug: string
  readonly repository: GitRepository
  readonly base: string
  /** A commit on top of `base` that the server has, and no branch. */
  readonly sha: string
}

interface Row {
  readonly name: string
  readonly truth: Truth
  readonly verdict: string
  readonly forgets?: boolean
  readonly options?: GitRepositoryOptions
  readonly set: (scene: Scene) => Promise<Partial<Omit<Play, 'target'>>>
}

function gitTrap({ set, options, ...trap }: Row): Trap {
  return {
    ...trap,
    name: `git: ${trap.name}`,
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository(options)
      const sha = await repository.commit({ parents: [base] })
      const { params = { sha, branch: 'main' }, ...rest } = await set({ world, slug, repository, base, sha })
      return { client: world.atGit, target: slug, params, ...(rest.claimed_at ? {} : world.soon()), ...rest } as Play
    },
  }
}

const AMBIGUOUS = 'unverifiable/claim_ambiguous'
const topic = (sha: string) => ({ params: { sha, branch: 'topic' } })
const invented = (digit: string) => ({ params: { sha: digit.repeat(40), branch: 'main' } })

async function prunesAtOnce({ world }: Scene) {
  const client = await world.service.client(world.nextSlug().replace('/', ' '))
  const options = { base_url: world.git.url, prunes_at_once: true }
  await connect(world.service.claimcheck, client.workspaceId, 'git', options)
  return { client }
}

async function mergeAndDelete({ repository, base, sha }: Scene, { squash = false } = {}): Promise<void> {
  await repository.push('topic', sha)
  await repository.push('main', await repository.commit({ parents: squash ? [base] : [base, sha] }))
  await repository.deleteBranch('topic')
}

/** So fast that no read falls between. */
function unseen({ world, slug }: Scene, work: () => Promise<void>): () => Promise<void> {
  return () => world.git.faults.holdDuring(new RegExp(slug), work)
}

export const gitForgetsTraps: readonly Trap[] = [
  ...[true, false].flatMap((squash) => [
    gitTrap({
      name: `pushed, ${squash ? 'squash-' : ''}merged and deleted, claimed a second later`,
      truth: 'in_time',
      verdict: AMBIGUOUS,
      forgets: true,
      set: async (scene) => {
        await mergeAndDelete(scene, { squash })
        await scene.world.clock.sleep(1000)
        return { ...topic(scene.sha), ...scene.world.now(), facts: { branch_listed: false } }
      },
    }),
    gitTrap({
      name: `pushed, ${squash ? 'squash-' : ''}merged and deleted between two reads`,
      truth: 'in_time',
      verdict: AMBIGUOUS,
      forgets: true,
      set: async (scene) => ({
        ...topic(scene.sha),
        meanwhile: unseen(scene, () => mergeAndDelete(scene, { squash })),
      }),
    }),
  ]),
  gitTrap({
    name: 'forced away between two reads, and its server prunes at once',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    set: async (scene) => {
      const { repository, base, sha } = scene
      await repository.push('main', await repository.commit({ parents: [base] }))
      const meanwhile = unseen(scene, async () => {
        await repository.push('main', sha)
        await repository.push('main', await repository.commit({ parents: [base] }))
        await git(repository.folder, ['prune', '--expire=now'])
      })
      return { ...(await prunesAtOnce(scene)), ...scene.world.now(), meanwhile, afterMs: 10_000 }
    },
  }),
  gitTrap({
    name: 'an invented id',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async () => invented('1'),
  }),
  gitTrap({
    name: 'an invented id on a branch that never was',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async () => ({ params: { sha: '2'.repeat(40), branch: 'nowhere' } }),
  }),
  gitTrap({
    name: 'an invented id, and its server prunes at once',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    set: async (scene) => ({ ...invented('3'), ...(await prunesAtOnce(scene)) }),
  }),
  gitTrap({
    name: 'an invented id, claimed for two days ago',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    set: async ({ world }) => ({ ...invented('4'), ...world.times(-2 * DAY_MS, 60_000) }),
  }),
  gitTrap({
    name: 'an invented id at a server that speaks protocol 0',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    options: { protocolVersion: 0 },
    set: async () => invented('5'),
  }),
  gitTrap({
    name: 'pushed and deleted at a server of protocol 0, which says the same of what no branch has',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    options: { protocolVersion: 0, anyObject: false },
    set: async (scene) => {
      await mergeAndDelete(scene, { squash: true })
      return topic(scene.sha)
    },
  }),
  gitTrap({
    name: "another branch's commit, while the claimed one stands",
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    set: async ({ repository, sha }) => {
      await repository.push('other', sha)
      return {}
    },
  }),
  gitTrap({
    name: "another branch's commit, and the claimed one is missing",
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    set: async ({ repository, sha }) => {
      await repository.push('other', sha)
      return topic(sha)
    },
  }),
  gitTrap({
    name: 'a ref that is not UTF-8 is not the ref that its loose reading names',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    set: async ({ repository, sha }) => {
      await repository.pushBytes(Buffer.from('rel\xff', 'latin1'), sha)
      return { params: { sha, branch: 'rel\ufffd' } }
    },
  }),
  gitTrap({
    name: "a redirect to somebody else's repository",
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      await world.git.rename(slug, world.nextSlug())
      return {}
    },
  }),
  gitTrap({
    name: 'renamed by its owner',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      const renamed = `${slug.split('/')[0]}/renamed`
      await world.git.rename(slug, renamed)
      return { ...world.now(), facts: { repository: renamed } }
    },
  }),
  gitTrap({
    name: 'refs/heads/ before the name',
    truth: 'never',
    verdict: '422',
    set: async ({ sha }) => ({ params: { sha, branch: 'refs/heads/main' }, refusal: /`main`/ }),
  }),
]
