/** The connection of a workspace to a Redmine, and a first read that tells whether its key works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { addressOption } from '../address-option.ts'
import { openReads } from '../reads.ts'
import { placeOf, targetOf } from '../target.ts'
import { openRedmine } from './api.ts'

const Options = Type.Object(
  {
    base_url: addressOption('/issues/', 'https://redmine.example.com'),
    api_key: secret({ title: 'API key', description: 'The API access key of an account.', maxLength: 255 }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Have an administrator enable the REST web service. Make an account for this whose role has View Issues in the projects that are to be read,
also of private issues if claims are about them, and nothing else. Its API access key is on the page My account.`

const ADMIN = 'The key is of an administrator, who can do everything: make an account that only views issues.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'redmine',
  title: 'Redmine',
  options: Options,
  help: HELP,
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ base_url }, { target }) => {
    const { tracker, place } = targetOf(target)
    return tracker === 'redmine' && place === placeOf(base_url)
  },
  refusesHidden: true,
  trial: {
    title: 'Issue',
    description: 'One that is to be read through this connection, by its number.',
    example: '123',
  },
  async probe(options, context) {
    const { target } = context
    if (target !== undefined && !/^[1-9][0-9]*$/.test(target)) throw new DestinationError('unsupported_target')
    const redmine = openRedmine(options, openReads(context))
    const { admin = false } = await redmine.ownAccount()
    if (target !== undefined) await redmine.issue(target)
    return { proves: 'works', scopes: [], warnings: admin ? [ADMIN] : [] }
  },
})
