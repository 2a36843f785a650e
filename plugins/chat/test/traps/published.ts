/** The published descriptions of what the stand-ins answer with: names and types of fields, `!` after those that are always there. */

/**
 * Slack by its OpenAPI description (version 1.7.0) and by the types of its SDK, which are newer; Discord by the tables of its documentation;
 * Mattermost by its OpenAPI description and the JSON names of its models, in which `parent_id` and `filenames` are of servers before 6.0.
 */
const PUBLISHED = {
  'slack message': `type:string! text:string! ts:string! user:string bot_id:string app_id:string bot_profile:object team:string
    user_team:string source_team:string user_profile:object subtype:string hidden:boolean username:string icons:object thread_ts:string
    parent_user_id:string reply_count:integer reply_users:array reply_users_count:integer latest_reply:string subscribed:boolean
    is_locked:boolean root:object edited:object attachments:array blocks:array files:array upload:boolean reactions:array pinned_to:array
    client_msg_id:string inviter:string topic:string purpose:string metadata:object`,
  'slack channel': `id:string! name:string! name_normalized:string created:integer! creator:string! updated:integer is_archived:boolean!
    is_channel:boolean is_group:boolean is_im:boolean is_mpim:boolean! is_general:boolean! is_member:boolean is_private:boolean!
    is_shared:boolean! is_ext_shared:boolean is_org_shared:boolean! is_pending_ext_shared:boolean pending_shared:array
    shared_team_ids:array connected_team_ids:array context_team_id:string conversation_host_id:string previous_names:array purpose:object!
    topic:object! unlinked:integer last_read:string parent_conversation:any locale:string num_members:integer`,
  'slack identity': `ok:boolean! url:string! team:string! user:string! team_id:string! user_id:string! bot_id:string
    enterprise_id:string is_enterprise_install:boolean`,
  'slack error': `ok:boolean! error:string! needed:string provided:string warning:string response_metadata:object`,
  'discord message': `id:string! channel_id:string! author:object! content:string! timestamp:string! edited_timestamp:string|null!
    tts:boolean! mention_everyone:boolean! mentions:array! mention_roles:array! mention_channels:array attachments:array! embeds:array!
    reactions:array nonce:any pinned:boolean! webhook_id:string type:integer! activity:object application:object application_id:string
    flags:integer message_reference:object message_snapshots:array referenced_message:object|null interaction_metadata:object
    interaction:object thread:object components:array sticker_items:array position:integer poll:object`,
  'discord channel': `id:string! type:integer! guild_id:string position:integer permission_overwrites:array name:string|null
    topic:string|null nsfw:boolean last_message_id:string|null rate_limit_per_user:integer parent_id:string|null owner_id:string
    thread_metadata:object member:object message_count:integer member_count:integer total_message_sent:integer
    last_pin_timestamp:string|null flags:integer applied_tags:array bitrate:integer user_limit:integer rtc_region:string|null
    recipients:array default_auto_archive_duration:integer`,
  'discord error': 'message:string! code:integer! retry_after:any global:boolean errors:object',
  'mattermost post': `id:string! create_at:integer! update_at:integer! edit_at:integer! delete_at:integer! is_pinned:boolean!
    user_id:string! channel_id:string! root_id:string! original_id:string! message:string! message_source:string type:string! props:object!
    hashtags:string! file_ids:array filenames:array parent_id:string pending_post_id:string! has_reactions:boolean remote_id:string
    reply_count:integer! last_reply_at:integer participants:array|null is_following:boolean metadata:object`,
  'mattermost channel': `id:string! create_at:integer! update_at:integer! delete_at:integer! team_id:string! type:string! display_name:string!
    name:string! header:string! purpose:string! last_post_at:integer! total_msg_count:integer! extra_update_at:integer creator_id:string!
    scheme_id:string|null props:object|null group_constrained:boolean|null shared:boolean|null total_msg_count_root:integer
    policy_id:string|null last_root_post_at:integer`,
  'mattermost member': `channel_id:string! user_id:string! roles:string! last_viewed_at:integer! msg_count:integer! mention_count:integer!
    notify_props:object! last_update_at:integer! scheme_guest:boolean scheme_user:boolean scheme_admin:boolean explicit_roles:string`,
  'mattermost error': `id:string! message:string! detailed_error:string! request_id:string status_code:integer!`,
} as const

export type Described = keyof typeof PUBLISHED

/** Lists where an object is not as published. */
export function faultsOf(name: Described, object: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = new Map(
    PUBLISHED[name].split(/\s+/).map((field) => {
      const [, word = '', types = '', mark] = /^(\w+):([\w|]+)(!?)$/.exec(field) ?? []
      return [word, { types: types.split('|'), isRequired: mark === '!' }] as const
    }),
  )
  const missing = [...fields].filter(([field, { isRequired }]) => isRequired && object[field] === undefined)
  const wrong = Object.entries(object).flatMap(([field, value]) => {
    const types = fields.get(field)?.types
    if (types === undefined) return [`${name}: ${field} is not published`]
    return types.includes('any') || types.includes(typeOf(value))
      ? []
      : [`${name}: ${field} is ${JSON.stringify(value)}`]
  })
  return [...missing.map(([field]) => `${name}: ${field} is missing`), ...wrong]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
