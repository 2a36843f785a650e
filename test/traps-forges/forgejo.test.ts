import t from 'tap'
import { playTable } from '../traps/table.ts'
import { forgejo, forgejoTraps } from './gitea.ts'
import { ForgeWorld } from './world.ts'

const world = await ForgeWorld.start(forgejo)
t.teardown(() => world.close())

playTable(world, forgejoTraps, 14)
