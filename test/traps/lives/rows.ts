/** The table of lives, in parts that run side by side. */
import { shareOf, shortened, shortenedCount } from '../../support/extent.ts'
import { addressLives } from './addresses.ts'
import { answerLives } from './answers.ts'
import { belongingLives } from './belonging.ts'
import { botLives } from './bots.ts'
import { clientClockLives } from './client-clocks.ts'
import { comparableLives } from './comparable.ts'
import { comparableElsewhereLives } from './comparable-elsewhere.ts'
import { cutLogLives } from './cut-logs.ts'
import { floodLives } from './floods.ts'
import { gitLives } from './git.ts'
import { headLives } from './heads.ts'
import { forgeLagLives, lagLives } from './lags.ts'
import { laterRunLives } from './later-runs.ts'
import { forgeLies } from './lies.ts'
import { type LifeRow, titleOf } from './life-row.ts'
import { longListLives } from './long-lists.ts'
import { mergeLives } from './merges.ts'
import { numberLives } from './numbers.ts'
import { pushLogLives } from './push-log.ts'
import { registryLives } from './registries.ts'
import { recordLives } from './registry-records.ts'
import { replacedLives } from './replaced.ts'
import { reportedLives } from './reported.ts'
import { settledLives } from './settled.ts'
import { waitLives } from './waits.ts'
import { wallLives } from './walls.ts'
import { webLives } from './web.ts'

const atForges: readonly LifeRow[] = [
  ...forgeLies,
  ...botLives,
  ...reportedLives,
  ...settledLives,
  ...waitLives,
  ...comparableLives,
  ...comparableElsewhereLives,
  ...replacedLives,
  ...laterRunLives,
  ...belongingLives,
  ...headLives,
  ...clientClockLives,
  ...cutLogLives,
  ...floodLives,
  ...pushLogLives,
  ...mergeLives,
  ...longListLives,
  ...numberLives,
  ...answerLives,
  ...forgeLagLives,
]

/** All of a part's rows, and how many there are at least, so that none gets lost. */
export interface Part {
  readonly rows: readonly LifeRow[]
  readonly least: number
}

export const AT_GITHUB: Part = chosen(
  atForges.filter(({ place }) => place === 'github'),
  320,
)
/** What hosts have in common is played at an eighth of the others unless all is. */
export const AT_OTHER_FORGES: Part = chosen(
  shareOf(
    atForges.filter(({ place }) => place !== 'github'),
    0,
    8,
  ),
  95,
)
export const ELSEWHERE: Part = chosen(
  [...registryLives, ...recordLives, ...lagLives, ...webLives, ...wallLives, ...addressLives, ...gitLives],
  270,
)

/** `LIVES=bots` plays the rows whose titles have the word. */
function chosen(rows: readonly LifeRow[], least: number): Part {
  const { LIVES: word } = process.env
  if (word !== undefined) return { rows: rows.filter((row) => titleOf(row).includes(word)), least: 0 }
  return { rows: shortened(rows), least: shortenedCount(least) }
}
