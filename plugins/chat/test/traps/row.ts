/** A row of the trap table: what is said in a chat, what is claimed of it, and the verdict that is right. */
import type { JsonObject } from '@claimcheck/core/plugin'
import { textFingerprint } from '@claimcheck/core/receipts'
import type { ScriptedScene } from '../../../../test/traps/scripted-life.ts'
import type { Answer, Asked, Serving } from '../../../../test/traps/scripted-server.ts'
import { type Kind, nearDeadline, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import * as discord from './discord-api.ts'
import * as mattermost from './mattermost-api.ts'
import { type Platform, Room } from './room.ts'
import * as slack from './slack-api.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type Provider = 'slack' | 'discord' | 'mattermost'

export interface Scene extends ScriptedScene {
  readonly room: Room
  readonly slack?: Partial<Omit<slack.Slack, 'room' | 'token'>> & { readonly token?: Partial<slack.SlackToken> }
  readonly discord?: Partial<Omit<discord.Discord, 'room' | 'bot'>> & { readonly bot?: Partial<discord.DiscordBot> }
  readonly mattermost?: Partial<Omit<mattermost.Mattermost, 'room' | 'user'>> & {
    readonly user?: Partial<mattermost.MattermostUser>
  }
}

export interface Row extends TrapRow<Scene> {
  readonly provider: Provider
}

export const TRUE: Kind = ['in time', 'verified']
export const FAILED: Kind = ['never', 'failed']
export const OTHER: Kind = ['other', 'mismatch', 'failed']
export const LATE: Kind = ['late', 'late']
/** It was done, and too little is shown of it. */
export const TRUE_UNTOLD: Kind = ['in time', 'unverifiable']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: Kind = ['never', 'unverifiable', 'failed']
/** It was not done, and nothing that is shown can tell. */
export const UNTOLD: Kind = ['never', 'unverifiable', 'refused']
/** It was done otherwise, and nothing that is shown can tell. */
export const OTHER_UNTOLD: Kind = ['other', 'unverifiable']

export function rowsOf(provider: Provider) {
  return (kind: Kind, title: string, why: string, scene: () => Scene): Row => {
    const near = nearDeadline(kind, { late: 3 * HOUR, other: 12 * MINUTE })
    return { provider, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

export const TEXT = 'Rolled out 4.12 to eu-west'
export const OTHER_TEXT = 'Rolled back 4.12 in eu-west'

/** The `ts` of a moment: seconds, and digits that make it unique. */
export function tsAt(moment: number, tail = 219): string {
  return `${(moment / 1000).toFixed(3)}${String(tail).padStart(3, '0')}`
}

const PLATFORMS: Readonly<Record<Provider, Platform>> = {
  slack: { start: START, text: TEXT, channel: slack.CHANNEL, author: slack.AUTHOR, idAt: (moment) => tsAt(moment) },
  discord: {
    start: START,
    text: TEXT,
    channel: discord.CHANNEL,
    author: discord.AUTHOR,
    idAt: (moment) => discord.snowflakeAt(moment),
  },
  mattermost: {
    start: START,
    text: TEXT,
    channel: mattermost.CHANNEL,
    author: mattermost.AUTHOR,
    idAt: (moment) => mattermost.idOf(`a post at ${moment}`),
  },
}

export function roomOf(provider: Provider): Room {
  return new Room(PLATFORMS[provider])
}

/** The id that the platform gives out some time after the start. */
export function idAfter(provider: Provider, afterMs: number): string {
  return PLATFORMS[provider].idAt(START + afterMs)
}

/** The params of a claim, with the fingerprint of a text. */
export function claimOf(message: string, { text, ...more }: { readonly text?: string } & JsonObject = {}): JsonObject {
  return { message, ...(text !== undefined && { text_fingerprint: textFingerprint(text) }), ...more }
}

/** An answer of what stands between, or of the platform in trouble, between two moments, to the requests that `on` names. */
export function instead(
  answer: Answer,
  { fromMs = -DAY, untilMs = 400 * DAY, on = /./ }: { fromMs?: number; untilMs?: number; on?: RegExp } = {},
): Serving['instead'] {
  return ({ now, path }: Asked) =>
    now >= START + fromMs && now < START + untilMs && on.test(path) ? answer : undefined
}

export interface Set {
  readonly answer: Serving['answer']
  readonly options: JsonObject
  readonly target: string
  readonly secret: string
}

/** The platform as it is, the connection as it says that it is, and the target of the claim. */
export function setOf(provider: Provider, scene: Scene): Set {
  const { connection = {}, room } = scene
  const made = { slack: slackOf, discord: discordOf, mattermost: mattermostOf }[provider](scene, room)
  return {
    ...made,
    options: { ...made.options, ...connection },
    target: scene.target ?? made.target,
  }
}

function slackOf({ slack: given = {} }: Scene, room: Room): Set {
  const token: slack.SlackToken = {
    secret: 'xoxb-1234-5678-a4Bc9dEf0gHiJkLmNoPq',
    team: slack.TEAM,
    kind: 'bot',
    scopes: ['channels:history', 'groups:history', 'channels:read', 'groups:read'],
    member: [slack.CHANNEL],
    ...given.token,
  }
  const channels = { [slack.CHANNEL]: { team: slack.TEAM }, ...given.channels }
  return {
    answer: slack.createSlack({ ...given, room, token, channels }),
    options: { team: slack.TEAM, token: token.secret },
    target: `slack:${slack.TEAM}/${slack.CHANNEL}`,
    secret: token.secret,
  }
}

function discordOf({ discord: given = {} }: Scene, room: Room): Set {
  const bot: discord.DiscordBot = {
    token: 'MTAxNDU1ODUyMzEyMzI0NTEwNw.GqXr3a.a4Bc9dEf0gHiJkLmNoPqRsTu',
    guilds: [discord.GUILD],
    hasContent: true,
    ...given.bot,
  }
  const usual = { guild: discord.GUILD, type: 0, permissions: ['VIEW_CHANNEL', 'READ_MESSAGE_HISTORY'] } as const
  const channels = { [discord.CHANNEL]: usual, ...given.channels }
  return {
    answer: discord.createDiscord({ ...given, room, bot, channels }),
    options: { guild: discord.GUILD, token: bot.token },
    target: `discord:${discord.GUILD}/${discord.CHANNEL}`,
    secret: bot.token,
  }
}

function mattermostOf({ mattermost: given = {} }: Scene, room: Room): Set {
  const user: mattermost.MattermostUser = {
    token: 'q7s1xk8b3jyw5rdcm9t6n4hzpe',
    isInTeam: true,
    member: [mattermost.CHANNEL],
    ...given.user,
  }
  const channels = { [mattermost.CHANNEL]: { type: 'O' as const }, ...given.channels }
  const host = `${mattermost.HOST}${given.subPath ?? ''}`
  return {
    answer: mattermost.createMattermost({ ...given, room, user, channels }),
    options: { base_url: `https://${host}`, token: user.token },
    target: `mattermost:${host}/${mattermost.CHANNEL}`,
    secret: user.token,
  }
}
