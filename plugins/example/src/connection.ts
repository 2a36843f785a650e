/** The connection of a workspace: its options, and a first read that tells whether they work. */
import { bearer, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'

const address = { pattern: '^https?://[^\\s/?#@]+$', examples: ['https://acme.example'] }
const Options = Type.Object(
  {
    base_url: Type.String({ title: 'Address', description: 'The address of the server.', ...address }),
    token: secret({ title: 'Token', description: 'A token that may read tickets.' }),
  },
  { additionalProperties: false },
)

/** The token is a handle wherever the plugin meets it. */
export type Options = Static<typeof Options>

const Account = Type.Object({ scopes: Type.Array(Type.String()) })
const Project = Type.Object({ last_number: Type.Integer() })

export const connectionType = defineConnectionType({
  provider: 'acme',
  title: 'Acme',
  options: Options,
  help: 'Make a token with the scope tickets:read, for an account that sees all tickets of its projects.',
  baseUrl: ({ base_url }) => base_url,
  fits: () => true,
  trial: { title: 'Project', description: 'A project of which this token can read the tickets.', example: 'SHOP' },
  async probe({ base_url, token }, { http, target }) {
    const auth = bearer(token)
    // The route `/api/account` says who asks, and so refuses a token that the server does not know: a public project would not.
    const { value } = await http.json(`${base_url}/api/account`, { schema: Account, auth })
    const { scopes } = value
    const warnings = scopes.includes('tickets:write') ? ['This token can write: make one that only reads.'] : []
    if (target === undefined) return { proves: 'reached', scopes, warnings }
    await http.json(`${base_url}/api/projects/${encodeURIComponent(target)}`, { schema: Project, auth })
    return { proves: 'works', scopes, warnings }
  },
})
