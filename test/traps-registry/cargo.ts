/** Traps at sparse indexes of Cargo, served by nginx: the public one, and another one. */
import { type Fault, html, status } from '../destinations/faults.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY_MS, MINUTE_MS, type Row, registryTrap, type World } from './world.ts'

const cargo = registryTrap('cargo')
const AMBIGUOUS = 'unverifiable/claim_ambiguous'

const rows: readonly Row[] = [
  {
    name: 'published, in other case, with its digest in hexadecimal',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world, name }) {
      const integrity = await world.crates.publish(`P${name.slice(1)}`, '1.0.0')
      return { target: `cargo:${name.toUpperCase()}`, params: { integrity }, facts: { integrity_by: 'registry' } }
    },
  },
  ...(['-', '_'] as const).map(
    (written): Row => ({
      name: `published with ${written === '-' ? 'an underscore' : 'a hyphen'}, and claimed with the other`,
      truth: 'in_time',
      verdict: 'verified',
      client: 'anonymous',
      async set({ world, name }) {
        const other = written === '-' ? '_' : '-'
        const integrity = await world.crates.publish(name.replace('-', other), '1.0.0')
        return { target: `cargo:${name.replace('-', written)}`, params: { integrity } }
      },
    }),
  ),
  {
    name: 'the same at another index, where they may be two crates',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    client: 'seesAllCrates',
    async set({ world, name }) {
      await world.crates.publish(name.replace('-', '_'), '1.0.0')
      return {}
    },
  },
  {
    name: 'neither spelling has the version',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name.replace('-', '_'), '0.9.0')
      return {}
    },
  },
  ...(
    [
      ['a line that says nothing of yanking', { yanked: null }],
      ['a line without deps and features', { deps: undefined, features: undefined }],
      ['a line of a newer format', { v: 3, features2: { a: ['b'] }, yanked: { since: 'today' } }],
    ] as const
  ).map(
    ([what, more]): Row => ({
      name: `${what}, of the claimed version`,
      truth: 'in_time',
      verdict: 'verified',
      client: 'anonymous',
      async set({ world, name }) {
        const line = { name, vers: '1.0.0', deps: [], cksum: 'ab'.repeat(32), features: {}, yanked: false, ...more }
        await world.crates.append(name, JSON.stringify(line))
        return { params: { integrity: 'ab'.repeat(32) } }
      },
    }),
  ),
  {
    name: 'a line that is no JSON, before the claimed version',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.append(name, '{"name":"tool","vers":')
      await world.crates.publish(name, '1.0.0')
      return {}
    },
  },
  {
    name: 'no line has the version, and one cannot be read',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '0.9.0')
      await world.crates.append(name, '{"name":"tool","vers":')
      return world.soonest()
    },
  },
  {
    name: 'names of one to three letters',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world }) {
      for (const name of ['x', 'xy', 'xyz']) await world.crates.publish(name, '1.0.0')
      return { target: 'cargo:xyz' }
    },
  },
  {
    name: 'another digest, which no later publication can change',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0')
      return { params: { integrity: 'ab'.repeat(32) } }
    },
  },
  {
    name: 'yanked is not absent',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0', { yanked: true })
      return { facts: { yanked: true } }
    },
  },
  {
    name: 'a version that was never published, claimed an hour ago',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '0.9.0')
      return world.times(-50 * MINUTE_MS, 20 * MINUTE_MS)
    },
  },
  {
    name: 'the same at an index that may forget',
    truth: 'never',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'atCrates',
    async set({ world, name }) {
      await world.crates.publish(name, '0.9.0')
      return world.times(-50 * MINUTE_MS, 20 * MINUTE_MS)
    },
  },
  {
    name: 'a crate that there is not',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set: () => ({ facts: { package_listed: false } }),
  },
  {
    name: 'a crate that a connection does not see',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    client: 'atCrates',
    set: ({ world }) => world.soonest(),
  },
  {
    name: 'published late, by the time in the index',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0', { at: world.clock.now() - 2 * MINUTE_MS })
      return world.times(-5 * MINUTE_MS, 60 * MINUTE_MS)
    },
  },
  {
    name: 'first read after the tolerance, and the index has no times',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0', { isTimed: false })
      return world.times(-1000, 6 * MINUTE_MS)
    },
  },
  {
    name: 'there for a month',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0', { at: world.clock.now() - 30 * DAY_MS })
      return { facts: { preexisting: true } }
    },
  },
  {
    name: 'the version with its build metadata',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0+1.7.2')
      return { params: { version: '1.0.0+1.7.2' } }
    },
  },
  {
    name: 'the version without its build metadata',
    truth: 'unknowable',
    verdict: AMBIGUOUS,
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0+1.7.2')
      return {}
    },
  },
  {
    name: 'a page in place of the index',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0')
      world.crates.front.faults.inject({ fault: html(), on: new RegExp(`/${name}$`) })
      return world.soonest()
    },
  },
  {
    name: 'published in time, and a cache at an index of somebody keeps the file from before',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'atCrates',
    async set({ world, name }) {
      const before = JSON.stringify({ name, vers: '0.9.0', cksum: 'ab'.repeat(32), yanked: false })
      await world.crates.publish(name, '1.0.0')
      const fault: Fault = (_, response) => void response.setHeader('age', '3600').end(before)
      world.crates.front.faults.inject({ fault, on: new RegExp(`/${name}$`) })
      return undefined
    },
  },
  {
    name: '451, which does not say that it never was',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    client: 'anonymous',
    async set({ world, name }) {
      await world.crates.publish(name, '1.0.0')
      world.crates.front.faults.inject({ fault: status(451), on: new RegExp(`/${name}$`) })
      return world.soonest()
    },
  },
]

export const cargoTraps: readonly Trap<World>[] = rows.map(cargo)
