/** The connection of a workspace to Linear, and a first read that tells whether its key works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { openReads } from '../reads.ts'
import { targetOf } from '../target.ts'
import { ISSUE_QUERY, LINEAR_API, openLinear, VIEWER_QUERY } from './api.ts'
import { IssueData } from './issue.ts'

const Options = Type.Object(
  {
    api_key: secret({
      title: 'API key',
      description: 'A personal API key, which begins with lin_api_.',
      maxLength: 255,
    }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make a personal API key under Settings, Security & access, with the permission Read alone, for the teams that are to be read. The account has
to be a member of private teams that claims are about.`

const Viewer = Type.Object({ viewer: Type.Object({ id: Type.String() }) })

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'linear',
  title: 'Linear',
  options: Options,
  help: HELP,
  baseUrl: () => LINEAR_API,
  // A key does not tell its workspace. One of another workspace is refused as it reads.
  fits: (_, { target }) => targetOf(target).tracker === 'linear',
  refusesHidden: true,
  trial: {
    title: 'Issue',
    description: 'One that is to be read through this connection, by its key.',
    example: 'ENG-1',
  },
  async probe({ api_key }, context) {
    const { target } = context
    if (target !== undefined && !/^[A-Za-z][0-9A-Za-z_]*-[1-9][0-9]*$/.test(target))
      throw new DestinationError('unsupported_target')
    const linear = openLinear(api_key, context, openReads(context))
    await linear.ask(VIEWER_QUERY, {}, Viewer)
    if (target !== undefined) await linear.ask(ISSUE_QUERY, { id: target.toUpperCase(), after: null }, IssueData)
    return { proves: 'works', scopes: [], warnings: [] }
  },
})
