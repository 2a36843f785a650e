/** Lives of checks of a commit that a clock has run something for hundreds of times. */
import { checking, checkingAll, type ForgeLife, GITHUB, GITLAB, livesAt, type Scene } from './forges.ts'
import { at, DAY, type LifeRow, MINUTE, VERIFIED } from './life-row.ts'
import { before, build, HONEST, type Run, run, runs } from './run-scenes.ts'

/** More than the pages that one look reads of the list. */
const COUNT = 350

function repeatedly(scene: Scene, fromMs: number, apartMs: number, given: Run) {
  return at(fromMs, 'place', () => {
    for (let one = 0; one < COUNT; one++) run(scene, fromMs + one * apartMs, given)
  })
}

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

export const floodLives: readonly LifeRow[] = livesAt(
  [GITHUB, GITLAB],
  { about: 'what lists tell', truth: 'never' },
  sinceDays,
)
