import t from 'tap'
import { playTable } from '../traps/table.ts'
import { commonTraps } from './common.ts'
import { gitlab, gitlabTraps } from './gitlab.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 60

const world = await ForgeWorld.start(gitlab)
t.teardown(() => world.close())

playTable(world, [...commonTraps(gitlab), ...gitlabTraps], LEAST_TRAPS)
