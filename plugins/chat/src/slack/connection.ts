/** The connection of a workspace to a team at Slack, and a first read that tells whether its token works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { channelOf } from '../channel.ts'
import { openReads } from '../reads.ts'
import { openSlack, SLACK_API } from './api.ts'
import { Messages } from './message.ts'

const Options = Type.Object(
  {
    team: Type.String({
      title: 'Team',
      pattern: '^T[0-9A-Z]+$',
      maxLength: 32,
      'x-pattern-help': 'enter the id of the workspace, which begins with T',
      description:
        'The id of the workspace, which begins with T: in its address in a browser, `app.slack.com/client/T...`.',
      examples: ['T024BE7LD'],
    }),
    token: secret({ title: 'Token', description: 'The token of a bot, which begins with xoxb-.', maxLength: 1024 }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make an internal app at api.slack.com/apps with the bot scopes channels:history, for private channels groups:history, and no others.
Install it to the workspace, not to a whole organization, and invite it to the channels. Slack gives apps that are distributed without its
Marketplace one look a minute, by which nobody is blamed for a missing message.`

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'slack',
  title: 'Slack',
  options: Options,
  help: HELP,
  baseUrl: () => SLACK_API,
  fits: ({ team }, { target }) => {
    const { platform, place } = channelOf(target)
    return platform === 'slack' && place === team
  },
  refusesHidden: true,
  trial: {
    title: 'Channel',
    description: 'One that is to be read through this connection, by its id.',
    example: 'C024BE91L',
  },
  async probe({ team, token }, context) {
    const { target: channel } = context
    if (channel !== undefined && !/^[CG][0-9A-Z]+$/.test(channel)) throw new DestinationError('unsupported_target')
    const slack = openSlack(token, context, openReads(context))
    const scopes = await slack.requireTeam(team)
    if (channel !== undefined) await slack.call('conversations.history', { channel, limit: '1' }, Messages)
    const more = scopes.filter((scope) => !/^(?:channels|groups):(?:history|read)$/.test(scope))
    return {
      proves: channel === undefined ? 'reached' : 'works',
      scopes,
      warnings: more.length === 0 ? [] : [`The token can do more than is needed: ${more.join(', ')}.`],
    }
  },
})
