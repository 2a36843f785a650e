/** Reads posts, channels and accounts at a Mattermost server. */
import { bearer, DestinationError, type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'
import type { Options } from './connection.ts'

const OrNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
/** The last moment that a date can have: who posts may send any number. */
const LAST_MOMENT = 8.64e15
const Moment = Type.Integer({ minimum: 0, maximum: LAST_MOMENT })
const Post = Type.Object({
  id: Type.String(),
  channel_id: Type.String(),
  user_id: Type.String(),
  root_id: Type.String(),
  type: Type.String(),
  message: Type.String(),
  /** The text as it was written, where a server with a proxy of images changes their addresses in `message`. */
  message_source: Type.Optional(Type.String()),
  create_at: Moment,
  edit_at: Type.Optional(Moment),
  delete_at: Moment,
  /** The other server that a post of a shared channel came from. */
  remote_id: OrNull(Type.String()),
  /** Has `from_plugin` where a plugin of the server made the post. */
  props: OrNull(Type.Object({ from_plugin: Type.Optional(Type.Unknown()) })),
})
const Account = Type.Object({ id: Type.String(), roles: Type.Optional(Type.String()) })
const Posts = Type.Object({ posts: Type.Record(Type.String(), Type.Object({ channel_id: Type.String() })) })

export type Post = Static<typeof Post>

/** The role whose accounts may give a post the time that they choose. */
const ADMINISTRATOR = 'system_admin'

export function isAdministrator({ roles = '' }: Static<typeof Account>): boolean {
  return roles.split(' ').includes(ADMINISTRATOR)
}

export function openMattermost({ base_url, token }: Options, reads: Reads) {
  const url = `${base_url.replace(/\/+$/, '')}/api/v4`
  const read = async <T extends TSchema>(path: string, schema: T, also: readonly number[] = []) =>
    (await reads.json(`${url}/${path}`, { schema, also, auth: bearer(token) })).value

  return {
    /** Finds a post; undefined where the server has none of this id, or it was deleted. */
    async post(id: string): Promise<Post | undefined> {
      const post = await read(`posts/${id}`, Post, [404])
      if (post && post.id !== id) throw new DestinationError('unexpected_response')
      return post
    },
    /** Requires that the posts of a channel can be read. @throws DestinationError `forbidden` */
    async requirePosts(channel: string): Promise<void> {
      const { posts } = (await read(`channels/${channel}/posts?page=0&per_page=1`, Posts))!
      if (Object.values(posts).some(({ channel_id }) => channel_id !== channel))
        throw new DestinationError('unexpected_response')
    },
    /** Tells whether an account cannot choose the times of its posts. Times of an account that is not shown count for nothing. */
    async hasServerTimes(user: string): Promise<boolean> {
      if (!/^[0-9a-z]{26}$/.test(user)) return false
      const account = await read(`users/${user}`, Account, [403, 404])
      return account?.roles !== undefined && !isAdministrator(account)
    },
    async ownAccount() {
      return (await read('users/me', Account))!
    },
  }
}
