import t from 'tap'
import { playTable } from '../traps/table.ts'
import { answerTraps } from './answers.ts'
import { networkTraps } from './network.ts'
import { nginxTraps } from './nginx.ts'
import { World } from './world.ts'

const LEAST_TRAPS = 75

const world = await World.start()
t.teardown(() => world.close())

const traps = [...networkTraps, ...answerTraps]
if (world.nginx) playTable(world, [...nginxTraps, ...traps], LEAST_TRAPS + nginxTraps.length)
else {
  t.test(
    `${nginxTraps.length} traps at nginx`,
    { skip: 'nginx is not installed: apt-get install nginx-light' },
    () => {},
  )
  playTable(world, traps, LEAST_TRAPS)
}
