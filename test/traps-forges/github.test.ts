import t from 'tap'
import { playTable } from '../traps/table.ts'
import { commonTraps } from './common.ts'
import { github, githubTraps } from './github.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 90

const world = await ForgeWorld.start(github)
t.teardown(() => world.close())

playTable(world, [...commonTraps(github), ...githubTraps], LEAST_TRAPS)
