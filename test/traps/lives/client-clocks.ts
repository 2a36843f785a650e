/** Lives of agents whose clocks are wrong, and of claims that come late: what the submission bounds, and what a log may say. */
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  FORGEJO,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  hasIssues,
  hasReleases,
  isGitHub,
  livesAt,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, type Play, SECOND, UNVERIFIABLE, VERIFIED } from './life-row.ts'

const OPEN = 'codehost.pull_request.open'
const MERGE = 'codehost.pull_request.merge'
const ISSUE = 'codehost.issue.close'
const PUSH = 'codehost.commit.push'
const RELEASE = 'codehost.release.publish'
const TAG = 'v1.0.0'

const provenAtGitHub: ForgeLife['right'] = (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED)

/** As far ahead as is taken. */
const MOST_AHEAD = 5 * MINUTE - SECOND

const openedIssue = ({ repository }: ForgePlace) => at(-2 * DAY, 'owner', () => repository.issues.open())
const openedPull = ({ repository }: ForgePlace) =>
  at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' }))

/** Lies, dated as the clock of a client goes. */
const lies: readonly ForgeLife[] = [
  [MOST_AHEAD, 'five minutes ahead'],
  [90 * SECOND, 'a minute and a half ahead'],
  [-8 * SECOND, 'nine seconds behind'],
].flatMap(([claimedMs, clock]): ForgeLife[] => {
  const dated = { claimedMs: claimedMs as number }
  return [
    {
      name: `an open issue, by a clock ${clock}`,
      action: ISSUE,
      where: hasIssues,
      right: BLAME,
      play: (place) => ({ target: place.slug, params: { number: 1 }, happens: [openedIssue(place)], ...dated }),
    },
    {
      name: `an open pull request that was not merged, by a clock ${clock}`,
      action: MERGE,
      right: BLAME,
      play: (place) => ({ target: place.slug, params: { number: 1 }, happens: [openedPull(place)], ...dated }),
    },
    {
      name: `a commit that was not pushed, by a clock ${clock}`,
      action: PUSH,
      right: BLAME,
      play: async (place) => ({
        target: place.slug,
        params: { sha: await place.repository.commit({ parents: [place.base] }), branch: 'main' },
        ...dated,
      }),
    },
    {
      name: `no such release, by a clock ${clock}`,
      action: RELEASE,
      // At GitLab an answer may be a minute old.
      where: (forge) => hasReleases(forge) && forge !== GITLAB,
      right: BLAME,
      play: ({ slug }) => ({ target: slug, params: { tag: TAG }, ...dated }),
    },
  ]
})

/** Honest work, dated so. */
const honest: readonly ForgeLife[] = [
  [MOST_AHEAD, 'five minutes ahead'],
  [-3 * MINUTE, 'three minutes behind'],
  [-9 * MINUTE, 'nine minutes behind'],
].flatMap(([claimedMs, clock]): ForgeLife[] => {
  const dated = { claimedMs: claimedMs as number }
  return [
    {
      name: `an issue, by a clock ${clock}`,
      action: ISSUE,
      where: hasIssues,
      right: VERIFIED,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [openedIssue(place), at(0, 'agent', () => place.repository.issues.close(1))],
        ...dated,
      }),
    },
    {
      name: `an issue that a bot reopens within two seconds, by a clock ${clock}`,
      action: ISSUE,
      where: hasIssues,
      right: NOT_BLAMED,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [
          openedIssue(place),
          at(0, 'agent', () => place.repository.issues.close(1)),
          at(2 * SECOND, 'bot', () => place.repository.issues.reopen(1)),
        ],
        submittedMs: 3 * SECOND,
        ...dated,
      }),
    },
    {
      name: `a commit that is forced away a minute later, by a clock ${clock}`,
      action: PUSH,
      right: NOT_BLAMED,
      play({ slug, repository, base }) {
        let sha = ''
        const happens = [
          at(-200, 'agent', async () => {
            sha = await repository.commit({ parents: [base], message: 'Work' })
            await repository.push('main', sha)
          }),
          at(MINUTE, 'bot', () => repository.push('main', base, { force: true })),
        ]
        return { target: slug, params: () => ({ sha, branch: 'main' }), happens, ...dated }
      },
    },
    {
      name: `a pull request whose base a bot changes within two seconds, by a clock ${clock}`,
      action: OPEN,
      right: NOT_BLAMED,
      async play({ slug, repository, base }) {
        await repository.push('develop', base)
        const happens = [
          at(0, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
          at(2 * SECOND, 'bot', () => repository.pullRequests.retarget(1, 'develop')),
        ]
        return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs: 3 * SECOND, ...dated }
      },
    },
  ]
})

/** Done at `START`, and claimed as of then by a client that could not send it before. */
const late: readonly ForgeLife[] = [8 * MINUTE, 40 * MINUTE].flatMap((submittedMs): ForgeLife[] => {
  const after = `${submittedMs / MINUTE} minutes after`
  const before = submittedMs < 10 * MINUTE
  // Past the tolerance only a log of the host's own can tell when it came.
  const told: ForgeLife['right'] = (forge) => (before || isGitHub(forge) ? VERIFIED : NOT_BLAMED)
  return [
    {
      name: `an issue, submitted ${after}`,
      action: ISSUE,
      where: hasIssues,
      right: told,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [openedIssue(place), at(0, 'agent', () => place.repository.issues.close(1))],
        submittedMs,
      }),
    },
    {
      name: `an issue that was reopened meanwhile, submitted ${after}`,
      action: ISSUE,
      where: hasIssues,
      right: provenAtGitHub,
      play: (place) => ({
        target: place.slug,
        params: { number: 1 },
        happens: [
          openedIssue(place),
          at(0, 'agent', () => place.repository.issues.close(1)),
          at(5 * MINUTE, 'owner', () => place.repository.issues.reopen(1)),
        ],
        submittedMs,
      }),
    },
    {
      name: `a pull request with its base, submitted ${after}`,
      action: OPEN,
      right: told,
      play: ({ slug, repository }) => ({
        target: slug,
        params: { number: 1, base: 'main' },
        happens: [at(0, 'agent', () => repository.pullRequests.open({ head: 'topic' }))],
        submittedMs,
      }),
    },
    {
      name: `a pull request with its base, which was changed meanwhile, submitted ${after}`,
      action: OPEN,
      right: NOT_BLAMED,
      async play({ slug, repository, base }) {
        await repository.push('develop', base)
        const happens = [
          at(0, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
          at(4 * MINUTE, 'owner', () => repository.pullRequests.retarget(1, 'develop')),
        ]
        return { target: slug, params: { number: 1, base: 'main' }, happens, submittedMs }
      },
    },
    {
      name: `a merge, submitted ${after}`,
      action: MERGE,
      right: told,
      play: (place) => ({
        target: place.slug,
        params: { number: 1, base: 'main' },
        happens: [openedPull(place), at(0, 'agent', () => place.repository.pullRequests.merge(1))],
        submittedMs,
      }),
    },
    {
      name: `a release, submitted ${after}`,
      action: RELEASE,
      where: hasReleases,
      right: (forge) => (before || isGitHub(forge) || forge.name === 'gitlab' ? VERIFIED : NOT_BLAMED),
      play: ({ slug, repository }) => ({
        target: slug,
        params: { tag: TAG },
        happens: [at(0, 'agent', () => repository.releases.create({ tag: TAG }))],
        submittedMs,
      }),
    },
  ]
})

function never(place: ForgePlace, action: string): Play {
  const { slug } = place
  if (action === ISSUE) return { target: slug, params: { number: 1 }, happens: [openedIssue(place)] }
  if (action === MERGE) return { target: slug, params: { number: 1 }, happens: [openedPull(place)] }
  return { target: slug, params: { tag: TAG } }
}

/** Lies that are dated back, or looked at late: a log that is whole blames, and where there is none nobody is. */
const lateLies: readonly ForgeLife[] = [ISSUE, MERGE, RELEASE].flatMap((action): ForgeLife[] => {
  const where = ({ hasIssues, hasReleases }: Forge) =>
    action === ISSUE ? hasIssues : action !== RELEASE || hasReleases
  // What is not merged never was. Of releases no host keeps a log.
  const right: ForgeLife['right'] = (forge) => {
    if (action === MERGE || (action === ISSUE && isGitHub(forge))) return BLAME
    return action === RELEASE ? UNVERIFIABLE : [...BLAME, ...UNVERIFIABLE]
  }
  const lie = { action, where, right, truth: 'never' as const }
  return [
    {
      ...lie,
      name: `${action.split('.').slice(1).join(' ')} that never was, dated four minutes back`,
      play: (place) => ({ ...never(place, action), claimedMs: -4 * MINUTE }),
    },
    {
      ...lie,
      name: `${action.split('.').slice(1).join(' ')} that never was, first looked at 20 s after its submission`,
      play: (place) => ({ ...never(place, action), idleUntilMs: 20 * SECOND }),
    },
  ]
})

const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET, BITBUCKET_SERVER]

export const clientClockLives = [
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET], { about: 'clocks of clients', truth: 'never' }, lies),
  ...livesAt([GITHUB, GITLAB, GITEA], { about: 'clocks of clients', truth: 'in_time' }, honest),
  ...livesAt(FEW, { about: 'late submissions', truth: 'in_time' }, late),
  ...livesAt([GITHUB, GITLAB, GITEA, BITBUCKET_SERVER], { about: 'late submissions', truth: 'never' }, lateLies),
]
