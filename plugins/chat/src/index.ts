/** The plugin chat: checks messages that were posted to channels. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { normalize, requireOwnIds } from './channel.ts'
import { connectionType as discord } from './discord/connection.ts'
import { findMessage as findAtDiscord } from './discord/message.ts'
import { connectionType as mattermost } from './mattermost/connection.ts'
import { findPost as findAtMattermost } from './mattermost/post.ts'
import { type FindMessage, report } from './post.ts'
import { profile } from './profile.ts'
import { openReads } from './reads.ts'
import { connectionType as slack } from './slack/connection.ts'
import { findMessage as findAtSlack } from './slack/message.ts'

const FINDERS: Readonly<Record<string, FindMessage>> = {
  [slack.provider]: findAtSlack,
  [discord.provider]: findAtDiscord,
  [mattermost.provider]: findAtMattermost,
}

/** A post of Mattermost has up to 800,000 letters beside its text. */
const LONGEST_ANSWER_BYTES = 5 * 1024 * 1024

const connections = [slack, discord, mattermost]

const post = defineVerifier({
  profile,
  providers: connections.map(({ provider }) => provider),
  limits: { requests: 6, bodyBytes: LONGEST_ANSWER_BYTES },
  normalize,
  async check(claim, context) {
    requireOwnIds(claim)
    const reads = openReads(context)
    const found = await FINDERS[context.connection!.provider]!(claim, context, reads)
    return report(found, claim, context, reads)
  },
})

export default definePlugin({
  name: 'chat',
  api: 3,
  manifest: { hosts: ['slack.com', 'discord.com', 'connection.base_url'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [post], connections }),
})
