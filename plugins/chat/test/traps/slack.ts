/** Claims of messages in Slack: true ones as agents make them, false ones, and those of which Slack shows too little. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import {
  claimOf,
  DAY,
  FAILED,
  HOUR,
  idAfter,
  instead,
  LATE,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_TEXT,
  OTHER_UNTOLD,
  type Row,
  roomOf,
  rowsOf,
  SECOND,
  TEXT,
  TRUE,
  TRUE_UNTOLD,
  tsAt,
  UNTOLD,
} from './row.ts'
import { APP, AUTHOR, BOT, BOT_USER, CHANNEL, TEAM } from './slack-api.ts'
import { DOWN, EMPTY, FILTERED, SIGN_IN } from './troubles.ts'

const row = rowsOf('slack')
const room = () => roomOf('slack')
const MESSAGE = idAfter('slack', 0)
const PARENT = idAfter('slack', -HOUR)
const OTHER_PARENT = idAfter('slack', -2 * HOUR)
const OTHER_CHANNEL = 'C0G9QKBBL'
const OTHER_TEAM = 'T0G9PQBBK'
const OTHER_AUTHOR = 'U2147483697'

const said = () => room().post(0)
const threaded = () => room().post(-HOUR, { text: 'How is it going?', author: OTHER_AUTHOR })
const replied = () => threaded().post(0, { thread: PARENT })
/** As an app posts it: with its user, its bot and its app. */
const byApp = {
  author: BOT_USER,
  extra: { bot_id: BOT, app_id: APP, bot_profile: { id: BOT, app_id: APP, name: 'deploys' } },
}
const RICH_TEXT = {
  type: 'rich_text',
  block_id: 'p3Xq',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: TEXT }] }],
}
const params = claimOf(MESSAGE, { text: TEXT, author: AUTHOR })

const failure = (error: string): Answer => ({ status: 200, body: { ok: false, error } })
const LIMITED: Answer = {
  status: 429,
  headers: { 'retry-after': '30' },
  body: { ok: false, error: 'ratelimited' },
}

/** A channel in which others went on to speak. */
function busy(count: number) {
  const spoken = said()
  for (let index = 1; index <= count; index++)
    spoken.post(index, { id: tsAt(START + index, 300), author: OTHER_AUTHOR, text: `${index}` })
  return spoken
}

/** A long thread, in which the claimed reply is the last but one. */
function longThread(count: number) {
  const spoken = threaded()
  for (let index = 1; index <= count; index++)
    spoken.post(index - HOUR, { thread: PARENT, author: OTHER_AUTHOR, text: `${index}` })
  return spoken.post(0, { thread: PARENT }).post(10, { thread: PARENT, author: OTHER_AUTHOR, text: 'Thanks' })
}

const HONEST: readonly Row[] = [
  row(TRUE, 'a message in a public channel', 'it is there, as claimed', () => ({ room: said(), params })),
  row(TRUE, 'only its ts is claimed', 'it is there', () => ({ room: said(), params: claimOf(MESSAGE) })),
  ...['G0A1B2C3D', 'C0A1B2C3D'].map((channel) =>
    row(TRUE, `a message in the private channel ${channel}`, 'the bot is in it', () => ({
      room: room().post(0, { channel }),
      params,
      target: `slack:${TEAM}/${channel}`,
      slack: { channels: { [channel]: { team: TEAM, isPrivate: true } }, token: { member: [channel] } },
    })),
  ),

  // What the text is.
  row(TRUE, 'entities, as Slack returns them', 'the fingerprint is of the text of the API', () => ({
    room: room().post(0, { text: 'a &lt; b &amp;&amp; b &gt; c' }),
    params: claimOf(MESSAGE, { text: 'a &lt; b &amp;&amp; b &gt; c' }),
  })),
  row(TRUE, 'entities, decoded', 'agents write <, > and &, and Slack escapes these three', () => ({
    room: room().post(0, { text: 'a &lt; b &amp;&amp; b &gt; c' }),
    params: claimOf(MESSAGE, { text: 'a < b && b > c' }),
  })),
  row(TRUE, 'a text that has the letters &lt; in it, decoded', 'entities are decoded once', () => ({
    room: room().post(0, { text: 'write &amp;lt; for &lt;' }),
    params: claimOf(MESSAGE, { text: 'write &lt; for <' }),
  })),
  row(TRUE, 'a mention, a link and an emoji', 'the text is as the API returns it', () => ({
    room: room().post(0, { text: `<@${OTHER_AUTHOR}> see <https://ci.example.com/?a=1&amp;b=2|build 7> :tada:` }),
    params: claimOf(MESSAGE, { text: `<@${OTHER_AUTHOR}> see <https://ci.example.com/?a=1&amp;b=2|build 7> :tada:` }),
  })),
  row(TRUE, 'other line ends, and letters in another normal form', 'the fingerprint ignores both', () => ({
    room: room().post(0, { text: 'Café\nis open' }),
    params: claimOf(MESSAGE, { text: 'Cafe\u0301\r\nis open \r\n' }),
  })),
  row(TRUE, 'no text, and an attachment', 'the claim says nothing of a text', () => ({
    room: room().post(0, { text: '', ...byApp, extra: { ...byApp.extra, attachments: [{ id: 1, fallback: TEXT }] } }),
    params: claimOf(MESSAGE, { author: BOT_USER }),
  })),
  row(TRUE, 'edited five seconds later, the new text claimed', 'the text was so within the tolerance', () => ({
    room: room()
      .post(0, { text: OTHER_TEXT })
      .edit(5 * SECOND, MESSAGE, TEXT),
    params,
    claimedMs: 6 * SECOND,
  })),
  row(TRUE, 'reactions and replies since', 'they change no text', () => ({
    room: said()
      .post(5 * SECOND, { thread: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' })
      .touch(30 * MINUTE, MESSAGE, { reactions: [{ name: 'tada', users: [OTHER_AUTHOR], count: 1 }] }),
    params,
    submittedMs: 40 * MINUTE,
  })),

  row(TRUE, 'a text of forty thousand letters', 'that is the most that Slack takes', () => ({
    room: room().post(0, { text: '🎉 done '.repeat(5000) }),
    params: claimOf(MESSAGE, { text: '🎉 done '.repeat(5000) }),
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    "an app's message with blocks, submitted forty minutes later",
    'nothing says that it was edited',
    () => ({
      room: room().post(0, { ...byApp, extra: { ...byApp.extra, blocks: [{ type: 'section' }] } }),
      params: claimOf(MESSAGE, { text: TEXT, author: BOT }),
      submittedMs: 40 * MINUTE,
    }),
  ),

  row(
    TRUE,
    'as a person writes it in the app, submitted forty minutes later',
    'all that people write has blocks',
    () => ({
      room: room().post(0, { extra: { client_msg_id: '7c0f4c2a-1f0d-4b56-9a0a-0f6d4d1c9b11', blocks: [RICH_TEXT] } }),
      params,
      submittedMs: 40 * MINUTE,
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable'],
    "an app's text, which Slack gave blocks, submitted forty minutes later",
    'nothing says that it was edited',
    () => ({
      room: room().post(0, { ...byApp, extra: { ...byApp.extra, blocks: [RICH_TEXT] } }),
      params: claimOf(MESSAGE, { text: TEXT, author: BOT_USER }),
      submittedMs: 40 * MINUTE,
    }),
  ),

  // Who wrote it.
  ...[BOT_USER, BOT, APP].map((author) =>
    row(
      TRUE,
      `by an app, whose ${author[0]} id is claimed`,
      'its user, its bot and its app are the same author',
      () => ({
        room: room().post(0, byApp),
        params: claimOf(MESSAGE, { text: TEXT, author }),
      }),
    ),
  ),
  row(TRUE, 'by an incoming webhook', 'it has a bot, and no user', () => ({
    room: room().post(0, { author: BOT }),
    params: claimOf(MESSAGE, { text: TEXT, author: BOT }),
  })),
  row(
    ['in time', 'unverifiable', 'verified'],
    'by a classic app, whose user is claimed',
    'its messages have no user',
    () => ({
      room: room().post(0, { author: BOT }),
      params: claimOf(MESSAGE, { text: TEXT, author: BOT_USER }),
    }),
  ),
  row(TRUE, 'by a person through an app', "the app's bot stands beside the user", () => ({
    room: room().post(0, { ...byApp, author: AUTHOR }),
    params,
  })),
  row(TRUE, 'by a user of Enterprise Grid', 'ids of its users begin with W, too', () => ({
    room: room().post(0, { author: 'W012A3CDE' }),
    params: claimOf(MESSAGE, { author: 'W012A3CDE' }),
  })),
  row(TRUE, 'by a user of another company, in a channel that is shared', 'the channel is of the own team, too', () => ({
    room: room().post(0, {
      author: OTHER_AUTHOR,
      extra: { team: OTHER_TEAM, user_team: OTHER_TEAM, source_team: OTHER_TEAM },
    }),
    params: claimOf(MESSAGE, { text: TEXT, author: OTHER_AUTHOR }),
    slack: { channels: { [CHANNEL]: { team: TEAM, sharedWith: [OTHER_TEAM] } } },
  })),

  row(TRUE, 'in a channel of another company, shared with the own', 'the channel is of the own team, too', () => ({
    room: said(),
    params,
    slack: { channels: { [CHANNEL]: { team: OTHER_TEAM, sharedWith: [TEAM] } } },
  })),

  // Threads.
  row(TRUE, 'a reply', 'it is in the claimed thread', () => ({
    room: replied(),
    params: { ...params, thread: PARENT },
  })),
  row(
    TRUE,
    'a reply, of whose thread nothing is claimed',
    'replies.ts of a reply returns it, history does not',
    () => ({
      room: replied(),
      params,
    }),
  ),
  row(TRUE, 'a reply that was sent to the channel, too', 'it is in both', () => ({
    room: threaded().post(0, { thread: PARENT, extra: { subtype: 'thread_broadcast' } }),
    params: { ...params, thread: PARENT },
  })),
  row(TRUE, 'a reply in a long thread', 'it is not on the first page', () => ({
    room: longThread(120),
    params: { ...params, thread: PARENT },
  })),
  row(TRUE, 'a reply whose parent was deleted since', 'the thread stays', () => ({
    room: replied().remove(SECOND / 2, PARENT),
    params: { ...params, thread: PARENT },
  })),
  row(TRUE, 'outside of threads, claimed as its own', 'its thread is itself', () => ({
    room: said(),
    params: { ...params, thread: MESSAGE },
  })),
  row(TRUE, 'the first of a thread, claimed as such', 'its thread is itself', () => ({
    room: said().post(100, { thread: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' }),
    params: { ...params, thread: MESSAGE },
  })),
  row(TRUE, 'in a channel that goes on', 'later messages change nothing', () => ({ room: busy(150), params })),

  // Tokens and limits.
  row(TRUE, "a person's token, in a public channel without that person", 'it may read all public channels', () => ({
    room: said(),
    params,
    slack: { token: { kind: 'user', member: [] } },
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'a token that reads messages and not channels',
    'the message is shown',
    () => ({
      room: said(),
      params,
      slack: { token: { scopes: ['channels:history'] } },
    }),
  ),
  row(TRUE, 'an archived channel', 'its messages can be read', () => ({
    room: said(),
    params,
    slack: { channels: { [CHANNEL]: { team: TEAM, isArchived: true } } },
  })),
  row(TRUE, 'an app outside of the Marketplace', 'one request a minute is enough', () => ({
    room: said(),
    params,
    slack: { token: { isLimited: true } },
  })),
  row(TRUE, 'a reply, to an app outside of the Marketplace', 'one request a minute is enough', () => ({
    room: longThread(40),
    params: { ...params, thread: PARENT },
    slack: { token: { isLimited: true } },
  })),
  row(
    TRUE,
    'a reply without its thread, to an app outside of the Marketplace',
    'each method has its own minute',
    () => ({
      room: replied(),
      params,
      slack: { token: { isLimited: true } },
    }),
  ),
  row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
    room: said(),
    params,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(TRUE, 'not shown for twenty seconds', 'a copy that lags is no absence', () => ({
    room: said(),
    params,
    lag: { byMs: 30 * SECOND, untilMs: 20 * SECOND },
  })),

  // Times.
  row(TRUE, 'submitted forty minutes later', "its ts is Slack's own time", () => ({
    room: said(),
    params,
    submittedMs: 40 * MINUTE,
  })),
  row(TRUE, 'claimed two minutes before it, by a clock that is behind', 'it was posted within the tolerance', () => ({
    room: said(),
    params,
    claimedMs: -2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(['in time', 'verified', 'unverifiable'], 'posted a day before the claim', 'it was there before', () => ({
    room: room().post(-DAY),
    params: { ...params, message: idAfter('slack', -DAY) },
    facts: { preexisting: true },
  })),
]

const FALSE: readonly Row[] = [
  // There is none.
  row(FAILED, 'never posted', 'the channel was read, and does not have it', () => ({
    room: room().post(-HOUR, { author: OTHER_AUTHOR }),
    params,
  })),
  row(FAILED, 'never posted, as a reply', 'the thread was read, and does not have it', () => ({
    room: threaded(),
    params: { ...params, thread: PARENT },
  })),
  row(FAILED, 'a ts beside that of another message', 'digits of a ts all count', () => ({
    room: room()
      .post(0, { id: tsAt(START, 218) })
      .post(1, { id: tsAt(START, 220) }),
    params,
  })),
  row(NOT_DONE, 'never posted, claimed an hour ago', 'Slack has no log of what was never there', () => ({
    room: room(),
    params,
    submittedMs: HOUR,
  })),
  row(NOT_DONE, 'never posted, to an app outside of the Marketplace', 'a look a minute leaves gaps', () => ({
    room: room(),
    params,
    slack: { token: { isLimited: true } },
  })),
  row(['never', 'failed', 'unverifiable'], 'shown to one user alone', 'an ephemeral message is in no history', () => ({
    room: room(),
    params: claimOf(tsAt(START, 501), { text: TEXT }),
  })),
  row(['never', 'refused', 'failed', 'unverifiable'], 'scheduled for tomorrow', 'an id of a plan is no ts', () => ({
    room: room(),
    params: claimOf('Q1298393284', { text: TEXT }),
  })),
  row(
    ['in time', 'verified', 'refused', 'unverifiable'],
    'a ts that lost a zero at its end',
    'it is not written as Slack writes it',
    () => ({ room: room().post(0, { id: tsAt(START, 210) }), params: claimOf(tsAt(START, 210).slice(0, -1)) }),
  ),

  // Another text.
  ...[
    [OTHER_TEXT, 'another text'],
    [TEXT.toLowerCase(), 'the text in other case'],
    [`${TEXT}.`, 'a full stop more'],
    [TEXT.replace('o', 'о'), 'a letter of another script'],
    [TEXT.replace(' ', ' \u200b'), 'a space without width'],
    ['', 'an empty text'],
  ].map(([text = '', title = '']) =>
    row(OTHER, title, 'the text is not the claimed one', () => ({ room: said(), params: claimOf(MESSAGE, { text }) })),
  ),
  row(OTHER, 'entities, decoded twice', 'the text shows &lt;b&gt;, and not <b>', () => ({
    room: room().post(0, { text: 'use &amp;lt;b&amp;gt; here' }),
    params: claimOf(MESSAGE, { text: 'use <b> here' }),
  })),
  row(OTHER, 'other entities, decoded', 'Slack escapes three letters, and &quot; is six', () => ({
    room: room().post(0, { text: 'say &amp;quot;hi&amp;quot;' }),
    params: claimOf(MESSAGE, { text: 'say "hi"' }),
  })),
  row(OTHER, 'no text, and another attachment', 'the text of an attachment is not that of the message', () => ({
    room: room().post(0, { text: '', ...byApp, extra: { ...byApp.extra, attachments: [{ id: 1, fallback: TEXT }] } }),
    params: claimOf(MESSAGE, { text: OTHER_TEXT }),
  })),

  // Edited.
  row(TRUE_UNTOLD, 'edited before the first look, the first text claimed', 'what it was is not shown', () => ({
    room: said().edit(SECOND / 2, MESSAGE, OTHER_TEXT),
    params,
  })),
  row(
    OTHER_UNTOLD,
    'edited before the first look, a text claimed that it never had',
    'what it was is not shown',
    () => ({
      room: room()
        .post(0, { text: 'Started' })
        .edit(SECOND / 2, MESSAGE, OTHER_TEXT),
      params,
    }),
  ),
  row(
    OTHER_UNTOLD,
    'edited after half an hour into what is claimed, submitted then',
    'in time it may have been another',
    () => ({
      room: room()
        .post(0, { text: OTHER_TEXT })
        .edit(30 * MINUTE, MESSAGE, TEXT),
      params,
      submittedMs: 31 * MINUTE,
    }),
  ),
  row(
    ['other', 'mismatch', 'failed', 'late', 'unverifiable'],
    'edited after half an hour into what is claimed, looked at since its beginning',
    'it was another for all of the tolerance',
    () => ({
      room: room()
        .post(0, { text: OTHER_TEXT })
        .edit(30 * MINUTE, MESSAGE, TEXT),
      params,
      deadlineMs: 3 * HOUR,
    }),
  ),

  row(
    OTHER_UNTOLD,
    "an app's message with blocks, updated without a mark after half an hour",
    'its edits may leave no mark',
    () => ({
      room: room()
        .post(0, { ...byApp, text: OTHER_TEXT, extra: { ...byApp.extra, blocks: [{ type: 'section' }] } })
        .edit(30 * MINUTE, MESSAGE, TEXT, { edited: undefined }),
      params: claimOf(MESSAGE, { text: TEXT, author: BOT }),
      submittedMs: 31 * MINUTE,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'mismatch'],
    "an app's message with blocks, updated without a mark before the first look",
    'it was so for half a second',
    () => ({
      room: room()
        .post(0, { ...byApp, extra: { ...byApp.extra, blocks: [{ type: 'section' }] } })
        .edit(SECOND / 2, MESSAGE, OTHER_TEXT, { edited: undefined }),
      params: claimOf(MESSAGE, { text: TEXT, author: BOT }),
    }),
  ),
  row(OTHER, "an app's message with blocks, another text claimed", 'every look showed another text', () => ({
    room: room().post(0, { ...byApp, extra: { ...byApp.extra, blocks: [{ type: 'section' }] } }),
    params: claimOf(MESSAGE, { text: OTHER_TEXT, author: BOT }),
  })),

  // Another author.
  row(OTHER, 'by someone else', 'the author is not the claimed one', () => ({
    room: room().post(0, { author: OTHER_AUTHOR }),
    params,
  })),
  // A message of a classic app leaves its user out, too, and only `bots.info` tells whose bot it is.
  row(
    ['other', 'unverifiable', 'mismatch'],
    'by a webhook that takes the name of a user',
    'a name is no author',
    () => ({
      room: room().post(0, { author: BOT, extra: { username: 'nelly' } }),
      params,
    }),
  ),
  row(OTHER, 'a reply to the claimed author', 'the author of the parent is not that of the reply', () => ({
    room: room().post(-HOUR, { text: 'How is it going?' }).post(0, { thread: PARENT, author: OTHER_AUTHOR }),
    params: { ...params, thread: PARENT },
  })),
  row(OTHER, 'edited by the claimed author', 'who edits is not who posts', () => ({
    room: room()
      .post(0, { author: OTHER_AUTHOR })
      .edit(1, MESSAGE, TEXT, { edited: { user: AUTHOR, ts: `${START / 1000}.000000` } }),
    params,
    claimedMs: SECOND,
  })),
  // What a person posts through an app has the app's bot, too (anneschuth/claude-threads#526).
  row(OTHER, "by a person through an app, the app's user claimed", 'its user is the person', () => ({
    room: room().post(0, { ...byApp, author: AUTHOR }),
    params: claimOf(MESSAGE, { text: TEXT, author: BOT_USER }),
  })),
  row(OTHER, "of another bot of the author's app", 'a bot is not another', () => ({
    room: room().post(0, byApp),
    params: claimOf(MESSAGE, { text: TEXT, author: 'B0G9QF3E8' }),
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the notice that the author joined',
    'Slack wrote it, and nobody posted',
    () => ({
      room: room().post(0, { text: `<@${AUTHOR}> has joined the channel`, extra: { subtype: 'channel_join' } }),
      params: claimOf(MESSAGE, { author: AUTHOR }),
    }),
  ),

  // Elsewhere.
  row(FAILED, 'in another channel', 'the claimed channel does not have it', () => ({
    room: room().post(0, { channel: OTHER_CHANNEL }),
    params,
    slack: { channels: { [OTHER_CHANNEL]: { team: TEAM } }, token: { member: [CHANNEL, OTHER_CHANNEL] } },
  })),
  row(OTHER, 'outside of the claimed thread', 'it is in no thread', () => ({
    room: threaded().post(0),
    params: { ...params, thread: PARENT },
  })),
  row(OTHER, 'a reply, claimed as the first of a thread', 'it is in the thread of another', () => ({
    room: replied(),
    params: { ...params, thread: MESSAGE },
  })),
  row(
    OTHER,
    'a reply that was sent to the channel, too, claimed as outside of threads',
    'it is in the thread of another',
    () => ({
      room: threaded().post(0, { thread: PARENT, extra: { subtype: 'thread_broadcast' } }),
      params: { ...params, thread: MESSAGE },
    }),
  ),
  row(OTHER, 'in another thread', 'it is a reply to another message', () => ({
    room: room()
      .post(-2 * HOUR, { author: OTHER_AUTHOR })
      .post(-HOUR, { author: OTHER_AUTHOR })
      .post(0, { thread: OTHER_PARENT }),
    params: { ...params, thread: PARENT },
  })),
  row(['other', 'mismatch', 'failed', 'unverifiable'], 'in a thread that there is not', 'it is in no thread', () => ({
    room: said(),
    params: { ...params, thread: idAfter('slack', -3 * HOUR) },
  })),
  row(
    ['never', 'refused', 'unverifiable'],
    'of another team than that of the connection',
    'nothing reads that team here',
    () => ({
      room: said(),
      params,
      target: `slack:${OTHER_TEAM}/${CHANNEL}`,
    }),
  ),
  row(
    ['unknowable', 'unverifiable'],
    'a token of another team, which has such a message',
    'it reads the channel of another',
    () => ({
      room: said(),
      params,
      slack: { token: { team: OTHER_TEAM }, channels: { [CHANNEL]: { team: OTHER_TEAM } } },
    }),
  ),
  row(
    TRUE_UNTOLD,
    'a token of another team, which has none',
    'the other team does not say what the own one has',
    () => ({
      room: room().post(0, { channel: OTHER_CHANNEL }),
      params,
      slack: { token: { team: OTHER_TEAM }, channels: { [CHANNEL]: { team: OTHER_TEAM } } },
    }),
  ),

  // Deleted.
  row(
    ['in time', 'unverifiable', 'verified'],
    'deleted before the first look, its thread stays',
    'a tombstone shows that it was',
    () => ({
      room: said()
        .post(100, { thread: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' })
        .remove(SECOND / 2, MESSAGE),
      params: claimOf(MESSAGE),
    }),
  ),
  row(
    TRUE_UNTOLD,
    'deleted before the first look, its thread stays, text and author claimed',
    'a tombstone has neither',
    () => ({
      room: said()
        .post(100, { thread: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' })
        .remove(SECOND / 2, MESSAGE),
      params,
    }),
  ),
  row(
    ['other', 'unverifiable'],
    'deleted before the first look, the words of its tombstone claimed',
    'Slack wrote them',
    () => ({
      room: said()
        .post(100, { thread: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' })
        .remove(SECOND / 2, MESSAGE),
      params: claimOf(MESSAGE, { text: 'This message was deleted.' }),
    }),
  ),
  row(['in time', 'unverifiable', 'failed'], 'deleted before the first look', 'it was there for half a second', () => ({
    room: said().remove(SECOND / 2, MESSAGE),
    params,
  })),
  row(TRUE_UNTOLD, 'deleted while Slack was down', 'nobody looked while it was there', () => ({
    room: said().remove(2 * MINUTE, MESSAGE),
    params,
    instead: instead(DOWN, { untilMs: 3 * MINUTE }),
  })),
  row(NOT_DONE, 'never posted, and Slack was down at first', 'it may have been there before', () => ({
    room: room(),
    params,
    instead: instead(DOWN, { untilMs: 3 * MINUTE }),
  })),

  // At another time.
  row(LATE, 'posted after forty minutes, submitted then', "its ts is Slack's own time", () => ({
    room: room().post(40 * MINUTE),
    params: { ...params, message: idAfter('slack', 40 * MINUTE) },
    submittedMs: 41 * MINUTE,
  })),
  row(TRUE_UNTOLD, 'older than what a free plan shows', 'is_limited says that there are more', () => ({
    room: room().post(-100 * DAY),
    params: { ...params, message: idAfter('slack', -100 * DAY) },
    slack: { keepsMs: 90 * DAY },
  })),
  row(UNTOLD, 'never posted, older than what a free plan shows', 'is_limited says that there are more', () => ({
    room: room(),
    params: { ...params, message: idAfter('slack', -100 * DAY) },
    slack: { keepsMs: 90 * DAY },
  })),

  row(TRUE, 'by a team of a free plan', 'it is young enough to be shown', () => ({
    room: said(),
    params,
    slack: { keepsMs: 90 * DAY },
  })),
  row(['never', 'failed', 'unverifiable'], 'never posted, by a team of a free plan', 'it would be shown', () => ({
    room: room(),
    params,
    slack: { keepsMs: 90 * DAY },
  })),

  // A token that may not see it.
  ...[
    [true, TRUE_UNTOLD],
    [false, UNTOLD],
  ].flatMap(([isThere, kind]) => {
    const spoken = () => (isThere ? said() : room())
    const what = isThere ? 'there' : 'never posted'
    const untold = kind as typeof UNTOLD
    return [
      row(untold, `${what}, and the bot is not in the channel`, 'not_in_channel is no absence', () => ({
        room: spoken(),
        params,
        slack: { token: { member: [] } },
      })),
      row(untold, `${what}, in a private channel without the bot`, 'channel_not_found hides it', () => ({
        room: spoken(),
        params,
        slack: { channels: { [CHANNEL]: { team: TEAM, isPrivate: true } }, token: { member: [] } },
      })),
      row(untold, `${what}, and the token reads no history`, 'missing_scope is no absence', () => ({
        room: spoken(),
        params,
        slack: { token: { scopes: ['channels:read'] } },
      })),
      row(untold, `${what}, and the token was revoked`, 'status 200 says nothing', () => ({
        room: spoken(),
        params,
        slack: { token: { isRevoked: true } },
      })),
    ]
  }),
  row(TRUE_UNTOLD, 'replies that cannot be read', 'history alone does not show replies', () => ({
    room: replied(),
    params,
    instead: instead(failure('internal_error'), { on: /replies/ }),
  })),

  // What stands between.
  ...(
    [
      [failure('internal_error'), 'an error with status 200'],
      [failure('service_unavailable'), 'Slack in trouble'],
      [failure('ratelimited'), 'a limit with status 200'],
      [failure('team_added_to_org'), 'a team that moves into an organization'],
      [DOWN, 'Slack down'],
      [SIGN_IN, 'the page of a proxy'],
      [FILTERED, 'a filter that finds no page'],
      [EMPTY, 'an empty object'],
      [{ status: 200, body: { ok: true } }, 'ok, and nothing else'],
    ] satisfies readonly (readonly [Answer, string])[]
  ).map(([answer, what]) =>
    row(TRUE_UNTOLD, `${what} for the whole life`, 'it tells neither presence nor absence', () => ({
      room: said(),
      params,
      instead: instead(answer),
    })),
  ),
]

export const SLACK: readonly Row[] = [...HONEST, ...FALSE]
