/** Lives of checks of a commit that a clock, or a person, has run something for hundreds of times. */
import { BITBUCKET, checking, checkingAll, type ForgeLife, GITHUB, GITLAB, livesAt, type Scene } from './forges.ts'
import { at, DAY, type LifeRow, MINUTE, NOT_VERIFIED, SECOND, VERIFIED } from './life-row.ts'
import { before, build, ELSEWHERE, HONEST, RED, type Run, run, runs } from './run-scenes.ts'

/** More than the pages that one look reads of the list. */
const COUNT = 350

function repeatedly(scene: Scene, fromMs: number, apartMs: number, given: Run) {
  return at(fromMs, 'place', () => {
    for (let one = 0; one < COUNT; one++) run(scene, fromMs + one * apartMs, given)
  })
}

const byHand = ({ forge }: Scene) => (forge === GITLAB || forge === BITBUCKET ? 'web' : 'workflow_dispatch')

const sinceDays: readonly ForgeLife[] = [checking, checkingAll].map((kind, index) =>
  kind(
    `a commit that a clock has run for since days, hundreds of times${index ? ', none named' : ''}`,
    VERIFIED,
    (scene) => {
      before(scene, {})
      const clock = repeatedly(scene, -6 * DAY, 13 * MINUTE, { file: 'nightly', source: 'schedule' })
      return [runs(scene, -7 * DAY, build), clock]
    },
    HONEST,
  ),
)

const byPerson: readonly ForgeLife[] = [
  checkingAll(
    'red, and started by hand hundreds of times since, none named',
    NOT_VERIFIED,
    (scene) => {
      before(scene, {})
      const noise = repeatedly(scene, -20 * MINUTE, 2 * SECOND, { ...build, source: byHand(scene) })
      return [runs(scene, -30 * MINUTE, { ...build, ...RED }), noise]
    },
    ELSEWHERE,
  ),
]

export const floodLives: readonly LifeRow[] = livesAt(
  [GITHUB, GITLAB, BITBUCKET],
  { about: 'what lists tell', truth: 'never' },
  [...sinceDays, ...byPerson],
)
