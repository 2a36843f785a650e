/** The connection of a workspace to a team or user at Vercel, and a first read that tells whether its token works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { placeOf } from '../place.ts'
import { openScope, VERCEL_API } from './api.ts'

const Options = Type.Object(
  {
    token: secret({ title: 'Token', description: 'An access token of a member of the team.', maxLength: 1024 }),
    team_id: Type.Optional(
      Type.String({
        title: 'Team',
        pattern: '^team_[0-9A-Za-z]+$',
        'x-pattern-help': "enter the team's id, which begins with team_",
        maxLength: 64,
        description: "The team's id, from its settings. When left out: the account of the token's user.",
        examples: ['team_nLlpyC6REAqxydlFKbrMDlud'],
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        title: 'Address',
        pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*/?$',
        'x-pattern-help': 'enter an address that begins with https://, without a path',
        maxLength: 300,
        description: 'The address of the API, if it is not that of Vercel.',
        examples: ['https://api.vercel.com'],
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make a token under Account Settings, Tokens, with the team as its scope and an expiration. Vercel has no tokens that only read: it can do what
its user can do, so take a user with the role Viewer.`

const CAN_CHANGE = 'The token can do whatever its user can do in this scope: Vercel has no tokens that only read.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'vercel',
  title: 'Vercel',
  options: Options,
  help: HELP,
  baseUrl: ({ base_url }) => (base_url ?? VERCEL_API).replace(/\/+$/, ''),
  // The options do not have the name of the scope: each check compares it.
  fits: (_, { target }) => placeOf(target).platform === 'vercel',
  refusesHidden: true,
  trial: {
    title: 'Project',
    description: 'One that is to be read through this connection, by its name.',
    example: 'web',
  },
  async probe(options, context) {
    const { target } = context
    if (target !== undefined && !/^[0-9a-z_][0-9a-z._-]*$/.test(target))
      throw new DestinationError('unsupported_target')
    const scope = await openScope(options, context)
    if (target !== undefined) await scope.project(target)
    return { proves: 'works', scopes: [], warnings: [CAN_CHANGE] }
  },
})
