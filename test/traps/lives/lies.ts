/** The table "action x lie": each of them, dated by our own clients, ends in blame, but where answers may be old. */
import {
  BITBUCKET,
  FORGES,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITLAB,
  hasIssues,
  hasReleases,
  livesAt,
  ownBuild,
} from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_VERIFIED, type Play } from './life-row.ts'

interface Lie extends Omit<ForgeLife, 'right'> {
  /** Without a log, where an answer may be a minute old, no look shows how it was just after the submission. */
  readonly mayBeOld?: (forge: Forge) => boolean
}

const NOWHERE = 'a'.repeat(40)

/** A pull request of the topic branch, opened days ago; `act` is what came of it since. */
async function pulled(place: ForgePlace, params: object, act?: (number: number) => unknown): Promise<Play> {
  const { slug, repository } = place
  await repository.push('release', place.base)
  let number = 0
  const open = at(-2 * DAY, 'agent', async () => {
    number = await repository.pullRequests.open({ head: 'topic' })
  })
  const happens = act ? [open, at(-HOUR, 'owner', () => act(number))] : [open]
  return { target: slug, params: () => ({ number, ...params }), happens }
}

const openLies: readonly Lie[] = [
  {
    name: 'no such pull request',
    action: 'codehost.pull_request.open',
    play: ({ slug }) => ({ target: slug, params: { number: 7 } }),
  },
  {
    name: 'another base',
    action: 'codehost.pull_request.open',
    truth: 'elsewhere',
    play: (place) => pulled(place, { base: 'release' }),
  },
  {
    name: 'another head, which the repository has',
    action: 'codehost.pull_request.open',
    truth: 'elsewhere',
    play: (place) => pulled(place, { head_sha: place.base }),
  },
  {
    name: 'another head, which is nowhere',
    action: 'codehost.pull_request.open',
    truth: 'elsewhere',
    play: (place) => pulled(place, { head_sha: NOWHERE }),
  },
]

const MERGE = 'codehost.pull_request.merge'
const mergeLies: readonly Lie[] = [
  { name: 'no such pull request', action: MERGE, play: ({ slug }) => ({ target: slug, params: { number: 7 } }) },
  { name: 'still open', action: MERGE, play: (place) => pulled(place, {}) },
  {
    name: 'closed, and not merged',
    action: MERGE,
    play: (place) => pulled(place, {}, (number) => place.repository.pullRequests.close(number)),
  },
  {
    name: 'another base',
    action: MERGE,
    truth: 'elsewhere',
    play: (place) => pulled(place, { base: 'release' }, (number) => place.repository.pullRequests.merge(number)),
  },
  {
    name: 'another head',
    action: MERGE,
    truth: 'elsewhere',
    play: (place) => pulled(place, { head_sha: NOWHERE }, (number) => place.repository.pullRequests.merge(number)),
  },
  {
    name: 'another merge commit',
    action: MERGE,
    truth: 'elsewhere',
    play: (place) =>
      pulled(place, { merge_commit: place.base }, (number) => place.repository.pullRequests.merge(number)),
  },
]

const CHECKS = 'codehost.checks.pass'
const hasOwnRuns = ({ runBy }: Forge) => runBy !== undefined

const checkLies: readonly Lie[] = [
  {
    name: 'no such commit',
    action: CHECKS,
    where: hasOwnRuns,
    play: (place) => ({ target: place.slug, params: { sha: NOWHERE, checks: ownBuild(place) } }),
  },
  {
    name: 'no such check',
    action: CHECKS,
    where: hasOwnRuns,
    play: (place) => ({ target: place.slug, params: { sha: place.base, checks: ownBuild(place) } }),
  },
  {
    name: 'red',
    action: CHECKS,
    truth: 'elsewhere',
    where: hasOwnRuns,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.base, checks: ownBuild(place) },
      happens: [
        at(-HOUR, 'ci', () => place.repository.checks.run({ sha: place.base, name: 'build', outcome: 'failure' })),
      ],
    }),
  },
  {
    name: 'it runs until after the deadline',
    action: CHECKS,
    where: hasOwnRuns,
    play: ({ slug, repository, base: sha, ...place }) => ({
      target: slug,
      params: { sha, checks: ownBuild({ slug, repository, base: sha, ...place }) },
      happens: [at(-MINUTE, 'ci', () => repository.checks.start(repository.checks.queue({ sha, name: 'build' })))],
    }),
  },
  {
    name: 'green at another commit',
    action: CHECKS,
    where: hasOwnRuns,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.head, checks: ownBuild(place) },
      happens: [at(-HOUR, 'ci', () => place.repository.checks.run({ sha: place.base, name: 'build' }))],
    }),
  },
]

const RELEASE = 'codehost.release.publish'
const TAG = 'v1.0.0'

const isGitLab = (forge: Forge) => forge === GITLAB

const releaseLies: readonly Lie[] = [
  {
    name: 'no such tag',
    action: RELEASE,
    where: hasReleases,
    play: ({ slug }) => ({ target: slug, params: { tag: TAG } }),
  },
  {
    name: 'a tag, and no release of it',
    action: RELEASE,
    mayBeOld: isGitLab,
    where: hasReleases,
    play: ({ slug, repository, base }) => ({
      target: slug,
      params: { tag: TAG },
      happens: [at(-HOUR, 'agent', () => repository.tag(TAG, base))],
    }),
  },
  {
    name: 'another commit',
    action: RELEASE,
    truth: 'elsewhere',
    where: hasReleases,
    play: ({ slug, repository, head }) => ({
      target: slug,
      params: { tag: TAG, commit: head },
      happens: [at(-HOUR, 'agent', () => repository.releases.create({ tag: TAG }))],
    }),
  },
  {
    name: 'a file that it has not',
    action: RELEASE,
    mayBeOld: isGitLab,
    truth: 'elsewhere',
    where: hasReleases,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { tag: TAG, assets: ['app.tar.gz'] },
      happens: [
        at(-HOUR, 'agent', async () => {
          repository.releases.addAsset(await repository.releases.create({ tag: TAG }), 'other.tar.gz')
        }),
      ],
    }),
  },
]

const ISSUE = 'codehost.issue.close'

const issueLies: readonly Lie[] = [
  {
    name: 'no such issue',
    action: ISSUE,
    where: hasIssues,
    // An empty list may be one that these credentials may not see.
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 7 },
      happens: [at(-HOUR, 'owner', () => repository.issues.open())],
    }),
  },
  {
    name: 'open',
    action: ISSUE,
    where: hasIssues,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1 },
      happens: [at(-DAY, 'owner', () => repository.issues.open())],
    }),
  },
  {
    name: 'closed for another reason',
    action: ISSUE,
    truth: 'elsewhere',
    where: ({ name }) => name === 'github',
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1, reason: 'completed' },
      happens: [
        at(-DAY, 'owner', () => repository.issues.open()),
        at(-HOUR, 'owner', () => repository.issues.close(1, { reason: 'not_planned' })),
      ],
    }),
  },
]

const PUSH = 'codehost.commit.push'

const pushLies: readonly Lie[] = [
  {
    name: 'no such commit',
    action: PUSH,
    play: ({ slug }) => ({ target: slug, params: { sha: NOWHERE, branch: 'main' } }),
  },
  {
    name: 'a commit that its author did not push',
    action: PUSH,
    async play({ slug, repository, base }) {
      return { target: slug, params: { sha: await repository.commit({ parents: [base] }), branch: 'main' } }
    },
  },
  {
    name: 'on another branch',
    action: PUSH,
    mayBeOld: (forge) => forge === BITBUCKET || isGitLab(forge),
    truth: 'elsewhere',
    play: ({ slug, head }) => ({ target: slug, params: { sha: head, branch: 'main' } }),
  },
  {
    name: 'no such commit on another branch than the default one',
    action: PUSH,
    play: ({ slug }) => ({ target: slug, params: { sha: NOWHERE, branch: 'topic' } }),
  },
]

const LIES = [...openLies, ...mergeLies, ...checkLies, ...releaseLies, ...issueLies, ...pushLies]

const PLAIN = { about: 'plain lie', truth: 'never' } as const

export const forgeLies = livesAt(
  FORGES,
  PLAIN,
  LIES.map(({ mayBeOld, ...lie }) => ({ ...lie, right: (forge) => (mayBeOld?.(forge) ? NOT_VERIFIED : BLAME) })),
)
