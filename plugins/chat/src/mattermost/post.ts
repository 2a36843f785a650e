/** Finds a post in a channel of a Mattermost server. */
import { channelOf } from '../channel.ts'
import type { FindMessage } from '../post.ts'
import { openMattermost } from './api.ts'
import type { Options } from './connection.ts'

/** A post whose text nobody sees before he opens it. */
const SEALED = 'burn_on_read'

export const findPost: FindMessage = async ({ target, params }, { connection }, reads) => {
  const mattermost = openMattermost(connection!.options as Options, reads)
  const { id: channel } = channelOf(target)
  const post = await mattermost.post(params.message)
  if (!post) {
    await mattermost.requirePosts(channel)
    return 'absent'
  }
  const { id, user_id, root_id, type, message, message_source, create_at, edit_at = 0, delete_at } = post
  if (post.channel_id !== channel) return 'elsewhere'
  if (delete_at > 0) return 'deleted'
  if (type === 'system_generic') return 'unknown'
  if (type.startsWith('system_')) return 'system'
  // A server that shares the channel sends its posts with their times, and a plugin may choose them.
  const isOwn = (post.remote_id ?? '') === '' && post.props?.from_plugin === undefined
  const editedAt = edit_at > 0 ? edit_at : undefined
  return {
    id,
    postedAt: create_at,
    hasOwnTime: async () => isOwn && mattermost.hasServerTimes(user_id),
    thread: root_id === '' ? id : root_id,
    authors: user_id === '' ? [] : [user_id],
    texts: type === SEALED ? undefined : [message, message_source ?? message],
    editedAt,
    hidesEdits: false,
    wasNeverEdited: editedAt === undefined,
  }
}
