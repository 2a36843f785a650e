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

const soon = { about: 'in good time', truth: 'in_time' } as const

export const waitLives: readonly LifeRow[] = counted.flatMap(({ life, most }) => [
  ...livesAt([GITHUB], soon, [{ ...life, bars: { ...life.bars, requests: 20 } }]),
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], soon, [life]).map((row) => ({
    ...row,
    bars: { ...row.bars, requests: most },
  })),
])
