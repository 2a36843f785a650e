/** Slack, Discord and a Mattermost server on loopback, of the few paths that the plugin reads, each with one channel and what is in it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export const TEAM = 'T024BE7LD'
export const SLACK_CHANNEL = 'C024BE91L'
export const GUILD = '197038439483310086'
export const DISCORD_CHANNEL = '418719834231439370'
export const MATTERMOST_CHANNEL = '4xp9fdt77pncbef59f4k1qe83o'
export const MATTERMOST_HOST = 'chat.example.com'
export const TOKEN = 'xoxb-17653672481-reads'

export type SlackMessage = { readonly ts: string } & Readonly<Record<string, unknown>>
export type DiscordMessage = { readonly id: string } & Readonly<Record<string, unknown>>
export type MattermostPost = { readonly id: string } & Readonly<Record<string, unknown>>

class Answer extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(String(status))
    this.status = status
    this.body = body
  }
}

export class Platforms {
  slack: readonly SlackMessage[] = []
  /** The error with which Slack refuses to show the channel. */
  slackError: string | undefined
  slackTeam = TEAM
  isSlackLimited = false
  discord: readonly DiscordMessage[] = []
  discordGuild = GUILD
  readsHistory = true
  readsContent = true
  mattermost: readonly MattermostPost[] = []
  /** The roles of every account. */
  roles = 'system_user'
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  async start() {
    const server = createServer((request, response) => {
      response.setHeader('date', new Date(this.#now()).toUTCString())
      response.setHeader('content-type', 'application/json')
      response.setHeader('x-oauth-scopes', 'channels:history,chat:write')
      try {
        response.end(JSON.stringify(this.#answer(request)))
      } catch (error) {
        if (!(error instanceof Answer)) throw error
        response.writeHead(error.status).end(JSON.stringify(error.body))
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  #answer({ url, headers: { authorization } }: IncomingMessage): object {
    const { pathname, searchParams } = new URL(url!, 'http://platform')
    const [, version, path = ''] = /^\/api\/(?:(v10|v4)\/)?(.*)$/.exec(pathname) ?? []
    const isBot = version === 'v10'
    if (authorization !== `${isBot ? 'Bot' : 'Bearer'} ${TOKEN}`) {
      if (version === undefined) return { ok: false, error: 'invalid_auth' }
      throw new Answer(401, { message: '401: Unauthorized', code: 0 })
    }
    if (version === undefined) return this.#slack(path, searchParams)
    return isBot ? this.#discord(path) : this.#mattermost(path)
  }

  #slack(method: string, query: URLSearchParams): object {
    if (method === 'auth.test') return { ok: true, team_id: this.slackTeam, user_id: 'U0READER', bot_id: 'B0READER' }
    if (query.get('channel') !== SLACK_CHANNEL) return { ok: false, error: 'channel_not_found' }
    if (this.slackError !== undefined) return { ok: false, error: this.slackError }
    const [oldest = '0', latest = '9'] = [query.get('oldest') ?? undefined, query.get('latest') ?? undefined]
    const within = ({ ts }: SlackMessage) => ts >= oldest && ts <= latest
    const root = ({ ts, thread_ts = ts }: SlackMessage) => String(thread_ts)
    const isReply = (one: SlackMessage) => root(one) !== one.ts && one.subtype !== 'thread_broadcast'
    const more = { has_more: false, ...(this.isSlackLimited && { is_limited: true }) }
    if (method === 'conversations.history')
      return { ok: true, messages: this.slack.filter((one) => within(one) && !isReply(one)), ...more }
    const parent = this.slack.find(({ ts }) => ts === query.get('ts'))
    if (!parent) return { ok: false, error: 'thread_not_found' }
    const shown = this.slack.filter((one) => one === parent || (root(one) === parent.ts && within(one)))
    return { ok: true, messages: shown, ...more }
  }

  #discord(path: string): object {
    if (path === 'applications/@me') return { id: '1', flags: this.readsContent ? 1 << 19 : 0 }
    const [, channel, rest] = /^channels\/([0-9]+)(?:\/(messages.*))?$/.exec(path) ?? []
    if (channel !== DISCORD_CHANNEL) throw new Answer(404, { message: 'Unknown Channel', code: 10003 })
    const last_message_id = this.discord.at(-1)?.id ?? '1100000000000000000'
    if (rest === undefined) return { id: channel, type: 0, guild_id: this.discordGuild, last_message_id }
    const shown = this.readsHistory ? this.discord.map((one) => this.#discordMessage(one)) : []
    if (rest === 'messages') return shown.slice(-1)
    const message = shown.find(({ id }) => id === rest.slice('messages/'.length))
    if (!message) throw new Answer(404, { message: 'Unknown Message', code: 10008 })
    return message
  }

  #discordMessage(message: DiscordMessage) {
    const whole = {
      channel_id: DISCORD_CHANNEL,
      type: 0,
      author: { id: '80351110224678912', username: 'build' },
      content: '',
      edited_timestamp: null,
      attachments: [],
      embeds: [],
      components: [],
      ...message,
    }
    return this.readsContent ? whole : { ...whole, content: '', attachments: [], embeds: [], components: [] }
  }

  #mattermost(path: string): object {
    if (path === 'users/me') return { id: 'ownownownownownownownownow', roles: 'system_user' }
    const [, kind, id, rest] = /^(posts|channels|users)\/([0-9a-z]{26})(\/posts)?$/.exec(path) ?? []
    if (kind === 'users') return { id, roles: this.roles }
    if (kind === 'channels' && id === MATTERMOST_CHANNEL && rest)
      return { order: this.mattermost.map((post) => post.id), posts: {} }
    const post = kind === 'posts' && this.mattermost.find((one) => one.id === id)
    if (!post) throw new Answer(404, { id: 'app.post.get.app_error', status_code: 404 })
    return {
      channel_id: MATTERMOST_CHANNEL,
      user_id: 'authorauthorauthorauthorau',
      root_id: '',
      type: '',
      message: '',
      edit_at: 0,
      delete_at: 0,
      ...post,
    }
  }
}

/** Slack's id of a message of a moment. */
export function tsOf(moment: number): string {
  return `${Math.floor(moment / 1000)}.${String(moment % 1000).padStart(3, '0')}119`
}

/** Discord's id of a message of a moment. */
export function snowflakeOf(moment: number): string {
  return String((BigInt(moment - Date.UTC(2015, 0)) << 22n) + 5n)
}
