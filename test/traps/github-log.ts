/** Traps about what GitHub's push log shows, or does not, of branches that come and go. */
import type { Answering, ForgeRepository } from '../destinations/forge/model.ts'
import type { Play, Trap, Truth } from './trap.ts'
import type { World } from './world.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface Scene {
  readonly world: World
  readonly slug: string
  readonly repository: ForgeRepository
  readonly base: string
  /** A commit on top of `base`, not pushed. */
  readonly sha: string
}

type Given = Partial<Omit<Play, 'target'>>

interface Row {
  readonly name: string
  readonly truth: Truth
  readonly verdict: string
  readonly forgets?: boolean
  readonly answering?: Partial<Answering>
  readonly createdAt?: (world: World) => number
  /** Claimed: the commit on `main`, `soon()`, read without a connection; but for what this gives. */
  readonly set?: (scene: Scene) => Promise<Given | undefined>
}

export function githubTrap({ set, answering, createdAt, ...trap }: Row): Trap {
  return {
    ...trap,
    play: async (world) => {
      const { slug, repository, base } = await world.repository(createdAt ? { createdAt: createdAt(world) } : {})
      Object.assign(repository.answering, answering)
      const sha = await repository.commit({ parents: [base] })
      const given = (await set?.({ world, slug, repository, base, sha })) ?? {}
      const { params = { sha, branch: 'main' }, ...rest } = given
      return {
        client: world.anonymous,
        target: slug,
        params,
        ...(rest.claimed_at ? {} : world.soon()),
        ...rest,
      } as Play
    },
  }
}

const at = (ms: number) => new Date(Math.floor(ms / SECOND_MS) * SECOND_MS).toISOString()
const topic = (sha: string) => ({ params: { sha, branch: 'topic' } })

/** Pushed to `topic`, merged, and the branch deleted. */
async function mergeAndDelete({ repository, sha }: Scene, options: { squash?: boolean } = {}): Promise<void> {
  await repository.push('topic', sha)
  await repository.merge('topic', 'main', options)
  await repository.deleteBranch('topic')
}

/** So fast that no read falls between. */
function unseen({ repository }: Scene, work: () => Promise<void>): () => Promise<void> {
  return async () => {
    repository.answering.frozenAt = repository.now() - 1
    await work()
    repository.answering.frozenAt = undefined
  }
}

/** Pushed to `topic` and forced away a minute before the claim. */
async function forcedAway({ world, repository, base, sha }: Scene): Promise<void> {
  const now = world.clock.now()
  await repository.push('topic', sha, { at: now - 12 * 60_000 })
  await repository.push('topic', base, { force: true, at: now - 11 * 60_000 })
}

const REFUSED_LOG = { logStatus: 404 } as const

export const githubLogTraps: readonly Trap[] = [
  githubTrap({
    name: 'pushed, merged and deleted, claimed a second later',
    truth: 'in_time',
    verdict: 'verified',
    set: async (scene) => {
      await mergeAndDelete(scene)
      await scene.world.clock.sleep(SECOND_MS)
      const { pushes } = scene.repository
      const [pushed, , removed] = pushes.slice(-3)
      const facts = { pushed_at: at(pushed!.at), removed_at: at(removed!.at), branch_listed: false }
      return { ...topic(scene.sha), ...scene.world.now(), facts }
    },
  }),
  githubTrap({
    name: 'pushed, squash-merged and deleted, claimed a second later',
    truth: 'in_time',
    verdict: 'verified',
    set: async (scene) => {
      await mergeAndDelete(scene, { squash: true })
      await scene.world.clock.sleep(SECOND_MS)
      return { ...topic(scene.sha), ...scene.world.now() }
    },
  }),
  githubTrap({
    name: 'pushed 25 hours ago and deleted whole before the claim',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    set: async ({ world, repository, sha }) => {
      await repository.push('topic', sha, { at: world.clock.now() - 25 * HOUR_MS })
      await repository.deleteBranch('topic')
      return { ...topic(sha), ...world.now() }
    },
  }),
  ...([403, 404] as const).flatMap((logStatus) => [
    githubTrap({
      name: `the log answers ${logStatus}: merged and deleted, claimed a second later`,
      truth: 'in_time',
      verdict: 'unverifiable/claim_ambiguous',
      forgets: true,
      answering: { logStatus },
      set: async (scene) => {
        await mergeAndDelete(scene)
        await scene.world.clock.sleep(SECOND_MS)
        return { ...topic(scene.sha), ...scene.world.now() }
      },
    }),
    githubTrap({
      name: `the log answers ${logStatus}: squash-merged and deleted between two reads`,
      truth: 'in_time',
      verdict: 'unverifiable/claim_ambiguous',
      forgets: true,
      answering: { logStatus },
      set: async (scene) => ({
        ...topic(scene.sha),
        meanwhile: unseen(scene, () => mergeAndDelete(scene, { squash: true })),
      }),
    }),
    githubTrap({
      name: `the log answers ${logStatus}: pushed and claimed`,
      truth: 'in_time',
      verdict: 'verified',
      answering: { logStatus },
      set: async ({ repository, sha }) => {
        await repository.push('main', sha)
        return { facts: { pushed_at: undefined, preexisting: undefined } }
      },
    }),
  ]),
  githubTrap({
    name: 'pushed, squash-merged and deleted between two reads',
    truth: 'in_time',
    verdict: 'verified',
    set: async (scene) => ({
      ...topic(scene.sha),
      meanwhile: unseen(scene, () => mergeAndDelete(scene, { squash: true })),
    }),
  }),
  githubTrap({
    name: 'forced away before the claim, pushed again 3 s after it',
    truth: 'in_time',
    verdict: 'verified',
    set: async (scene) => {
      const { repository, sha, world } = scene
      await forcedAway(scene)
      const meanwhile = () => repository.push('topic', sha, { force: true })
      return { ...topic(sha), ...world.now(), meanwhile, afterMs: 3000 }
    },
  }),
  githubTrap({
    name: 'forced away before the claim, pushed again late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    set: async (scene) => {
      const { repository, sha, world } = scene
      await forcedAway(scene)
      const meanwhile = () => repository.push('topic', sha, { force: true })
      return { ...topic(sha), ...world.times(5000, 60_000), meanwhile, afterMs: 20_000 }
    },
  }),
  githubTrap({
    name: 'forced away before the claim, and not pushed again',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    set: async (scene) => {
      await forcedAway(scene)
      return topic(scene.sha)
    },
  }),
  githubTrap({
    name: 'forced away after the claim, and deleted',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ repository, base, sha }) => {
      await repository.push('topic', sha)
      await repository.push('topic', base, { force: true })
      await repository.deleteBranch('topic')
      return topic(sha)
    },
  }),
  githubTrap({
    name: 'the log lists the push 20 s late, and the branch is gone by then',
    truth: 'in_time',
    verdict: 'verified',
    answering: { logLagMs: 20_000 },
    set: async ({ world, repository, sha }) => {
      await repository.push('topic', sha, { at: world.clock.now() - 10_000 })
      await repository.deleteBranch('topic')
      return { ...topic(sha), ...world.times(5000, 60_000) }
    },
  }),
  githubTrap({
    name: 'first seen after the tolerance, and listed as in time 40 s later',
    truth: 'in_time',
    verdict: 'verified',
    answering: { logLagMs: 60_000 },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha, { at: world.clock.now() - 30_000 })
      return world.times(-1000, 60_000)
    },
  }),
  githubTrap({
    name: 'pushed late, and listed 40 s later',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    answering: { logLagMs: 40_000 },
    set: async ({ world, repository, sha }) => {
      const claim = world.times(-3000, 120_000)
      await repository.push('main', sha)
      return claim
    },
  }),
  githubTrap({
    name: 'pushed in time, seen late, and never listed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: { logLagMs: HOUR_MS },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return world.times(-500, 30_000)
    },
  }),
  githubTrap({
    name: 'a replica 9 s behind, and pushed just before the tolerance ends',
    truth: 'in_time',
    verdict: 'verified',
    answering: { replicaLagMs: 9000 },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha, { at: world.clock.now() - 5000 })
      return world.times(1000, 60_000)
    },
  }),
  githubTrap({
    name: 'a replica 9 s behind, read after the tolerance, and a branch that is deleted again',
    truth: 'in_time',
    verdict: 'verified',
    answering: { replicaLagMs: 9000 },
    set: async ({ world, repository, sha }) => {
      await repository.push('topic', sha, { at: world.clock.now() - 30_000 })
      await repository.deleteBranch('topic')
      return { ...topic(sha), ...world.times(500, 60_000) }
    },
  }),
  githubTrap({
    name: 'a replica 9 s behind, without a log: pushed just before the tolerance ends',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: { replicaLagMs: 9000, ...REFUSED_LOG },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return world.times(1000, 60_000)
    },
  }),
  githubTrap({
    name: 'a replica 9 s behind at the deadline',
    truth: 'never',
    verdict: 'failed/not_found',
    answering: { replicaLagMs: 9000 },
  }),
  githubTrap({
    name: 'more than three pages of log since the claim, and the branch is deleted',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    set: async ({ repository, base, sha }) => {
      await repository.push('topic', sha)
      await repository.push('topic', base, { force: true })
      repository.fillLog('topic', 320)
      await repository.deleteBranch('topic')
      return topic(sha)
    },
  }),
  githubTrap({
    name: 'more than three pages of log since the claim, and a commit that is nowhere',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async ({ repository }) => {
      repository.fillLog('main', 320)
    },
  }),
  githubTrap({
    name: 'a gap in the log, and the branch is gone',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    set: async ({ repository, base, sha }) => {
      await repository.push('topic', base)
      await repository.push('topic', sha)
      await repository.deleteBranch('topic')
      repository.pushes.splice(-2, 1)
      return topic(sha)
    },
  }),
  githubTrap({
    name: 'without a log: forced away between two reads',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: REFUSED_LOG,
    set: async (scene) => {
      const { repository, base, sha } = scene
      await repository.push('topic', await repository.commit({ parents: [base] }))
      const meanwhile = unseen(scene, async () => {
        await repository.push('topic', sha, { force: true })
        await repository.push('topic', await repository.commit({ parents: [base] }), { force: true })
      })
      return { ...topic(sha), meanwhile }
    },
  }),
  githubTrap({
    name: 'without a log: an invented id',
    truth: 'never',
    verdict: 'failed/not_found',
    answering: REFUSED_LOG,
    set: async () => ({ params: { sha: '1'.repeat(40), branch: 'main' } }),
  }),
  githubTrap({
    name: 'without a log: an invented id on a branch that never was',
    truth: 'never',
    verdict: 'failed/not_found',
    answering: REFUSED_LOG,
    set: async () => ({ params: { sha: '2'.repeat(40), branch: 'nowhere' } }),
  }),
  githubTrap({
    name: 'without a log: an invented id, claimed for eight days ago',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    answering: REFUSED_LOG,
    set: async ({ world }) => ({
      params: { sha: '3'.repeat(40), branch: 'main' },
      ...world.times(-8 * DAY_MS, HOUR_MS),
    }),
  }),
  githubTrap({
    name: 'without a log: an invented id, claimed for six days ago',
    truth: 'never',
    verdict: 'failed/not_found',
    answering: REFUSED_LOG,
    set: async ({ world }) => ({
      params: { sha: '4'.repeat(40), branch: 'main' },
      ...world.times(-6 * DAY_MS, HOUR_MS),
    }),
  }),
  ...[{}, REFUSED_LOG].map((answering) =>
    githubTrap({
      name: `a repository younger than the claim${'logStatus' in answering ? ', without a log' : ''}`,
      truth: 'unknowable',
      verdict: 'unverifiable/claim_ambiguous',
      answering,
      createdAt: (world) => world.clock.now() - 60_000,
    }),
  ),
  githubTrap({
    name: 'without a log: an object that the host has, and no branch',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    answering: REFUSED_LOG,
    set: async ({ repository, sha }) => {
      await repository.hold(sha)
    },
  }),
  githubTrap({
    name: 'an object that the host has, and the whole log has not',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async ({ repository, sha }) => {
      await repository.hold(sha)
    },
  }),
  githubTrap({
    name: 'without a log: the only branch of its repository, pushed and deleted',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: REFUSED_LOG,
    set: async ({ repository, sha }) => {
      await repository.push('topic', sha)
      await repository.deleteBranch('main')
      await repository.deleteBranch('topic')
      return topic(sha)
    },
  }),
  githubTrap({
    name: "without a log: a fork's object",
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    answering: REFUSED_LOG,
    set: async ({ world, repository, sha }) => {
      const fork = await world.github.fork(repository, world.nextSlug())
      await fork.push('main', sha)
    },
  }),
  githubTrap({
    name: "without a log: another branch's commit, while the claimed one stands",
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    // Answers may be ten seconds old: without a log, no look is prompt.
    forgets: true,
    answering: REFUSED_LOG,
    set: async ({ repository, sha }) => {
      await repository.push('other', sha)
    },
  }),
  githubTrap({
    name: "without a log: another branch's commit, and the claimed one is missing",
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    answering: REFUSED_LOG,
    set: async ({ repository, sha }) => {
      await repository.push('other', sha)
      return topic(sha)
    },
  }),
  githubTrap({
    name: 'back-dated: pushed now, claimed for two hours ago',
    truth: 'late',
    verdict: 'failed/not_found',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return world.times(-2 * HOUR_MS, 60_000)
    },
  }),
  githubTrap({
    name: 'back-dated: never pushed, claimed for two hours ago',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async ({ world }) => world.times(-2 * HOUR_MS, 60_000),
  }),
  githubTrap({
    name: 'back-dated: on another branch, claimed for two hours ago',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    set: async ({ world, repository, sha }) => {
      await repository.push('other', sha)
      return world.times(-2 * HOUR_MS, 60_000)
    },
  }),
  githubTrap({
    name: 'an old commit',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, base }) => ({
      params: { sha: base, branch: 'main' },
      ...world.now(),
      facts: { preexisting: true },
    }),
  }),
  githubTrap({
    name: "the pusher's name, in another case",
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha, { by: 'octo-agent[bot]' })
      const params = { sha, branch: 'main', pusher: 'Octo-Agent[bot]' }
      return { params, ...world.now(), facts: { pusher_matches: true, preexisting: undefined } }
    },
  }),
  githubTrap({
    name: "somebody else's push",
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha, { by: 'mallory' })
      return { params: { sha, branch: 'main', pusher: 'agent' }, ...world.now(), facts: { pusher_matches: false } }
    },
  }),
  githubTrap({
    name: 'forced away days ago, and pushed again now: by the push that counts',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, base, sha }) => {
      const now = world.clock.now()
      await repository.push('topic', sha, { at: now - 3 * DAY_MS, by: 'mallory' })
      await repository.push('topic', base, { force: true, at: now - 2 * DAY_MS })
      await repository.push('topic', sha, { force: true })
      const params = { sha, branch: 'topic', pusher: 'agent' }
      return { params, ...world.now(), facts: { preexisting: undefined, pusher_matches: true } }
    },
  }),
]
