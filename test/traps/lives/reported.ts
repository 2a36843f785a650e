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
import { at, BLAME, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'

const action = 'codehost.checks.pass'
const CI = '.github/workflows/ci.yml'
const GREEN = '.github/workflows/green.yml'

type Checks = ForgePlace['repository']['checks']
/** What somebody does to the checks of the claimed commit, a minute before the claim unless it says when. */
type Act = ((checks: Checks, sha: string, place: ForgePlace) => unknown) & { readonly ms?: number }

const when = (ms: number, act: Act): Act => Object.assign(act, { ms })
const run =
  (more: { readonly app?: string; readonly workflow?: string; readonly outcome?: 'failure' }): Act =>
  (checks, sha) =>
    checks.run({ sha, name: 'build', ...more })
const post =
  (by: string, context = 'build', state: 'success' | 'failure' | 'pending' = 'success'): Act =>
  (checks, sha) =>
    checks.post({ sha, context, state, by })
/** A run of a workflow that posts checks as well: the one named `build` in green, unless it says otherwise. */
const posting =
  (job: string, outcome?: 'success' | 'failure', posted: { name?: string; outcome?: 'failure' } = {}): Act =>
  (checks, sha) => {
    const suite = checks.suite({ sha, workflow: CI })
    checks.run({ suite, name: job, ...(outcome && { outcome }) })
    checks.run({ suite, name: 'build', isPosted: true, ...posted })
  }

type Claimed = readonly [by: string, check: string]
const BUILD: Claimed = ['github-actions', 'build']
const BY_FILE: Claimed = [`workflow:${CI}`, 'build']

/** @param claimed the host's own `build`, when undefined */
function reported(
  name: string,
  truth: 'in_time' | 'never' | 'elsewhere' | 'unknowable',
  right: ForgeLife['right'],
  claimed: Claimed | undefined,
  ...acts: readonly Act[]
): ForgeLife {
  return {
    ...{ name, action, truth, right },
    play(place) {
      const { slug, base: sha, repository } = place
      const [by, check] = claimed ?? []
      return {
        target: slug,
        params: { sha, checks: claimed ? [{ name: check, by }] : ownBuild(place) },
        happens: acts.map((act) => at(act.ms ?? -MINUTE, 'ci', () => act(repository.checks, sha, place))),
        cameMs: Math.max(0, ...acts.map(({ ms = 0 }) => (truth === 'in_time' ? ms : 0))),
      }
    },
  }
}

/** What the same state is read with: it must not change the verdict. */
const EYES: readonly (readonly [name: string, visit: Visit])[] = [
  ['a classic token', {}],
  ['a fine-grained token, which sees no check runs', { token: ['contents', 'actions', 'statuses', 'pull_requests'] }],
  ['no token', { token: 'none' }],
]

const withAllEyes = (life: ForgeLife): ForgeLife[] =>
  EYES.map(([eyes, visit]) => ({ ...life, visit, name: `${life.name}, by ${eyes}` }))

/** The job that runs, of each life. */
const running = new WeakMap<Checks, number>()

const atGitHub: readonly ForgeLife[] = [
  ...[
    reported(
      'a workflow posts `build` in green over the job of that name, which failed',
      ...(['elsewhere', BLAME, BUILD] as const),
      posting('build', 'failure'),
    ),
    reported(
      'another workflow posts `build` in green, while the job of that name runs and fails later',
      ...(['elsewhere', BLAME, BUILD] as const),
      (checks, sha) => {
        running.set(checks, checks.queue({ suite: checks.suite({ sha, workflow: CI }), name: 'build' }))
        checks.start(running.get(checks)!)
        checks.run({ suite: checks.suite({ sha, workflow: GREEN }), name: 'build', isPosted: true })
      },
      when(8 * MINUTE, (checks) => checks.end(running.get(checks)!, 'failure')),
    ),
    reported('a workflow posts `build` in green, and no job is called so', 'never', BLAME, BUILD, posting('greet')),
    reported(
      'a workflow posts `build` in red over the job of that name, which passed',
      ...(['in_time', VERIFIED, BUILD] as const),
      posting('build', 'success', { outcome: 'failure' }),
    ),
    reported(
      'an account that is called github-actions posts a status `build`',
      ...(['never', BLAME, BUILD] as const),
      post('github-actions'),
    ),
  ].flatMap(withAllEyes),
  reported('by the app that is named', 'in_time', VERIFIED, ['app:circleci', 'build'], run({ app: 'circleci' })),
  reported(
    'by another app, in green; the named one is red',
    'elsewhere',
    // An app changes its check run in place, and GitHub's answers may be older than the submission.
    NOT_VERIFIED,
    ['app:circleci', 'build'],
    run({ app: 'circleci', outcome: 'failure' }),
    run({ app: 'circleci-agent' }),
  ),
  reported(
    'an app is named, and an account of its name posted the status',
    ...(['never', BLAME, ['app:circleci', 'build']] as const),
    post('circleci'),
  ),
  reported(
    'an account is named, and an app of its name reported it',
    ...(['never', BLAME, ['account:jenkins', 'build']] as const),
    run({ app: 'jenkins' }),
  ),
  reported(
    "an app's number is named, and an account that is called like it posted the status",
    ...(['never', BLAME, ['app-id:15368', 'build']] as const),
    post('15368'),
  ),
  reported(
    'an account is named that is called like a number',
    ...(['in_time', VERIFIED, ['account:15368', 'build']] as const),
    post('15368'),
  ),
  reported('by the workflow that is named', 'in_time', VERIFIED, BY_FILE, run({ workflow: CI })),
  reported(
    'by another workflow, in green; the named one has failed',
    ...(['elsewhere', BLAME, BY_FILE] as const),
    run({ workflow: CI, outcome: 'failure' }),
    run({ workflow: '.github/workflows/build.yml' }),
  ),
  reported(
    'a job of the named workflow posts the claimed name in green',
    ...(['never', BLAME, [`workflow:${CI}`, 'e2e']] as const),
    posting('build', 'success', { name: 'e2e' }),
  ),
  reported(
    'a plain name, of which nobody knows what it is of',
    ...(['unknowable', ['refused'], ['mallory', 'build']] as const),
    post('mallory'),
  ),
]

/** Under the name of the host's own `build`. */
const postOwn =
  (state: 'success' | 'failure'): Act =>
  (checks, sha, place) =>
    checks.post({ sha, context: ownBuild(place)[0]!.name, state, by: 'mallory' })

const ownRuns: readonly ForgeLife[] = [
  reported(
    'red, and an account posts a status of its name in green',
    ...(['elsewhere', NOT_VERIFIED, undefined] as const),
    when(-10 * MINUTE, run({ outcome: 'failure' })),
    postOwn('success'),
  ),
  reported(
    'an account posts a status of its name in green, and it never ran',
    ...(['never', BLAME, undefined] as const),
    postOwn('success'),
  ),
  reported(
    'an account posts green first, and it runs and is red',
    ...(['elsewhere', BLAME, undefined] as const),
    postOwn('success'),
    when(5 * MINUTE, run({ outcome: 'failure' })),
  ),
  reported(
    'green, and an account posts a status of its name in red',
    ...(['in_time', NOT_BLAMED, undefined] as const),
    when(-10 * MINUTE, run({})),
    postOwn('failure'),
  ),
]

/** Statuses that accounts post, named by account. */
const JENKINS: Claimed = ['account:jenkins', 'unit']
const posted: readonly ForgeLife[] = [
  reported('a status of the named account', 'in_time', VERIFIED, JENKINS, post('jenkins', 'unit')),
  reported(
    'red by the named account, and posted over in green by another one',
    ...(['elsewhere', NOT_VERIFIED, JENKINS] as const),
    post('jenkins', 'unit', 'failure'),
    when(-SECOND, post('mallory', 'unit')),
  ),
  reported('a status of another account', 'never', BLAME, JENKINS, post('mallory', 'unit')),
  reported(
    'pending by the named account, and green after five minutes',
    ...(['in_time', VERIFIED, JENKINS] as const),
    post('jenkins', 'unit', 'pending'),
    when(5 * MINUTE, post('jenkins', 'unit')),
  ),
]

const lies = { about: 'who reported it', truth: 'never' } as const

export const reportedLives = [
  ...livesAt([GITHUB], lies, [...atGitHub, ...posted.slice(0, 2)]),
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], lies, ownRuns),
  ...livesAt([GITLAB, GITEA, FORGEJO], lies, posted),
]
