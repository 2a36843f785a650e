/** Mattermost's REST API (version 4) over a scripted room: teams, memberships and roles, soft deletion, concealed posts, and servers of several ages. */
import { createHash } from 'node:crypto'
import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { faultsOf } from './published.ts'
import type { Message, Room } from './room.ts'

export const HOST = 'chat.example.com'
export const CHANNEL_NAME = 'night-deploys'

export interface MattermostUser {
  readonly token: string
  readonly isInTeam: boolean
  /** Channels that the user is in. */
  readonly member: readonly string[]
  readonly isAdmin?: boolean
}

export interface MattermostChannel {
  readonly type: 'O' | 'P'
  readonly archivedAt?: number
}

export interface Mattermost {
  readonly room: Room
  readonly user: MattermostUser
  readonly channels: Readonly<Record<string, MattermostChannel>>
  /** The path below which the server runs. */
  readonly subPath?: string
  /** The server's version; a recent one when left out. */
  readonly version?: string
  /** The oldest moment that the plan of a cloud server shows, before now. */
  readonly keepsMs?: number
  /** Roles of users beside the usual one. */
  readonly admins?: readonly string[]
  readonly isCompliant?: boolean
}

class MattermostError extends Error {
  readonly status: number
  readonly id: string

  constructor(status: number, id: string, message: string) {
    super(message)
    this.status = status
    this.id = id
  }
}

/** An id as Mattermost makes them, the same for the same name: 26 letters of its own base32. */
export function idOf(name: string): string {
  const letters = 'ybndrfg8ejkmcpqxot1uwisza345h769'
  return [...createHash('sha256').update(name).digest()]
    .slice(0, 26)
    .map((byte) => letters[byte % 32])
    .join('')
}

export const CHANNEL = idOf('a channel')
export const TEAM = idOf('a team')
export const AUTHOR = idOf('an author')
export const READER = idOf('the reader')

const PERMISSIONS = 'You do not have the appropriate permissions.'

export function createMattermost(mattermost: Mattermost): (asked: Asked, faults: string[]) => Answer {
  const { subPath = '', version = '10.11.2' } = mattermost
  const requestId = 'yy3dcz8q4tgejmqfnbkkpe9a7o'
  const headers = { 'x-version-id': `${version}.${version}.5f4dcc3b.true`, 'x-request-id': requestId }

  return (asked, faults) => {
    // What is no address of the API is a page of the web app, with status 200.
    if (!asked.path.startsWith(`${subPath}/api/v4/`)) return { status: 200, body: WEB_APP, headers }
    try {
      const body = answerOf(mattermost, asked, asked.path.slice(`${subPath}/api/v4/`.length), faults)
      const etag = etagOf(body, version)
      if (etag !== undefined && asked.headers['if-none-match'] === etag) return { status: 304, body: '', headers }
      return { status: 200, body, headers: { ...headers, ...(etag && { etag }) } }
    } catch (error) {
      if (!(error instanceof MattermostError)) throw error
      const body = errorBody(error.status, error.id, error.message)
      faults.push(...faultsOf('mattermost error', body))
      return { status: error.status, body, headers }
    }
  }
}

export function errorBody(status: number, id: string, message: string) {
  return { id, message, detailed_error: '', request_id: 'yy3dcz8q4tgejmqfnbkkpe9a7o', status_code: status }
}

export const WEB_APP =
  '<!doctype html><html lang="en"><head><title>Mattermost</title></head><body><div id="root"></div></body></html>'

function etagOf(body: unknown, version: string): string | undefined {
  const { id, update_at, message } = body as Readonly<Record<string, unknown>>
  return message === undefined ? undefined : `${version}.${id as string}.${update_at as number}`
}

function answerOf(mattermost: Mattermost, asked: Asked, path: string, faults: string[]): unknown {
  const { user } = mattermost
  if (asked.headers.authorization?.toLowerCase() !== `bearer ${user.token}`.toLowerCase() && path !== 'system/ping')
    throw new MattermostError(
      401,
      'api.context.session_expired.app_error',
      'Invalid or expired session, please login again.',
    )
  const [kind, id = '', part, more] = path.split('/').map(decodeURIComponent)
  const isRead = part === undefined
  if (kind === 'users' && isRead) return userObject(mattermost, id === 'me' ? READER : id)
  if (kind === 'system' && id === 'ping') return { status: 'OK' }
  if (kind === 'config' && id === 'client')
    return { Version: mattermost.version ?? '10.11.2', DiagnosticId: idOf('the server') }
  if (kind === 'channels' && isRead) return channelAt(mattermost, id, faults)
  if (kind === 'channels' && part === 'members') return memberAt(mattermost, id, more, faults)
  if (kind === 'channels' && part === 'posts') return postsIn(mattermost, id, asked, faults)
  if (kind === 'posts' && isRead) return postAt(mattermost, id, asked, faults)
  if (kind === 'posts' && part === 'thread') return threadOf(mattermost, id, asked, faults)
  if (kind === 'posts' && part === 'edit_history')
    throw new MattermostError(403, 'api.context.permissions.app_error', PERMISSIONS)
  if (kind === 'posts' && part === 'reveal') faults.push('a read reveals a post that burns')
  throw new MattermostError(404, 'api.context.404.app_error', 'Sorry, we could not find the page.')
}

function requireId(id: string, name: string): void {
  if (!/^[A-Za-z0-9]{26}$/.test(id))
    throw new MattermostError(
      400,
      'api.context.invalid_url_param.app_error',
      `Invalid or missing ${name} parameter in request URL.`,
    )
}

function channelAt(mattermost: Mattermost, id: string, faults: string[]) {
  requireId(id, 'channel_id')
  const channel = mattermost.channels[id]
  if (!channel)
    throw new MattermostError(404, 'app.channel.get.existing.app_error', 'Unable to find the existing channel.')
  const { member, isInTeam, isAdmin } = mattermost.user
  const isVisible = isAdmin || member.includes(id) || (channel.type === 'O' && isInTeam)
  if (!isVisible) throw new MattermostError(403, 'api.context.permissions.app_error', PERMISSIONS)
  const body = {
    id,
    create_at: 1_700_000_000_000,
    update_at: 1_700_000_000_000,
    delete_at: channel.archivedAt ?? 0,
    team_id: TEAM,
    type: channel.type,
    display_name: 'Night deploys',
    name: CHANNEL_NAME,
    header: '',
    purpose: '',
    last_post_at: 1_700_000_000_000,
    total_msg_count: 12,
    extra_update_at: 0,
    creator_id: AUTHOR,
    scheme_id: null,
    props: null,
    group_constrained: null,
  }
  faults.push(...faultsOf('mattermost channel', body))
  return body
}

function memberAt(mattermost: Mattermost, id: string, named: string | undefined, faults: string[]) {
  channelAt(mattermost, id, faults)
  const user_id = named === 'me' ? READER : named
  if (user_id !== READER || !mattermost.user.member.includes(id))
    throw new MattermostError(
      404,
      'app.channel.get_member.missing.app_error',
      'No channel member found for that user ID and channel ID.',
    )
  const body = {
    channel_id: id,
    user_id,
    roles: 'channel_user',
    last_viewed_at: 1_700_000_000_000,
    msg_count: 1,
    mention_count: 0,
    notify_props: { desktop: 'default' },
    last_update_at: 1_700_000_000_000,
  }
  faults.push(...faultsOf('mattermost member', body))
  return body
}

/** Shows the posts of a public channel to all of its team, unless the server watches for compliance. */
function mayRead({ user, channels, isCompliant }: Mattermost, id: string): boolean {
  if (user.isAdmin || user.member.includes(id)) return true
  return channels[id]?.type === 'O' && user.isInTeam && !isCompliant
}

function findPost({ room }: Mattermost, id: string, { shown }: Asked, isForAll: boolean): Message {
  requireId(id, 'post_id')
  const post = room.at(shown).find((message) => message.id === id)
  // Posts that only one user sees are not stored.
  if (!post || post.extra.type === 'system_ephemeral' || (post.isDeleted && !isForAll))
    throw new MattermostError(404, 'app.post.get.app_error', 'Unable to get the post.')
  return post
}

/** Looks for the post first, and asks for the right to read its channel then. */
function postAt(mattermost: Mattermost, id: string, asked: Asked, faults: string[]) {
  const isForAll = asked.url.searchParams.get('include_deleted') === 'true'
  if (isForAll && !mattermost.user.isAdmin)
    throw new MattermostError(403, 'api.context.permissions.app_error', PERMISSIONS)
  const post = findPost(mattermost, id, asked, isForAll)
  if (mattermost.keepsMs !== undefined && post.at < asked.now - mattermost.keepsMs)
    throw new MattermostError(403, 'app.post.cloud.get.app_error', 'Post is past the cloud plan limit.')
  if (!mayRead(mattermost, post.channel))
    throw new MattermostError(403, 'api.context.permissions.app_error', PERMISSIONS)
  return postObject(mattermost, post, asked, faults)
}

function threadOf(mattermost: Mattermost, id: string, asked: Asked, faults: string[]) {
  const named = postAt(mattermost, id, asked, faults)
  const root = named.root_id === '' ? named.id : named.root_id
  const isOf = ({ id, thread, isDeleted }: Message) => !isDeleted && (id === root || thread === root)
  return listOf(mattermost, mattermost.room.at(asked.shown).filter(isOf), asked, faults)
}

function postsIn(mattermost: Mattermost, id: string, asked: Asked, faults: string[]) {
  channelAt(mattermost, id, faults)
  if (!mayRead(mattermost, id)) throw new MattermostError(403, 'api.context.permissions.app_error', PERMISSIONS)
  const { searchParams } = asked.url
  const size = Math.min(Number(searchParams.get('per_page') ?? 60), 200)
  const page = Number(searchParams.get('page') ?? 0)
  const all = mattermost.room.at(asked.shown).filter(({ channel, isDeleted }) => channel === id && !isDeleted)
  const edge = (name: string) => all.find((message) => message.id === searchParams.get(name))?.at
  const [before, after, since] = [edge('before'), edge('after'), searchParams.get('since')]
  const within = all
    .filter(({ at }) => at < (before ?? Number.POSITIVE_INFINITY) && at > (after ?? Number.NEGATIVE_INFINITY))
    .filter(({ touchedAt }) => since === null || touchedAt > Number(since))
    .toReversed()
  return listOf(mattermost, within.slice(page * size, (page + 1) * size), asked, faults)
}

function listOf(mattermost: Mattermost, posts: readonly Message[], asked: Asked, faults: string[]) {
  const objects = posts.map((post) => postObject(mattermost, post, asked, faults))
  const byId = Object.fromEntries(objects.map((post) => [post.id, post]))
  return { order: objects.map(({ id }) => id), posts: byId, next_post_id: '', prev_post_id: '', has_next: false }
}

function postObject({ room, version }: Mattermost, post: Message, { shown }: Asked, faults: string[]) {
  const { id, at, text, author, channel, thread, editedAt, touchedAt, isDeleted, extra } = post
  const replies = room.at(shown).filter((message) => message.thread === id && !message.isDeleted)
  const isOld = version?.startsWith('5.')
  const createAt = typeof extra.create_at === 'number' ? extra.create_at : at
  const body: Record<string, unknown> & { readonly id: string; readonly root_id: string } = {
    id,
    create_at: createAt,
    update_at: Math.max(touchedAt, isDeleted ? touchedAt : createAt),
    edit_at: editedAt ?? 0,
    delete_at: isDeleted ? touchedAt : 0,
    is_pinned: false,
    user_id: author,
    channel_id: channel,
    root_id: thread ?? '',
    original_id: '',
    message: text,
    type: '',
    props: {},
    hashtags: '',
    pending_post_id: '',
    reply_count: replies.length,
    last_reply_at: replies.at(-1)?.at ?? 0,
    participants: null,
    metadata: {},
    ...(isOld && { parent_id: thread ?? '', filenames: [] }),
    ...extra,
  }
  // A post that burns is concealed until its reader reveals it.
  if (extra.type === 'burn_on_read') Object.assign(body, { message: '', props: { expire_at: at + 604_800_000 } })
  faults.push(...faultsOf('mattermost post', body))
  return body
}

function userObject({ user, admins = [] }: Mattermost, id: string) {
  requireId(id, 'user_id')
  const isAdmin = admins.includes(id) || (id === READER && user.isAdmin)
  const roles = isAdmin ? 'system_admin system_user' : 'system_user'
  return {
    id,
    create_at: 1,
    update_at: 1,
    delete_at: 0,
    username: 'nelly',
    email: '',
    roles,
    locale: 'en',
    is_bot: id === READER,
  }
}
