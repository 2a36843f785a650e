/** Lives of merges whose base is gone, or that a host tells in few words; and of what is deleted and made anew. */
import { waysOf } from '../../destinations/forge/gitea.ts'
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  FORGEJO,
  FORGES,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

const OPEN = 'codehost.pull_request.open'
const MERGE = 'codehost.pull_request.merge'
const ISSUE = 'codehost.issue.close'
const PUSH = 'codehost.commit.push'

type How = 'merge' | 'squash' | 'rebase' | 'fast-forward'

/** A pull request into `base`, merged at the claim. */
function merged({ repository }: ForgePlace, base: string, how: How) {
  return [
    at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic', base })),
    at(0, 'agent', () => repository.pullRequests.merge(1, { how })),
  ]
}

async function withRelease(place: ForgePlace): Promise<ForgePlace> {
  await place.repository.push('release-1', place.base)
  return place
}

const basesGone: readonly ForgeLife[] = (['merge', 'squash'] as const).flatMap((how): ForgeLife[] => [
  {
    name: `a ${how}, and its base is deleted two seconds after, before the first look`,
    action: MERGE,
    right: VERIFIED,
    async play(place) {
      const { slug, repository } = await withRelease(place)
      const happens = [
        ...merged(place, 'release-1', how),
        at(2 * SECOND, 'bot', () => repository.deleteBranch('release-1')),
      ]
      return { target: slug, params: { number: 1, base: 'release-1' }, happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: `a ${how}, and its base has been gone for an hour`,
    action: MERGE,
    right: VERIFIED,
    async play(place) {
      const { slug, repository } = await withRelease(place)
      const happens = [
        at(-2 * HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic', base: 'release-1' })),
        at(-2 * HOUR + MINUTE, 'agent', () => repository.pullRequests.merge(1, { how })),
        at(-HOUR, 'owner', () => repository.deleteBranch('release-1')),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
  {
    name: `a ${how} into another base, which is gone`,
    action: MERGE,
    truth: 'elsewhere',
    right: BLAME,
    async play(place) {
      const { slug, repository } = await withRelease(place)
      const happens = [
        at(-2 * HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic', base: 'release-1' })),
        at(-2 * HOUR + MINUTE, 'agent', () => repository.pullRequests.merge(1, { how })),
        at(-HOUR, 'owner', () => repository.deleteBranch('release-1')),
      ]
      return { target: slug, params: { number: 1, base: 'main' }, happens }
    },
  },
])

/** At a server that does not say whether pull requests may be called merged by hand. */
function withoutAWord(place: ForgePlace): ForgePlace {
  waysOf(place.standIn).tellsManualMerges = false
  return place
}

const withoutWords: readonly ForgeLife[] = [
  ...(['merge', 'squash', 'rebase', 'fast-forward'] as const).map(
    (how): ForgeLife => ({
      name: `merged by ${how}`,
      action: MERGE,
      right: VERIFIED,
      play: (place) => ({
        target: place.slug,
        params: { number: 1, base: 'main' },
        happens: merged(withoutAWord(place), 'main', how),
      }),
    }),
  ),
  {
    name: 'merged by squash, and submitted eight minutes later',
    action: MERGE,
    right: VERIFIED,
    play: (place) => ({
      target: place.slug,
      params: { number: 1 },
      happens: merged(withoutAWord(place), 'main', 'squash'),
      submittedMs: 8 * MINUTE,
    }),
  },
  {
    name: 'called merged by hand, as a commit that the base had before',
    action: MERGE,
    truth: 'never',
    right: NOT_VERIFIED,
    play(place) {
      const { slug, repository, base } = withoutAWord(place)
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(-SECOND, 'liar', () => repository.pullRequests.markMerged(1, base)),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
  {
    name: 'called merged by hand, as a commit that is on no branch',
    action: MERGE,
    truth: 'never',
    right: NOT_VERIFIED,
    play(place) {
      const { slug, repository, head } = withoutAWord(place)
      const happens = [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(-SECOND, 'liar', () => repository.pullRequests.markMerged(1, head)),
      ]
      return { target: slug, params: { number: 1 }, happens }
    },
  },
  {
    name: 'still open',
    action: MERGE,
    truth: 'never',
    right: BLAME,
    play: (place) => ({
      target: place.slug,
      params: { number: 1 },
      happens: [at(-HOUR, 'agent', () => withoutAWord(place).repository.pullRequests.open({ head: 'topic' }))],
    }),
  },
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
const tellsAge = (forge: Forge) => forge !== BITBUCKET_SERVER

const remade: readonly ForgeLife[] = [
  {
    name: 'the repository, before the first look',
    action: PUSH,
    where: tellsAge,
    right: NOT_BLAMED,
    play(place) {
      let sha = ''
      const { slug, repository, base } = place
      const happens = [
        at(-200, 'agent', async () => {
          sha = await repository.commit({ parents: [base] })
          await repository.push('main', sha)
        }),
        remadeAt(place, 2 * SECOND),
      ]
      return { target: slug, params: () => ({ sha, branch: 'main' }), happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'the repository, after the first look',
    action: PUSH,
    right: VERIFIED,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.base, branch: 'main' },
      happens: [remadeAt(place, 5 * SECOND)],
    }),
  },
  {
    name: 'the repository, before the first look, with a pull request in it',
    action: OPEN,
    where: tellsAge,
    right: NOT_BLAMED,
    play: (place) => ({
      target: place.slug,
      params: { number: 1 },
      happens: [
        at(0, 'agent', () => place.repository.pullRequests.open({ head: 'topic' })),
        remadeAt(place, 2 * SECOND),
      ],
      submittedMs: 3 * SECOND,
    }),
  },
  {
    name: 'an issue is deleted before the first look, and there are newer ones',
    action: ISSUE,
    where: ({ hasIssues }) => hasIssues,
    right: NOT_BLAMED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1 },
      happens: [
        at(-2 * DAY, 'owner', () => repository.issues.open()),
        at(-DAY, 'owner', () => repository.issues.open()),
        at(0, 'agent', () => repository.issues.close(1)),
        at(2 * SECOND, 'owner', () => repository.issues.delete(1)),
      ],
      submittedMs: 3 * SECOND,
    }),
  },
  {
    name: 'an issue is deleted after the first look',
    action: ISSUE,
    where: ({ hasIssues }) => hasIssues,
    right: VERIFIED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1 },
      happens: [
        at(-2 * DAY, 'owner', () => repository.issues.open()),
        at(0, 'agent', () => repository.issues.close(1)),
        at(MINUTE, 'owner', () => repository.issues.delete(1)),
      ],
    }),
  },
  {
    name: 'a branch, without its newest commit, before the first look',
    action: PUSH,
    where: ({ hasPushLog }) => hasPushLog,
    right: (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED),
    play({ slug, repository, base }) {
      let sha = ''
      const happens = [
        at(-200, 'agent', async () => {
          sha = await repository.commit({ parents: [base] })
          await repository.push('work', sha)
        }),
        at(SECOND, 'bot', () => repository.deleteBranch('work')),
        at(2 * SECOND, 'bot', () => repository.push('work', base)),
      ]
      return { target: slug, params: () => ({ sha, branch: 'work' }), happens, submittedMs: 3 * SECOND }
    },
  },
  {
    name: 'the fork of an open pull request is deleted after two seconds',
    action: OPEN,
    right: VERIFIED,
    async play({ slug, repository, standIn, head }) {
      const fork = await standIn.fork(repository, 'agent/app')
      await fork.push('work', head)
      const happens = [
        at(0, 'agent', () => repository.pullRequests.open({ head: 'work', from: fork })),
        at(2 * SECOND, 'owner', () => standIn.delete(fork)),
      ]
      return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND }
    },
  },
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
