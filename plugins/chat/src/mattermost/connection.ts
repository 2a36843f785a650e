/** The connection of a workspace to a Mattermost server, and a first read that tells whether its token works. */
import { DestinationError, defineConnectionType, parseUrl, type Static, secret, Type } from '@claimcheck/core/plugin'
import { channelOf } from '../channel.ts'
import { openReads } from '../reads.ts'
import { isAdministrator, openMattermost } from './api.ts'

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
      'x-pattern-help': 'enter an address that begins with https://, without a team in it',
      maxLength: 300,
      description: 'The address of the server, without a team or channel.',
      examples: ['https://chat.example.com'],
    }),
    token: secret({ title: 'Token', description: 'The access token of a bot account.', maxLength: 255 }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make a bot account in the System Console or under Integrations, with the role Member and no further permissions, and add it to the
channels that are to be read. Mattermost has no tokens that only read: the bot can post to these channels.`

const CAN_POST = 'The token can also post to the channels of its account: Mattermost has no tokens that only read.'
const ADMIN = 'The token is of a system administrator, who can do everything: make a bot account that is a member.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'mattermost',
  title: 'Mattermost',
  options: Options,
  help: HELP,
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ base_url }, { target }) => {
    const { platform, place } = channelOf(target)
    return platform === 'mattermost' && place === placeOf(base_url)
  },
  refusesHidden: true,
  trial: {
    title: 'Channel',
    description: 'One that is to be read through this connection, by its id: View Info in the menu of the channel.',
    example: '4xp9fdt77pncbef59f4k1qe83o',
  },
  async probe(options, context) {
    const { target } = context
    if (target !== undefined && !/^[0-9a-z]{26}$/.test(target)) throw new DestinationError('unsupported_target')
    const mattermost = openMattermost(options, openReads(context))
    const account = await mattermost.ownAccount()
    if (target !== undefined) await mattermost.requirePosts(target)
    return {
      proves: 'works',
      scopes: (account.roles ?? '').split(' ').filter((role) => role !== ''),
      warnings: [isAdministrator(account) ? ADMIN : CAN_POST],
    }
  },
})

/** The host and path of a server as targets name them. */
function placeOf(base_url: string): string | undefined {
  const url = parseUrl(base_url)
  return url && `${url.host}${url.pathname.replace(/\/+$/, '')}`
}
