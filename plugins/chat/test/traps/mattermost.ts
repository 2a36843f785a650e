/** Claims of posts in Mattermost: true ones as agents make them, false ones, and those of which the server shows too little. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import { AUTHOR, CHANNEL, errorBody, HOST, idOf, WEB_APP } from './mattermost-api.ts'
import {
  claimOf,
  DAY,
  FAILED,
  HOUR,
  idAfter,
  instead,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_TEXT,
  OTHER_UNTOLD,
  type Row,
  roomOf,
  rowsOf,
  type Scene,
  SECOND,
  TEXT,
  TRUE,
  TRUE_UNTOLD,
  UNTOLD,
} from './row.ts'
import { DOWN, EMPTY, FILTERED, NO_ROUTE, SIGN_IN } from './troubles.ts'

const row = rowsOf('mattermost')
const room = () => roomOf('mattermost')
const POST = idAfter('mattermost', 0)
const ROOT = idAfter('mattermost', -HOUR)
const OTHER_ROOT = idAfter('mattermost', -2 * HOUR)
const OTHER_AUTHOR = idOf('another author')
const OTHER_CHANNEL = idOf('another channel')

const said = () => room().post(0)
const threaded = () => room().post(-HOUR, { author: OTHER_AUTHOR, text: 'How is it going?' })
const params = claimOf(POST, { text: TEXT, author: AUTHOR })
const PRIVATE = { channels: { [CHANNEL]: { type: 'P' as const } } }
const OUTSIDE = { ...PRIVATE, user: { member: [] } }
const failure = (status: number, id: string, message: string): Answer => ({
  status,
  body: errorBody(status, id, message),
})
const LIMITED: Answer = {
  status: 429,
  headers: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
  body: 'limit exceeded',
}
const USER = new RegExp(`/users/${AUTHOR}`)
const NO_USER = failure(403, 'api.context.permissions.app_error', 'You do not have the appropriate permissions.')
/** The text as it is written, and as a server with an image proxy returns it. */
const PICTURE = '![chart](https://img.example.org/a.png)'
const PROXIED = `![chart](https://${HOST}/api/v4/image?url=https%3A%2F%2Fimg.example.org%2Fa.png)`
const proxied = () => room().post(0, { text: PROXIED, extra: { message_source: PICTURE } })

const HONEST: readonly Row[] = [
  row(TRUE, 'a post in a public channel', 'it is there, as claimed', () => ({ room: said(), params })),
  row(TRUE, 'only its id is claimed', 'it is there', () => ({ room: said(), params: claimOf(POST) })),
  row(TRUE, 'in a private channel', 'the user is in it', () => ({ room: said(), params, mattermost: PRIVATE })),
  row(TRUE, 'in a public channel that the user has not joined', 'its team may read it', () => ({
    room: said(),
    params,
    mattermost: { user: { member: [] } },
  })),
  row(TRUE, 'at a server below a path', 'the path is that of the server', () => ({
    room: said(),
    params,
    mattermost: { subPath: '/talk' },
  })),
  row(TRUE, 'at a server with a port', 'the port is that of the server', () => ({
    room: said(),
    params,
    target: `mattermost:${HOST}:8443/${CHANNEL}`,
    connection: { base_url: `https://${HOST}:8443` },
  })),
  row(TRUE, 'at an address that ends with a slash', 'the slash is of no path', () => ({
    room: said(),
    params,
    connection: { base_url: `https://${HOST}/` },
  })),
  row(['in time', 'verified', 'refused'], 'a host in upper case', 'hosts have no case', () => ({
    room: said(),
    params,
    target: `mattermost:${HOST.toUpperCase()}/${CHANNEL}`,
  })),
  row(['in time', 'verified', 'refused'], 'the usual port, written out', '443 is the port of https', () => ({
    room: said(),
    params,
    target: `mattermost:${HOST}:443/${CHANNEL}`,
  })),
  row(TRUE, 'with props of seven hundred thousand letters', 'a server takes 760,000', () => ({
    room: room().post(0, { extra: { props: { deploy: 'x'.repeat(700_000) } } }),
    params,
  })),
  row(TRUE, 'by a plugin', 'it is there', () => ({
    room: room().post(0, { extra: { props: { from_plugin: 'true', from_bot: 'true' } } }),
    params,
  })),
  row(TRUE, 'by a user whom the account may not see', 'it is there', () => ({
    room: said(),
    params,
    instead: instead(NO_USER, { on: USER }),
  })),
  row(TRUE, 'at a server of 2020', 'its posts have a parent_id', () => ({
    room: threaded().post(0, { thread: ROOT }),
    params: { ...params, thread: ROOT },
    mattermost: { version: '5.25.0' },
  })),
  row(TRUE, 'a reply', 'it is in the claimed thread', () => ({
    room: threaded().post(0, { thread: ROOT }),
    params: { ...params, thread: ROOT },
  })),
  row(TRUE, 'a reply, of whose thread nothing is claimed', 'the claim does not say where it is', () => ({
    room: threaded().post(0, { thread: ROOT }),
    params,
  })),
  row(TRUE, 'outside of threads, claimed as its own', 'its thread is itself', () => ({
    room: said(),
    params: { ...params, thread: POST },
  })),
  row(TRUE, 'by an incoming webhook, whose maker is claimed', 'a webhook posts as who made it', () => ({
    room: room().post(0, { extra: { props: { from_webhook: 'true', override_username: 'deploys' } } }),
    params,
  })),
  row(TRUE, 'an attachment and no text', 'the claim says nothing of a text', () => ({
    room: room().post(0, { text: '', extra: { type: 'slack_attachment', props: { attachments: [{ text: TEXT }] } } }),
    params: claimOf(POST),
  })),
  row(TRUE, 'of a type that a plugin made', 'its text is the claimed one', () => ({
    room: room().post(0, { extra: { type: 'custom_deploy' } }),
    params,
  })),
  row(TRUE, 'letters that have a meaning in HTML', 'Mattermost escapes nothing', () => ({
    room: room().post(0, { text: 'a < b && b > c &amp; @all :tada:' }),
    params: claimOf(POST, { text: 'a < b && b > c &amp; @all :tada:' }),
  })),
  row(TRUE, 'a picture, as a server with an image proxy returns it', 'the text is as the API returns it', () => ({
    room: proxied(),
    params: claimOf(POST, { text: PROXIED }),
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'a picture, as it was written',
    'message_source has it as it was written',
    () => ({
      room: proxied(),
      params: claimOf(POST, { text: PICTURE }),
    }),
  ),
  row(TRUE, 'edited two seconds later, the new text claimed', 'the text was so within the tolerance', () => ({
    room: room()
      .post(0, { text: OTHER_TEXT })
      .edit(2 * SECOND, POST, TEXT),
    params,
    claimedMs: 3 * SECOND,
  })),
  row(TRUE, 'a reaction and a reply since', 'update_at is no edit', () => ({
    room: said()
      .touch(30 * MINUTE, POST, { has_reactions: true, is_pinned: true })
      .post(31 * MINUTE, { thread: POST, author: OTHER_AUTHOR, text: 'Thanks' }),
    params,
    claimedMs: 0,
    submittedMs: 40 * MINUTE,
  })),
  row(TRUE, 'submitted forty minutes later', "create_at is the server's own time", () => ({
    room: said(),
    params,
    submittedMs: 40 * MINUTE,
  })),
  row(TRUE, 'in a channel that was archived since', 'its posts can be read', () => ({
    room: said(),
    params,
    mattermost: { channels: { [CHANNEL]: { type: 'O', archivedAt: START + SECOND / 2 } } },
  })),
  row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
    room: said(),
    params,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(TRUE, 'a replica that lags for twenty seconds', 'a copy that lags is no absence', () => ({
    room: said(),
    params,
    lag: { byMs: 30 * SECOND, untilMs: 20 * SECOND },
  })),
  row(TRUE, 'an administrator reads', 'that changes nothing of the post', () => ({
    room: said(),
    params,
    mattermost: { user: { isAdmin: true, member: [] } },
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'of another server, in a channel that both share',
    'it is in the own channel, too',
    () => ({
      room: room().post(0, { extra: { remote_id: idOf('another server') } }),
      params,
    }),
  ),
  row(['in time', 'verified', 'unverifiable'], 'one that burns, no text claimed', 'it is there', () => ({
    room: room().post(0, { extra: { type: 'burn_on_read' } }),
    params: claimOf(POST),
  })),
  row(['in time', 'verified', 'unverifiable'], 'posted a day before the claim', 'it was there before', () => ({
    room: room().post(-DAY),
    params: { ...params, message: idAfter('mattermost', -DAY) },
    facts: { preexisting: true },
  })),
]

const FALSE: readonly Row[] = [
  // There is none.
  row(FAILED, 'never posted', 'the channel was read, and does not have it', () => ({ room: threaded(), params })),
  row(FAILED, 'never posted, in a private channel', 'the user is in it', () => ({
    room: threaded(),
    params,
    mattermost: PRIVATE,
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'never posted, in a public channel that the user has not joined',
    'its team may read it',
    () => ({
      room: threaded(),
      params,
      mattermost: { user: { member: [] } },
    }),
  ),
  row(NOT_DONE, 'never posted, claimed an hour ago', 'Mattermost has no log of what was never there', () => ({
    room: room(),
    params,
    submittedMs: HOUR,
  })),
  row(['never', 'failed', 'unverifiable'], 'shown to one user alone', 'an ephemeral post is not stored', () => ({
    room: room().post(0, { extra: { type: 'system_ephemeral' } }),
    params,
  })),
  row(
    ['never', 'refused', 'failed', 'unverifiable'],
    'the id that the client gave it',
    'a pending id is no id of a post',
    () => ({
      room: room(),
      params: claimOf(`${AUTHOR}:${START}`),
    }),
  ),
  row(['in time', 'refused', 'unverifiable', 'verified'], 'its id in upper case', 'ids are in lower case', () => ({
    room: said(),
    params: { ...params, message: POST.toUpperCase() },
  })),

  // Another text, author or place.
  row(OTHER, 'another text', 'the message is not the claimed one', () => ({
    room: said(),
    params: claimOf(POST, { text: OTHER_TEXT }),
  })),
  row(OTHER, 'the text with entities decoded', 'Mattermost escapes nothing', () => ({
    room: room().post(0, { text: 'use &lt;b&gt; here' }),
    params: claimOf(POST, { text: 'use <b> here' }),
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the text of its attachment',
    'an attachment is not the message',
    () => ({
      room: room().post(0, { text: '', extra: { type: 'slack_attachment', props: { attachments: [{ text: TEXT }] } } }),
      params,
    }),
  ),
  row(OTHER, 'another picture, at a server with an image proxy', 'neither form is the claimed one', () => ({
    room: proxied(),
    params: claimOf(POST, { text: '![chart](https://img.example.org/b.png)' }),
  })),
  row(OTHER, 'by someone else', 'the author is not the claimed one', () => ({
    room: room().post(0, { author: OTHER_AUTHOR }),
    params,
  })),
  row(OTHER, 'by a webhook of someone else, with the name of the claimed author', 'a name is no author', () => ({
    room: room().post(0, {
      author: OTHER_AUTHOR,
      extra: { props: { from_webhook: 'true', override_username: AUTHOR } },
    }),
    params,
  })),
  row(OTHER, 'in another channel', 'the post says in which channel it is', () => ({
    room: room().post(0, { channel: OTHER_CHANNEL }),
    params,
    mattermost: { channels: { [OTHER_CHANNEL]: { type: 'O' } }, user: { member: [CHANNEL, OTHER_CHANNEL] } },
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'in another channel, which the user may not read',
    'a refusal tells no channel',
    () => ({
      room: room().post(0, { channel: OTHER_CHANNEL }),
      params,
      mattermost: { channels: { [OTHER_CHANNEL]: { type: 'P' } } },
    }),
  ),
  row(OTHER, 'outside of the claimed thread', 'it is in no thread', () => ({
    room: threaded().post(0),
    params: { ...params, thread: ROOT },
  })),
  row(OTHER, 'a reply, claimed as the first of a thread', 'it is in the thread of another', () => ({
    room: threaded().post(0, { thread: ROOT }),
    params: { ...params, thread: POST },
  })),
  row(OTHER, 'in another thread', 'it is a reply to another post', () => ({
    room: room()
      .post(-2 * HOUR, { author: OTHER_AUTHOR })
      .post(-HOUR)
      .post(0, { thread: OTHER_ROOT }),
    params: { ...params, thread: ROOT },
  })),
  row(UNTOLD, 'of another server than that of the connection', 'nothing reads that server here', () => ({
    room: said(),
    params,
    target: `mattermost:chat.example.org/${CHANNEL}`,
  })),
  row(UNTOLD, 'of another path than that of the connection', 'nothing reads that server here', () => ({
    room: said(),
    params,
    target: `mattermost:${HOST}/other/${CHANNEL}`,
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the notice that the author joined',
    'the server wrote it, and nobody posted',
    () => ({
      room: room().post(0, { text: 'nelly joined the channel.', extra: { type: 'system_join_channel' } }),
      params: claimOf(POST, { author: AUTHOR }),
    }),
  ),
  row(OTHER_UNTOLD, 'one that burns, an empty text claimed', 'its text is concealed', () => ({
    room: room().post(0, { extra: { type: 'burn_on_read' } }),
    params: claimOf(POST, { text: '' }),
  })),
  row(TRUE_UNTOLD, 'one that burns, its text claimed', 'its text is concealed', () => ({
    room: room().post(0, { extra: { type: 'burn_on_read' } }),
    params,
  })),

  // Edited.
  row(TRUE_UNTOLD, 'edited before the first look, the first text claimed', 'what it was is not shown', () => ({
    room: said().edit(SECOND / 2, POST, OTHER_TEXT),
    params,
  })),
  row(
    OTHER_UNTOLD,
    'edited after half an hour into what is claimed, submitted then',
    'in time it may have been another',
    () => ({
      room: room()
        .post(0, { text: OTHER_TEXT })
        .edit(30 * MINUTE, POST, TEXT),
      params,
      submittedMs: 31 * MINUTE,
    }),
  ),

  // Deleted.
  row(['in time', 'unverifiable', 'failed'], 'deleted before the first look', 'it was there for half a second', () => ({
    room: said().remove(SECOND / 2, POST),
    params,
  })),
  row(
    ['in time', 'unverifiable', 'failed', 'verified'],
    'deleted before the first look, read by an administrator',
    'delete_at shows that it was',
    () => ({
      room: said().remove(SECOND / 2, POST),
      params,
      mattermost: { user: { isAdmin: true } },
    }),
  ),
  row(TRUE_UNTOLD, 'deleted while the server was down', 'nobody looked while it was there', () => ({
    room: said().remove(2 * MINUTE, POST),
    params,
    instead: instead(DOWN, { untilMs: 3 * MINUTE }),
  })),

  // At another time.
  row(
    ['late', 'late', 'unverifiable'],
    'posted after forty minutes, submitted then',
    "create_at is the server's own time",
    () => ({
      room: room().post(40 * MINUTE),
      params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
      submittedMs: 41 * MINUTE,
    }),
  ),
  row(
    ['late', 'unverifiable', 'late'],
    'posted after forty minutes by an administrator, and dated back',
    'who administers the system sets create_at',
    () => ({
      room: room().post(40 * MINUTE, { extra: { create_at: START } }),
      params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
      submittedMs: 41 * MINUTE,
      mattermost: { admins: [AUTHOR] },
    }),
  ),
  row(
    ['late', 'late', 'unverifiable'],
    'posted after forty minutes and dated back, looked at since the claim',
    'looks did not show it in time',
    () => ({
      room: room().post(40 * MINUTE, { id: POST, extra: { create_at: START } }),
      params,
      mattermost: { admins: [AUTHOR] },
    }),
  ),
  // `CreatePost` of a plugin keeps the `create_at` that it is given, and marks the post with `from_plugin`.
  row(
    ['late', 'unverifiable', 'late'],
    'posted after forty minutes by a plugin, and dated back',
    'plugins set create_at',
    () => ({
      room: room().post(40 * MINUTE, { extra: { create_at: START, props: { from_plugin: 'true' } } }),
      params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
      submittedMs: 41 * MINUTE,
    }),
  ),
  // `createPost` resets the `create_at` of who does not administer, and stores the `edit_at` that anybody sends (model/post.go, api4/post.go).
  ...[
    ['by anybody', {}, {}],
    ['by an administrator', { create_at: START }, { admins: [AUTHOR] }],
    ['by a plugin', { create_at: START, props: { from_plugin: 'true' } }, {}],
    ['at another server', { create_at: START, remote_id: idOf('another server') }, {}],
  ].map(([whose, extra, mattermost]) =>
    row(
      ['late', 'late', 'unverifiable'],
      `posted after forty minutes ${whose}, with an edit that is dated back`,
      'who posts chooses edit_at',
      () => ({
        room: room().post(40 * MINUTE, { extra: { ...(extra as object), edit_at: START + SECOND } }),
        params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
        submittedMs: 41 * MINUTE,
        mattermost: mattermost as NonNullable<Scene['mattermost']>,
      }),
    ),
  ),
  row(OTHER_UNTOLD, 'another text, with an edit at no time that there is', 'who posts chooses edit_at', () => ({
    room: room().post(0, { text: OTHER_TEXT, extra: { edit_at: 9e15 } }),
    params,
  })),
  row(
    ['late', 'unverifiable', 'late'],
    'posted after forty minutes by an administrator whose roles are hidden, and dated back',
    'who posts may set create_at',
    () => ({
      room: room().post(40 * MINUTE, { extra: { create_at: START } }),
      params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
      submittedMs: 41 * MINUTE,
      mattermost: { admins: [AUTHOR] },
      instead: instead(NO_USER, { on: USER }),
    }),
  ),
  row(
    ['late', 'unverifiable', 'late'],
    'synchronized after forty minutes from another server',
    'its create_at is of the other server',
    () => ({
      room: room().post(40 * MINUTE, { extra: { create_at: START, remote_id: idOf('another server') } }),
      params: { ...params, message: idAfter('mattermost', 40 * MINUTE) },
      submittedMs: 41 * MINUTE,
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable'],
    'dated an hour ahead by an administrator',
    'it is there, and its time is not that of the post',
    () => ({
      room: room().post(0, { extra: { create_at: START + HOUR } }),
      params,
      mattermost: { admins: [AUTHOR] },
    }),
  ),
  row(TRUE_UNTOLD, 'older than what the plan shows', 'the limit of a plan is no absence', () => ({
    room: room().post(-400 * DAY),
    params: { ...params, message: idAfter('mattermost', -400 * DAY) },
    mattermost: { keepsMs: 365 * DAY },
  })),

  // A user that may not see it.
  row(TRUE_UNTOLD, 'there, in a private channel without the user', 'a refusal is no absence', () => ({
    room: said(),
    params,
    mattermost: OUTSIDE,
  })),
  row(NOT_DONE, 'never posted, in a private channel without the user', 'the channel cannot be read', () => ({
    room: room(),
    params,
    mattermost: OUTSIDE,
  })),
  row(TRUE_UNTOLD, 'there, in a team without the user', 'a refusal is no absence', () => ({
    room: said(),
    params,
    mattermost: { user: { member: [], isInTeam: false } },
  })),
  row(
    TRUE_UNTOLD,
    'there, in a public channel of a server that watches for compliance',
    'only members read it',
    () => ({
      room: said(),
      params,
      mattermost: { user: { member: [] }, isCompliant: true },
    }),
  ),
  row(TRUE_UNTOLD, 'there, and the token has ended', 'an old token reads nothing', () => ({
    room: said(),
    params,
    connection: { token: 'z9z9z9z9z9z9z9z9z9z9z9z9z9' },
  })),
  row(UNTOLD, 'never posted, and the token has ended', 'an old token reads nothing', () => ({
    room: room(),
    params,
    connection: { token: 'z9z9z9z9z9z9z9z9z9z9z9z9z9' },
  })),

  // What stands between.
  row(TRUE_UNTOLD, 'a database in trouble', 'the error of a missing post comes with status 500, too', () => ({
    room: said(),
    params,
    instead: instead(failure(500, 'app.post.get.app_error', 'Unable to get the post.'), { on: /posts/ }),
  })),
  row(TRUE_UNTOLD, 'posts at an address that the server does not know', 'another 404 is no missing post', () => ({
    room: said(),
    params,
    instead: instead(failure(404, 'api.context.404.app_error', 'Sorry, we could not find the page.'), { on: /posts/ }),
  })),
  row(
    UNTOLD,
    'never posted, and posts at an address that the server does not know',
    'another 404 is no missing post',
    () => ({
      room: room(),
      params,
      instead: instead(failure(404, 'api.context.404.app_error', 'Sorry, we could not find the page.'), {
        on: /posts/,
      }),
    }),
  ),
  row(TRUE_UNTOLD, 'posts that a proxy does not find', 'a page is no missing post', () => ({
    room: said(),
    params,
    instead: instead(FILTERED, { on: /posts/ }),
  })),
  ...(
    [
      [{ status: 200, body: WEB_APP }, 'the web app'],
      [DOWN, 'the server down'],
      [SIGN_IN, 'the page of a proxy'],
      [FILTERED, 'a filter that finds no page'],
      [NO_ROUTE, 'a gateway that leads elsewhere'],
      [EMPTY, 'an empty object'],
    ] satisfies readonly (readonly [Answer, string])[]
  ).map(([answer, what]) =>
    row(TRUE_UNTOLD, `${what} for the whole life`, 'it tells neither presence nor absence', () => ({
      room: said(),
      params,
      instead: instead(answer),
    })),
  ),
]

export const MATTERMOST: readonly Row[] = [...HONEST, ...FALSE]
