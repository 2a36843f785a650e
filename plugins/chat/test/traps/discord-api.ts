/** Discord's HTTP API (version 10) over a scripted room: guilds, permissions of a bot, threads, the Message Content intent, and errors by their codes. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { faultsOf } from './published.ts'
import type { Message, Room } from './room.ts'

export const GUILD = '41771983423143937'
export const OTHER_GUILD = '197038439483310086'
export const CHANNEL = '155101607195836416'
export const AUTHOR = '53908232506183680'
/** The bot of the connection. */
export const READER = '1014558523123245107'
export const APPLICATION = READER
export const CHANNEL_NAME = 'night-deploys'

/** Milliseconds from which snowflakes count. */
const EPOCH = Date.UTC(2015, 0, 1)
/** Flags of an application that has the intent, and of one that has it in fewer than 100 guilds. */
export const GATEWAY_MESSAGE_CONTENT = 1 << 18
const GATEWAY_MESSAGE_CONTENT_LIMITED = 1 << 19

export type Permission = 'VIEW_CHANNEL' | 'READ_MESSAGE_HISTORY'

export interface DiscordBot {
  readonly token: string
  readonly guilds: readonly string[]
  readonly hasContent: boolean
  /** What the application says of its intents; by `hasContent` when left out. */
  readonly flags?: number
}

export interface DiscordChannel {
  readonly guild: string
  /** 0 text, 2 voice, 5 announcement, 10 to 12 threads, 15 forum. */
  readonly type: number
  readonly parent?: string
  readonly permissions: readonly Permission[]
  readonly isArchived?: boolean
}

export interface Discord {
  readonly room: Room
  readonly bot: DiscordBot
  readonly channels: Readonly<Record<string, DiscordChannel>>
}

class DiscordError extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const THREADS = [10, 11, 12]

/** The snowflake of a moment: milliseconds since 2015, then a worker, a process and a counter. */
export function snowflakeAt(moment: number, low = 12_345): string {
  return String((BigInt(moment - EPOCH) << 22n) + BigInt(low))
}

export function createDiscord(discord: Discord): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    const headers = {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
      'x-ratelimit-reset': (asked.now / 1000 + 1).toFixed(3),
      'x-ratelimit-reset-after': '1.000',
      'x-ratelimit-bucket': 'f6b3e0cbf0d54d5d9b6d5a1e5e1c7d4a',
      via: '1.1 google',
      'cf-cache-status': 'DYNAMIC',
    }
    try {
      return { status: 200, body: answerOf(discord, asked, faults), headers }
    } catch (error) {
      if (!(error instanceof DiscordError)) throw error
      const body = { message: error.message, code: error.code }
      faults.push(...faultsOf('discord error', body))
      return { status: error.status, body, headers }
    }
  }
}

function answerOf(discord: Discord, asked: Asked, faults: string[]): unknown {
  const { bot } = discord
  if (!asked.path.startsWith('/api/v10/')) faults.push(`${asked.path} is not of version 10`)
  if (asked.headers.authorization !== `Bot ${bot.token}`) throw new DiscordError(401, 0, '401: Unauthorized')
  const [kind, id = '', part, message] = asked.path.slice('/api/v10/'.length).split('/').map(decodeURIComponent)
  if (kind === 'channels' && part === undefined) return channelAt(discord, id, faults)
  if (kind === 'channels' && part === 'messages') return messagesAt(discord, id, message, asked, faults)
  if (kind === 'guilds' && part === undefined) return guildAt(bot, id)
  if (kind === 'guilds' && part === 'members') return memberAt(bot, id)
  if (kind === 'guilds' && part === 'roles') return guildAt(bot, id).roles
  if (kind === 'users' && id === '@me' && part === undefined) return userObject(READER)
  if (kind === 'users' && part === 'guilds') return bot.guilds.map((guild) => ({ id: guild, name: 'Acme' }))
  if (asked.path.endsWith('/applications/@me')) return applicationObject(bot)
  throw new DiscordError(404, 0, '404: Not Found')
}

function channelAt({ bot, channels }: Discord, id: string, faults: string[]) {
  const channel = channels[id]
  if (!channel) throw new DiscordError(404, 10_003, 'Unknown Channel')
  const isVisible = bot.guilds.includes(channel.guild) && channel.permissions.includes('VIEW_CHANNEL')
  if (!isVisible) throw new DiscordError(403, 50_001, 'Missing Access')
  const { type, guild, parent, isArchived = false } = channel
  const body = {
    id,
    type,
    guild_id: guild,
    name: CHANNEL_NAME,
    last_message_id: null,
    rate_limit_per_user: 0,
    parent_id: parent ?? null,
    flags: 0,
    ...(THREADS.includes(type)
      ? {
          owner_id: AUTHOR,
          message_count: 1,
          member_count: 1,
          total_message_sent: 1,
          thread_metadata: thread(isArchived),
        }
      : { position: 3, permission_overwrites: [], nsfw: false, topic: null }),
  }
  faults.push(...faultsOf('discord channel', body))
  return body
}

function thread(isArchived: boolean) {
  const archive_timestamp = '2026-03-11T09:00:00.000000+00:00'
  return { archived: isArchived, auto_archive_duration: 1440, archive_timestamp, locked: false }
}

function messagesAt(discord: Discord, id: string, named: string | undefined, asked: Asked, faults: string[]): unknown {
  channelAt(discord, id, faults)
  const { permissions } = discord.channels[id]!
  const mayRead = permissions.includes('READ_MESSAGE_HISTORY')
  const here = discord.room.at(asked.shown).filter((one) => one.channel === id && !one.isDeleted)
  const shown = here.filter(({ extra }) => !isEphemeral(extra)).map((one) => messageObject(one, discord, faults))
  if (named === undefined) return mayRead ? pageOf(shown, asked) : []
  // Ids are numbers: leading zeros change nothing.
  if (!/^\d{1,20}$/.test(named)) throw new DiscordError(400, 50_035, 'Invalid Form Body')
  if (!mayRead) throw new DiscordError(403, 50_001, 'Missing Access')
  const found = shown.find((one) => BigInt(one.id) === BigInt(named))
  if (!found) throw new DiscordError(404, 10_008, 'Unknown Message')
  return found
}

/** Answers to a slash command that only one user sees are in no channel. */
function isEphemeral({ flags }: Message['extra']): boolean {
  return typeof flags === 'number' && (flags & 64) !== 0
}

function pageOf<T extends { readonly id: string }>(shown: readonly T[], { url }: Asked): readonly T[] {
  const limit = Number(url.searchParams.get('limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new DiscordError(400, 50_035, 'Invalid Form Body')
  const newest = shown.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1))
  const [before, after, around] = ['before', 'after', 'around'].map((name) => url.searchParams.get(name))
  if (before) return newest.filter(({ id }) => BigInt(id) < BigInt(before)).slice(0, limit)
  if (after) return newest.filter(({ id }) => BigInt(id) > BigInt(after)).slice(-limit)
  if (!around) return newest.slice(0, limit)
  const from = newest.filter(({ id }) => BigInt(id) > BigInt(around)).length - Math.floor(limit / 2)
  return newest.slice(Math.max(from, 0), Math.max(from, 0) + limit)
}

function messageObject(message: Message, { bot }: Discord, faults: string[]) {
  const { id, channel, at, text, author, editedAt, extra } = message
  const mentions = [...text.matchAll(/<@!?(\d+)>/g)].map(([, user]) => userObject(user!))
  const body: Record<string, unknown> & { readonly id: string } = {
    id,
    channel_id: channel,
    type: 0,
    author: userObject(author),
    content: text,
    timestamp: iso(at),
    edited_timestamp: editedAt === undefined ? null : iso(editedAt),
    tts: false,
    mention_everyone: false,
    mentions,
    mention_roles: [],
    attachments: [],
    embeds: [],
    components: [],
    pinned: false,
    flags: 0,
    ...extra,
  }
  // Content is shown without the intent where the bot wrote the message, or is mentioned in it.
  const isOwn = author === READER || mentions.some((user) => user.id === READER)
  if (!bot.hasContent && !isOwn) Object.assign(body, { content: '', embeds: [], attachments: [], components: [] })
  faults.push(...faultsOf('discord message', body))
  return body
}

function iso(moment: number): string {
  return new Date(moment).toISOString().replace('Z', '000+00:00')
}

export function userObject(id: string) {
  return {
    id,
    username: 'nelly',
    discriminator: '0',
    global_name: 'Nelly',
    avatar: null,
    bot: id === READER,
    public_flags: 0,
  }
}

function guildAt({ guilds }: DiscordBot, id: string) {
  if (!guilds.includes(id)) throw new DiscordError(404, 10_004, 'Unknown Guild')
  return { id, name: 'Acme', icon: null, owner_id: AUTHOR, roles: [{ id, name: '@everyone', permissions: '66560' }] }
}

function memberAt(bot: DiscordBot, guild: string) {
  guildAt(bot, guild)
  return {
    user: userObject(READER),
    roles: [],
    joined_at: '2024-01-01T00:00:00.000000+00:00',
    deaf: false,
    mute: false,
  }
}

function applicationObject({ flags, hasContent }: DiscordBot) {
  const told = flags ?? (hasContent ? GATEWAY_MESSAGE_CONTENT_LIMITED : 0)
  return { id: APPLICATION, name: 'claimcheck', description: '', bot_public: false, flags: told, verify_key: 'c0ffee' }
}
