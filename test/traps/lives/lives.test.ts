/** Long lives in virtual time: no verdict that a liar can bend, and none that blames an honest agent. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { botLives } from './bots.ts'
import { clientClockLives } from './client-clocks.ts'
import { cutLogLives } from './cut-logs.ts'
import { forgeLies } from './lies.ts'
import type { LifeRow } from './life-row.ts'
import { playLives } from './play-lives.ts'
import { reportedLives } from './reported.ts'
import { settledLives } from './settled.ts'

const LEAST = 100

t.setTimeout(0)
playLives(
  t,
  chosen([...forgeLies, ...botLives, ...reportedLives, ...settledLives, ...clientClockLives, ...cutLogLives]),
  LEAST,
)

/** `LIVES=bots` plays the rows whose titles have the word. */
function chosen(rows: readonly LifeRow[]): readonly LifeRow[] {
  const { LIVES } = process.env
  return LIVES === undefined
    ? rows
    : rows.filter(({ place, about, action, name }) => `${place}, ${action}, ${about}: ${name}`.includes(LIVES))
}
