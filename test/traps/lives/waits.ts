/** Lives of claims that wait for CI: how soon its green is seen, and by how many requests; and what a claim costs that nothing makes true. */
import { BITBUCKET, checking, FORGEJO, type ForgeLife, GITEA, GITHUB, GITLAB, livesAt, type Scene } from './forges.ts'
import { at, BLAME, HOUR, type LifeRow, MINUTE, SECOND, VERIFIED } from './life-row.ts'
import { checkingAfter } from './ran-before.ts'

const checkingAll = checkingAfter('codehost.checks.pass', ({ base }) => ({ sha: base }))
const ELSEWHERE = { truth: 'elsewhere' } as const
const NEVER = { truth: 'never' } as const

/** The workflow `ci` with its job `build`, on main from one moment to another. */
function runs({ repository: { checks }, base: sha }: Scene, fromMs: number, toMs: number, outcome?: 'failure') {
  let id = 0
  return [
    at(fromMs, 'ci', () => {
      id = checks.queue({ sha, branch: 'main', name: 'build', workflow: '.github/workflows/ci.yml' })
      checks.start(id)
    }),
    at(toMs, 'ci', () => checks.end(id, outcome ?? 'success')),
  ]
}

const failed = (scene: Scene) => runs(scene, -5 * MINUTE, -MINUTE, 'failure')
const runsOn = (scene: Scene) => runs(scene, -MINUTE, 4 * HOUR)

/** What a life may cost, by the hosts where each answer costs a request. */
interface CountedLife {
  readonly life: ForgeLife
  readonly most: number
}

/** CI that begins just before the claim, and lasts so many minutes. */
function lasting(minutes: number, mostNamed: number, mostUnnamed: number): readonly CountedLife[] {
  const cameMs = minutes * MINUTE
  const play = (scene: Scene) => ({ happens: runs(scene, -10 * SECOND, cameMs), cameMs })
  const soon = { bars: { seconds: 90 } }
  return [
    { life: checking(`a pipeline of ${minutes} minutes, named`, VERIFIED, play, soon), most: mostNamed },
    { life: checkingAll(`a pipeline of ${minutes} minutes, none named`, VERIFIED, play, soon), most: mostUnnamed },
  ]
}

const counted: readonly CountedLife[] = [
  ...lasting(2, 30, 65),
  ...lasting(20, 110, 150),
  ...lasting(58, 220, 320),
  { life: checking('named, and it never runs', BLAME, () => [], NEVER), most: 140 },
  { life: checking('named, and it has failed', BLAME, failed, ELSEWHERE), most: 140 },
  { life: checkingAll('none named, and it has failed', BLAME, failed, ELSEWHERE), most: 140 },
  { life: checking('named, and it runs until after the deadline', BLAME, runsOn, NEVER), most: 370 },
  { life: checkingAll('none named, and it runs until after the deadline', BLAME, runsOn, NEVER), most: 480 },
]

/** What is red as the claim comes is green two minutes later, while CI runs on. */
const greenAgain: readonly ForgeLife[] = [
  checkingAll('a status is red, and green two minutes later, while CI runs', VERIFIED, (scene) => {
    const { repository, base: sha } = scene
    const post = (ms: number, state: 'success' | 'failure') =>
      at(ms, 'ci', () => repository.checks.post({ sha, context: 'unit', state, by: 'jenkins' }))
    const ci = runs(scene, -10 * SECOND, 5 * MINUTE)
    return { happens: [post(-MINUTE, 'failure'), ...ci, post(100 * SECOND, 'success')], cameMs: 5 * MINUTE }
  }),
  checkingAll('a job is red, and run again to green two minutes later, while CI runs', VERIFIED, (scene) => {
    const { repository, base: sha, forge } = scene
    const { checks } = repository
    let id = 0
    const workflow = '.github/workflows/lint.yml'
    // All jobs that a push starts are in one pipeline at GitLab.
    const branch = forge === GITLAB ? 'work' : 'main'
    const red = at(-MINUTE, 'ci', () => {
      id = checks.run({ sha, branch, name: 'lint', workflow, outcome: 'failure' })
    })
    const again = at(80 * SECOND, 'ci', () => {
      id = checks.rerun(id)
      checks.start(id)
    })
    const green = at(100 * SECOND, 'ci', () => checks.end(id, 'success'))
    return { happens: [red, ...runs(scene, -10 * SECOND, 5 * MINUTE), again, green], cameMs: 5 * MINUTE }
  }),
]

const soon = { about: 'in good time', truth: 'in_time' } as const

const countedLives = counted.flatMap(({ life, most }) => [
  ...livesAt([GITHUB], soon, [{ ...life, bars: { ...life.bars, requests: 20 } }]),
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], soon, [life]).map((row) => ({
    ...row,
    bars: { ...row.bars, requests: most },
  })),
])

export const waitLives: readonly LifeRow[] = [
  ...countedLives,
  ...livesAt([GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET], soon, greenAgain),
]
