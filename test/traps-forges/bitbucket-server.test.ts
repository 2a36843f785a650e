/** Bitbucket Data Center: no false verified, no false blame. */
import t from 'tap'
import { playTable } from '../traps/table.ts'
import { bitbucketServer, bitbucketServerTraps, commonTrapsHere } from './bitbucket-server.ts'
import { shareOf } from './common.ts'
import { pushTraps } from './pushes-without-log.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 35

const world = await ForgeWorld.start(bitbucketServer)
t.teardown(() => world.close())

playTable(world, [...commonTrapsHere, ...shareOf(pushTraps, 1, 2), ...bitbucketServerTraps], LEAST_TRAPS)
