/** Long lives in virtual time: no verdict that a liar can bend, and none that blames an honest agent. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { answerLives } from './answers.ts'
import { botLives } from './bots.ts'
import { clientClockLives } from './client-clocks.ts'
import { cutLogLives } from './cut-logs.ts'
import { gitLives } from './git.ts'
import { forgeLies } from './lies.ts'
import type { LifeRow } from './life-row.ts'
import { mergeLives } from './merges.ts'
import { playLives, titleOf } from './play-lives.ts'
import { registryLives } from './registries.ts'
import { reportedLives } from './reported.ts'
import { settledLives } from './settled.ts'
import { webLives } from './web.ts'

const LIVES: readonly LifeRow[] = [
  ...forgeLies,
  ...botLives,
  ...reportedLives,
  ...settledLives,
  ...clientClockLives,
  ...cutLogLives,
  ...mergeLives,
  ...answerLives,
  ...registryLives,
  ...webLives,
  ...gitLives,
]

const LEAST = 600

t.setTimeout(0)
// `LIVES=bots` plays the rows whose titles have the word.
const { LIVES: word } = process.env
if (word === undefined) playLives(t, LIVES, LEAST)
else
  playLives(
    t,
    LIVES.filter((row) => titleOf(row).includes(word)),
    1,
  )
