/** Reads posts, channels and accounts at a Mattermost server. */
import { bearer, DestinationError, type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'
import type { Options } from './connection.ts'

const Moment = Type.Integer({ minimum: 0 })
const Post = Type.Object({
  id: Type.String(),
  channel_id: Type.String(),
  user_id: Type.String(),
  root_id: Type.String(),
  type: Type.String(),
  message: Type.String(),
  create_at: Moment,
  edit_at: Type.Optional(Moment),
  delete_at: Moment,
  /** The other server that a post of a shared channel came from. */
  remote_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})
const Account = Type.Object({ id: Type.String(), roles: Type.Optional(Type.String()) })
const Posts = Type.Object({ order: Type.Array(Type.String()) })

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
      await read(`channels/${channel}/posts?page=0&per_page=1`, Posts)
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
