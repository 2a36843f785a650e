/** Bitbucket Cloud: no false verified, no false blame. */
import t from 'tap'
import { shareOf } from '../support/extent.ts'
import { playTable } from '../traps/table.ts'
import { bitbucket, bitbucketTraps } from './bitbucket.ts'
import { commonTraps } from './common.ts'
import { pushTraps } from './pushes-without-log.ts'
import { ForgeWorld } from './world.ts'

const LEAST_TRAPS = 15

const world = await ForgeWorld.start(bitbucket)
t.teardown(() => world.close())

playTable(
  world,
  [...commonTraps(bitbucket), ...shareOf(pushTraps(bitbucket), 0, 6), ...shareOf(bitbucketTraps, 0, 6)],
  LEAST_TRAPS,
)
