// Test run: slow
/** Long lives in virtual time: no verdict that a liar can bend, and none that blames an honest agent. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { playLives } from './play-lives.ts'
import { AT_GITHUB } from './rows.ts'

playLives(t, AT_GITHUB)
