/** What came after a red run: one that was skipped, a stopped twin, a deletion, and the reports of an account that is also the CI's. */
import {
  BITBUCKET,
  checking,
  FORGEJO,
  type ForgeLife,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  livesOf,
  type Scene,
} from './forges.ts'
import {
  at,
  BLAME,
  DAY,
  HOUR,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  NOT_VERIFIED,
  SECOND,
  START,
  VERIFIED,
} from './life-row.ts'
import { fileOf } from './ran-before.ts'

const allGreen = livesOf('codehost.checks.pass', ({ base }) => ({ sha: base }))
const ELSEWHERE = { truth: 'elsewhere' } as const
const HONEST = { truth: 'in_time' } as const

interface Run {
  readonly file?: string
  /** In place of the file's. */
  readonly workflow?: string
  readonly name?: string
  readonly sha?: string
  readonly branch?: string
  readonly source?: string
  readonly pull?: number
  readonly outcome?: 'success' | 'failure' | 'skipped' | 'cancelled'
  readonly by?: string
}

const CODE_SCANNING: Run = { workflow: 'dynamic/github-code-scanning/codeql', name: 'Analyze', source: 'dynamic' }
const RED = { outcome: 'failure' } as const

function run({ repository, base }: Scene, ms: number, { file = 'ci', ...given }: Run = {}): number {
  return repository.checks.run({
    ...{ sha: base, branch: 'main', name: file, outcome: 'success', workflow: fileOf(file), at: START + ms },
    ...given,
  })
}

function runs(scene: Scene, ms: number, given?: Run) {
  return at(ms, 'ci', () => run(scene, ms, given))
}

type Post = Readonly<{ sha?: string; context: string; by: string; state?: 'success' | 'failure' }>

function post({ repository, base }: Scene, ms: number, given: Post): void {
  repository.checks.post({ sha: base, state: 'success', at: START + ms, ...given })
}

/** On each of the commits before the claimed one, a day apart. */
function before(scene: Scene, report: (ms: number, sha: string) => void): void {
  for (const [index, sha] of scene.past.entries()) report(-(index + 1) * DAY, sha)
}

function ranBefore(scene: Scene, ...given: readonly Run[]): void {
  before(scene, (ms, sha) => {
    for (const one of given) run(scene, ms, { by: 'maintainer', ...one, sha })
  })
}

const JENKINS: Post = { context: 'jenkins/tests', by: 'agent' }

/** The agent's account posts what its CI says. */
function withOwnCi(scene: Scene): void {
  ranBefore(scene, { file: 'lint', by: 'agent' })
  before(scene, (ms, sha) => post(scene, ms, { ...JENKINS, sha }))
}

/** A red run of the claimed commit, which somebody deletes. */
function deletedRed(scene: Scene, name: string) {
  const { repository, base } = scene
  let suite = 0
  return [
    at(-MINUTE, 'ci', () => {
      suite = repository.checks.suite({ sha: base, workflow: fileOf('ci'), branch: 'main' })
      repository.checks.run({ suite, name, ...RED })
    }),
    at(10 * MINUTE, 'liar', () => repository.checks.deleteSuite(suite)),
  ]
}

const atAll: readonly ForgeLife[] = [
  allGreen(
    'a red run, and a newer one that was skipped',
    NOT_VERIFIED,
    (scene) => {
      ranBefore(scene, {}, { file: 'lint' })
      const given = [runs(scene, -15 * MINUTE, { file: 'lint' }), runs(scene, -15 * MINUTE, RED)]
      return [...given, runs(scene, -5 * MINUTE, { outcome: 'skipped' })]
    },
    ELSEWHERE,
  ),
  allGreen(
    'the own account is also that of the CI, which fails later',
    NOT_VERIFIED,
    (scene) => {
      withOwnCi(scene)
      const later = at(5 * MINUTE, 'ci', () => post(scene, 5 * MINUTE, { ...JENKINS, state: 'failure' }))
      return [runs(scene, -MINUTE, { file: 'lint', by: 'agent' }), later]
    },
    ELSEWHERE,
  ),
]

const NO_DELETION = ({ name }: { readonly name: string }) => name !== 'bitbucket'

const withDeletions: readonly ForgeLife[] = [
  checking(
    'named: an older pass, and a red run that was deleted in time',
    NOT_VERIFIED,
    (scene) => {
      return [runs(scene, -HOUR, { name: 'build' }), ...deletedRed(scene, 'build')]
    },
    { ...ELSEWHERE, where: NO_DELETION },
  ),
  allGreen(
    'an older pass, and a red run that was deleted in time',
    NOT_VERIFIED,
    (scene) => {
      ranBefore(scene, {}, { file: 'lint' })
      return [runs(scene, -HOUR, { file: 'lint' }), runs(scene, -HOUR), ...deletedRed(scene, 'ci')]
    },
    { truth: 'never', where: NO_DELETION },
  ),
  allGreen(
    'a red run beside one that runs on, which the first look saw, and which was deleted half a minute later',
    NOT_VERIFIED,
    (scene) => {
      const { repository, base: sha } = scene
      ranBefore(scene, {}, { file: 'lint' })
      let [suite, id] = [0, 0]
      return [
        at(-MINUTE, 'ci', () => {
          // All jobs that a push starts are in one pipeline at GitLab.
          const branch = scene.forge === GITLAB ? 'work' : 'main'
          suite = repository.checks.suite({ sha, workflow: fileOf('lint'), branch })
          repository.checks.run({ suite, name: 'lint', ...RED })
          id = repository.checks.queue({ sha, workflow: fileOf('ci'), branch: 'main', name: 'ci' })
          repository.checks.start(id)
        }),
        at(30 * SECOND, 'liar', () => repository.checks.deleteSuite(suite)),
        at(5 * MINUTE, 'ci', () => repository.checks.end(id, 'success')),
      ]
    },
    { ...ELSEWHERE, where: NO_DELETION },
  ),
  allGreen(
    'it failed two minutes ago, and is dated 20 s back',
    BLAME,
    (scene) => {
      ranBefore(scene, {})
      return { happens: [runs(scene, -2 * MINUTE, RED)], claimedMs: -20 * SECOND }
    },
    ELSEWHERE,
  ),
  checking(
    'named: it failed two minutes ago, and is dated 20 s back',
    BLAME,
    (scene) => {
      return { happens: [runs(scene, -2 * MINUTE, { name: 'build', ...RED })], claimedMs: -20 * SECOND }
    },
    ELSEWHERE,
  ),
]

/** A pull request from the branch, as it was 20 minutes ago. */
async function fromTopic({ repository, head }: Scene) {
  const pull = await repository.pullRequests.open({ head: 'topic', at: START - 20 * MINUTE })
  const pushed = { sha: head, branch: 'topic' }
  return { pushed, opened: { ...pushed, source: 'pull_request', pull } }
}

/** Red for a pull request into `base` that is closed, and green for a newer one from its commit into main, with so many between them. */
async function twoPulls(scene: Scene, base: string, isNamed: boolean, between = 0) {
  ranBefore(scene, {})
  const { pullRequests } = scene.repository
  await scene.repository.push('release', scene.base)
  const first = await pullRequests.open({ head: 'topic', base, at: START - 30 * MINUTE })
  pullRequests.close(first, { at: START - 25 * MINUTE })
  for (let index = 0; index < between; index++) {
    const other = await pullRequests.open({ head: 'topic', base: 'main', at: START - 24 * MINUTE })
    pullRequests.close(other, { at: START - 23 * MINUTE })
  }
  const { opened: of } = await fromTopic(scene)
  const older = runs(scene, -28 * MINUTE, { name: 'build', ...of, pull: first, ...RED })
  const happens = [older, runs(scene, -15 * MINUTE, { name: 'build', ...of })]
  const checks = [{ name: 'build', by: 'github-actions' }]
  return { params: { sha: of.sha, ...(isNamed ? { checks } : {}) }, happens }
}

const atGitHub: readonly ForgeLife[] = [
  allGreen(
    'the own account is also that of the CI, which passes later',
    VERIFIED,
    (scene) => {
      withOwnCi(scene)
      const later = at(5 * MINUTE, 'ci', () => post(scene, 5 * MINUTE, JENKINS))
      return { happens: [runs(scene, -MINUTE, { file: 'lint', by: 'agent' }), later], cameMs: 5 * MINUTE }
    },
    HONEST,
  ),
  allGreen(
    'code scanning begins two minutes later, and fails',
    NOT_VERIFIED,
    (scene) => {
      ranBefore(scene, {}, CODE_SCANNING)
      return [runs(scene, -MINUTE), runs(scene, 2 * MINUTE, { ...CODE_SCANNING, ...RED })]
    },
    ELSEWHERE,
  ),
  allGreen(
    'a status of the workflows themselves comes later, in red',
    NOT_VERIFIED,
    (scene) => {
      const scan: Post = { context: 'scan', by: 'github-actions[bot]' }
      ranBefore(scene, {})
      before(scene, (ms, sha) => post(scene, ms, { ...scan, sha }))
      const later = at(5 * MINUTE, 'ci', () => post(scene, 5 * MINUTE, { ...scan, state: 'failure' }))
      return [runs(scene, -MINUTE), later]
    },
    ELSEWHERE,
  ),
  allGreen(
    'a label skips the newer run of a pull request',
    NOT_VERIFIED,
    async (scene) => {
      ranBefore(scene, {}, { file: 'lint' })
      const { opened: of } = await fromTopic(scene)
      const given = [runs(scene, -15 * MINUTE, { file: 'lint', ...of }), runs(scene, -15 * MINUTE, { ...of, ...RED })]
      return { params: { sha: of.sha }, happens: [...given, runs(scene, -5 * MINUTE, { ...of, outcome: 'skipped' })] }
    },
    ELSEWHERE,
  ),
  checking(
    'named: a red run, and a newer one that was skipped',
    NOT_VERIFIED,
    (scene) => {
      const skipped = runs(scene, -5 * MINUTE, { name: 'build', outcome: 'skipped' })
      return [runs(scene, -15 * MINUTE, { name: 'build', ...RED }), skipped]
    },
    ELSEWHERE,
  ),
  allGreen(
    'a merge queue, and no runs on main itself',
    VERIFIED,
    (scene) => {
      const queued = { source: 'merge_group', branch: 'gh-readonly-queue/main/pr-1' }
      ranBefore(scene, queued)
      return [runs(scene, -2 * MINUTE, queued)]
    },
    HONEST,
  ),
  ...(['release', 'main'] as const).flatMap((base) =>
    [allGreen, checking].map((kind, index) =>
      kind(
        `${index ? 'named: ' : ''}red for a closed pull request into ${base}, and green for a newer one into main`,
        base === 'main' ? VERIFIED : NOT_VERIFIED,
        async (scene) => twoPulls(scene, base, index > 0),
        base === 'main' ? HONEST : ELSEWHERE,
      ),
    ),
  ),
  ...[allGreen, checking].map((kind, index) =>
    kind(
      `${index ? 'named: ' : ''}red for a closed pull request into release, and green for a newer one into main, by a token that sees none`,
      NOT_VERIFIED,
      async (scene) => twoPulls(scene, 'release', index > 0),
      { ...ELSEWHERE, visit: { token: ['contents', 'actions', 'statuses', 'checks'] } },
    ),
  ),
  ...[allGreen, checking].map((kind, index) =>
    kind(
      `${index ? 'named: ' : ''}red for a closed pull request into release, below a hundred that were closed since, and green for one into main`,
      NOT_VERIFIED,
      async (scene) => twoPulls(scene, 'release', index > 0, 100),
      ELSEWHERE,
    ),
  ),
  checking(
    'named: red for a newer pull request into release, closed since, and green again for the older one into main',
    NOT_VERIFIED,
    async (scene) => {
      const { pullRequests } = scene.repository
      await scene.repository.push('release', scene.base)
      const { opened: of } = await fromTopic(scene)
      const newer = await pullRequests.open({ head: 'topic', base: 'release', at: START - 18 * MINUTE })
      pullRequests.close(newer, { at: START - 16 * MINUTE })
      const older = runs(scene, -16 * MINUTE + 5 * SECOND, { name: 'build', ...of, pull: newer, ...RED })
      return { params: { sha: of.sha }, happens: [older, runs(scene, -10 * MINUTE, { name: 'build', ...of })] }
    },
    ELSEWHERE,
  ),
  checking(
    'named: red for a pull request, and green for it since, beside another one into release that was closed before',
    VERIFIED,
    async (scene) => {
      const { pullRequests } = scene.repository
      await scene.repository.push('release', scene.base)
      const other = await pullRequests.open({ head: 'topic', base: 'release', at: START - 60 * MINUTE })
      pullRequests.close(other, { at: START - 50 * MINUTE })
      const { opened: of } = await fromTopic(scene)
      const older = runs(scene, -16 * MINUTE, { name: 'build', ...of, ...RED })
      return { params: { sha: of.sha }, happens: [older, runs(scene, -10 * MINUTE, { name: 'build', ...of })] }
    },
    HONEST,
  ),
  allGreen(
    'a group of runs stopped the twin of a green one',
    NOT_BLAMED,
    async (scene) => {
      ranBefore(scene, {})
      const { pushed, opened: of } = await fromTopic(scene)
      const stopped = runs(scene, -15 * MINUTE, { ...pushed, outcome: 'cancelled' })
      return { params: { sha: of.sha }, happens: [stopped, runs(scene, -14 * MINUTE, of)] }
    },
    HONEST,
  ),
  checking(
    'named: a group of runs stopped the twin of a green one',
    NOT_BLAMED,
    async (scene) => {
      const { pushed, opened: of } = await fromTopic(scene)
      const stopped = runs(scene, -15 * MINUTE, { ...pushed, name: 'build', outcome: 'cancelled' })
      return { params: { sha: of.sha }, happens: [stopped, runs(scene, -14 * MINUTE, { ...of, name: 'build' })] }
    },
    HONEST,
  ),
  checking(
    'named: a red run is run again, and passes',
    VERIFIED,
    ({ repository, base: sha }) => {
      let id = 0
      const failed = () => repository.checks.run({ sha, branch: 'main', workflow: fileOf('ci'), name: 'build', ...RED })
      const failing = at(-MINUTE, 'ci', () => {
        id = failed()
      })
      const again = at(10 * MINUTE, 'ci', () => repository.checks.end(repository.checks.rerun(id), 'success'))
      return { happens: [failing, again], cameMs: 10 * MINUTE }
    },
    HONEST,
  ),
  checking(
    'named: a red run, and a newer one of its ref that passes',
    VERIFIED,
    (scene) => {
      const happens = [runs(scene, -MINUTE, { name: 'build', ...RED }), runs(scene, 10 * MINUTE, { name: 'build' })]
      return { happens, cameMs: 10 * MINUTE }
    },
    HONEST,
  ),
  allGreen(
    'an app beyond the first hundred of a commit fails later',
    NOT_VERIFIED,
    (scene) => {
      const app = { name: 'deep', app: 'deep' }
      before(scene, (ms, sha) => {
        scene.repository.checks.run({ ...app, sha, at: START + ms })
        const letters = (index: number) => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26))
        for (let index = 0; index < 120; index++)
          run(scene, ms, { sha, by: 'maintainer', name: `job ${letters(index)}` })
      })
      const later = at(5 * MINUTE, 'ci', () => {
        scene.repository.checks.run({ ...app, sha: scene.base, outcome: 'failure', at: START + 5 * MINUTE })
      })
      return [runs(scene, -MINUTE), later]
    },
    ELSEWHERE,
  ),
]

export const laterRunLives: readonly LifeRow[] = [
  ...livesAt([GITHUB], { about: 'settled greens', truth: 'never' }, [...atAll, ...withDeletions, ...atGitHub]),
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], { about: 'settled greens', truth: 'never' }, [
    ...atAll,
    ...withDeletions,
  ]),
]
