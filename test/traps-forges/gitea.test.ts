import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { playTable } from '../traps/table.ts'
import { commonTraps } from './common.ts'
import { gitea, giteaTraps } from './gitea.ts'
import { ForgeWorld } from './world.ts'

const world = await ForgeWorld.start(gitea)
t.teardown(() => world.close())

playTable(world, [...commonTraps(gitea), ...shareOf(giteaTraps, 0, 6)], 18)
