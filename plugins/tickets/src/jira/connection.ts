/** The connection of a workspace to Jira, and a first read that tells whether its credentials work. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { addressOption } from '../address-option.ts'
import { openReads } from '../reads.ts'
import { placeOf, targetOf } from '../target.ts'
import { openJira } from './api.ts'

const Options = Type.Object(
  {
    base_url: addressOption('/browse/', 'https://acme.atlassian.net'),
    email: Type.Optional(
      Type.String({
        title: 'Account (Cloud)',
        pattern: '^[^\\s:@]+@[^\\s:@]+$',
        maxLength: 254,
        'x-pattern-help': 'enter the email address of the account',
        description: 'The email address of the account that has the API token. Leave it out for a data center.',
        examples: ['reader@example.com'],
      }),
    ),
    api_token: Type.Optional(
      secret({ title: 'API token (Cloud)', description: 'The API token of that account.', maxLength: 1024 }),
    ),
    token: Type.Optional(
      secret({
        title: 'Access token (Data Center)',
        description: 'A personal access token, for Jira in a data center.',
        maxLength: 1024,
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make an account for this that has Browse Projects in the projects that are to be read, and nothing else. In the Cloud make an API token of
it; in a data center a personal access token. The account has to see the issues under every security level that claims are about.`

const CAN_WRITE = 'An API token can do all that its account may: give the account no more than Browse Projects.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'jira',
  title: 'Jira',
  options: Options,
  help: HELP,
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ base_url }, { target }) => {
    const { tracker, place } = targetOf(target)
    return tracker === 'jira' && place === placeOf(base_url)
  },
  refusesHidden: true,
  trial: {
    title: 'Issue',
    description: 'One that is to be read through this connection, by its key.',
    example: 'SHOP-1',
  },
  async probe(options, context) {
    const { target } = context
    if (target !== undefined && !/^[A-Za-z][0-9A-Za-z_]*-[1-9][0-9]*$/.test(target))
      throw new DestinationError('unsupported_target')
    const jira = openJira(options, openReads(context))
    await jira.ownAccount()
    if (target !== undefined) await jira.issue(target.toUpperCase())
    return { proves: 'works', scopes: [], warnings: [CAN_WRITE] }
  },
})
