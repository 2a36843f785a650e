/** Bitbucket Cloud: no false verified, no false blame. */
import t from 'tap'
import { playTable } from '../traps/table.ts'
import { bitbucket, bitbucketTraps } from './bitbucket.ts'
import { commonTraps, shareOf } from './common.ts'
import { pushTraps } from './pushes-without-log.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 40

const world = await ForgeWorld.start(bitbucket)
t.teardown(() => world.close())

playTable(world, [...commonTraps(bitbucket), ...shareOf(pushTraps, 0, 2), ...bitbucketTraps], LEAST_TRAPS)
