/** Lives of checks of the heads of pull requests: of forks, after merges of every kind, and by what others have that were merged. */
import {
  BITBUCKET,
  checking,
  checkingAll,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  type Scene,
} from './forges.ts'
import { at, type LifeRow, MINUTE, NOT_BLAMED, NOT_VERIFIED, type Play, SECOND, START, VERIFIED } from './life-row.ts'
import { fileOf } from './ran-before.ts'
import {
  before,
  build,
  ELSEWHERE,
  type Ended,
  HONEST,
  merged,
  ofPull,
  opensTopic,
  post,
  RED,
  type Run,
  run,
  runs,
} from './run-scenes.ts'

/** The head of a pull request of a fork. */
async function fromFork(scene: Scene) {
  const { standIn, repository, head } = scene
  const fork = await standIn.fork(repository, 'agent/app')
  await fork.push('work', head)
  const number = await repository.pullRequests.open({ head: 'work', from: fork, at: START - 2 * MINUTE })
  return { fork, number }
}

const forks: readonly ForgeLife[] = [
  checkingAll(
    'a pull request of a fork, where those of others run for their branch, too',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      await merged(scene, ({ number, branch, sha, ms }) => {
        run(scene, ms, { sha, branch })
        run(scene, ms, { sha, ...ofPull(scene, { number, branch }) })
      })
      const { fork, number } = await fromFork(scene)
      const told: Run =
        scene.forge === GITHUB
          ? { source: 'pull_request', branch: 'work', fromRepository: fork.id }
          : ofPull(scene, { number, branch: 'work' })
      return { params: { sha: scene.head }, happens: [runs(scene, -MINUTE, { sha: scene.head, ...told })] }
    },
    { ...HONEST, bars: { seconds: 90 }, where: ({ name }) => name !== 'bitbucket' },
  ),
]

const forkElsewhere: readonly ForgeLife[] = [checkingAll, checking].map((kind, index) =>
  kind(
    `a merge request of a fork, whose pipelines are of the fork${index ? ', named' : ''}`,
    NOT_BLAMED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      const { fork } = await fromFork(scene)
      fork.checks.run({ sha: scene.head, branch: 'work', name: 'build', at: START - MINUTE })
      return { params: { sha: scene.head } }
    },
    HONEST,
  ),
)

/** A pull request of one commit on top of main, which is pushed onto main a minute and a half before the claim. */
async function forwardedToMain({ repository }: Scene) {
  const tip = repository.asOf(Number.POSITIVE_INFINITY).tip('main')!
  const sha = await repository.commit({ parents: [tip], message: 'Work' })
  await repository.push('work', sha, { at: START - 2 * MINUTE })
  const number = await repository.pullRequests.open({ head: 'work', at: START - 2 * MINUTE })
  const ms = -90 * SECOND
  return { number, branch: 'work', sha, push: at(ms, 'agent', () => repository.push('main', sha, { at: START + ms })) }
}

const forwarded: readonly ForgeLife[] = (
  [
    ['red', RED, NOT_VERIFIED, ELSEWHERE, 0],
    ['green', {}, VERIFIED, HONEST, 2 * MINUTE],
  ] as const
).map(([colour, outcome, right, truth, cameMs]) =>
  checkingAll(
    `the head of a pull request is fast-forwarded onto main, whose runs begin two minutes later, in ${colour}`,
    right,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {}, { file: 'deploy' })
      await merged(scene, (of) => run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) }))
      const pull = await forwardedToMain(scene)
      const { sha, push } = pull
      const own = runs(scene, -100 * SECOND, { sha, ...ofPull(scene, pull) })
      const onMain = runs(scene, 2 * MINUTE, { sha, ...outcome })
      return { params: { sha }, happens: [own, push, onMain], cameMs }
    },
    truth,
  ),
)

const mergedHead: readonly ForgeLife[] = (['merge', 'squash'] as const).map((how) =>
  checkingAll(
    `the head of a pull request that was merged by ${how} since`,
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {}, { file: 'deploy' })
      await merged(scene, (of) => run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) }), how)
      const pull = await opensTopic(scene)
      const own = runs(scene, -100 * SECOND, { sha: scene.head, ...ofPull(scene, pull) })
      const merge = at(-80 * SECOND, 'agent', () => scene.repository.pullRequests.merge(pull.number, { how }))
      return { params: { sha: scene.head }, happens: [own, merge] }
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
)

const squashed: readonly ForgeLife[] = (
  [
    ['red', RED, NOT_VERIFIED, ELSEWHERE, 0],
    ['green', {}, VERIFIED, HONEST, 2 * MINUTE],
  ] as const
).map(([colour, outcome, right, truth, cameMs]) =>
  checkingAll(
    `heads that were squashed, and here the runs of the pull request begin two minutes later, in ${colour}`,
    right,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      const tests = (of: { number: number; branch: string }) => ({ file: 'tests', ...ofPull(scene, of) })
      await merged(
        scene,
        (of) => {
          run(scene, of.ms, { sha: of.sha, branch: of.branch })
          run(scene, of.ms + SECOND, { sha: of.sha, ...tests(of) })
        },
        'squash',
      )
      const pull = await opensTopic(scene)
      const pushed = runs(scene, -100 * SECOND, { sha: scene.head, branch: 'topic' })
      const later = runs(scene, 2 * MINUTE, { sha: scene.head, ...tests(pull), ...outcome })
      return { params: { sha: scene.head }, happens: [pushed, later], cameMs }
    },
    truth,
  ),
)

/** Checks that a workflow posts with its token, as reports of tests. */
const report = (scene: Scene, ms: number, sha: string, outcome: Ended = 'success') => {
  const { checks } = scene.repository
  const [found] = checks.suites(Number.POSITIVE_INFINITY).filter((suite) => suite.sha === sha)
  if (found) checks.run({ suite: found.id, name: 'Test Results', isPosted: true, outcome, at: START + ms })
}
const postedByWorkflows: readonly ForgeLife[] = (
  [
    ['red', 'failure', NOT_VERIFIED, ELSEWHERE, 0],
    ['green', 'success', VERIFIED, HONEST, 3 * MINUTE],
  ] as const
).map(([colour, outcome, right, truth, cameMs]) =>
  checkingAll(
    `a check that a workflow posts onto heads comes three minutes later, in ${colour}`,
    right,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      await merged(scene, (of) => {
        run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) })
        report(scene, of.ms + MINUTE, of.sha)
      })
      const pull = await opensTopic(scene)
      const own = runs(scene, -MINUTE, { sha: scene.head, ...ofPull(scene, pull) })
      const later = at(3 * MINUTE, 'ci', () => report(scene, 3 * MINUTE, scene.head, outcome))
      return { params: { sha: scene.head }, happens: [own, later], cameMs }
    },
    truth,
  ),
)

/** Documented at GitLab: a branch runs pipelines until it has a merge request, which then runs its own. */
const switching: readonly ForgeLife[] = [
  checkingAll(
    'a merge request whose first commits ran for their branch, too, and its later ones do not',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      let index = 0
      await merged(scene, (of) => {
        if (index++ < 2) run(scene, of.ms, { sha: of.sha, branch: of.branch })
        run(scene, of.ms + 2 * SECOND, { sha: of.sha, ...ofPull(scene, of) })
      })
      const pull = await opensTopic(scene)
      return {
        params: { sha: scene.head },
        happens: [runs(scene, -MINUTE, { sha: scene.head, ...ofPull(scene, pull) })],
      }
    },
    HONEST,
  ),
]

const approvals: readonly ForgeLife[] = [
  checkingAll(
    'the run of a fork waits for an approval, and is green ten minutes later',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      const { checks } = scene.repository
      const { fork } = await fromFork(scene)
      let id = 0
      const given = { sha: scene.head, source: 'pull_request', branch: 'work', fromRepository: fork.id }
      const happens = [
        at(-MINUTE, 'ci', () => {
          id = checks.run({ ...given, name: 'ci', workflow: fileOf('ci'), outcome: 'action_required' })
        }),
        at(8 * MINUTE, 'owner', () => {
          id = checks.rerun(id)
          checks.start(id)
        }),
        at(10 * MINUTE, 'ci', () => checks.end(id, 'success')),
      ]
      return { params: { sha: scene.head }, happens, cameMs: 10 * MINUTE }
    },
    HONEST,
  ),
  checking(
    'named: the job is skipped',
    NOT_VERIFIED,
    (scene) => [runs(scene, -MINUTE, { ...build, outcome: 'skipped' }), runs(scene, -MINUTE, { file: 'lint' })],
    ELSEWHERE,
  ),
]

const inPlace: readonly ForgeLife[] = [
  checkingAll(
    'an app says that a run failed, and corrects it a few minutes later',
    VERIFIED,
    (scene) => {
      const { checks } = scene.repository
      before(scene, {})
      let id = 0
      const happens = [
        runs(scene, -MINUTE),
        at(-MINUTE, 'ci', () => {
          id = checks.run({ sha: scene.base, app: 'circleci', name: 'e2e', ...RED })
        }),
        at(4 * MINUTE, 'ci', () => checks.end(id, 'success')),
      ]
      return { happens, cameMs: 4 * MINUTE }
    },
    HONEST,
  ),
  checkingAll(
    'a branch whose name no filter of pushes has, where those of all others have',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      await merged(scene, (of) => {
        run(scene, of.ms, { sha: of.sha, branch: of.branch })
        run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) })
      })
      const pull = await opensTopic(scene)
      return {
        params: { sha: scene.head },
        happens: [runs(scene, -MINUTE, { sha: scene.head, ...ofPull(scene, pull) })],
      }
    },
    HONEST,
  ),
  checkingAll(
    'a bot posts statuses about its own pull requests, which are all that was merged lately',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      await merged(
        scene,
        (of) => {
          run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) })
          post(scene, of.ms, { sha: of.sha, context: 'renovate/stability-days', by: 'renovate[bot]' })
        },
        'merge',
        'renovate[bot]',
      )
      const pull = await opensTopic(scene)
      return {
        params: { sha: scene.head },
        happens: [runs(scene, -MINUTE, { sha: scene.head, ...ofPull(scene, pull) })],
      }
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
  checkingAll(
    'two pull requests of one head, into two bases',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      const { repository, head: sha, base } = scene
      await repository.push('release', base)
      const pull = await opensTopic(scene)
      const other = await repository.pullRequests.open({ head: 'topic', base: 'release', at: START - 2 * MINUTE })
      const own = { sha, ...ofPull(scene, pull) }
      return { params: { sha }, happens: [runs(scene, -MINUTE, own), runs(scene, -MINUTE, { ...own, pull: other })] }
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
]

const about = 'settled greens'
const ALL = [GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET]

export const headLives: readonly LifeRow[] = [
  ...livesAt([GITHUB], { about, truth: 'never' }, [...postedByWorkflows, ...approvals, ...inPlace]),
  ...livesAt([GITLAB], { about, truth: 'never' }, [...forkElsewhere, ...switching]),
  ...livesAt(ALL, { about, truth: 'never' }, [...forks, ...forwarded, ...mergedHead, ...squashed]),
]
