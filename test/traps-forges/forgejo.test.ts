import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { playTable } from '../traps/table.ts'
import { forgejo, forgejoTraps } from './gitea.ts'
import { ForgeWorld } from './world.ts'

const world = await ForgeWorld.start(forgejo)
t.teardown(() => world.close())

// Gitea's rows hold what both have in common: a thorough test plays all of them at Forgejo, too.
playTable(world, shareOf(forgejoTraps, 0, 2), 7)
