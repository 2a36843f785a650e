/** Bad plugins whose connection type is wrong: its base address, what fits, or its probe. */
import {
  bearer,
  type ConnectionType,
  DestinationError,
  isDestinationError,
  type Plugin,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { BASE, connection, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

function withType(replaced: Partial<ConnectionType>): () => Plugin {
  return () => ticketPlugin({ connection: replaced })
}

type Probe = ConnectionType['probe']

/** Throws another error in place of some. */
function probeThat(replace: (error: DestinationError) => unknown): Probe {
  return (options, context) =>
    connection.probe(options, context).catch((error: unknown) => {
      throw isDestinationError(error) ? replace(error) : error
    })
}

async function repeatedIn(token: unknown, { fetch }: Parameters<Probe>[1]): Promise<string> {
  const response = await fetch(`${BASE}/account`, { auth: bearer(token as string) })
  return response.headers.get('x-debug') ?? ''
}

export const CONNECTIONS: readonly BadPlugin[] = [
  {
    what: 'reads at a host that its manifest does not declare',
    caughtBy: 'requests.hosts',
    plugin: () => ticketPlugin({ plugin: { manifest: { hosts: ['api.example.com'] } } }),
  },
  {
    what: 'names a host for claims that its manifest does not declare',
    caughtBy: 'requests.hosts',
    plugin: () => ticketPlugin({ verifier: { destination: () => 'https://shard.example.com' } }),
  },
  {
    what: 'finds its base address in a secret',
    caughtBy: 'connection.base-url',
    plugin: withType({
      baseUrl: (options) => ((options as { token: string }).token.endsWith('token') ? BASE : `${BASE}/2`),
    }),
  },
  {
    what: 'has another base address each time',
    caughtBy: 'connection.base-url',
    plugin: () => {
      let calls = 0
      return withType({ baseUrl: () => `${BASE}/${calls++}` })()
    },
  },
  {
    what: 'throws for an address that its options allow',
    caughtBy: 'connection.base-url',
    plugin: withType({
      options: Type.Object({ token: secret({ description: 'A token.' }), region: Type.Optional(Type.String()) }),
      baseUrl: ({ region }) => new URL((region as string | undefined) ?? BASE).origin,
    }),
  },
  {
    what: 'needs a secret to say what fits',
    caughtBy: 'connection.fits',
    plugin: withType({ fits: (options) => (options as { token: string }).token.length > 0 }),
  },
  {
    what: 'probes without a request',
    caughtBy: 'probe.asks',
    plugin: withType({ probe: async () => ({ proves: 'works', scopes: [], warnings: [] }) }),
  },
  {
    what: 'returns nothing from a probe',
    caughtBy: 'probe.result',
    plugin: withType({ probe: async (options, context) => void (await connection.probe(options, context)) as never }),
  },
  {
    what: 'does not say what its probe proved',
    caughtBy: 'probe.result',
    plugin: withType({
      probe: async (options, context) => {
        const { proves: _, ...rest } = await connection.probe(options, context)
        return rest as never
      },
    }),
  },
  {
    what: 'gives a text as the time when credentials end',
    caughtBy: 'probe.result',
    plugin: withType({
      probe: async (options, context) =>
        ({ ...(await connection.probe(options, context)), expiresAt: '2026-10-01' }) as never,
    }),
  },
  {
    what: 'never says that credentials work',
    caughtBy: 'probe.works',
    plugin: withType({
      probe: async (options, context) => ({ ...(await connection.probe(options, context)), proves: 'reached' }),
    }),
  },
  {
    what: 'takes any answer for one to its credentials',
    caughtBy: 'probe.refused',
    plugin: withType({
      async probe({ token }, { fetch }) {
        const { status } = await fetch(`${BASE}/account`, { auth: bearer(token as string) })
        if (status >= 500 || status === 429) throw new DestinationError(status === 429 ? 'rate_limited' : 'unavailable')
        return { proves: 'works', scopes: [], warnings: [] }
      },
    }),
  },
  {
    what: 'calls refused credentials an outage',
    caughtBy: 'probe.unauthorized',
    plugin: withType({ probe: probeThat(() => new DestinationError('unavailable')) }),
  },
  {
    what: 'takes 403 for a connection that works',
    caughtBy: 'probe.forbidden',
    plugin: withType({
      probe: (options, context) =>
        connection.probe(options, context).catch((error: unknown) => {
          if (isDestinationError(error) && error.code === 'forbidden')
            return { proves: 'reached', scopes: [], warnings: ['It may see little.'] }
          throw error
        }),
    }),
  },
  {
    what: 'throws an error of its own where a probe finds nobody',
    caughtBy: 'probe.errors',
    plugin: withType({ probe: probeThat((error) => (error.code === 'unavailable' ? new Error('no') : error)) }),
  },
  {
    what: 'goes on with a probe whose time is over',
    caughtBy: 'probe.abort',
    takesLong: true,
    plugin: withType({
      probe: (options, context) => connection.probe(options, context).catch(() => new Promise<never>(() => {})),
    }),
  },
  {
    what: 'has a secret among the scopes',
    caughtBy: 'probe.secrets',
    plugin: withType({
      probe: async ({ token }, context) => {
        const repeated = await repeatedIn(token, context)
        const { scopes } = await connection.probe({ token } as never, context)
        return { proves: 'works', scopes: [...scopes, repeated], warnings: [] }
      },
    }),
  },
  {
    what: 'has a secret in a warning as base64',
    caughtBy: 'probe.secrets',
    plugin: withType({
      probe: async ({ token }, context) => {
        const warnings = [Buffer.from(await repeatedIn(token, context)).toString('base64')]
        return { ...(await connection.probe({ token } as never, context)), warnings }
      },
    }),
  },
]
