/** Git servers and GitHub: no false verified, no false blame. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { gitTraps } from './git.ts'
import { githubTraps } from './github.ts'
import { playTable } from './table.ts'
import { World } from './world.ts'

const LEAST_TRAPS = 95

const world = await World.start()
t.teardown(() => world.close())

playTable(world, [...githubTraps, ...shareOf(gitTraps, 0, 6)], LEAST_TRAPS)
