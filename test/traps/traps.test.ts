/** Through the whole service: no false verified, no false blame. Threats A1 and D2 of `security.md`. */
import t from 'tap'
import { placeTraps } from './places.ts'
import { playTable } from './table.ts'
import { verdictTraps } from './verdicts.ts'
import { World } from './world.ts'

const LEAST_TRAPS = 69

const world = await World.start()
t.teardown(() => world.close())

playTable(world, [...placeTraps, ...verdictTraps], LEAST_TRAPS)
