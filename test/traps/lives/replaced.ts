/** Lives of checks: a run belongs to its ref, what is gone was taken away, and what failed is told, however many others there are. */
import { checking, type ForgeLife, GITHUB, livesAt, livesOf, type Scene } from './forges.ts'
import { at, BLAME, DAY, HOUR, MINUTE, NOT_BLAMED, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'
import { checkingAfter, fileOf } from './ran-before.ts'

const action = 'codehost.checks.pass'
const checkingAll = checkingAfter(action, ({ base }) => ({ sha: base }))
const checkingUnit = livesOf(action, ({ base }) => ({ sha: base, checks: [{ name: 'unit', by: 'account:jenkins' }] }))
const ELSEWHERE = { truth: 'elsewhere' } as const
const NEVER = { truth: 'never' } as const

type Outcome = 'success' | 'failure'

/** A run of `ci.yml` with the job `build`, for `base`. */
function run({ repository: { checks }, base: sha }: Scene, ms: number, outcome: Outcome, more: object = {}) {
  return at(ms, 'ci', () =>
    checks.run({ sha, name: 'build', workflow: fileOf('ci'), branch: 'main', outcome, ...more }),
  )
}

/** Red on main, and then green in another way: by what the claim names, and of all. */
function redAndGreen(
  name: string,
  right: ForgeLife['right'],
  more: object,
  set: (scene: Scene) => Promise<unknown> = async () => {},
): ForgeLife[] {
  return [checking, checkingAll].map((kind, index) =>
    kind(
      `red on main, and since then green ${name}, ${index === 0 ? 'named' : 'none named'}`,
      right,
      async (scene) => {
        await set(scene)
        return [run(scene, -10 * MINUTE, 'failure'), run(scene, -5 * MINUTE, 'success', more)]
      },
      ELSEWHERE,
    ),
  )
}

const replaced: readonly ForgeLife[] = [
  ...redAndGreen('for another branch of the commit', BLAME, { branch: 'release' }),
  ...redAndGreen('for a tag of the commit', BLAME, { branch: 'v1.0.0' }, ({ repository, base }) =>
    repository.tag('v1.0.0', base),
  ),
  ...redAndGreen('for a branch of that name of a fork', BLAME, { fromRepository: 77 }),
  ...redAndGreen('in a file that differs in case alone', BLAME, { workflow: fileOf('CI') }),
  ...redAndGreen('by another event', BLAME, { source: 'schedule' }),
  ...redAndGreen('by hand', NOT_VERIFIED, { source: 'workflow_dispatch' }),
  checking('red on main, and the host ran it there again, in green', VERIFIED, (scene) => [
    run(scene, -10 * MINUTE, 'failure'),
    run(scene, -5 * MINUTE, 'success'),
  ]),
  checking('green by hand alone', VERIFIED, (scene) => [
    run(scene, -5 * MINUTE, 'success', { source: 'workflow_dispatch' }),
  ]),
]

/** Whoever may write deletes the run of a red job. */
function deleting(scene: Scene, ms: number) {
  const { checks } = scene.repository
  let suite = 0
  return [
    at(-10 * MINUTE, 'ci', () => {
      suite = checks.suite({ sha: scene.base, workflow: fileOf('ci'), branch: 'main' })
      checks.run({ suite, name: 'build', outcome: 'failure' })
    }),
    at(-10 * MINUTE, 'ci', () =>
      checks.run({ sha: scene.base, name: 'lint', workflow: fileOf('lint'), branch: 'main' }),
    ),
    at(ms, 'liar', () => checks.deleteSuite(suite)),
  ]
}

const deleted: readonly ForgeLife[] = [
  checkingAll(
    'red until after the tolerance, and then its run is deleted',
    NOT_VERIFIED,
    (scene) => deleting(scene, 70 * MINUTE),
    NEVER,
  ),
  checkingAll(
    'red, and five minutes later its run is deleted',
    NOT_VERIFIED,
    (scene) => deleting(scene, 5 * MINUTE),
    NEVER,
  ),
  checkingAll('red, and run again to green', VERIFIED, (scene) => {
    const { checks } = scene.repository
    let id = 0
    return {
      happens: [
        at(-10 * MINUTE, 'ci', () => {
          id = checks.run({
            sha: scene.base,
            name: 'build',
            workflow: fileOf('ci'),
            branch: 'main',
            outcome: 'failure',
          })
        }),
        at(5 * MINUTE, 'ci', () => {
          id = checks.rerun(id)
          checks.start(id)
        }),
        at(8 * MINUTE, 'ci', () => checks.end(id, 'success')),
      ],
      cameMs: 8 * MINUTE,
    }
  }),
]

const post = (scene: Scene, ms: number, by: string, state: Outcome) =>
  at(ms, 'ci', () => scene.repository.checks.post({ sha: scene.base, context: 'unit', state, by }))

const posted: readonly ForgeLife[] = [
  checkingUnit(
    "red by the named account, and the agent's own green since",
    BLAME,
    (scene) => [post(scene, -10 * MINUTE, 'jenkins', 'failure'), post(scene, -MINUTE, 'agent', 'success')],
    ELSEWHERE,
  ),
  checkingUnit(
    'green by the named account, and red by another one since',
    ['unverifiable'],
    (scene) => [post(scene, -10 * MINUTE, 'jenkins', 'success'), post(scene, -MINUTE, 'agent', 'failure')],
    { truth: 'unknowable' },
  ),
]

/** Claimed as done some time before the submission. */
const dated = (ms: number) => ({ claimedMs: -ms })

const pullOf = (number: number) => ({ source: 'pull_request', pull: number, branch: 'topic' })

const told: readonly ForgeLife[] = [
  checking(
    'a job failed by push and by pull request, dated 20 s back',
    BLAME,
    (scene) => ({
      happens: [run(scene, -5 * MINUTE, 'failure'), run(scene, -5 * MINUTE, 'failure', pullOf(1))],
      ...dated(20 * SECOND),
    }),
    ELSEWHERE,
  ),
  checking(
    'a job failed by push and is green by pull request, dated 20 s back',
    BLAME,
    (scene) => ({
      happens: [run(scene, -5 * MINUTE, 'failure'), run(scene, -5 * MINUTE, 'success', pullOf(1))],
      ...dated(20 * SECOND),
    }),
    ELSEWHERE,
  ),
  checkingAll(
    'a run failed two minutes ago, dated 20 s back',
    BLAME,
    (scene) => ({ happens: [run(scene, -2 * MINUTE, 'failure')], ...dated(20 * SECOND) }),
    ELSEWHERE,
  ),
  checkingAll('a run failed two minutes ago', BLAME, (scene) => [run(scene, -2 * MINUTE, 'failure')], ELSEWHERE),
  checkingAll(
    'a run failed an hour ago, dated ten minutes back',
    BLAME,
    (scene) => ({ happens: [run(scene, -HOUR, 'failure')], ...dated(10 * MINUTE) }),
    ELSEWHERE,
  ),
  checking(
    'one of eleven pull requests from the commit failed',
    BLAME,
    (scene) =>
      Array.from({ length: 11 }, (_, index) =>
        run(scene, -10 * MINUTE, index === 4 ? 'failure' : 'success', pullOf(index + 1)),
      ),
    ELSEWHERE,
  ),
  checking('eleven pull requests from the commit, all green', VERIFIED, (scene) =>
    Array.from({ length: 11 }, (_, index) => run(scene, -10 * MINUTE, 'success', pullOf(index + 1))),
  ),
  checking(
    'green when it was claimed, and a release of the commit fails before the late submission',
    NOT_BLAMED,
    (scene) => ({
      happens: [run(scene, -HOUR, 'success'), run(scene, 2 * MINUTE, 'failure', { branch: 'v1.0.0' })],
      ...{ claimedMs: 0, submittedMs: 10 * MINUTE },
    }),
    { truth: 'in_time' },
  ),
  checkingAll(
    'green when it was claimed, and a nightly run of the commit fails before the late submission',
    NOT_BLAMED,
    (scene) => ({
      happens: [
        run(scene, -HOUR, 'success'),
        run(scene, 2 * MINUTE, 'failure', { source: 'schedule', workflow: fileOf('nightly') }),
      ],
      ...{ claimedMs: 0, submittedMs: 10 * MINUTE },
    }),
    { truth: 'in_time' },
  ),
  checking('failed a day ago, and green since it ran again before the claim', VERIFIED, (scene) => [
    run(scene, -DAY, 'failure'),
    run(scene, -HOUR, 'success'),
  ]),
]

export const replacedLives = livesAt([GITHUB], { about: 'who reported it', truth: 'in_time' }, [
  ...[...replaced, ...deleted, ...posted, ...told],
])
