/** Lives of claims that name no checks: "nothing is red yet" is not "all passed". And how soon green is seen. */
import {
  BITBUCKET,
  checking,
  FORGEJO,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  type Scene,
} from './forges.ts'
import { at, BLAME, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, type Play, SECOND, VERIFIED } from './life-row.ts'
import { checkingAfter } from './ran-before.ts'

/** Of all checks at `base`. On the commits before it the same workflows ran. */
const checkingAll = checkingAfter('codehost.checks.pass', ({ base }) => ({ sha: base }))
/** Of the commit on top of `base`. */
const checkingHead = checkingAfter('codehost.checks.pass', ({ head }) => ({ sha: head }))
const byAlias = checkingAfter('github.checks.pass', ({ base }) => ({ sha: base }))

type Ended = 'success' | 'failure'
const ELSEWHERE = { truth: 'elsewhere' } as const
const SOON = { bars: { seconds: 80 } }
/** Most of the requests are for the commits with which it is compared: once for a repository in ten minutes. */
const SOON_AND_CHEAP = { bars: { seconds: 80, requests: 30 } }

/** A run of a workflow of that name, from one moment to another. */
function runs(
  { repository }: ForgePlace,
  sha: string,
  name: string,
  fromMs: number,
  toMs: number,
  outcome: Ended = 'success',
) {
  let id = 0
  const workflow = `.github/workflows/${name}.yml`
  return [
    at(fromMs, 'ci', () => {
      id = repository.checks.queue({ sha, name, workflow })
      repository.checks.start(id)
    }),
    at(toMs, 'ci', () => repository.checks.end(id, outcome)),
  ]
}

/** At `base`. */
const builds = (scene: Scene, fromMs: number, toMs: number, outcome?: Ended) =>
  runs(scene, scene.base, 'build', fromMs, toMs, outcome)
const greenForAnHour = (scene: Scene) => builds(scene, -HOUR - MINUTE, -HOUR)

/** The linter has ended, and the slow CI begins later. */
const slowCi = (scene: Scene, lintedMs: number, fromMs: number, toMs: number, outcome?: Ended) => [
  ...runs(scene, scene.base, 'lint', -30 * SECOND, lintedMs),
  ...builds(scene, fromMs, toMs, outcome),
]
const redAfterLint = (scene: Scene) => slowCi(scene, -5 * SECOND, 20 * SECOND, 6 * MINUTE, 'failure')

/** The linter has reported on `base` and on `head`, and something else on `base` alone so far. */
const lintedTwice = (scene: Scene) => [
  ...runs(scene, scene.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
  ...runs(scene, scene.head, 'lint', -3 * MINUTE, -2 * MINUTE),
]
const endToEnd = (scene: Scene) => runs(scene, scene.base, 'e2e', -2 * HOUR, -2 * HOUR + 20 * MINUTE)
const circle = ({ repository }: Scene, sha: string, ms: number, outcome: Ended = 'success') =>
  at(ms, 'ci', () => repository.checks.run({ sha, name: 'e2e', app: 'circleci', outcome }))

const settled: readonly ForgeLife[] = [
  // A check that nothing awaited may be newer than the claim.
  checkingAll(
    'the fast linter has ended, and the slow CI begins 20 s later and is red',
    NOT_VERIFIED,
    redAfterLint,
    ELSEWHERE,
  ),
  checkingAll(
    'the fast linter has ended, and the slow CI begins 50 s later and is red',
    NOT_VERIFIED,
    (scene) => slowCi(scene, -SECOND, 50 * SECOND, 12 * MINUTE, 'failure'),
    ELSEWHERE,
  ),
  checkingAll(
    'the slow CI begins after the linter has ended, and is green',
    VERIFIED,
    (scene) => ({ happens: slowCi(scene, -5 * SECOND, 20 * SECOND, 6 * MINUTE), cameMs: 6 * MINUTE }),
    SOON,
  ),
  checkingAll('all green for an hour', VERIFIED, greenForAnHour, SOON_AND_CHEAP),
  checkingAll(
    'green since two seconds, and nothing else comes',
    VERIFIED,
    (scene) => builds(scene, -4 * MINUTE, -2 * SECOND),
    SOON_AND_CHEAP,
  ),
  checkingAll(
    'red already while another one still runs',
    BLAME,
    (scene) => [
      ...runs(scene, scene.base, 'lint', -MINUTE, -30 * SECOND, 'failure'),
      ...builds(scene, -MINUTE, 5 * MINUTE),
    ],
    ELSEWHERE,
  ),
  checkingHead('what reports on the parent commit comes ten minutes later, in green', VERIFIED, (scene) => ({
    cameMs: 10 * MINUTE,
    happens: [
      ...[...lintedTwice(scene), ...endToEnd(scene)],
      ...runs(scene, scene.head, 'e2e', 5 * MINUTE, 10 * MINUTE),
    ],
  })),
  checkingAll('green just before the tolerance ends, and settled after it', NOT_BLAMED, (scene) => ({
    ...{ happens: builds(scene, -MINUTE, HOUR - 20 * SECOND), cameMs: HOUR - 20 * SECOND },
  })),
  checkingAll('it runs until after the deadline', BLAME, (scene) => builds(scene, -MINUTE, 3 * HOUR), {
    truth: 'never',
  }),
]

const atGitHub: readonly ForgeLife[] = [
  checkingHead(
    'another app that reports on the parent commit has not begun here, and is red ten minutes later',
    NOT_VERIFIED,
    (scene) => [
      ...lintedTwice(scene),
      ...[circle(scene, scene.base, -HOUR), circle(scene, scene.head, 10 * MINUTE, 'failure')],
    ],
    ELSEWHERE,
  ),
  checkingHead(
    'another app that reports on the parent commit never comes here: awaited until the tolerance ends',
    VERIFIED,
    (scene) => [...lintedTwice(scene), circle(scene, scene.base, -HOUR)],
  ),
  checkingAll('an app leaves its suite queued for ever', VERIFIED, (scene) => [
    at(-MINUTE, 'ci', () => scene.repository.checks.suite({ sha: scene.base, app: 'dependabot' })),
    ...builds(scene, -HOUR, -HOUR + MINUTE),
  ]),
  checkingAll(
    "an app's suite is queued, and its run is red after six minutes",
    // An app changes its check run in place.
    NOT_VERIFIED,
    (scene) => {
      const { checks } = scene.repository
      let suite = 0
      return [
        ...builds(scene, -10 * MINUTE, -5 * MINUTE),
        at(-10 * SECOND, 'ci', () => {
          suite = checks.suite({ sha: scene.base, app: 'circleci' })
        }),
        at(6 * MINUTE, 'ci', () => checks.run({ suite, name: 'e2e', outcome: 'failure' })),
      ]
    },
    ELSEWHERE,
  ),
  checkingAll('only outside CI runs, and is green', NOT_BLAMED, (scene) => [circle(scene, scene.base, -HOUR)]),
  // A check that nothing awaited may be newer than the claim.
  byAlias('the alias: the fast linter has ended, and the slow CI is red', NOT_VERIFIED, redAfterLint, ELSEWHERE),
  byAlias('the alias: green for an hour', VERIFIED, greenForAnHour, SOON_AND_CHEAP),
  byAlias(
    'the alias: green after the tolerance is never late',
    ['failed', 'unverifiable'],
    (scene) => builds(scene, -MINUTE, 80 * MINUTE),
    { truth: 'late' },
  ),
  byAlias(
    'the alias: a workflow posts green over the job that failed',
    BLAME,
    ({ repository: { checks }, base: sha }) => [
      at(-MINUTE, 'ci', () => {
        const suite = checks.suite({ sha, workflow: '.github/workflows/ci.yml' })
        checks.run({ suite, name: 'build', outcome: 'failure' })
        checks.run({ suite, name: 'build', isPosted: true })
      }),
    ],
    ELSEWHERE,
  ),
]

interface Ancestry {
  /** How many commits between this one and that on which the scanner reported. */
  readonly unreported: number
  /** The last one merges another branch, which has no reports either. */
  readonly isMerge?: boolean
  /** A nightly run is all that the commits between have. */
  readonly isNightly?: boolean
  /** What the scanner reports here, ten minutes after the claim; nothing, when left out. */
  readonly outcome?: Ended
}

/** The linter is green at once. A slow scanner reported on earlier commits, with others between that nothing reported on. */
async function scannedBefore(
  place: ForgePlace,
  { unreported, isMerge, isNightly, outcome }: Ancestry,
): Promise<Partial<Play>> {
  const { repository, base, past } = place
  const { checks } = repository
  const between: string[] = []
  for (let i = 0; i < unreported; i++) {
    between.push(await repository.commit({ parents: [between.at(-1) ?? base], message: `Docs ${i}` }))
  }
  const last = between.at(-1) ?? base
  const parents = isMerge ? [last, await repository.commit({ parents: [base], message: 'Feature' })] : [last]
  const sha = await repository.commit({ parents })
  await repository.push('main', sha)
  const post = (sha: string, state: Ended) => checks.post({ sha, context: 'scan', state, by: 'scanner' })
  const nights = isNightly ? between : []
  return {
    params: { sha },
    happens: [
      ...[base, ...past.slice(0, 2)].map((sha) => at(-HOUR, 'ci', () => post(sha, 'success'))),
      ...nights.map((sha) => at(-HOUR, 'ci', () => checks.run({ sha, name: 'nightly', source: 'schedule' }))),
      ...runs(place, sha, 'lint', -3 * MINUTE, -2 * MINUTE),
      ...(outcome ? [at(10 * MINUTE, 'ci', () => post(sha, outcome))] : []),
    ],
    ...(outcome === 'success' ? { cameMs: 10 * MINUTE } : {}),
  }
}

const ancestries: readonly (Ancestry & { readonly name: string; readonly where?: ForgeLife['where'] })[] = [
  { name: 'the parent commit', unreported: 0 },
  { name: 'a commit before the parent, a docs commit without reports', unreported: 1 },
  { name: 'the commit before four without reports, which were pushed together', unreported: 4 },
  { name: 'a commit before the parents of a merge, which have no reports', unreported: 1, isMerge: true },
  {
    ...{ name: 'a commit before the parent, which has a nightly run alone', unreported: 1, isNightly: true },
    where: ({ name }) => name === 'github' || name === 'gitlab',
  },
]

const scanned: readonly ForgeLife[] = ancestries.flatMap(({ name, where, ...ancestry }) => [
  checkingAll(
    `who reported on ${name}, is red ten minutes later`,
    NOT_VERIFIED,
    (scene) => scannedBefore(scene, { ...ancestry, outcome: 'failure' }),
    { ...ELSEWHERE, ...(where ? { where } : {}) },
  ),
  checkingAll(
    `who reported on ${name}, is green ten minutes later`,
    VERIFIED,
    (scene) => scannedBefore(scene, { ...ancestry, outcome: 'success' }),
    where ? { where } : {},
  ),
])

/** CI that lasts so many minutes, claimed as it begins. */
const lasting: readonly ForgeLife[] = [3, 8, 20, 45].flatMap((minutes) => {
  const cameMs = minutes * MINUTE
  const play = (scene: Scene) => ({ happens: builds(scene, -10 * SECOND, cameMs), cameMs })
  return [
    checking(`CI of ${minutes} minutes, named`, VERIFIED, play, {
      bars: { seconds: minutes <= 10 ? 20 : 45, requests: 12 },
    }),
    checkingAll(`CI of ${minutes} minutes, none named`, VERIFIED, play, SOON_AND_CHEAP),
  ]
})

const honest = { about: 'settled greens', truth: 'in_time' } as const
const soon = { about: 'in good time', truth: 'in_time' } as const

export const settledLives = [
  ...livesAt([GITHUB, GITLAB, BITBUCKET], honest, settled),
  ...livesAt([GITHUB], honest, atGitHub),
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET], honest, scanned),
  ...livesAt([GITHUB, GITLAB, BITBUCKET], soon, lasting),
]
