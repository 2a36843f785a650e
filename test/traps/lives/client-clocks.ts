/** Lives of agents whose clocks are wrong, and of claims that come late: what the submission bounds, and what a log may say. */
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  closing,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  hasReleases,
  isGitHub,
  livesAt,
  merging,
  opening,
  pushing,
  releasing,
} from './forges.ts'
import { BLAME, HOUR, MINUTE, NOT_BLAMED, type Play, SECOND, UNVERIFIABLE, VERIFIED } from './life-row.ts'

const provenAtGitHub: ForgeLife['right'] = (forge) => (isGitHub(forge) ? VERIFIED : NOT_BLAMED)

/** As far ahead as is taken. */
const MOST_AHEAD = 5 * MINUTE - SECOND
const TWO_BASES = { branches: ['develop'] }

/** Lies, dated as the clock of a client goes. */
const lies: readonly ForgeLife[] = (
  [
    [MOST_AHEAD, 'five minutes ahead'],
    [90 * SECOND, 'a minute and a half ahead'],
    [-8 * SECOND, 'nine seconds behind'],
  ] as const
).flatMap(([claimedMs, clock]) => [
  closing(`an open issue, by a clock ${clock}`, BLAME, ({ openIssue }) => ({ happens: [openIssue()], claimedMs })),
  merging(`an open pull request that was not merged, by a clock ${clock}`, BLAME, ({ openPull }) => ({
    ...{ happens: [openPull()], claimedMs },
  })),
  pushing(`a commit that was not pushed, by a clock ${clock}`, BLAME, async ({ repository, base }) => ({
    ...{ params: { sha: await repository.commit({ parents: [base] }) }, claimedMs },
  })),
  // A clock that is ahead makes no claim fresh, and of releases no host keeps a log.
  releasing(`no such release, by a clock ${clock}`, claimedMs > 0 ? UNVERIFIABLE : BLAME, () => ({ claimedMs }), {
    // At GitLab an answer may be a minute old.
    where: (forge) => hasReleases(forge) && forge !== GITLAB,
  }),
])

/** Honest work, dated so. */
const honest: readonly ForgeLife[] = (
  [
    [MOST_AHEAD, 'five minutes ahead'],
    [-3 * MINUTE, 'three minutes behind'],
    [-9 * MINUTE, 'nine minutes behind'],
  ] as const
).flatMap(([claimedMs, clock]) => [
  closing(`an issue, by a clock ${clock}`, VERIFIED, ({ openIssue, closeIssue }) => ({
    ...{ happens: [openIssue(), closeIssue()], claimedMs },
  })),
  closing(
    `an issue that a bot reopens within two seconds, by a clock ${clock}`,
    NOT_BLAMED,
    ({ openIssue, closeIssue, reopenIssue }) => ({
      ...{ happens: [openIssue(), closeIssue(), reopenIssue(2 * SECOND)], submittedMs: 3 * SECOND, claimedMs },
    }),
  ),
  pushing(`a commit that is forced away a minute later, by a clock ${clock}`, NOT_BLAMED, ({ push, forceBack }) => ({
    ...{ happens: [push(), forceBack(MINUTE)], claimedMs },
  })),
  opening(
    `a pull request whose base a bot changes within two seconds, by a clock ${clock}`,
    NOT_BLAMED,
    ({ openPull, retarget }) => ({
      ...{ params: { base: 'main' }, happens: [openPull(0), retarget(2 * SECOND)] },
      ...{ submittedMs: 3 * SECOND, claimedMs },
    }),
    TWO_BASES,
  ),
])

/** Done at `START`, and claimed as of then by a client that could not send it before. */
const late: readonly ForgeLife[] = [8 * MINUTE, 40 * MINUTE].flatMap((submittedMs): ForgeLife[] => {
  const after = `submitted ${submittedMs / MINUTE} minutes after`
  const isSoon = submittedMs < 10 * MINUTE
  // Past the tolerance only a log of the host's own can tell when it came.
  const told: ForgeLife['right'] = (forge) => (isSoon || isGitHub(forge) ? VERIFIED : NOT_BLAMED)
  const ofRelease: ForgeLife['right'] = (forge) => (forge === GITLAB ? VERIFIED : told(forge))
  const params = { base: 'main' }
  return [
    closing(`an issue, ${after}`, told, ({ openIssue, closeIssue }) => ({
      ...{ happens: [openIssue(), closeIssue()], submittedMs },
    })),
    closing(
      `an issue that was reopened meanwhile, ${after}`,
      provenAtGitHub,
      ({ openIssue, closeIssue, reopenIssue }) => ({
        ...{ happens: [openIssue(), closeIssue(), reopenIssue(5 * MINUTE, 'owner')], submittedMs },
      }),
    ),
    opening(`a pull request with its base, ${after}`, told, ({ openPull }) => ({
      ...{ params, happens: [openPull(0)], submittedMs },
    })),
    opening(
      `a pull request with its base, which was changed meanwhile, ${after}`,
      NOT_BLAMED,
      ({ openPull, retarget }) => ({ params, happens: [openPull(0), retarget(4 * MINUTE, 'owner')], submittedMs }),
      TWO_BASES,
    ),
    merging(`a merge, ${after}`, told, ({ openPull, mergePull }) => ({
      ...{ params, happens: [openPull(), mergePull()], submittedMs },
    })),
    releasing(`a release, ${after}`, ofRelease, ({ publish }) => ({ happens: [publish()], submittedMs })),
  ]
})

/** Done long before the claim, which is as of `START` and says how long ago it was. */
const longAgo: readonly ForgeLife[] = [40 * MINUTE, 12 * HOUR, 36 * HOUR].flatMap((claimedAgoMs): ForgeLife[] => {
  const ago = `pushed ${claimedAgoMs / MINUTE} minutes before the claim, which says so`
  return [
    pushing(`a commit, ${ago}`, VERIFIED, ({ push }) => ({ happens: [push(-claimedAgoMs)], claimedAgoMs })),
    pushing(`a commit that was forced away meanwhile, ${ago}`, NOT_BLAMED, ({ push, forceBack }) => ({
      ...{ happens: [push(-claimedAgoMs), forceBack(-5 * MINUTE)], claimedAgoMs },
    })),
  ]
})

/** Lies that are dated back, or looked at late: a log that is whole blames, and where there is none nobody is. */
const lateLies: readonly ForgeLife[] = (
  [
    ['dated four minutes back', { claimedMs: -4 * MINUTE }],
    ['first looked at 20 s after its submission', { idleUntilMs: 20 * SECOND }],
  ] satisfies [string, Partial<Play>][]
).flatMap(([how, given]) => [
  closing(
    `an issue close that never was, ${how}`,
    (forge) => (isGitHub(forge) ? BLAME : [...BLAME, ...UNVERIFIABLE]),
    ({ openIssue }) => ({ happens: [openIssue()], ...given }),
  ),
  // What is not merged never was.
  merging(`a merge that never was, ${how}`, BLAME, ({ openPull }) => ({ happens: [openPull(-HOUR)], ...given })),
  // Of releases no host keeps a log.
  releasing(`a release that never was, ${how}`, UNVERIFIABLE, () => given),
])

const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET, BITBUCKET_SERVER]

export const clientClockLives = [
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET], { about: 'clocks of clients', truth: 'never' }, lies),
  ...livesAt([GITHUB, GITLAB, GITEA], { about: 'clocks of clients', truth: 'in_time' }, honest),
  ...livesAt(FEW, { about: 'late submissions', truth: 'in_time' }, late),
  ...livesAt(FEW, { about: 'late submissions', truth: 'in_time' }, longAgo),
  ...livesAt([GITHUB, GITLAB, GITEA, BITBUCKET_SERVER], { about: 'late submissions', truth: 'never' }, lateLies),
]
