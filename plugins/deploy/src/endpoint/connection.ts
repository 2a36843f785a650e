/** A connection to endpoints of one origin: for those that want a header, and for ports that claims cannot name by themselves. */
import {
  type Auth,
  type Connection,
  DestinationError,
  defineConnectionType,
  header,
  parseUrl,
  type Static,
  secret,
  statusError,
  Type,
} from '@claimcheck/core/plugin'
import { readAddress } from './address.ts'

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https://[A-Za-z0-9\\[][A-Za-z0-9.:\\]-]*/?$',
      'x-pattern-help': 'enter https://, the name of the site and its port, without a path',
      maxLength: 300,
      description: 'The address without a path: `https://` and its name, and its port where that is not 443.',
      examples: ['https://api.example.com'],
    }),
    header: Type.Optional(
      Type.String({
        title: 'Header',
        pattern: '^[A-Za-z][A-Za-z0-9-]*$',
        'x-pattern-help': 'enter the name of a header, such as X-Api-Key',
        maxLength: 100,
        description: 'The header that carries the secret; Authorization when left out.',
        examples: ['X-Api-Key'],
      }),
    ),
    value: Type.Optional(
      secret({
        title: 'Value',
        description: 'The whole value of the header, such as `Bearer` and a token.',
        maxLength: 4096,
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

/** The header with which a connection reads; undefined without a connection, and for one that has none. */
export function authOf(connection: Pick<Connection, 'options'> | null): Auth | undefined {
  if (connection === null) return undefined
  const { header: name = 'authorization', value } = connection.options as Options
  return value === undefined ? undefined : header(name, value)
}

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'version_endpoint',
  title: 'Version endpoint',
  options: Options,
  help: 'Endpoints that anybody may read at the usual port need no connection. Take a secret that reads the endpoint of the version, and nothing else.',
  baseUrl: ({ base_url }) => base_url,
  fits({ base_url }, { target }) {
    const origin = parseUrl(base_url)?.origin
    return origin !== undefined && origin === readAddress(target)?.origin
  },
  trial: {
    title: 'Endpoint',
    description: 'The address of an endpoint at this origin.',
    example: 'https://api.example.com/version',
  },
  async probe(options, { fetch, now, target }) {
    const { base_url } = options
    if (target !== undefined && readAddress(target)?.origin !== parseUrl(base_url)?.origin)
      throw new DestinationError('unsupported_target')
    const auth = authOf({ options })
    const read = async (init: object) => {
      const response = await fetch(target ?? base_url, init)
      await response.body?.cancel()
      return response
    }
    const response = await read({ auth })
    // An origin need not have a page at its root.
    const isMissing = response.status === 404 && target === undefined
    if (!response.ok && !isMissing) throw statusError(response, now())
    if (isMissing || target === undefined) return { proves: 'reached', scopes: [], warnings: [] }
    // Only an endpoint that refuses others proves that the header counts.
    const isOpen = auth !== undefined && (await read({})).ok
    return { proves: isOpen ? 'reached' : 'works', scopes: [], warnings: isOpen ? [OPEN] : [] }
  },
})

const OPEN = 'Anybody can read the endpoint that was tried, so that it shows nothing of the header.'
