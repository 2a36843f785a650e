/** Finds a message in a channel or thread of Discord. */
import { DestinationError, type Instant } from '@claimcheck/core/plugin'
import { channelOf } from '../channel.ts'
import type { FindMessage, Post } from '../post.ts'
import { type Message, openDiscord } from './api.ts'
import type { Options } from './connection.ts'

/** Types of what people and apps post: a message, a reply, and what answers a command. */
const POSTS: readonly number[] = [0, 19, 20, 23]
const BY_COMMAND: readonly number[] = [20, 23]
/** The last type that is known. A later one may be a post. */
const LAST_NOTICE = 46
/** Types of channels without a guild. */
const DIRECT: readonly number[] = [1, 3]

export const findMessage: FindMessage = async ({ target, params }, { connection }, reads) => {
  const { token } = connection!.options as Options
  const discord = openDiscord(token, reads)
  const { place: guild, id } = channelOf(target)
  const channel = await discord.channel(id)
  if (channel.guild_id === undefined && !DIRECT.includes(channel.type))
    throw new DestinationError('unexpected_response')
  if (channel.guild_id !== guild) return 'elsewhere'
  const message = await discord.message(id, params.message)
  if (!message) {
    await discord.requireHistory(channel)
    return 'absent'
  }
  if (!POSTS.includes(message.type)) return message.type <= LAST_NOTICE ? 'system' : 'unknown'
  return postOf(message)
}

/**
 * Tells whether a message shows its content. All parts are empty for an app that lacks the intent, and for some time also where its flags say that it
 * has the intent.
 */
function showsContent({ content, attachments = [], embeds = [], components = [], poll }: Message): boolean {
  return content !== '' || [attachments, embeds, components].some((parts) => parts.length > 0) || poll != null
}

function postOf(message: Message): Post {
  const { id, type, author, content, edited_timestamp } = message
  const editedAt = edited_timestamp === null ? undefined : Date.parse(edited_timestamp)
  // An answer to a command may be empty at first, and is filled within a quarter of an hour without a mark of an edit.
  const hidesEdits = BY_COMMAND.includes(type) && editedAt === undefined
  return {
    id,
    postedAt: instantOf(id),
    authors: [author.id],
    texts: showsContent(message) ? [content] : undefined,
    editedAt,
    hidesEdits,
    wasNeverEdited: editedAt === undefined && !hidesEdits,
  }
}

const EPOCH_MS = Date.UTC(2015, 0)

/** Reads the time in a snowflake. */
function instantOf(snowflake: string): Instant {
  return Number(BigInt(snowflake) >> 22n) + EPOCH_MS
}
