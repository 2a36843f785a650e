/** The tour's stop at a package registry: a real Verdaccio. */
import { Verdaccio } from '../../test/destinations/verdaccio.ts'
import type { Stop } from './stop.ts'

export async function registryStop(): Promise<Stop> {
  const verdaccio = await Verdaccio.start()
  const integrity = await verdaccio.publish('tour', '1.0.0')
  return {
    place: 'A package registry, Verdaccio',
    plugin: '@claimcheck/plugin-registry',
    allowPrivate: new URL(verdaccio.url).host,
    connect: ['npm', '--set', `base_url=${verdaccio.url}`],
    claims: [{ action: 'registry.package.publish', target: 'npm:tour', params: { version: '1.0.0', integrity } }],
    close: () => verdaccio.close(),
  }
}
