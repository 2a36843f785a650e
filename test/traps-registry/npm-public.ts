/** Traps at npm's public registry, which keeps a record of what was unpublished. */
import { brokenOff, status } from '../destinations/faults.ts'
import { integrityOf } from '../destinations/verdaccio.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY_MS, MINUTE_MS, type Row, registryTrap, type World } from './world.ts'

const npm = registryTrap('npm')
const AMBIGUOUS = 'unverifiable/claim_ambiguous'

const LARGE = 'large '.repeat((8 * 1024 * 1024) / 6)

const rows: readonly Row[] = [
  {
    name: 'a version that was never published, claimed an hour ago',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '0.9.0')
      return world.times(-50 * MINUTE_MS, 20 * MINUTE_MS)
    },
  },
  {
    name: 'published in time, unpublished, and then read for the first time',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      const now = world.clock.now()
      world.npm.publish(name, '0.9.0', { at: now - DAY_MS })
      world.npm.publish(name, '1.0.0', { at: now - 55 * MINUTE_MS })
      world.npm.unpublish(name, '1.0.0', now - 50 * MINUTE_MS)
      return { ...world.times(-50 * MINUTE_MS, 20 * MINUTE_MS), facts: { unpublished: true } }
    },
  },
  {
    name: 'published before the claim, and unpublished some time after it',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      const now = world.clock.now()
      world.npm.publish(name, '1.0.0', { at: now - 65 * MINUTE_MS })
      world.npm.unpublishAll(name, now - 50 * MINUTE_MS)
      return world.times(-50 * MINUTE_MS, 20 * MINUTE_MS)
    },
  },
  {
    name: 'published in time and unpublished, and the claim names a digest',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      const now = world.clock.now()
      const integrity = world.npm.publish(name, '1.0.0', { at: now - 55 * MINUTE_MS })
      world.npm.unpublish(name, '1.0.0', now - 50 * MINUTE_MS)
      return { params: { integrity }, ...world.times(-50 * MINUTE_MS, 20 * MINUTE_MS) }
    },
  },
  {
    name: 'unpublished a month ago, and claimed now',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set({ world, name }) {
      const now = world.clock.now()
      world.npm.publish(name, '0.9.0', { at: now - 60 * DAY_MS })
      world.npm.publish(name, '1.0.0', { at: now - 40 * DAY_MS })
      world.npm.unpublish(name, '1.0.0', now - 30 * DAY_MS)
      return { facts: { unpublished: true } }
    },
  },
  {
    name: 'published late, and read for the first time after that',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0', { at: world.clock.now() - 2 * MINUTE_MS })
      return world.times(-5 * MINUTE_MS, 60 * MINUTE_MS)
    },
  },
  {
    name: 'published in time, and read for the first time after the tolerance',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0', { at: world.clock.now() - 10 * MINUTE_MS })
      return world.times(-5 * MINUTE_MS, 60 * MINUTE_MS)
    },
  },
  {
    name: 'the same, and the record cannot be read',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0', { at: world.clock.now() - 10 * MINUTE_MS })
      world.npm.faults.inject({ fault: brokenOff(), on: new RegExp(`/${name}$`) })
      return world.times(-5 * MINUTE_MS, 6 * MINUTE_MS)
    },
  },
  {
    name: 'seen in time, and the record cannot be read',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0')
      world.npm.faults.inject({ fault: status(503), on: new RegExp(`/${name}$`) })
      return { facts: { published_at: undefined } }
    },
  },
  {
    name: 'another digest, which no later publication can change',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0')
      return { params: { integrity: integrityOf('other content') } }
    },
  },
  ...([401, 404, 405] as const).flatMap((status): readonly Row[] => [
    {
      name: `a registry without documents of versions, which answers ${status}`,
      truth: 'in_time',
      verdict: 'verified',
      client: 'anonymous',
      set({ world, name }) {
        const integrity = world.npm.publish(name, '1.0.0', { withoutDocuments: status })
        return { params: { integrity }, facts: { integrity } }
      },
    },
    {
      name: `no such version there, where ${status} is answered for any`,
      truth: 'never',
      verdict: status === 401 ? 'unverifiable/permission_denied' : 'failed/not_found',
      forgets: status === 401,
      client: 'anonymous',
      set({ world, name }) {
        world.npm.publish(name, '0.9.0', { withoutDocuments: status })
        return status === 401 ? world.soonest() : {}
      },
    },
  ]),
  {
    name: 'a file of 8 MiB, with its digest',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      const integrity = world.npm.publish(name, '1.0.0', { content: LARGE })
      return { params: { integrity }, facts: { integrity_by: 'claimcheck' } }
    },
  },
  {
    name: 'a file of 8 MiB, with another digest',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0', { content: LARGE })
      return { params: { integrity: integrityOf('other content') } }
    },
  },
  {
    name: 'the file is at an inner host, and by its path here',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      const tarball = `http://npm.internal:4873/${name}/-/${name}-1.0.0.tgz`
      return { params: { integrity: world.npm.publish(name, '1.0.0', { tarball }) } }
    },
  },
  {
    name: 'the file is at another origin',
    truth: 'in_time',
    verdict: 'unverifiable/unsupported_action',
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      const tarball = world.verdaccio.url
      return { params: { integrity: world.npm.publish(name, '1.0.0', { tarball: `${tarball}/${name}.tgz` }) } }
    },
  },
  {
    name: 'a private package, claimed without a connection',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(`@acme/${name}`, '1.0.0', { isPrivate: true })
      return { target: `npm:@acme/${name}`, ...world.soonest() }
    },
  },
  {
    name: 'a package that there is not, without a scope',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set: () => ({ facts: { package_listed: false } }),
  },
  {
    name: 'the same, and the registry does not answer its own ping',
    truth: 'never',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    alone: true,
    client: 'anonymous',
    set({ world }) {
      world.npm.faults.inject({ fault: status(404), on: /./ })
      return world.soonest()
    },
  },
  {
    name: 'a registry that is not the public one',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    client: 'anonymous',
    set({ world, name }) {
      world.npm.publish(name, '1.0.0')
      return { params: { registry: 'npm.example.com' } }
    },
  },
]

export const publicNpmTraps: readonly Trap<World>[] = rows.map(npm)
