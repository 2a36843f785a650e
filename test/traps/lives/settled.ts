/** Lives of claims that name no checks: "nothing is red yet" is not "all passed". And how soon green is seen. */
import {
  BITBUCKET,
  FORGEJO,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  isGitHub,
  livesAt,
  ownBuild,
} from './forges.ts'
import {
  at,
  BLAME,
  HOUR,
  MINUTE,
  NOT_BLAMED,
  NOT_VERIFIED,
  type Play,
  SECOND,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

const action = 'codehost.checks.pass'
const ALIAS = 'github.checks.pass'

type Ended = 'success' | 'failure'

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

function unnamed(place: ForgePlace, happens: Play['happens'] & object, rest: Partial<Play> = {}): Play {
  return { target: place.slug, params: { sha: place.base }, happens, ...rest }
}

const settled: readonly ForgeLife[] = [
  {
    name: 'the fast linter has ended, and the slow CI begins 20 s later and is red',
    action,
    truth: 'elsewhere',
    // A check that nothing awaited may be newer than the claim.
    right: NOT_VERIFIED,
    play: (place) =>
      unnamed(place, [
        ...runs(place, place.base, 'lint', -30 * SECOND, -5 * SECOND),
        ...runs(place, place.base, 'build', 20 * SECOND, 6 * MINUTE, 'failure'),
      ]),
  },
  {
    name: 'the fast linter has ended, and the slow CI begins 50 s later and is red',
    action,
    truth: 'elsewhere',
    // A check that nothing awaited may be newer than the claim.
    right: NOT_VERIFIED,
    play: (place) =>
      unnamed(place, [
        ...runs(place, place.base, 'lint', -30 * SECOND, -SECOND),
        ...runs(place, place.base, 'build', 50 * SECOND, 12 * MINUTE, 'failure'),
      ]),
  },
  {
    name: 'the slow CI begins after the linter has ended, and is green',
    action,
    right: VERIFIED,
    bars: { seconds: 80 },
    play: (place) =>
      unnamed(
        place,
        [
          ...runs(place, place.base, 'lint', -30 * SECOND, -5 * SECOND),
          ...runs(place, place.base, 'build', 20 * SECOND, 6 * MINUTE),
        ],
        { cameMs: 6 * MINUTE },
      ),
  },
  {
    name: 'all green for an hour',
    action,
    right: VERIFIED,
    bars: { seconds: 80, requests: 12 },
    play: (place) => unnamed(place, runs(place, place.base, 'build', -HOUR - MINUTE, -HOUR)),
  },
  {
    name: 'green since two seconds, and nothing else comes',
    action,
    right: VERIFIED,
    bars: { seconds: 80, requests: 12 },
    play: (place) => unnamed(place, runs(place, place.base, 'build', -4 * MINUTE, -2 * SECOND)),
  },
  {
    name: 'red already while another one still runs',
    action,
    truth: 'elsewhere',
    right: BLAME,
    play: (place) =>
      unnamed(place, [
        ...runs(place, place.base, 'lint', -MINUTE, -30 * SECOND, 'failure'),
        ...runs(place, place.base, 'build', -MINUTE, 5 * MINUTE),
      ]),
  },
  {
    name: 'what reports on the parent commit has not begun here, and is red ten minutes later',
    action,
    truth: 'elsewhere',
    // Elsewhere what a push starts is one pipeline, with all its jobs, and its reporter is the host.
    where: isGitHub,
    right: BLAME,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.head },
      happens: [
        ...runs(place, place.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
        ...runs(place, place.base, 'e2e', -2 * HOUR, -2 * HOUR + 20 * MINUTE),
        ...runs(place, place.head, 'lint', -3 * MINUTE, -2 * MINUTE),
        ...runs(place, place.head, 'e2e', 5 * MINUTE, 10 * MINUTE, 'failure'),
      ],
    }),
  },
  {
    name: 'what reports on the parent commit comes ten minutes later, in green',
    action,
    right: VERIFIED,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.head },
      cameMs: 10 * MINUTE,
      happens: [
        ...runs(place, place.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
        ...runs(place, place.base, 'e2e', -2 * HOUR, -2 * HOUR + 20 * MINUTE),
        ...runs(place, place.head, 'lint', -3 * MINUTE, -2 * MINUTE),
        ...runs(place, place.head, 'e2e', 5 * MINUTE, 10 * MINUTE),
      ],
    }),
  },
  {
    name: 'what reports on the parent commit never comes here: its paths are filtered',
    action,
    truth: 'unknowable',
    where: isGitHub,
    right: UNVERIFIABLE,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.head },
      happens: [
        ...runs(place, place.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
        ...runs(place, place.base, 'e2e', -2 * HOUR, -2 * HOUR + 20 * MINUTE),
        ...runs(place, place.head, 'lint', -3 * MINUTE, -2 * MINUTE),
      ],
    }),
  },
  {
    name: 'green just before the tolerance ends, and settled after it',
    action,
    right: NOT_BLAMED,
    play: (place) =>
      unnamed(place, runs(place, place.base, 'build', -MINUTE, HOUR - 20 * SECOND), { cameMs: HOUR - 20 * SECOND }),
  },
  {
    name: 'it runs until after the deadline',
    action,
    truth: 'never',
    right: BLAME,
    play: (place) => unnamed(place, runs(place, place.base, 'build', -MINUTE, 3 * HOUR)),
  },
]

const atGitHub: readonly ForgeLife[] = [
  {
    name: 'another app that reports on the parent commit has not begun here, and is red ten minutes later',
    action,
    truth: 'elsewhere',
    right: NOT_VERIFIED,
    play(place) {
      const { checks } = place.repository
      const circle = (sha: string, ms: number, outcome: Ended) =>
        at(ms, 'ci', () => checks.run({ sha, name: 'e2e', app: 'circleci', outcome }))
      return {
        target: place.slug,
        params: { sha: place.head },
        happens: [
          ...runs(place, place.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
          circle(place.base, -HOUR, 'success'),
          ...runs(place, place.head, 'lint', -3 * MINUTE, -2 * MINUTE),
          circle(place.head, 10 * MINUTE, 'failure'),
        ],
      }
    },
  },
  {
    name: 'another app that reports on the parent commit never comes here',
    action,
    truth: 'unknowable',
    right: UNVERIFIABLE,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.head },
      happens: [
        ...runs(place, place.base, 'lint', -2 * HOUR, -2 * HOUR + MINUTE),
        at(-HOUR, 'ci', () => place.repository.checks.run({ sha: place.base, name: 'e2e', app: 'circleci' })),
        ...runs(place, place.head, 'lint', -3 * MINUTE, -2 * MINUTE),
      ],
    }),
  },
  {
    name: 'an app leaves its suite queued for ever',
    action,
    right: VERIFIED,
    play: (place) =>
      unnamed(place, [
        at(-MINUTE, 'ci', () => place.repository.checks.suite({ sha: place.base, app: 'dependabot' })),
        ...runs(place, place.base, 'build', -HOUR, -HOUR + MINUTE),
      ]),
  },
  {
    name: "an app's suite is queued, and its run is red after six minutes",
    action,
    truth: 'elsewhere',
    // An app changes its check run in place.
    right: NOT_VERIFIED,
    play(place) {
      const { repository, base: sha } = place
      let suite = 0
      return unnamed(place, [
        ...runs(place, sha, 'build', -10 * MINUTE, -5 * MINUTE),
        at(-10 * SECOND, 'ci', () => {
          suite = repository.checks.suite({ sha, app: 'circleci' })
        }),
        at(6 * MINUTE, 'ci', () => repository.checks.run({ suite, name: 'e2e', outcome: 'failure' })),
      ])
    },
  },
  {
    name: 'only outside CI runs, and is green',
    action,
    right: NOT_BLAMED,
    play: (place) =>
      unnamed(place, [
        at(-HOUR, 'ci', () => place.repository.checks.run({ sha: place.base, name: 'ci/circleci', app: 'circleci' })),
      ]),
  },
  {
    name: 'the alias: the fast linter has ended, and the slow CI is red',
    action: ALIAS,
    truth: 'elsewhere',
    // A check that nothing awaited may be newer than the claim.
    right: NOT_VERIFIED,
    play: (place) =>
      unnamed(place, [
        ...runs(place, place.base, 'lint', -30 * SECOND, -5 * SECOND),
        ...runs(place, place.base, 'build', 20 * SECOND, 6 * MINUTE, 'failure'),
      ]),
  },
  {
    name: 'the alias: green for an hour',
    action: ALIAS,
    right: VERIFIED,
    bars: { seconds: 80, requests: 12 },
    play: (place) => unnamed(place, runs(place, place.base, 'build', -HOUR - MINUTE, -HOUR)),
  },
  {
    name: 'the alias: green after the tolerance is never late',
    action: ALIAS,
    truth: 'late',
    right: ['failed', 'unverifiable'],
    play: (place) => unnamed(place, runs(place, place.base, 'build', -MINUTE, 80 * MINUTE)),
  },
  {
    name: 'the alias: a workflow posts green over the job that failed',
    action: ALIAS,
    truth: 'elsewhere',
    right: BLAME,
    play: (place) =>
      unnamed(place, [
        at(-MINUTE, 'ci', () => {
          const { checks } = place.repository
          const suite = checks.suite({ sha: place.base, workflow: '.github/workflows/ci.yml' })
          checks.run({ suite, name: 'build', outcome: 'failure' })
          checks.run({ suite, name: 'build', isPosted: true })
        }),
      ]),
  },
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

/** The linter is green at once. A slow scanner reported on an earlier commit, with others between that nothing reported on. */
async function scannedBefore(place: ForgePlace, { unreported, isMerge, isNightly, outcome }: Ancestry): Promise<Play> {
  const { repository, base, slug } = place
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
    target: slug,
    params: { sha },
    happens: [
      at(-HOUR, 'ci', () => post(base, 'success')),
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

const scanned: readonly ForgeLife[] = ancestries.flatMap(({ name, where, ...ancestry }): ForgeLife[] => [
  {
    ...(where ? { where } : {}),
    name: `who reported on ${name}, is red ten minutes later`,
    action,
    truth: 'elsewhere',
    right: NOT_VERIFIED,
    play: (place) => scannedBefore(place, { ...ancestry, outcome: 'failure' }),
  },
  {
    ...(where ? { where } : {}),
    name: `who reported on ${name}, is green ten minutes later`,
    action,
    right: VERIFIED,
    play: (place) => scannedBefore(place, { ...ancestry, outcome: 'success' }),
  },
])

/** CI that lasts so many minutes, claimed as it begins. */
const lasting: readonly ForgeLife[] = [3, 8, 20, 45].flatMap((minutes): ForgeLife[] => {
  const green = (place: ForgePlace) => runs(place, place.base, 'build', -10 * SECOND, minutes * MINUTE)
  const play = (place: ForgePlace) => ({ target: place.slug, happens: green(place), cameMs: minutes * MINUTE })
  return [
    {
      name: `CI of ${minutes} minutes, named`,
      action,
      right: VERIFIED,
      bars: { seconds: minutes <= 10 ? 20 : 45, requests: 12 },
      play: (place) => ({ ...play(place), params: { sha: place.base, checks: ownBuild(place) } }),
    },
    {
      name: `CI of ${minutes} minutes, none named`,
      action,
      right: VERIFIED,
      bars: { seconds: 80, requests: 12 },
      play: (place) => ({ ...play(place), params: { sha: place.base } }),
    },
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
