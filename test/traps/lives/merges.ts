/** Lives of merges whose base is gone, or that a host tells in few words; and of what is deleted and made anew. */
import { waysOf } from '../../destinations/forge/gitea.ts'
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  closing,
  FORGEJO,
  FORGES,
  type ForgeLife,
  type ForgePlace,
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
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

const RELEASE = { base: 'release-1' }
const WITH_RELEASE = { branches: [RELEASE.base] }

const basesGone: readonly ForgeLife[] = (['merge', 'squash'] as const).flatMap((how) => {
  const goneForAnHour = ({ repository, openPull, mergePull }: Scene) => [
    ...[openPull(-2 * HOUR, RELEASE), mergePull(-2 * HOUR + MINUTE, how)],
    at(-HOUR, 'owner', () => repository.deleteBranch(RELEASE.base)),
  ]
  return [
    merging(
      `a ${how}, and its base is deleted two seconds after, before the first look`,
      VERIFIED,
      ({ repository, openPull, mergePull }) => {
        const remove = at(2 * SECOND, 'bot', () => repository.deleteBranch(RELEASE.base))
        return {
          params: RELEASE,
          happens: [openPull(-HOUR, RELEASE), mergePull(0, how), remove],
          submittedMs: 3 * SECOND,
        }
      },
      WITH_RELEASE,
    ),
    merging(`a ${how}, and its base has been gone for an hour`, VERIFIED, goneForAnHour, WITH_RELEASE),
    merging(
      `a ${how} into another base, which is gone`,
      BLAME,
      (scene) => ({ params: { base: 'main' }, happens: goneForAnHour(scene) }),
      { truth: 'elsewhere', ...WITH_RELEASE },
    ),
  ]
})

/** At a server that does not say whether pull requests may be called merged by hand. */
const withoutAWord: typeof merging = (name, right, set, more) =>
  merging(
    name,
    right,
    (scene) => {
      waysOf(scene.standIn).tellsManualMerges = false
      return set(scene)
    },
    more,
  )

const withoutWords: readonly ForgeLife[] = [
  ...(['merge', 'squash', 'rebase', 'fast-forward'] as const).map((how) =>
    withoutAWord(`merged by ${how}`, VERIFIED, ({ openPull, mergePull }) => ({
      ...{ params: { base: 'main' }, happens: [openPull(), mergePull(0, how)] },
    })),
  ),
  withoutAWord('merged by squash, and submitted eight minutes later', VERIFIED, ({ openPull, mergePull }) => ({
    ...{ happens: [openPull(), mergePull(0, 'squash')], submittedMs: 8 * MINUTE },
  })),
  ...(
    [
      ['called merged by hand, as a commit that the base had before', 'base'],
      ['called merged by hand, as a commit that is on no branch', 'head'],
    ] as const
  ).map(([name, commit]) =>
    withoutAWord(
      name,
      NOT_VERIFIED,
      (scene) => [
        scene.openPull(),
        at(-SECOND, 'liar', () => scene.repository.pullRequests.markMerged(1, scene[commit])),
      ],
      { truth: 'never' },
    ),
  ),
  withoutAWord('still open', BLAME, ({ openPull }) => [openPull()], { truth: 'never' }),
]

/** The repository of that name is deleted, and a new one has its name. */
function remadeAt({ standIn, repository, slug }: ForgePlace, ms: number) {
  return at(ms, 'owner', async () => {
    standIn.delete(repository)
    const other = await standIn.createRepository(slug)
    await other.push('main', await other.commit({ message: 'A new beginning' }))
  })
}

/** Bitbucket Data Center does not tell when a repository was made. */
const DATED = { where: (forge: unknown) => forge !== BITBUCKET_SERVER }

const remade: readonly ForgeLife[] = [
  pushing(
    'the repository, before the first look',
    NOT_BLAMED,
    (scene) => ({ happens: [scene.push(), remadeAt(scene, 2 * SECOND)], submittedMs: 3 * SECOND }),
    DATED,
  ),
  pushing('the repository, after the first look', VERIFIED, (scene) => ({
    ...{ params: { sha: scene.base }, happens: [remadeAt(scene, 5 * SECOND)] },
  })),
  opening(
    'the repository, before the first look, with a pull request in it',
    NOT_BLAMED,
    (scene) => ({ happens: [scene.openPull(0), remadeAt(scene, 2 * SECOND)], submittedMs: 3 * SECOND }),
    DATED,
  ),
  closing(
    'an issue is deleted before the first look, and there are newer ones',
    NOT_BLAMED,
    ({ repository, openIssue, closeIssue }) => {
      const remove = at(2 * SECOND, 'owner', () => repository.issues.delete(1))
      return { happens: [openIssue(), openIssue(-DAY), closeIssue(), remove], submittedMs: 3 * SECOND }
    },
  ),
  closing('an issue is deleted after the first look', VERIFIED, ({ repository, openIssue, closeIssue }) => [
    ...[openIssue(), closeIssue(), at(MINUTE, 'owner', () => repository.issues.delete(1))],
  ]),
  pushing(
    'a branch, without its newest commit, before the first look',
    (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED),
    ({ repository, base, push }) => ({
      params: { branch: 'work' },
      happens: [
        push(-200, 'work'),
        at(SECOND, 'bot', () => repository.deleteBranch('work')),
        at(2 * SECOND, 'bot', () => repository.push('work', base)),
      ],
      submittedMs: 3 * SECOND,
    }),
    { where: ({ hasPushLog }) => hasPushLog },
  ),
  opening(
    'the fork of an open pull request is deleted after two seconds',
    VERIFIED,
    async ({ repository, standIn, head, openPull }) => {
      const fork = await standIn.fork(repository, 'agent/app')
      await fork.push('work', head)
      const happens = [openPull(0, { head: 'work', from: fork }), at(2 * SECOND, 'owner', () => standIn.delete(fork))]
      return { params: { base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  ),
]

const honest = { truth: 'in_time' } as const

export const mergeLives = [
  ...livesAt(
    [GITHUB, GITLAB, GITEA, BITBUCKET, BITBUCKET_SERVER],
    { about: 'bases that are gone', ...honest },
    basesGone,
  ),
  ...livesAt([FORGEJO, GITEA], { about: 'squashed without a word', ...honest }, withoutWords),
  ...livesAt(FORGES, { about: 'deleted and remade', ...honest }, remade),
]
