/** Finds a message in a channel of Slack: in the channel's history, which lacks the replies, or in its thread. */
import { DestinationError, type Instant, type Static, Type } from '@claimcheck/core/plugin'
import { channelOf } from '../channel.ts'
import type { FindMessage, Found, Missing, Post } from '../post.ts'
import { openSlack } from './api.ts'
import type { Options } from './connection.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Parts = Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()]))
const Message = Type.Object({
  ts: Type.String(),
  subtype: Text,
  text: Text,
  user: Text,
  bot_id: Text,
  app_id: Text,
  bot_profile: Type.Optional(Type.Union([Type.Object({ app_id: Text }), Type.Null()])),
  thread_ts: Text,
  edited: Type.Optional(Type.Union([Type.Object({ ts: Type.String() }), Type.Null()])),
  blocks: Parts,
  attachments: Parts,
})
export const Messages = Type.Object({
  messages: Type.Array(Message),
  has_more: Type.Optional(Type.Boolean()),
  is_limited: Type.Optional(Type.Boolean()),
})
type Message = Static<typeof Message>

/** The most messages of one answer to apps outside of the Marketplace. */
const MOST = '15'

/** Age beyond which a workspace without a paid plan hides messages, with some days to spare. Milliseconds. */
const HIDDEN_AFTER_MS = 85 * 24 * 60 * 60_000

export const findMessage: FindMessage = async ({ target, params }, context, reads) => {
  const { team, token } = context.connection!.options as Options
  const slack = openSlack(token, context, reads)
  const { id: channel } = channelOf(target)
  const { message: ts, thread } = params
  // All methods bound the time by `oldest` and `latest`, and one channel has no two messages of one time.
  const window = { channel, oldest: ts, latest: ts, inclusive: 'true' }
  let isLimited = false

  async function read(method: string, query: Readonly<Record<string, string>>) {
    const also = method === 'conversations.replies' ? ['thread_not_found'] : []
    const answer = await slack.call(method, { ...window, ...query }, Messages, also)
    if (!answer) return undefined
    const { messages, has_more = false, is_limited = false } = answer.value
    const message = messages.find((one) => one.ts === ts)
    // An answer with others only, or with more of them, is none to what was asked. A named thread has its first message.
    const isOdd = !message && (has_more || messages.length > 0)
    if (isOdd && [undefined, ts].includes(query.ts)) throw new DestinationError('unexpected_response')
    isLimited ||= is_limited
    return message
  }

  await slack.requireTeam(team)
  const inThread = (parent: string) => read('conversations.replies', { ts: parent, limit: MOST })
  const message =
    (thread !== undefined && thread !== ts ? await inThread(thread) : undefined) ??
    (await read('conversations.history', { limit: '1' })) ??
    (await inThread(ts))
  if (message) return postOf(message)
  return isLimited && instantOf(ts) < context.now() - HIDDEN_AFTER_MS ? 'forgotten' : 'absent'
}

/** Subtypes of what people and apps post. */
const POSTS: readonly unknown[] = ['bot_message', 'me_message', 'thread_broadcast', 'file_share']
const NOTICE = /^(?:(?:channel|group)_|bot_(?:add|remove)$|(?:un)?pinned_item$|reminder_add$)/

function postOf(message: Message): Found {
  const { ts, subtype } = message
  if (subtype != null && !POSTS.includes(subtype)) return missingBy(subtype)
  const authors = [message.user, message.bot_id, message.app_id ?? message.bot_profile?.app_id]
  const byApp = Boolean(message.bot_id ?? message.app_id)
  const editedAt = message.edited ? instantOf(message.edited.ts) : undefined
  const text = message.text ?? ''
  return {
    id: ts,
    postedAt: instantOf(ts),
    thread: message.thread_ts ?? ts,
    authors: authors.filter((one): one is string => one != null && /^[UWBA][0-9A-Z]+$/.test(one)),
    texts: [text, decodeEntities(text)],
    editedAt,
    // An app that changes a message with blocks leaves no mark of the edit. Of attachments, Slack does not say whether it does.
    hidesEdits: byApp && [message.blocks, message.attachments].some((parts) => (parts ?? []).length > 0),
    wasNeverEdited: editedAt === undefined && !byApp,
  } satisfies Post
}

/** @throws DestinationError `forbidden` for a message that the workspace's own keys hide */
function missingBy(subtype: string): Missing {
  if (subtype === 'ekm_access_denied') throw new DestinationError('forbidden')
  // Slack leaves it where a message with replies was deleted.
  if (subtype === 'tombstone') return 'deleted'
  return NOTICE.test(subtype) ? 'system' : 'unknown'
}

/** Reads a time of Slack, which is seconds and microseconds. */
function instantOf(ts: string): Instant {
  const [seconds = '', fraction = ''] = ts.split('.')
  return Number(seconds) * 1000 + Math.floor(Number(fraction.padEnd(6, '0')) / 1000)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' }

/** Decodes the three characters that Slack escapes, once each. */
function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: string) => ENTITIES[name]!)
}
