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
import { BASE, connection, identifiedPlugin, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

function withType(replaced: Partial<ConnectionType>): () => Plugin {
  return () => ticketPlugin({ connection: replaced })
}

type Probe = ConnectionType['probe']

function withProbe(probe: Probe): () => Plugin {
  return withType({ probe })
}

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
  [
    'requests.hosts',
    'reads at a host that its manifest does not declare',
    () => ticketPlugin({ plugin: { manifest: { hosts: ['api.example.com'] } } }),
  ],
  [
    'requests.hosts',
    'names a host for claims that its manifest does not declare',
    () => ticketPlugin({ verifier: { destination: () => 'https://shard.example.com' } }),
  ],
  [
    'connection.base-url',
    'finds its base address in a secret',
    withType({
      baseUrl: (options) => ((options as { token: string }).token.endsWith('token') ? BASE : `${BASE}/2`),
    }),
  ],
  [
    'connection.base-url',
    'has another base address each time',
    () => {
      let calls = 0
      return withType({ baseUrl: () => `${BASE}/${calls++}` })()
    },
  ],
  [
    'connection.base-url',
    'throws for an address that its options allow',
    withType({
      options: Type.Object({ token: secret({ description: 'A token.' }), region: Type.Optional(Type.String()) }),
      baseUrl: ({ region }) => new URL((region as string | undefined) ?? BASE).origin,
    }),
  ],
  [
    'connection.fits',
    'needs a secret to say what fits',
    withType({ fits: (options) => (options as { token: string }).token.length > 0 }),
  ],
  ['probe.asks', 'probes without a request', withProbe(async () => ({ proves: 'works', scopes: [], warnings: [] }))],
  [
    'probe.result',
    'returns nothing from a probe',
    withProbe(async (options, context) => void (await connection.probe(options, context)) as never),
  ],
  [
    'probe.result',
    'does not say what its probe proved',
    withProbe(async (options, context) => {
      const { proves: _, ...rest } = await connection.probe(options, context)
      return rest as never
    }),
  ],
  [
    'probe.result',
    'gives a text as the time when credentials end',
    withProbe(
      async (options, context) => ({ ...(await connection.probe(options, context)), expiresAt: '2026-10-01' }) as never,
    ),
  ],
  [
    'identity.told',
    'promises an identity that its checks do not tell',
    () => identifiedPlugin({ checked: () => undefined }),
  ],
  [
    'identity.another',
    'repeats the identity that its connection has',
    () => identifiedPlugin({ checked: (id, { context }) => context.connection!.identity ?? `project-${id}` }),
  ],
  [
    'identity.another',
    'tells the same identity of every destination',
    () => identifiedPlugin({ checked: () => 'project-17' }),
  ],
  [
    'identity.another',
    'remembers the identity of an earlier check',
    () =>
      identifiedPlugin({
        checked(id, { context: { cache } }) {
          const known = (cache.get('identity') as string | undefined) ?? `project-${id}`
          cache.set('identity', known)
          return known
        },
      }),
  ],
  ['probe.identity', 'probes no identity', () => identifiedPlugin({ probed: () => undefined })],
  [
    'probe.identity',
    'tells another identity than its checks',
    () => identifiedPlugin({ probed: (id) => `account-${id}` }),
  ],
  [
    'probe.identity',
    'tells an identity that its type does not promise',
    () => identifiedPlugin({ identified: undefined }),
  ],
  [
    'probe.result',
    'tells a sentence as the identity',
    () => identifiedPlugin({ probed: (id) => `project number ${id}` }),
  ],
  [
    'observation.form',
    'tells a sentence as the identity of a read',
    () => identifiedPlugin({ checked: (id) => `no. ${id}` }),
  ],
  [
    'probe.works',
    'never says that credentials work',
    withProbe(async (options, context) => ({ ...(await connection.probe(options, context)), proves: 'reached' })),
  ],
  [
    'probe.refused',
    'takes any answer for one to its credentials',
    withProbe(async ({ token }, { fetch }) => {
      const { status } = await fetch(`${BASE}/account`, { auth: bearer(token as string) })
      if (status >= 500 || status === 429) throw new DestinationError(status === 429 ? 'rate_limited' : 'unavailable')
      return { proves: 'works', scopes: [], warnings: [] }
    }),
  ],
  [
    'probe.unauthorized',
    'calls refused credentials an outage',
    withProbe(probeThat(() => new DestinationError('unavailable'))),
  ],
  [
    'probe.forbidden',
    'takes 403 for a connection that works',
    withProbe((options, context) =>
      connection.probe(options, context).catch((error: unknown) => {
        if (isDestinationError(error) && error.code === 'forbidden')
          return { proves: 'reached', scopes: [], warnings: ['It may see little.'] }
        throw error
      }),
    ),
  ],
  [
    'probe.errors',
    'throws no DestinationError where a probe reaches no destination',
    withProbe(probeThat((error) => (error.code === 'unavailable' ? new Error('no') : error))),
  ],
  [
    'probe.abort',
    'goes on with a probe after its signal has aborted',
    withProbe((options, context) => connection.probe(options, context).catch(() => new Promise<never>(() => {}))),
    { takesLong: true },
  ],
  [
    'probe.secrets',
    'has a secret among the scopes',
    withProbe(async ({ token }, context) => {
      const repeated = await repeatedIn(token, context)
      const { scopes } = await connection.probe({ token } as never, context)
      return { proves: 'works', scopes: [...scopes, repeated], warnings: [] }
    }),
  ],
  [
    'probe.secrets',
    'has a secret in a warning as base64',
    withProbe(async ({ token }, context) => {
      const warnings = [Buffer.from(await repeatedIn(token, context)).toString('base64')]
      return { ...(await connection.probe({ token } as never, context)), warnings }
    }),
  ],
]
