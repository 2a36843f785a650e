import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { playTable } from '../traps/table.ts'
import { commonTraps } from './common.ts'
import { gitlab, gitlabTraps } from './gitlab.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 18

const world = await ForgeWorld.start(gitlab)
t.teardown(() => world.close())

playTable(world, [...commonTraps(gitlab), ...shareOf(gitlabTraps, 1, 6)], LEAST_TRAPS)
