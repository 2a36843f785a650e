/** Reads channels and messages at Discord's REST API. */
import { DestinationError, header, type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'

export const DISCORD_API = 'https://discord.com/api/v10'

/** Discord blocks programs that do not name themselves in this form. */
const USER_AGENT = 'DiscordBot (https://claimcheck.example/claimcheck, 0.1)'

const OrNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Some = Type.Optional(Type.Array(Type.Unknown()))

const Channel = Type.Object({
  id: Type.String(),
  type: Type.Integer(),
  guild_id: Type.Optional(Type.String()),
  last_message_id: OrNull(Type.String()),
})
const Message = Type.Object({
  id: Type.String(),
  channel_id: Type.String(),
  type: Type.Integer(),
  author: Type.Object({ id: Type.String() }),
  content: Type.String(),
  edited_timestamp: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  attachments: Some,
  embeds: Some,
  components: Some,
  poll: OrNull(Type.Object({})),
})
const Messages = Type.Array(Type.Object({ channel_id: Type.String() }))
const Application = Type.Object({ flags: Type.Optional(Type.Integer({ minimum: 0 })) })

export type Channel = Static<typeof Channel>
export type Message = Static<typeof Message>

/** Flags of an app that may read the content of messages: one for verified apps, one for others. */
const CONTENT_FLAGS = (1 << 18) | (1 << 19)

export function openDiscord(token: string, reads: Reads) {
  const request = { auth: header('authorization', token, 'Bot '), headers: { 'user-agent': USER_AGENT } }
  const read = <T extends TSchema>(path: string, schema: T, also: readonly number[] = []) =>
    reads.json(`${DISCORD_API}/${path}`, { schema, also, ...request })

  return {
    async channel(id: string): Promise<Channel> {
      const channel = (await read(`channels/${id}`, Channel)).value!
      if (channel.id !== id) throw new DestinationError('unexpected_response')
      return channel
    },
    /** Finds a message; undefined where the channel has none of this id, or its history is hidden. */
    async message(channel: string, id: string): Promise<Message | undefined> {
      const { value } = await read(`channels/${channel}/messages/${id}`, Message, [404])
      if (value && (value.id !== id || value.channel_id !== channel)) throw new DestinationError('unexpected_response')
      return value
    },
    /**
     * Requires that the history of a channel can be read: without the permission a list of its messages is empty.
     * @throws DestinationError `forbidden` for a list that is empty though messages were sent
     */
    async requireHistory({ id, last_message_id }: Channel): Promise<void> {
      const { value } = await read(`channels/${id}/messages?limit=1`, Messages)
      if (value!.some(({ channel_id }) => channel_id !== id)) throw new DestinationError('unexpected_response')
      if (value!.length === 0 && last_message_id != null) throw new DestinationError('forbidden')
    },
    /** Tells whether the app is set to read the content of messages that others posted. */
    async readsContent(): Promise<boolean> {
      const { flags = 0 } = (await read('applications/@me', Application)).value!
      return (flags & CONTENT_FLAGS) !== 0
    },
  }
}
