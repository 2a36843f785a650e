/** Lies whose truth is in lists that are long, cut or elsewhere: noise and early dates hide none of it, and what was true is found in it, too. */
import { status } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  closing,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
  merging,
  opening,
  pushing,
  type Scene,
} from './forges.ts'
import { at, BLAME, DAY, type Happening, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

const onlyGitHub = { where: isGitHub }
const ELSEWHERE = { truth: 'elsewhere' } as const
const HONEST = { truth: 'in_time' } as const
const TWO_BASES = { branches: ['develop', 'release'] }
/** The lists of the others are not read by kinds. */
const toldAtGitHub = (told: ForgeLife['right'], otherwise: readonly string[]): ForgeLife['right'] => {
  return (forge) => (isGitHub(forge) ? (told as readonly string[]) : otherwise)
}

/** So many forced moves of the branch to and fro, each by itself. */
const forcedToAndFro = ({ repository, base }: Scene, ms: number, count: number): Happening =>
  at(ms, 'liar', async () => {
    const other = await repository.commit({ parents: [base], message: 'To and fro' })
    for (let index = 0; index < count; index++) {
      await repository.push('main', index % 2 === 0 ? other : base, { force: true })
    }
  })
const fill = ({ repository }: Scene, ms: number, count: number, branch = 'main') =>
  at(ms, 'liar', () => repository.fillLog(branch, count))
/** Decided by the looks right after the submission. */
const dated = (ms: number) => ({ claimedMs: ms, submittedMs: SECOND })
const onTopic = ({ head }: Scene) => ({ params: { sha: head } })

const pushes: readonly ForgeLife[] = [
  ...[301, 900].map((count) =>
    pushing(
      `a commit of another branch, and ${count} empty pushes before the submission`,
      toldAtGitHub(BLAME, NOT_VERIFIED),
      (scene) => ({ ...onTopic(scene), happens: [fill(scene, -MINUTE, count)] }),
      ELSEWHERE,
    ),
  ),
  pushing(
    'a commit of another branch, and 301 forced moves of this one',
    BLAME,
    (scene) => ({ ...onTopic(scene), happens: [forcedToAndFro(scene, -MINUTE, 301)] }),
    { ...ELSEWHERE, ...onlyGitHub },
  ),
  pushing(
    'a commit of another branch, dated three days back on a busy one',
    toldAtGitHub(BLAME, NOT_VERIFIED),
    (scene) => ({
      ...{ ...onTopic(scene), ...dated(-3 * DAY) },
      happens: [4, 3, 2, 1].map((days) => fill(scene, -days * DAY + HOUR, 130)),
    }),
    ELSEWHERE,
  ),
  pushing(
    'a commit that was on the branch three days ago, which is busy since',
    toldAtGitHub(VERIFIED, NOT_BLAMED),
    (scene) => ({
      ...dated(-3 * DAY),
      happens: [scene.push(-3 * DAY), ...[2, 1].map((days) => fill(scene, -days * DAY, 200))],
    }),
    HONEST,
  ),
  pushing(
    'a commit that a bot forced away at once, and 400 pushes before the first look',
    toldAtGitHub(VERIFIED, NOT_BLAMED),
    (scene) => ({
      happens: [scene.push(0), scene.forceBack(2 * SECOND), fill(scene, 2 * SECOND, 400)],
      submittedMs: 3 * SECOND,
    }),
    HONEST,
  ),
]

const label = ({ repository }: Scene, ms: number, count: number) =>
  at(ms, 'liar', () => repository.issues.label(1, count))
const withoutGraphql = ({ standIn }: Scene) => void standIn.faults.inject({ fault: status(404), on: /graphql/ })

const issues: readonly ForgeLife[] = [
  ...[1300, 3000].map((count) =>
    closing(
      `an open issue with ${count} labels of the window`,
      BLAME,
      (scene) => [scene.openIssue(), label(scene, -MINUTE, count)],
      onlyGitHub,
    ),
  ),
  closing('an open issue with 601 labels of the window', BLAME, (scene) => [
    ...[scene.openIssue(), label(scene, -MINUTE, 601)],
  ]),
  closing(
    'an open issue with 3000 labels of the window, where nothing but the list tells of it',
    BLAME,
    (scene) => {
      withoutGraphql(scene)
      return [scene.openIssue(), label(scene, -MINUTE, 3000)]
    },
    onlyGitHub,
  ),
  closing(
    'an open issue with 1300 labels of the window, read without a token',
    BLAME,
    (scene) => [scene.openIssue(), label(scene, -MINUTE, 1300)],
    { ...onlyGitHub, visit: { token: 'none' } },
  ),
  ...([true, false] as const).map((hasGraphql) =>
    closing(
      `closed, reopened by a bot, and labelled 1300 times, ${hasGraphql ? 'with' : 'without'} GraphQL`,
      VERIFIED,
      (scene) => {
        if (!hasGraphql) withoutGraphql(scene)
        const { openIssue, closeIssue, reopenIssue } = scene
        return {
          happens: [
            openIssue(),
            label(scene, -MINUTE, 700),
            closeIssue(),
            reopenIssue(2 * SECOND),
            label(scene, 2500, 600),
          ],
          submittedMs: 3 * SECOND,
        }
      },
      { ...HONEST, ...onlyGitHub },
    ),
  ),
]

/** Opened from a fork, which is deleted before the first look. */
const fromGoneFork =
  (
    act: (scene: Scene & { fork: Scene['repository'] }) => readonly Happening[],
    params: Readonly<Record<string, unknown>>,
  ) =>
  async (scene: Scene) => {
    const { standIn, repository, head } = scene
    const fork = await standIn.fork(repository, 'agent/app')
    await fork.push('work', head)
    const open = scene.openPull(-HOUR, { head: 'work', from: fork })
    const remove = at(2 * SECOND, 'owner', () => standIn.delete(fork))
    return { params, happens: [open, ...act({ ...scene, fork }), remove], submittedMs: 3 * SECOND }
  }

const pulls: readonly ForgeLife[] = [
  opening(
    'another head, of a branch of the repository, and the fork is gone',
    BLAME,
    async (scene) => {
      const other = await scene.repository.commit({ parents: [scene.base], message: 'Another' })
      await scene.repository.push('other', other)
      return fromGoneFork(() => [], { head_sha: other })(scene)
    },
    { ...ELSEWHERE, ...onlyGitHub },
  ),
  opening(
    'another head, which is nowhere, and the fork is gone',
    BLAME,
    fromGoneFork(() => [], { head_sha: 'a'.repeat(40) }),
    {
      ...ELSEWHERE,
      ...onlyGitHub,
    },
  ),
  opening(
    'its head was forced away by a bot, and the fork is gone',
    NOT_BLAMED,
    async (scene) => {
      const rebase = ({ fork }: { fork: Scene['repository'] }) =>
        at(SECOND, 'bot', async () => {
          await fork.push('work', await fork.commit({ parents: [scene.base], message: 'Rebased' }), { force: true })
        })
      return fromGoneFork((all) => [rebase(all)], { head_sha: scene.head })(scene)
    },
    { ...HONEST, ...onlyGitHub },
  ),
  opening(
    'its head got a commit by a bot, and the fork is gone',
    NOT_BLAMED,
    async (scene) => {
      const lint = ({ fork }: { fork: Scene['repository'] }) =>
        at(SECOND, 'bot', async () => fork.push('work', await fork.commit({ parents: [scene.head], message: 'Lint' })))
      return fromGoneFork((all) => [lint(all)], { head_sha: scene.head })(scene)
    },
    { ...HONEST, ...onlyGitHub },
  ),
  opening(
    'another head, and 301 empty pushes of its branch',
    BLAME,
    (scene) => ({
      params: { head_sha: scene.base },
      happens: [scene.openPull(-HOUR), fill(scene, -MINUTE, 301, 'topic')],
    }),
    { ...ELSEWHERE, ...onlyGitHub },
  ),
  opening(
    'retargeted from one base to another, and never into the claimed one',
    toldAtGitHub(BLAME, NOT_VERIFIED),
    ({ repository, openPull }) => ({
      params: { base: 'release' },
      happens: [openPull(-MINUTE), at(-SECOND, 'bot', () => repository.pullRequests.retarget(1, 'develop'))],
    }),
    { ...ELSEWHERE, ...TWO_BASES },
  ),
  opening(
    'retargeted by a bot before the first look',
    toldAtGitHub(VERIFIED, NOT_BLAMED),
    ({ openPull, retarget }) => ({
      params: { base: 'main' },
      happens: [openPull(0), retarget(2 * SECOND)],
      submittedMs: 3 * SECOND,
    }),
    { ...HONEST, ...TWO_BASES },
  ),
]

/** Comments, of whomever, between what counts. */
const commented = ({ repository }: Scene, ms: number, count: number) =>
  at(ms, 'liar', () => {
    for (let index = 0; index < count; index++) repository.pullRequests.comment(1)
  })

const busyPulls: readonly ForgeLife[] = [
  opening(
    'another base, and 601 comments of the window',
    // Where answers are old, only the activity since the window began tells, and comments are none of it.
    BLAME,
    (scene) => ({ params: { base: 'develop' }, happens: [scene.openPull(-DAY), commented(scene, -MINUTE, 601)] }),
    { ...ELSEWHERE, ...TWO_BASES },
  ),
  opening(
    'retargeted by a bot before the first look, and 601 comments',
    toldAtGitHub(VERIFIED, NOT_BLAMED),
    (scene) => ({
      params: { base: 'main' },
      happens: [scene.openPull(0), scene.retarget(2 * SECOND), commented(scene, 2500, 601)],
      submittedMs: 3 * SECOND,
    }),
    { ...HONEST, ...TWO_BASES },
  ),
]

/** Of a merge request at GitLab whose target changes where that makes no version. */
const targets: readonly ForgeLife[] = [
  opening(
    'retargeted onto the claimed base while it was closed, after the tolerance',
    NOT_VERIFIED,
    ({ repository: { pullRequests }, openPull }) => ({
      params: { base: 'main' },
      happens: [
        openPull(-HOUR, { base: 'develop' }),
        at(-MINUTE, 'agent', () => pullRequests.close(1)),
        at(11 * MINUTE, 'liar', () => pullRequests.retarget(1, 'main')),
      ],
    }),
    { ...TWO_BASES, truth: 'late' },
  ),
  merging(
    'merged into another base, and retargeted since',
    NOT_VERIFIED,
    ({ repository: { pullRequests }, openPull }) => ({
      params: { base: 'main' },
      happens: [
        openPull(-HOUR, { base: 'develop' }),
        at(-MINUTE, 'agent', () => pullRequests.merge(1, { how: 'fast-forward' })),
        at(-SECOND, 'liar', () => pullRequests.retarget(1, 'main')),
      ],
    }),
    { ...TWO_BASES, truth: 'elsewhere' },
  ),
  merging(
    'merged into the claimed base, and retargeted since by its owner',
    VERIFIED,
    ({ repository: { pullRequests }, openPull, mergePull }) => ({
      params: { base: 'main' },
      happens: [openPull(-HOUR), mergePull(0), at(30 * SECOND, 'owner', () => pullRequests.retarget(1, 'develop'))],
      submittedMs: MINUTE,
    }),
    { ...TWO_BASES, ...HONEST },
  ),
]

const HOSTS = [GITHUB, GITLAB, GITEA, FORGEJO]
const lies = { about: 'what lists tell', truth: 'never' } as const

export const longListLives = [
  ...livesAt(HOSTS, lies, [...pushes, ...issues, ...pulls]),
  ...livesAt([...HOSTS, BITBUCKET], lies, busyPulls),
  ...livesAt([GITLAB], lies, targets),
]
