/**
 * Lives of checks of a commit that a clock has run something for hundreds of times. What stays red, or is never found, is looked at until the deadline,
 * which takes minutes with hundreds of runs: that a clock, or a person, has run so many beside it is tested by single looks (`github-checks.test.ts`).
 */
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

const leftOut: readonly ForgeLife[] = [
  checking(
    'green by what GitHub runs itself (dynamic) before a clock ran hundreds of times',
    VERIFIED,
    (scene) => {
      const clock = repeatedly(scene, -6 * DAY, 13 * MINUTE, { file: 'nightly', source: 'schedule' })
      return [runs(scene, -7 * DAY, { ...build, source: 'dynamic' }), clock]
    },
    HONEST,
  ),
]

const about = { about: 'what lists tell', truth: 'never' } as const

export const floodLives: readonly LifeRow[] = [
  ...livesAt([GITHUB, GITLAB], about, sinceDays),
  ...livesAt([GITHUB], about, leftOut),
]
