/** Lives of checks: a name that many can write proves nothing. */
import {
  BITBUCKET,
  FORGEJO,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  ownBuild,
  type Visit,
} from './forges.ts'
import { at, BLAME, MINUTE, NOT_BLAMED, NOT_VERIFIED, type Play, SECOND, VERIFIED } from './life-row.ts'

const action = 'codehost.checks.pass'
const CI = '.github/workflows/ci.yml'

/** What the same state is read with: it must not change the verdict. */
const EYES: readonly (readonly [name: string, visit: Visit])[] = [
  ['a classic token', {}],
  ['a fine-grained token, which sees no check runs', { token: ['contents', 'actions', 'statuses', 'pull_requests'] }],
  ['no token', { token: 'none' }],
]

/** Before the claim, unless `act` is told otherwise. */
function claimed(place: ForgePlace, by: string, name: string, ...happens: NonNullable<Play['happens']>): Play {
  const { slug, base: sha } = place
  return { target: slug, params: { sha, checks: [{ name, by }] }, happens }
}

function before(
  place: ForgePlace,
  act: (checks: ForgePlace['repository']['checks'], sha: string) => unknown,
  ms = -MINUTE,
) {
  return at(ms, 'ci', () => act(place.repository.checks, place.base))
}

/** Told for each kind of token. */
function withAllEyes(life: Omit<ForgeLife, 'visit' | 'action'>): ForgeLife[] {
  return EYES.map(([eyes, visit]) => ({ ...life, action, visit, name: `${life.name}, by ${eyes}` }))
}

const atGitHub: readonly ForgeLife[] = [
  ...withAllEyes({
    name: 'a workflow posts `build` in green over the job of that name, which failed',
    right: BLAME,
    truth: 'elsewhere',
    play: (place) =>
      claimed(
        place,
        'github-actions',
        'build',
        before(place, (checks, sha) => {
          const suite = checks.suite({ sha, workflow: CI })
          checks.run({ suite, name: 'build', outcome: 'failure' })
          checks.run({ suite, name: 'build', isPosted: true })
        }),
      ),
  }),
  ...withAllEyes({
    name: 'another workflow posts `build` in green, while the job of that name runs and fails later',
    right: BLAME,
    truth: 'elsewhere',
    play(place) {
      let job = 0
      return claimed(
        place,
        'github-actions',
        'build',
        before(place, (checks, sha) => {
          job = checks.queue({ suite: checks.suite({ sha, workflow: CI }), name: 'build' })
          checks.start(job)
          checks.run({
            suite: checks.suite({ sha, workflow: '.github/workflows/green.yml' }),
            name: 'build',
            isPosted: true,
          })
        }),
        before(place, (checks) => checks.end(job, 'failure'), 8 * MINUTE),
      )
    },
  }),
  ...withAllEyes({
    name: 'a workflow posts `build` in green, and no job is called so',
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'github-actions',
        'build',
        before(place, (checks, sha) => {
          const suite = checks.suite({ sha, workflow: CI })
          checks.run({ suite, name: 'greet' })
          checks.run({ suite, name: 'build', isPosted: true })
        }),
      ),
  }),
  ...withAllEyes({
    name: 'a workflow posts `build` in red over the job of that name, which passed',
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        'github-actions',
        'build',
        before(place, (checks, sha) => {
          const suite = checks.suite({ sha, workflow: CI })
          checks.run({ suite, name: 'build' })
          checks.run({ suite, name: 'build', outcome: 'failure', isPosted: true })
        }),
      ),
  }),
  ...withAllEyes({
    name: 'an account that is called github-actions posts a status `build`',
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'github-actions',
        'build',
        before(place, (checks, sha) => checks.post({ sha, context: 'build', state: 'success', by: 'github-actions' })),
      ),
  }),
  {
    name: 'by the app that is named',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        'app:circleci',
        'build',
        before(place, (checks, sha) => checks.run({ sha, name: 'build', app: 'circleci' })),
      ),
  },
  {
    name: 'by another app, in green; the named one is red',
    action,
    // An app changes its check run in place, and GitHub's answers may be older than the submission.
    right: NOT_VERIFIED,
    truth: 'elsewhere',
    play: (place) =>
      claimed(
        place,
        'app:circleci',
        'build',
        before(place, (checks, sha) => {
          checks.run({ sha, name: 'build', app: 'circleci', outcome: 'failure' })
          checks.run({ sha, name: 'build', app: 'circleci-agent' })
        }),
      ),
  },
  {
    name: 'an app is named, and an account of its name posted the status',
    action,
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'app:circleci',
        'build',
        before(place, (checks, sha) => checks.post({ sha, context: 'build', state: 'success', by: 'circleci' })),
      ),
  },
  {
    name: 'an account is named, and an app of its name reported it',
    action,
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'build',
        before(place, (checks, sha) => checks.run({ sha, name: 'build', app: 'jenkins' })),
      ),
  },
  {
    name: "an app's number is named, and an account that is called like it posted the status",
    action,
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'app-id:15368',
        'build',
        before(place, (checks, sha) => checks.post({ sha, context: 'build', state: 'success', by: '15368' })),
      ),
  },
  {
    name: 'an account is named that is called like a number',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        'account:15368',
        'build',
        before(place, (checks, sha) => checks.post({ sha, context: 'build', state: 'success', by: '15368' })),
      ),
  },
  {
    name: 'a status of the named account, posted over in green by another one',
    action,
    right: NOT_VERIFIED,
    truth: 'elsewhere',
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'ci/jenkins',
        before(place, (checks, sha) => checks.post({ sha, context: 'ci/jenkins', state: 'failure', by: 'jenkins' })),
        before(
          place,
          (checks, sha) => checks.post({ sha, context: 'ci/jenkins', state: 'success', by: 'mallory' }),
          -SECOND,
        ),
      ),
  },
  {
    name: 'a status of the named account',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'ci/jenkins',
        before(place, (checks, sha) => checks.post({ sha, context: 'ci/jenkins', state: 'success', by: 'jenkins' })),
      ),
  },
  {
    name: 'by the workflow that is named',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        `workflow:${CI}`,
        'build',
        before(place, (checks, sha) => checks.run({ sha, name: 'build', workflow: CI })),
      ),
  },
  {
    name: 'by another workflow, in green; the named one has failed',
    action,
    right: BLAME,
    truth: 'elsewhere',
    play: (place) =>
      claimed(
        place,
        `workflow:${CI}`,
        'build',
        before(place, (checks, sha) => {
          checks.run({ sha, name: 'build', workflow: CI, outcome: 'failure' })
          checks.run({ sha, name: 'build', workflow: '.github/workflows/build.yml' })
        }),
      ),
  },
  {
    name: 'a job of the named workflow posts the claimed name in green',
    action,
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        `workflow:${CI}`,
        'e2e',
        before(place, (checks, sha) => {
          const suite = checks.suite({ sha, workflow: CI })
          checks.run({ suite, name: 'build' })
          checks.run({ suite, name: 'e2e', isPosted: true })
        }),
      ),
  },
  {
    name: 'a plain name, of which nobody knows what it is of',
    action,
    right: ['refused'],
    truth: 'unknowable',
    play: (place) =>
      claimed(
        place,
        'mallory',
        'build',
        before(place, (checks, sha) => checks.post({ sha, context: 'build', state: 'success', by: 'mallory' })),
      ),
  },
]

const ownRuns: readonly ForgeLife[] = [
  {
    name: 'red, and an account posts a status of its name in green',
    action,
    right: NOT_VERIFIED,
    truth: 'elsewhere',
    play(place) {
      const { slug, repository, base: sha } = place
      const checks = ownBuild(place)
      const happens = [
        at(-10 * MINUTE, 'ci', () => repository.checks.run({ sha, name: 'build', outcome: 'failure' })),
        at(-MINUTE, 'liar', () =>
          repository.checks.post({ sha, context: checks[0]!.name, state: 'success', by: 'mallory' }),
        ),
      ]
      return { target: slug, params: { sha, checks }, happens }
    },
  },
  {
    name: 'an account posts a status of its name in green, and it never ran',
    action,
    right: BLAME,
    play(place) {
      const { slug, repository, base: sha } = place
      const checks = ownBuild(place)
      const happens = [
        at(-MINUTE, 'liar', () =>
          repository.checks.post({ sha, context: checks[0]!.name, state: 'success', by: 'mallory' }),
        ),
      ]
      return { target: slug, params: { sha, checks }, happens }
    },
  },
  {
    name: 'an account posts green first, and it runs and is red',
    action,
    right: BLAME,
    truth: 'elsewhere',
    play(place) {
      const { slug, repository, base: sha } = place
      const checks = ownBuild(place)
      const happens = [
        at(-MINUTE, 'liar', () =>
          repository.checks.post({ sha, context: checks[0]!.name, state: 'success', by: 'mallory' }),
        ),
        at(5 * MINUTE, 'ci', () => repository.checks.run({ sha, name: 'build', outcome: 'failure' })),
      ]
      return { target: slug, params: { sha, checks }, happens }
    },
  },
  {
    name: 'green, and an account posts a status of its name in red',
    action,
    right: NOT_BLAMED,
    truth: 'in_time',
    play(place) {
      const { slug, repository, base: sha } = place
      const checks = ownBuild(place)
      const happens = [
        at(-10 * MINUTE, 'ci', () => repository.checks.run({ sha, name: 'build' })),
        at(-MINUTE, 'liar', () =>
          repository.checks.post({ sha, context: checks[0]!.name, state: 'failure', by: 'mallory' }),
        ),
      ]
      return { target: slug, params: { sha, checks }, happens }
    },
  },
]

/** Statuses that accounts post, named by account. */
const posted: readonly ForgeLife[] = [
  {
    name: 'a status of the named account',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'unit',
        before(place, (checks, sha) => checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })),
      ),
  },
  {
    name: 'a status of another account',
    action,
    right: BLAME,
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'unit',
        before(place, (checks, sha) => checks.post({ sha, context: 'unit', state: 'success', by: 'mallory' })),
      ),
  },
  {
    name: 'red by the named account, and posted over in green by another one',
    action,
    right: NOT_VERIFIED,
    truth: 'elsewhere',
    play: (place) =>
      claimed(
        place,
        'account:jenkins',
        'unit',
        before(place, (checks, sha) => checks.post({ sha, context: 'unit', state: 'failure', by: 'jenkins' })),
        before(place, (checks, sha) => checks.post({ sha, context: 'unit', state: 'success', by: 'mallory' }), -SECOND),
      ),
  },
  {
    name: 'pending by the named account, and green after five minutes',
    action,
    right: VERIFIED,
    truth: 'in_time',
    play: (place) => ({
      ...claimed(
        place,
        'account:jenkins',
        'unit',
        before(place, (checks, sha) => checks.post({ sha, context: 'unit', state: 'pending', by: 'jenkins' })),
        before(
          place,
          (checks, sha) => checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' }),
          5 * MINUTE,
        ),
      ),
      cameMs: 5 * MINUTE,
    }),
  },
]

const lies = { about: 'who reported it', truth: 'never' } as const

export const reportedLives = [
  ...livesAt([GITHUB], lies, atGitHub),
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], lies, ownRuns),
  ...livesAt([GITLAB, GITEA, FORGEJO], lies, posted),
]
