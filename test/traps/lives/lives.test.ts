/** Long lives in virtual time: no verdict that a liar can bend, and none that blames an honest agent. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { forgeLies } from './lies.ts'
import { playLives } from './play-lives.ts'

const LEAST = 100

t.setTimeout(0)
playLives(t, [...forgeLies], LEAST)
