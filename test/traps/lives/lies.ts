/** The table "action x lie": each of them, dated by our own clients, ends in blame, but where answers may be old. */
import {
  BITBUCKET,
  checking,
  closing,
  FORGES,
  type Forge,
  type ForgeLife,
  GITLAB,
  livesAt,
  merging,
  opening,
  pushing,
  releasing,
  type Scene,
  TAG,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_VERIFIED } from './life-row.ts'

const NOWHERE = 'a'.repeat(40)
const ELSEWHERE = { truth: 'elsewhere' } as const
/** Without a log, where an answer may be a minute old, no look shows how it was just after the submission. */
const unlessOld =
  (...forges: readonly Forge[]) =>
  (forge: Forge) =>
    forges.includes(forge) ? NOT_VERIFIED : BLAME

/** A pull request of the topic branch, opened days ago; `act` is what came of it since. */
const pulled = (params: (scene: Scene) => object, act?: 'close' | 'merge') => async (scene: Scene) => {
  const { repository, base, openPull } = scene
  await repository.push('release', base)
  const since = act ? [at(-HOUR, 'owner', () => repository.pullRequests[act](1))] : []
  return { params: params(scene) as Record<string, unknown>, happens: [openPull(-2 * DAY), ...since] }
}
const NONE = () => ({ params: { number: 7 } })
const FAR = () => ({ params: { number: 700 } })
/** Elsewhere nothing tells such a number from one that the host hides. */
const whereRefsTell = (forge: Forge) => (forge === BITBUCKET || forge === GITLAB ? NOT_VERIFIED : BLAME)
const otherBase = () => ({ base: 'release' })
const otherHead = () => ({ head_sha: NOWHERE })

const pulls: readonly ForgeLife[] = [
  opening('no such pull request, and none at all', whereRefsTell, NONE),
  opening('no such pull request, by far', BLAME, FAR),
  opening('another base', BLAME, pulled(otherBase), ELSEWHERE),
  opening(
    'another head, which the repository has',
    BLAME,
    pulled(({ base }) => ({ head_sha: base })),
    ELSEWHERE,
  ),
  opening('another head, which is nowhere', BLAME, pulled(otherHead), ELSEWHERE),
  merging('no such pull request, and none at all', whereRefsTell, NONE),
  merging('no such pull request, by far', BLAME, FAR),
  merging(
    'still open',
    BLAME,
    pulled(() => ({})),
  ),
  merging(
    'closed, and not merged',
    BLAME,
    pulled(() => ({}), 'close'),
  ),
  merging('another base', BLAME, pulled(otherBase, 'merge'), ELSEWHERE),
  merging('another head', BLAME, pulled(otherHead, 'merge'), ELSEWHERE),
  merging(
    'another merge commit',
    BLAME,
    pulled(({ base }) => ({ merge_commit: base }), 'merge'),
    ELSEWHERE,
  ),
]

const checks: readonly ForgeLife[] = [
  checking('no such commit', BLAME, () => ({ params: { sha: NOWHERE } })),
  checking('no such check', BLAME, () => []),
  checking(
    'red',
    BLAME,
    ({ repository, base: sha }) => [
      at(-HOUR, 'ci', () => repository.checks.run({ sha, name: 'build', outcome: 'failure' })),
    ],
    ELSEWHERE,
  ),
  checking('it runs until after the deadline', BLAME, ({ repository: { checks }, base: sha }) => [
    at(-MINUTE, 'ci', () => checks.start(checks.queue({ sha, name: 'build' }))),
  ]),
  checking('green at another commit', BLAME, ({ repository, base, head }) => ({
    params: { sha: head },
    happens: [at(-HOUR, 'ci', () => repository.checks.run({ sha: base, name: 'build' }))],
  })),
]

const releases: readonly ForgeLife[] = [
  releasing('no such tag', BLAME, () => []),
  releasing('a tag, and no release of it', unlessOld(GITLAB), ({ repository, base }) => [
    at(-HOUR, 'agent', () => repository.tag(TAG, base)),
  ]),
  releasing(
    'another commit',
    BLAME,
    ({ head, publish }) => ({ params: { commit: head }, happens: [publish(-HOUR)] }),
    ELSEWHERE,
  ),
  releasing(
    'a file that it has not',
    unlessOld(GITLAB),
    ({ publish }) => ({ params: { assets: ['app.tar.gz'] }, happens: [publish(-HOUR, 'other.tar.gz')] }),
    ELSEWHERE,
  ),
]

const issues: readonly ForgeLife[] = [
  // An empty list may be one that these credentials may not see.
  closing('no such issue', NOT_VERIFIED, ({ openIssue }) => ({ params: { number: 7 }, happens: [openIssue(-HOUR)] })),
  closing('no such issue, by far', BLAME, ({ openIssue }) => ({ ...FAR(), happens: [openIssue(-HOUR)] })),
  closing('open', BLAME, ({ openIssue }) => [openIssue(-DAY)]),
  closing(
    'closed for another reason',
    BLAME,
    ({ openIssue, closeIssue }) => ({
      params: { reason: 'completed' },
      happens: [openIssue(-DAY), closeIssue(-HOUR, 'owner', { reason: 'not_planned' })],
    }),
    { where: ({ name }) => name === 'github', ...ELSEWHERE },
  ),
]

const pushes: readonly ForgeLife[] = [
  pushing('no such commit', BLAME, () => ({ params: { sha: NOWHERE } })),
  pushing('a commit that its author did not push', BLAME, async ({ repository, base }) => ({
    params: { sha: await repository.commit({ parents: [base] }) },
  })),
  pushing('on another branch', unlessOld(BITBUCKET), ({ head }) => ({ params: { sha: head } }), ELSEWHERE),
  pushing('no such commit on another branch than the default one', BLAME, () => ({
    params: { sha: NOWHERE, branch: 'topic' },
  })),
]

export const forgeLies = livesAt(FORGES, { about: 'plain lie', truth: 'never' }, [
  ...[...pulls, ...checks, ...releases, ...issues, ...pushes],
])
