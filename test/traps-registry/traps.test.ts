import t from 'tap'
import { playTable } from '../traps/table.ts'
import { cargoTraps } from './cargo.ts'
import { npmTraps } from './npm.ts'
import { publicNpmTraps } from './npm-public.ts'
import { pypiTraps } from './pypi.ts'
import { World } from './world.ts'

const world = await World.start()
t.teardown(() => world.close())

const withoutCargo = [...npmTraps, ...publicNpmTraps, ...pypiTraps]
if (!world.hasCrates) {
  t.test(`${cargoTraps.length} traps at Cargo`, { skip: 'this machine has no nginx to serve an index' }, async () => {})
}
const traps = world.hasCrates ? [...withoutCargo, ...cargoTraps] : withoutCargo
playTable(world, traps, world.hasCrates ? 85 : 70)
