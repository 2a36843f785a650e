/** Bitbucket Data Center: no false verified, no false blame. */
import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { playTable } from '../traps/table.ts'
import { bitbucketServer, bitbucketServerTraps, commonTrapsHere } from './bitbucket-server.ts'
import { pushTraps } from './pushes-without-log.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 12

const world = await ForgeWorld.start(bitbucketServer)
t.teardown(() => world.close())

playTable(
  world,
  [...commonTrapsHere, ...shareOf(pushTraps(bitbucketServer), 1, 6), ...shareOf(bitbucketServerTraps, 1, 6)],
  LEAST_TRAPS,
)
