/** Lives of checks whose runs belong to something else than it seems: to another commit, another job or another account. */
import { status } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  checking,
  checkingAll,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  type Scene,
} from './forges.ts'
import {
  at,
  DAY,
  HOUR,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  NOT_VERIFIED,
  type Play,
  SECOND,
  START,
  VERIFIED,
} from './life-row.ts'
import { fileOf } from './ran-before.ts'
import {
  before,
  build,
  E2E,
  ELSEWHERE,
  HONEST,
  merged,
  ofPull,
  opensTopic,
  post,
  posts,
  RED,
  type Run,
  run,
  running,
  runs,
} from './run-scenes.ts'

/** Runs that something else than the commit started, though they are listed with it. */
const strange: readonly ForgeLife[] = [
  ...(['workflow_run', 'deployment_status', 'issue_comment'] as const).flatMap((source) => [
    checkingAll(
      `a red run after ${source}, and a newer one of it, in green, after that of something else`,
      NOT_VERIFIED,
      (scene) => {
        before(scene, {}, { file: 'e2e', source })
        const later = runs(scene, -5 * MINUTE, { file: 'e2e', source })
        return [runs(scene, -15 * MINUTE), runs(scene, -10 * MINUTE, { file: 'e2e', source, ...RED }), later]
      },
      ELSEWHERE,
    ),
    checking(
      `named: a red run after ${source}, and a newer one of it, in green, after that of something else`,
      NOT_VERIFIED,
      (scene) => [
        runs(scene, -10 * MINUTE, { ...build, file: 'e2e', source, ...RED }),
        runs(scene, -5 * MINUTE, { ...build, file: 'e2e', source }),
      ],
      ELSEWHERE,
    ),
  ]),
  checkingAll(
    'the chained run of the commit before comes here, and its own is red ten minutes later',
    NOT_VERIFIED,
    (scene) => {
      before(scene, {}, E2E)
      const foreign = runs(scene, -2 * MINUTE, { ...E2E, name: 'e2e' })
      return [...running(scene, -3 * MINUTE, 6 * MINUTE), foreign, runs(scene, 10 * MINUTE, { ...E2E, ...RED })]
    },
    ELSEWHERE,
  ),
  checkingAll(
    'the chained run of the commit before comes here, and its own is green a few seconds after its CI',
    VERIFIED,
    (scene) => {
      before(scene, {}, E2E)
      const [foreign, own] = [runs(scene, -2 * MINUTE, E2E), runs(scene, 6 * MINUTE + 4 * SECOND, E2E)]
      return { happens: [...running(scene, -3 * MINUTE, 6 * MINUTE), foreign, own], cameMs: 6 * MINUTE + 4 * SECOND }
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
  ...[checkingAll, checking].map((kind, index) =>
    kind(
      `${index ? 'named: ' : ''}the end of its CI starts a run in green, beside a slow workflow of the push that ends later`,
      VERIFIED,
      (scene) => {
        before(scene, {}, { file: 'slow' }, E2E)
        const slow = running(scene, -10 * MINUTE, -5 * SECOND, { file: 'slow' })
        const own = runs(scene, -5 * MINUTE, index ? { ...E2E, ...build } : E2E)
        return [...running(scene, -10 * MINUTE, -5 * MINUTE - 3 * SECOND), ...slow, own]
      },
      { ...HONEST, bars: { seconds: 90 } },
    ),
  ),
  checking(
    'named: a slow one of the commit before ends as its linter does, in green, and its own is red after its CI',
    NOT_VERIFIED,
    (scene) => {
      const foreign = runs(scene, -2 * MINUTE, { ...E2E, ...build })
      const own = runs(scene, 6 * MINUTE + 4 * SECOND, { ...E2E, ...build, ...RED })
      const lint = running(scene, -3 * MINUTE, -2 * MINUTE, { file: 'lint' })
      return [...running(scene, -3 * MINUTE, 6 * MINUTE), ...lint, foreign, own]
    },
    ELSEWHERE,
  ),
]

/** The run of a pull request, and what its end starts, which is listed with the newest commit of main. */
async function pulled(scene: Scene, ms: number, chained: Run) {
  const pull = await opensTopic(scene)
  const own = running(scene, ms - 5 * MINUTE, ms - 3 * SECOND, { sha: scene.head, ...ofPull(scene, pull) })
  return [...own, runs(scene, ms, { ...E2E, ...chained })]
}

const chainedLate: readonly ForgeLife[] = [
  ...(
    [
      ['red', RED, NOT_VERIFIED, ELSEWHERE],
      ['green', {}, VERIFIED, HONEST],
    ] as const
  ).map(([colour, outcome, right, truth]) =>
    checkingAll(
      `the chained run of a pull request comes after CI has ended, and its own is ${colour} five minutes later`,
      right,
      async (scene) => {
        before(scene, {}, E2E)
        const foreign = await pulled(scene, -2 * MINUTE, {})
        const own = runs(scene, 5 * MINUTE, { ...E2E, ...outcome })
        return { happens: [...running(scene, -9 * MINUTE, -6 * MINUTE), ...foreign, own], cameMs: 5 * MINUTE }
      },
      truth,
    ),
  ),
  checking(
    'named: the chained run of a pull request comes after CI has ended, in green, and its own is red later',
    NOT_VERIFIED,
    async (scene) => {
      const foreign = await pulled(scene, -2 * MINUTE, build)
      const own = runs(scene, 5 * MINUTE, { ...E2E, ...build, ...RED })
      return [...running(scene, -9 * MINUTE, -6 * MINUTE), ...foreign, own]
    },
    ELSEWHERE,
  ),
  checking(
    'named: its chained run is green, beside a workflow of the push that runs for three hours',
    VERIFIED,
    async (scene) => {
      before(scene, {}, { file: 'slow' }, E2E)
      const pull = await opensTopic(scene)
      const other = running(scene, -30 * MINUTE, -20 * MINUTE, { sha: scene.head, ...ofPull(scene, pull) })
      const slow = running(scene, -10 * MINUTE, 3 * HOUR, { file: 'slow' })
      const own = runs(scene, -5 * MINUTE, { ...E2E, ...build })
      return [...other, ...running(scene, -10 * MINUTE, -5 * MINUTE - 3 * SECOND), ...slow, own]
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
  ...(
    [
      ['alone', [], VERIFIED, { ...HONEST, bars: { seconds: 16 * 60 } }],
      ['and another one is red later', [9 * MINUTE], NOT_VERIFIED, ELSEWHERE],
    ] as const
  ).map(([what, later, right, more]) =>
    checking(
      `named: a chained run half a minute after its CI, in green, as a run of a pull request ends, ${what}`,
      right,
      async (scene) => {
        const chained = await pulled(scene, -30 * SECOND, build)
        const red = later.map((ms) => runs(scene, ms, { ...E2E, ...build, ...RED }))
        return [...running(scene, -3 * MINUTE, -MINUTE), ...chained, ...red]
      },
      more,
    ),
  ),
  checking(
    'named: its chained run is green, and half a minute later that of a pull request is red',
    VERIFIED,
    async (scene) => {
      const own = runs(scene, -57 * SECOND, { ...E2E, ...build })
      return [
        ...running(scene, -3 * MINUTE, -MINUTE),
        own,
        ...(await pulled(scene, -30 * SECOND, { ...build, ...RED })),
      ]
    },
    HONEST,
  ),
]

const chainedNamed: readonly ForgeLife[] = (
  [
    ['red', 'failure', NOT_VERIFIED, ELSEWHERE],
    ['green', 'success', VERIFIED, HONEST],
  ] as const
).flatMap(([colour, outcome, right, truth]) =>
  (['success', 'failure', 'skipped'] as const).map((before) =>
    checking(
      `named: the chained run of the commit before comes here (${before}), and its own is ${colour} after its CI`,
      right,
      (scene) => {
        const cameMs = 6 * MINUTE + 4 * SECOND
        const foreign = runs(scene, -2 * MINUTE, { ...E2E, ...build, outcome: before })
        const own = runs(scene, cameMs, { ...E2E, ...build, outcome })
        return { happens: [...running(scene, -3 * MINUTE, 6 * MINUTE), foreign, own], cameMs }
      },
      truth,
    ),
  ),
)

/** A label starts a run of which all jobs are skipped. */
const labelled: readonly ForgeLife[] = [checking, checkingAll].map((kind, index) =>
  kind(
    `a label skips a newer run of a pull request that is green${index ? ', none named' : ''}`,
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      const pull = await opensTopic(scene)
      const own = { sha: scene.head, ...build, ...ofPull(scene, pull) }
      const happens = [runs(scene, -2 * MINUTE, own), runs(scene, -MINUTE, { ...own, outcome: 'skipped' })]
      const checks = [{ name: 'build', by: 'github-actions' }]
      return { params: { sha: scene.head, ...(index === 0 ? { checks } : {}) }, happens }
    },
    HONEST,
  ),
)

const accounts: readonly ForgeLife[] = [
  checkingAll(
    'red by the old account of a service, and green since by its new one',
    NOT_BLAMED,
    (scene) => {
      before(scene, {})
      const unit = { context: 'unit' }
      return [
        runs(scene, -MINUTE),
        posts(scene, -10 * MINUTE, { ...unit, by: 'jenkins-old', state: 'failure' }),
        posts(scene, -5 * MINUTE, { ...unit, by: 'jenkins-new' }),
      ]
    },
    // Statuses at Bitbucket have a key, and nobody's name.
    { ...HONEST, where: ({ name }) => name !== 'bitbucket' },
  ),
]

/** Two jobs have one name, and a person runs the green one again. */
const twins: readonly ForgeLife[] = [checking, checkingAll].map((kind, index) =>
  kind(
    `two jobs of one name, of which the green one is run again${index ? ', none named' : ''}`,
    NOT_VERIFIED,
    (scene) => {
      const { checks } = scene.repository
      before(scene, {})
      let id = 0
      return [
        at(-10 * MINUTE, 'ci', () => {
          const suite = checks.suite({ sha: scene.base, workflow: fileOf('ci'), branch: 'main' })
          checks.run({ suite, name: 'build', ...RED })
          id = checks.run({ suite, name: 'build' })
        }),
        at(-5 * MINUTE, 'agent', () => checks.end(checks.rerun(id), 'success')),
      ]
    },
    ELSEWHERE,
  ),
)

/** The red one is the first or the last of more than a page. */
const many: readonly ForgeLife[] = (
  [
    [51, 50],
    [101, 0],
  ] as const
).map(([count, index]) =>
  checkingAll(
    `one of ${count} jobs is red, the ${index === 0 ? 'first' : 'last'}`,
    NOT_VERIFIED,
    (scene) => {
      const { checks } = scene.repository
      before(scene, {})
      const all = () => {
        const suite = checks.suite({ sha: scene.base, workflow: fileOf('ci'), branch: 'main' })
        for (let one = 0; one < count; one++) checks.run({ suite, name: `job ${one}`, ...(one === index ? RED : {}) })
      }
      return [at(-10 * MINUTE, 'ci', all)]
    },
    ELSEWHERE,
  ),
)
const manyStatuses: readonly ForgeLife[] = [
  checkingAll(
    'one of a hundred statuses is red, the first',
    NOT_VERIFIED,
    (scene) => {
      before(scene, {})
      const all = at(-10 * MINUTE, 'ci', () => {
        for (let one = 0; one < 100; one++) {
          const state = one === 0 ? 'failure' : 'success'
          post(scene, -10 * MINUTE, { context: `part ${one}`, by: 'jenkins', state })
        }
      })
      return [runs(scene, -10 * MINUTE), all]
    },
    ELSEWHERE,
  ),
]

const usual = (scene: Scene) => {
  before(scene, {}, { file: 'lint' })
  return [runs(scene, -MINUTE, { file: 'lint' }), ...running(scene, -MINUTE, 3 * MINUTE)]
}
const cameMs = 3 * MINUTE

const weather: readonly ForgeLife[] = [
  ...[-3 * MINUTE, 3 * MINUTE].map((clockAheadMs) =>
    checkingAll(
      `green after three minutes, by a host whose clock is ${clockAheadMs / MINUTE} minutes ahead`,
      VERIFIED,
      (scene) => ({ happens: usual(scene), cameMs }),
      { ...HONEST, answering: { clockAheadMs } },
    ),
  ),
  checkingAll(
    'green after three minutes, and every answer is 429 from then on for four minutes',
    VERIFIED,
    (scene) => {
      let isBusy = false
      const fault = status(429, { 'retry-after': '60' })
      scene.standIn.faults.inject({ fault, during: () => isBusy })
      const set = (ms: number, busy: boolean) =>
        at(ms, 'place', () => {
          isBusy = busy
        })
      return { happens: [...usual(scene), set(cameMs, true), set(cameMs + 4 * MINUTE, false)], cameMs }
    },
    HONEST,
  ),
  checkingAll(
    'the host renames the repository while its CI runs',
    VERIFIED,
    (scene) => ({
      happens: [...usual(scene), at(MINUTE, 'owner', () => scene.standIn.rename(scene.repository, 'acme/renamed'))],
      cameMs,
    }),
    HONEST,
  ),
  checkingAll(
    'a replica is 45 s behind, and what was green is red by then',
    NOT_VERIFIED,
    (scene) => {
      before(scene, {}, { file: 'lint' })
      return [runs(scene, -3 * MINUTE), ...running(scene, -20 * SECOND, 15 * MINUTE, { file: 'lint', ...RED })]
    },
    { ...ELSEWHERE, answering: { replicaLagMs: 45 * SECOND } },
  ),
  checkingAll(
    'a status that is pending for half an hour, and then green',
    VERIFIED,
    (scene) => {
      before(scene, {})
      const deploy = { context: 'deploy', by: 'vercel' }
      return {
        happens: [
          runs(scene, -MINUTE),
          posts(scene, -30 * SECOND, { ...deploy, state: 'pending' }),
          posts(scene, 30 * MINUTE, deploy),
        ],
        cameMs: 30 * MINUTE,
      }
    },
    HONEST,
  ),
]

const queue: readonly ForgeLife[] = (
  [
    ['red', RED, NOT_VERIFIED, ELSEWHERE, 0],
    ['green', {}, VERIFIED, HONEST, 2 * MINUTE],
  ] as const
).map(([colour, outcome, right, truth, cameMs]) =>
  checkingAll(
    `green in the merge queue, and what main runs begins two minutes later, in ${colour}`,
    right,
    (scene) => {
      const queued = { source: 'merge_group', branch: 'gh-readonly-queue/main/pr-1' }
      before(scene, queued, { file: 'deploy' })
      return {
        happens: [runs(scene, -2 * MINUTE, queued), runs(scene, 2 * MINUTE, { file: 'deploy', ...outcome })],
        cameMs,
      }
    },
    truth,
  ),
)

const flapping: readonly ForgeLife[] = [
  checkingAll(
    'a status is red until all parts are there, and green by the same account three minutes later',
    VERIFIED,
    (scene) => {
      const coverage = { context: 'coverage', by: 'codecov' }
      before(scene, {})
      for (const [index, sha] of scene.past.entries()) post(scene, -(index + 1) * DAY, { ...coverage, sha })
      const happens = [
        runs(scene, -MINUTE),
        posts(scene, -30 * SECOND, { ...coverage, state: 'failure' }),
        posts(scene, 3 * MINUTE, coverage),
      ]
      return { happens, cameMs: 3 * MINUTE }
    },
    HONEST,
  ),
  checkingAll(
    'all before were red, and this one is green',
    VERIFIED,
    (scene) => {
      before(scene, RED, { file: 'lint' })
      return [runs(scene, -MINUTE), runs(scene, -MINUTE, { file: 'lint' })]
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
  checkingAll(
    'a branch of an old release, without a pull request',
    VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const { repository, past } = scene
      before(scene, {}, { file: 'deploy' })
      await merged(scene, (of) => run(scene, of.ms, { sha: of.sha, ...ofPull(scene, of) }))
      const sha = await repository.commit({ parents: [past[2]!], message: 'Fix' })
      await repository.push('release-1', sha, { at: START - 2 * MINUTE })
      return { params: { sha }, happens: [runs(scene, -MINUTE, { sha, branch: 'release-1' })] }
    },
    { ...HONEST, bars: { seconds: 90 } },
  ),
  checkingAll(
    'a tag, half a minute after the claim, whose run is red',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(scene, {})
      await scene.repository.tag('v1.0.0', scene.base, { at: START })
      const release = { file: 'release', branch: 'v1.0.0', ...RED }
      return { happens: [runs(scene, -MINUTE), ...running(scene, 30 * SECOND, 5 * MINUTE, release)] }
    },
    ELSEWHERE,
  ),
]

/** A tag was pushed just before the claim. The one before it, of another commit, has had a run. */
async function tagged(scene: Scene, name = 'v1.0.0') {
  const { repository, past, base } = scene
  before(scene, {})
  await repository.tag('v0.9.0', past[0]!, { at: START - DAY })
  run(scene, -DAY, { sha: past[0]!, file: 'release', branch: 'v0.9.0' })
  await repository.tag(name, base, { at: START - 10 * SECOND })
  return [runs(scene, -5 * MINUTE)]
}

const tagRuns: readonly ForgeLife[] = [
  ...(
    [
      ['red', RED, NOT_VERIFIED, ELSEWHERE],
      ['green', {}, VERIFIED, HONEST],
    ] as const
  ).map(([colour, outcome, right, truth]) =>
    checkingAll(
      `a tag, just before the claim, whose run begins three minutes later, in ${colour}`,
      right,
      async (scene) => {
        const release = runs(scene, 3 * MINUTE, { file: 'release', branch: 'v1.0.0', ...outcome })
        return { happens: [...(await tagged(scene)), release], cameMs: 3 * MINUTE }
      },
      truth,
    ),
  ),
  checkingAll('a tag, just before the claim, that runs nothing though the one before did', VERIFIED, tagged, HONEST),
  checkingAll(
    'a tag of another kind, just before the claim, that runs nothing',
    VERIFIED,
    (scene) => tagged(scene, 'reviewed'),
    { ...HONEST, bars: { seconds: 90 } },
  ),
]

const children: readonly ForgeLife[] = [
  checkingAll(
    'a child pipeline that its parent does not wait for is red eight minutes later',
    NOT_VERIFIED,
    (scene) => {
      const { checks } = scene.repository
      before(scene, {})
      let id = 0
      return [
        at(-MINUTE, 'ci', () => {
          const parent = checks.suite({ sha: scene.base, branch: 'main' })
          checks.run({ suite: parent, name: 'ci' })
          const suite = checks.suite({ sha: scene.base, branch: 'main', parent })
          id = checks.queue({ suite, name: 'slow' })
          checks.start(id)
        }),
        at(8 * MINUTE, 'ci', () => checks.end(id, 'failure')),
      ]
    },
    ELSEWHERE,
  ),
]

const about = 'who reported it'
const ALL = [GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET]

export const belongingLives: readonly LifeRow[] = [
  ...livesAt([GITHUB], { about, truth: 'never' }, [
    ...strange,
    ...chainedLate,
    ...chainedNamed,
    ...labelled,
    ...twins,
    ...queue,
  ]),
  ...livesAt([GITLAB], { about, truth: 'never' }, children),
  ...livesAt([GITHUB, GITLAB], { about, truth: 'never' }, tagRuns),
  ...livesAt(ALL, { about, truth: 'never' }, [...accounts, ...many, ...manyStatuses, ...weather, ...flapping]),
]
