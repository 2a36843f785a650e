/** Slack's Web API over a scripted room: tokens with their scopes and memberships, `ok: false` with status 200, threads, tombstones, limits and plans. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { faultsOf } from './published.ts'
import type { Message, Room } from './room.ts'

export const TEAM = 'T024BE7LD'
export const CHANNEL = 'C024BE91L'
export const AUTHOR = 'U061F7AUR'
export const BOT_USER = 'U0G9QF9C6'
export const BOT = 'B0G9QF3E7'
export const APP = 'A0MDYCDME'

export interface SlackToken {
  readonly secret: string
  readonly team: string
  readonly kind: 'bot' | 'user'
  readonly scopes: readonly string[]
  readonly isRevoked?: boolean
  /** Channels that the token's user is in. */
  readonly member: readonly string[]
  /** An app that is distributed outside of the Marketplace: a request a minute to a method that reads messages, and 15 items. */
  readonly isLimited?: boolean
}

export interface SlackChannel {
  readonly team: string
  readonly isPrivate?: boolean
  readonly isArchived?: boolean
  /** Teams with which it is shared by Slack Connect. */
  readonly sharedWith?: readonly string[]
}

export interface Slack {
  readonly room: Room
  readonly token: SlackToken
  readonly channels: Readonly<Record<string, SlackChannel>>
  /** The oldest moment that a free plan shows, before now. */
  readonly keepsMs?: number
}

class SlackError extends Error {
  readonly fields: Readonly<Record<string, string>>

  constructor(error: string, fields: Readonly<Record<string, string>> = {}) {
    super(error)
    this.fields = fields
  }
}

const TS = /^\d{1,10}(?:\.\d{1,6})?$/

export function createSlack(slack: Slack): (asked: Asked, faults: string[]) => Answer {
  const lastAsked = new Map<string, number>()

  return (asked, faults) => {
    const name = asked.path.replace(/^\/api\//, '')
    if (asked.url.searchParams.has('token')) faults.push(`${name}: the token is in the URL`)
    const headers = { 'x-slack-req-id': 'a3c1f0e27a4e4b7f', 'x-oauth-scopes': slack.token.scopes.join(',') }
    try {
      requireToken(slack.token, asked)
      const waitMs = limitOf(slack.token, name, asked.now, lastAsked)
      if (waitMs > 0) {
        const retry = String(Math.ceil(waitMs / 1000))
        return { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { ...headers, 'retry-after': retry } }
      }
      return { status: 200, body: { ok: true, ...answerOf(slack, name, asked, faults) }, headers }
    } catch (error) {
      if (!(error instanceof SlackError)) throw error
      const body = { ok: false, error: error.message, ...error.fields }
      faults.push(...faultsOf('slack error', body))
      return { status: 200, body, headers }
    }
  }
}

function requireToken({ secret, isRevoked }: SlackToken, { headers }: Asked): void {
  const [scheme, given] = (headers.authorization ?? '').split(' ')
  if (!given) throw new SlackError('not_authed')
  if (scheme !== 'Bearer' || given !== secret) throw new SlackError('invalid_auth')
  if (isRevoked) throw new SlackError('token_revoked')
}

/** The limit of commercially distributed apps outside of the Marketplace, from 29 May 2025 on, by method. */
function limitOf({ isLimited }: SlackToken, name: string, now: number, lastAsked: Map<string, number>): number {
  if (!isLimited || !/^conversations\.(?:history|replies)$/.test(name)) return 0
  const waitMs = (lastAsked.get(name) ?? Number.NEGATIVE_INFINITY) + 60_000 - now
  if (waitMs <= 0) lastAsked.set(name, now)
  return waitMs
}

function answerOf(slack: Slack, name: string, asked: Asked, faults: string[]): Record<string, unknown> {
  const { token } = slack
  const id = asked.url.searchParams.get('channel') ?? ''
  switch (name) {
    case 'auth.test': {
      const bot = token.kind === 'bot' && { bot_id: BOT }
      const who = { url: 'https://acme.slack.com/', team: 'Acme', user: 'claimcheck', team_id: token.team }
      const body = { ...who, user_id: token.kind === 'bot' ? BOT_USER : AUTHOR, ...bot, is_enterprise_install: false }
      faults.push(...faultsOf('slack identity', { ok: true, ...body }))
      return body
    }
    case 'team.info':
      requireScope(token, 'team:read')
      return { team: { id: token.team, name: 'Acme', domain: 'acme', email_domain: 'example.com', icon: {} } }
    case 'conversations.info': {
      const channel = channelOf(slack, id, 'read')
      const body = channelObject(id, channel, token, asked.now)
      faults.push(...faultsOf('slack channel', body))
      return { channel: body }
    }
    case 'conversations.members':
      channelOf(slack, id, 'read')
      return {
        members: token.member.includes(id) ? [BOT_USER, AUTHOR] : [AUTHOR],
        response_metadata: { next_cursor: '' },
      }
    case 'conversations.history':
      requireReadable(slack, id)
      return historyOf(slack, id, asked, faults)
    case 'conversations.replies':
      requireReadable(slack, id)
      return repliesOf(slack, id, asked, faults)
    default:
      throw new SlackError('unknown_method')
  }
}

function requireScope(token: SlackToken, needed: string): void {
  if (!token.scopes.includes(needed))
    throw new SlackError('missing_scope', { needed, provided: token.scopes.join(',') })
}

function channelOf({ channels, token }: Slack, id: string, right: 'read' | 'history'): SlackChannel {
  const channel = channels[id]
  const isThere = channel && (channel.team === token.team || channel.sharedWith?.includes(token.team))
  if (!isThere) throw new SlackError('channel_not_found')
  if (channel.isPrivate && !token.member.includes(id)) throw new SlackError('channel_not_found')
  requireScope(token, `${channel.isPrivate ? 'groups' : 'channels'}:${right}`)
  return channel
}

/** A bot reads only where it was added; a person's token reads all public channels. */
function requireReadable(slack: Slack, id: string): void {
  const { token } = slack
  const channel = channelOf(slack, id, 'history')
  if (!channel.isPrivate && token.kind === 'bot' && !token.member.includes(id)) throw new SlackError('not_in_channel')
}

function historyOf(slack: Slack, id: string, asked: Asked, faults: string[]): Record<string, unknown> {
  const all = shownIn(slack, id, asked)
  // Replies are only in their thread, unless they were sent to the channel, too.
  const listed = all.filter(({ message }) => !isReply(message) || message.extra.subtype === 'thread_broadcast')
  const { found, hasMore, cursor } = pageOf(slack, listed.toReversed(), asked)
  const oldest = Number(asked.url.searchParams.get('oldest') ?? 0) * 1000
  const isCut = slack.keepsMs !== undefined && oldest < asked.now - slack.keepsMs
  return {
    ...(asked.url.searchParams.has('oldest') && { oldest: asked.url.searchParams.get('oldest') }),
    ...(asked.url.searchParams.has('latest') && { latest: asked.url.searchParams.get('latest') }),
    messages: objectsOf(found, all, slack, faults),
    has_more: hasMore,
    // A free plan says that there are older messages, which it does not show.
    ...(isCut && { is_limited: true }),
    pin_count: 0,
    channel_actions_ts: null,
    channel_actions_count: 0,
    ...(cursor && { response_metadata: { next_cursor: cursor } }),
  }
}

function repliesOf(slack: Slack, id: string, asked: Asked, faults: string[]): Record<string, unknown> {
  const ts = asked.url.searchParams.get('ts') ?? ''
  if (!TS.test(ts)) throw new SlackError('invalid_arguments')
  const all = shownIn(slack, id, asked)
  const named = all.find(({ message }) => message.id === ts)
  if (!named) throw new SlackError('thread_not_found')
  // The ts of a reply gives that reply alone (slackapi/bolt-python#783).
  if (isReply(named.message)) return { messages: objectsOf([named], all, slack, faults), has_more: false }
  const replies = all.filter(({ message }) => message.thread === ts && message.id !== ts)
  const { found, hasMore, cursor } = pageOf(slack, replies, asked)
  const isFirst = !asked.url.searchParams.get('cursor')
  return {
    messages: objectsOf(isFirst ? [named, ...found] : found, all, slack, faults),
    has_more: hasMore,
    ...(cursor && { response_metadata: { next_cursor: cursor } }),
  }
}

interface Shown {
  readonly message: Message
  /** It was deleted, and its thread keeps its place. */
  readonly isTombstone: boolean
}

function shownIn({ room, keepsMs }: Slack, channel: string, { now, shown }: Asked): readonly Shown[] {
  const since = keepsMs === undefined ? Number.NEGATIVE_INFINITY : now - keepsMs
  const here = room.at(shown).filter((message) => message.channel === channel && message.at >= since)
  const hasReplies = (id: string) =>
    here.some((message) => message.thread === id && message.id !== id && !message.isDeleted)
  return here
    .filter((message) => !message.isDeleted || hasReplies(message.id))
    .map((message) => ({ message, isTombstone: message.isDeleted }))
}

function isReply({ id, thread }: Message): boolean {
  return thread !== undefined && thread !== id
}

/** A page of the messages between `oldest` and `latest`, both exclusive unless `inclusive` is set. */
function pageOf({ token }: Slack, listed: readonly Shown[], { url }: Asked) {
  const asked = (name: 'oldest' | 'latest') => {
    const value = url.searchParams.get(name)
    if (value !== null && !TS.test(value)) throw new SlackError(`invalid_ts_${name}`)
    return value === null ? undefined : microsOf(value)
  }
  const [oldest, latest] = [asked('oldest'), asked('latest')]
  const isInclusive = /^(?:1|true)$/.test(url.searchParams.get('inclusive') ?? '')
  const isWithin = ({ message }: Shown) => {
    const at = microsOf(message.id)
    if (isInclusive && (at === oldest || at === latest)) return true
    return at > (oldest ?? -1n) && at < (latest ?? BigInt(Number.MAX_SAFE_INTEGER))
  }
  const within = listed.filter(isWithin)
  const limit = Number(url.searchParams.get('limit') ?? (token.isLimited ? 15 : 100))
  if (!Number.isInteger(limit) || limit < 1) throw new SlackError('invalid_limit')
  const size = Math.min(limit, token.isLimited ? 15 : 999)
  const from = cursorOf(url.searchParams.get('cursor') ?? '')
  const hasMore = within.length > from + size
  const cursor = hasMore ? Buffer.from(`next:${from + size}`).toString('base64') : undefined
  return { found: within.slice(from, from + size), hasMore, cursor }
}

function cursorOf(cursor: string): number {
  if (cursor === '') return 0
  const [, from] = /^next:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString()) ?? []
  if (from === undefined) throw new SlackError('invalid_cursor')
  return Number(from)
}

function microsOf(ts: string): bigint {
  const [seconds = '0', micros = ''] = ts.split('.')
  return BigInt(seconds) * 1_000_000n + BigInt(micros.padEnd(6, '0'))
}

function objectsOf(found: readonly Shown[], all: readonly Shown[], { token }: Slack, faults: string[]) {
  return found.map(({ message, isTombstone }) => {
    const replies = all.filter(({ message: { thread, id } }) => thread === message.id && id !== message.id)
    const body = isTombstone ? tombstone(message) : messageObject(message, token.team)
    const fields = { ...body, ...threadFields(message, replies, all), ts: message.id }
    const object = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    faults.push(...faultsOf('slack message', object))
    return object
  })
}

function tombstone({ id }: Message) {
  const text = 'This message was deleted.'
  return {
    type: 'message',
    subtype: 'tombstone',
    user: 'USLACKBOT',
    text,
    hidden: true,
    thread_ts: id,
    is_locked: false,
  }
}

function messageObject({ author, text, editedAt, extra }: Message, team: string): Record<string, unknown> {
  // The ids of bots have no user: such a message is posted by an incoming webhook.
  const who = author.startsWith('B')
    ? { subtype: 'bot_message', bot_id: author, username: 'deploys' }
    : { user: author }
  const edited = editedAt !== undefined && { edited: { user: author, ts: `${Math.floor(editedAt / 1000)}.000000` } }
  return { type: 'message', text, ...who, team, ...edited, ...extra }
}

function threadFields(message: Message, replies: readonly Shown[], all: readonly Shown[]): Record<string, unknown> {
  if (isReply(message)) {
    const parent = all.find(({ message: { id } }) => id === message.thread)
    const by = parent?.isTombstone ? 'USLACKBOT' : parent?.message.author
    return { thread_ts: message.thread, ...(by && { parent_user_id: by }) }
  }
  if (replies.length === 0) return {}
  const users = [...new Set(replies.map((reply) => reply.message.author))]
  return {
    thread_ts: message.id,
    reply_count: replies.length,
    reply_users: users.slice(0, 5),
    reply_users_count: users.length,
    latest_reply: replies.at(-1)!.message.id,
    is_locked: false,
    subscribed: false,
  }
}

function channelObject(id: string, channel: SlackChannel, token: SlackToken, now: number) {
  const created = Math.floor(now / 1000) - 86_400 * 400
  const shared = channel.sharedWith ?? []
  return {
    id,
    name: CHANNEL_NAME,
    name_normalized: CHANNEL_NAME,
    created,
    updated: created * 1000,
    creator: AUTHOR,
    is_channel: !channel.isPrivate || id.startsWith('C'),
    is_group: channel.isPrivate === true && id.startsWith('G'),
    is_im: false,
    is_mpim: false,
    is_private: channel.isPrivate === true,
    is_archived: channel.isArchived === true,
    is_general: false,
    is_member: token.member.includes(id),
    is_shared: shared.length > 0,
    is_ext_shared: shared.length > 0,
    is_org_shared: false,
    is_pending_ext_shared: false,
    pending_shared: [],
    context_team_id: token.team,
    conversation_host_id: channel.team,
    shared_team_ids: [channel.team, ...shared],
    parent_conversation: null,
    previous_names: [],
    unlinked: 0,
    topic: { value: '', creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
  }
}

/** A name that no fact may have. */
export const CHANNEL_NAME = 'night-deploys'
