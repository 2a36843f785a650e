/** Traps at a real npm registry, Verdaccio, which forgets what was unpublished. */
import { brokenOff, html, json, redirectTo, silence, status, truncatedJson } from '../destinations/faults.ts'
import { integrityOf } from '../destinations/verdaccio.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY_MS, MINUTE_MS, type Row, registryTrap, type World } from './world.ts'

const npm = registryTrap('npm')
const AMBIGUOUS = 'unverifiable/claim_ambiguous'
const about = (name: string) => new RegExp(`(?:/|%2f)${name}(?:[/?]|$)`)

/** A version that was published in time; what is wrong is wrong with the registry's answers. */
function behind(
  name: string,
  fault: Parameters<World['npm']['faults']['inject']>[0]['fault'],
  verdict: string,
  times = Number.POSITIVE_INFINITY,
): Trap<World> {
  return npm({
    name,
    truth: 'in_time',
    verdict,
    forgets: true,
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      const { faults } = world.verdaccio.front
      faults.inject({ fault, on: about(name), times })
      faults.inject({ fault: status(500), on: about(name) })
      return world.soonest()
    },
  })
}

const rows: readonly Row[] = [
  {
    name: 'published and claimed',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { facts: { version: '1.0.0', package_listed: true, preexisting: undefined } }
    },
  },
  {
    name: 'a private package with a scope, with its digest',
    truth: 'in_time',
    verdict: 'verified',
    client: 'reader',
    async set({ world, name }) {
      const integrity = await world.verdaccio.publish(`@private/${name}`, '1.0.0', { token: world.token })
      const facts = { integrity, integrity_by: 'claimcheck' }
      return { target: `npm:@private/${name}`, params: { integrity }, facts }
    },
  },
  {
    name: 'a private package, without the right to see it',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(`@private/${name}`, '1.0.0', { token: world.token })
      return { target: `npm:@private/${name}`, ...world.soonest() }
    },
  },
  {
    name: 'a version that was never published',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0', { at: world.clock.now() - DAY_MS })
      return { params: { version: '1.1.0' } }
    },
  },
  {
    name: 'the same, first read a minute after the claim',
    truth: 'never',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0', { at: world.clock.now() - DAY_MS })
      return { params: { version: '1.1.0' }, ...world.times(9 * MINUTE_MS, MINUTE_MS) }
    },
  },
  {
    name: 'published and unpublished before the first read, which was not prompt',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '0.9.0')
      await world.verdaccio.publish(name, '1.0.0')
      await world.verdaccio.unpublish(name, '1.0.0')
      return world.times(9 * MINUTE_MS, MINUTE_MS)
    },
  },
  {
    name: 'seen, and then unpublished',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { meanwhile: () => world.verdaccio.unpublish(name, '1.0.0') }
    },
  },
  {
    name: 'published after the claim and in time',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '0.9.0')
      return { meanwhile: async () => void (await world.verdaccio.publish(name, '1.0.0')), afterMs: MINUTE_MS }
    },
  },
  {
    name: 'published late, and the record tells it',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '0.9.0')
      return {
        meanwhile: async () => void (await world.verdaccio.publish(name, '1.0.0')),
        afterMs: 12 * MINUTE_MS,
        ...world.now(8 * MINUTE_MS),
      }
    },
  },
  {
    name: 'in time by a forged `time`, which the registry does not take over',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '0.9.0')
      const time = { '1.0.0': new Date(world.clock.now()).toISOString() }
      const meanwhile = async () => void (await world.verdaccio.publish(name, '1.0.0', { time }))
      return { meanwhile, afterMs: 12 * MINUTE_MS, ...world.now(8 * MINUTE_MS) }
    },
  },
  {
    name: 'another version than the one that is there',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { params: { version: '1.0.1' } }
    },
  },
  {
    name: 'a prerelease of the version',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0-rc.1')
      return { facts: { package_listed: true } }
    },
  },
  {
    name: 'the name in other case is another package',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { target: `npm:${name.toUpperCase()}`, ...world.soonest() }
    },
  },
  {
    name: 'the name in other case, with credentials that see everything',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'seesAll',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { target: `npm:${name.toUpperCase()}`, facts: { package_listed: false } }
    },
  },
  {
    name: 'the digest of the content',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const integrity = await world.verdaccio.publish(name, '1.0.0')
      return { params: { integrity }, facts: { integrity, integrity_by: 'claimcheck' } }
    },
  },
  {
    name: 'another digest than that of the content',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const integrity = await world.verdaccio.publish(name, '1.0.0')
      return { params: { integrity: integrityOf('other content') }, facts: { integrity } }
    },
  },
  {
    name: 'the digest that the publisher declared, and not that of the content',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const forged = integrityOf('what was promised')
      const integrity = await world.verdaccio.publish(name, '1.0.0', { integrity: forged })
      return { params: { integrity: forged }, facts: { integrity } }
    },
  },
  {
    name: 'the right digest, where the publisher declared another one',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const integrity = await world.verdaccio.publish(name, '1.0.0', { integrity: 'sha512-AAAA' })
      return { params: { integrity } }
    },
  },
  {
    name: 'content that was replaced before a first read that was not prompt',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '0.9.0')
      const integrity = await world.verdaccio.publish(name, '1.0.0', { content: 'the first' })
      await world.verdaccio.unpublish(name, '1.0.0')
      await world.verdaccio.publish(name, '1.0.0', { content: 'the second' })
      return { params: { integrity }, ...world.times(9 * MINUTE_MS, MINUTE_MS) }
    },
  },
  {
    name: 'there for a month',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0', { at: world.clock.now() - 30 * DAY_MS })
      return { facts: { preexisting: true } }
    },
  },
  {
    name: 'deprecated',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      await world.verdaccio.deprecate(name, '1.0.0', 'use another one')
      return { facts: { deprecated: true } }
    },
  },
  {
    name: 'a registry that passes on what another one has for a month',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atProxying',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0', { at: world.clock.now() - 30 * DAY_MS })
      return { facts: { preexisting: true } }
    },
  },
  {
    name: 'a tag',
    truth: 'never',
    verdict: '422',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { params: { version: 'latest' }, refusal: /latest/ }
    },
  },
  {
    name: 'a tag that looks like a version',
    truth: 'never',
    verdict: '422',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0', { tag: '8-lts' })
      return { params: { version: '8-lts' } }
    },
  },
  {
    name: 'build metadata, which npm drops',
    truth: 'unknowable',
    verdict: '422',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { params: { version: '1.0.0+build.1' } }
    },
  },
  {
    name: 'a v before the version',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      return { params: { version: 'v1.0.0' }, facts: { version: '1.0.0' } }
    },
  },
  {
    name: 'eleven claims about one version',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const integrity = await world.verdaccio.publish(name, '1.0.0')
      return { params: { integrity }, beside: 10 }
    },
  },
  {
    name: 'one 500, and then the truth',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      await world.verdaccio.publish(name, '1.0.0')
      world.verdaccio.front.faults.inject({ fault: status(500), on: about(name), times: 1 })
      return {}
    },
  },
  {
    name: 'its token is revoked, and another version is what is there',
    truth: 'never',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    client: 'reader',
    async set({ world, name }) {
      await world.verdaccio.publish(`@private/${name}`, '0.9.0', { token: world.token })
      const revoke = async () => world.verdaccio.front.faults.inject({ fault: status(401), on: about(name) })
      return { target: `npm:@private/${name}`, meanwhile: revoke }
    },
  },
  {
    name: 'a replica from before the publication, which says how old it is',
    truth: 'in_time',
    verdict: 'verified',
    client: 'atVerdaccio',
    async set({ world, name }) {
      const { front } = world.verdaccio
      await world.verdaccio.publish(name, '0.9.0')
      const before = await (await fetch(`${front.url}/${name}`)).json()
      await world.verdaccio.publish(name, '1.0.0')
      front.faults.inject({ fault: aged(404, {}), on: new RegExp(`/${name}/1\\.0\\.0`), times: 3 })
      front.faults.inject({ fault: aged(200, before), on: new RegExp(`/${name}$`), times: 3 })
      return {}
    },
  },
]

function aged(code: number, body: unknown): ReturnType<typeof json> {
  return (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json', age: '120' })
    response.end(JSON.stringify(body))
  }
}

const UNAVAILABLE = 'unverifiable/destination_unavailable'

export const npmTraps: readonly Trap<World>[] = [
  ...rows.map(npm),
  behind('401', status(401), 'unverifiable/permission_denied'),
  behind('404 for everything', status(404), 'unverifiable/permission_denied'),
  behind('429', status(429, { 'retry-after': '3600' }), 'unverifiable/rate_limited'),
  behind('500', status(500), UNAVAILABLE),
  behind('HTML', html(), AMBIGUOUS),
  behind('JSON that is cut', truncatedJson(), AMBIGUOUS),
  behind('an answer that breaks off', brokenOff(), UNAVAILABLE),
  behind('an empty object', json({}), AMBIGUOUS),
  behind('a redirect to another place', redirectTo('http://127.0.0.1:9/'), AMBIGUOUS),
  behind('silence, and then 500', silence(), UNAVAILABLE, 1),
]
