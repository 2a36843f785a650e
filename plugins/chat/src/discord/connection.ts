/** The connection of a workspace to a guild at Discord, and a first read that tells whether its bot works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { channelOf } from '../channel.ts'
import { openReads } from '../reads.ts'
import { DISCORD_API, openDiscord } from './api.ts'

const Options = Type.Object(
  {
    guild: Type.String({
      title: 'Server',
      pattern: '^[0-9]{17,20}$',
      'x-pattern-help': 'enter the id of the server, which is a number',
      description: 'The id of the server, which the API calls a guild: Copy Server ID in developer mode.',
      examples: ['197038439483310086'],
    }),
    token: secret({ title: 'Token', description: 'The token of a bot.', maxLength: 255 }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make an app at discord.com/developers with the Message Content intent, and add its bot to the server with View Channels and Read
Message History alone. Discord has no tokens that only read: what a bot may do is what its roles in the server allow.`

const RIGHTS =
  'Discord does not tell here what the bot may do: make sure that its roles allow it to view channels and read their history, and nothing else.'
const NO_CONTENT =
  'The app lacks the Message Content intent: claims that name a text stay unverifiable, unless the bot itself posted it.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'discord',
  title: 'Discord',
  options: Options,
  help: HELP,
  baseUrl: () => DISCORD_API,
  fits: ({ guild }, { target }) => {
    const { platform, place } = channelOf(target)
    return platform === 'discord' && place === guild
  },
  refusesHidden: true,
  trial: {
    title: 'Channel',
    description: 'One that is to be read through this connection, by its id.',
    example: '41771983423143937',
  },
  async probe({ guild, token }, context) {
    const { target } = context
    if (target !== undefined && !/^[0-9]{17,20}$/.test(target)) throw new DestinationError('unsupported_target')
    const discord = openDiscord(token, openReads(context))
    const readsContent = await discord.readsContent()
    if (target !== undefined) {
      const channel = await discord.channel(target)
      if (channel.guild_id !== guild) throw new DestinationError('misconfigured')
      await discord.requireHistory(channel)
    }
    return {
      proves: target === undefined ? 'reached' : 'works',
      scopes: [],
      warnings: readsContent ? [RIGHTS] : [RIGHTS, NO_CONTENT],
    }
  },
})
