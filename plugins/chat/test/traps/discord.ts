/** Claims of messages in Discord: true ones as bots make them, false ones, and those of which Discord shows too little. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import {
  AUTHOR,
  CHANNEL,
  type DiscordChannel,
  GATEWAY_MESSAGE_CONTENT,
  GUILD,
  OTHER_GUILD,
  READER,
  snowflakeAt,
  userObject,
} from './discord-api.ts'
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
  UNTOLD,
} from './row.ts'
import { DOWN, EMPTY, FILTERED, NO_ROUTE, SIGN_IN } from './troubles.ts'

const row = rowsOf('discord')
const room = () => roomOf('discord')
const MESSAGE = idAfter('discord', 0)
const OTHER_AUTHOR = '80351110224678912'
const WEBHOOK = '223704706495545344'
const OTHER_CHANNEL = '155117677105512449'
/** A thread has the id of the message from which it was started. */
const THREAD = idAfter('discord', -HOUR)

const said = () => room().post(0)
const params = claimOf(MESSAGE, { text: TEXT, author: AUTHOR })
const NO_INTENT = { bot: { hasContent: false } }
const usual: DiscordChannel = { guild: GUILD, type: 0, permissions: ['VIEW_CHANNEL', 'READ_MESSAGE_HISTORY'] }

/** A scene in another channel than the usual one. */
const elsewhere = (id: string, channel: Partial<DiscordChannel>) => ({
  target: `discord:${GUILD}/${id}`,
  discord: { channels: { [id]: { ...usual, ...channel } } },
})
const failure = (status: number, code: number, message: string): Answer => ({ status, body: { message, code } })
const LIMITED: Answer = {
  status: 429,
  headers: { 'retry-after': '65', 'x-ratelimit-scope': 'user', 'x-ratelimit-remaining': '0' },
  body: { message: 'You are being rate limited.', retry_after: 64.57, global: false },
}
const BLOCKED: Answer = {
  status: 403,
  body: '<!DOCTYPE html><html><head><title>Access denied | discord.com used Cloudflare</title></head></html>',
}

/** The answer to a slash command. */
const command = (flags = 0) => ({
  author: READER,
  extra: {
    type: 20,
    flags,
    application_id: READER,
    interaction_metadata: { id: snowflakeAt(START), type: 2, user: userObject(OTHER_AUTHOR) },
  },
})

const HONEST: readonly Row[] = [
  row(TRUE, 'a message in a text channel', 'it is there, as claimed', () => ({ room: said(), params })),
  row(TRUE, 'only its id is claimed', 'it is there', () => ({ room: said(), params: claimOf(MESSAGE) })),
  ...(
    [
      [5, 'an announcement channel'],
      [2, 'the chat of a voice channel'],
      [13, 'the chat of a stage'],
    ] as const
  ).map(([type, what]) =>
    row(TRUE, `in ${what}`, 'it is a channel of the guild', () => ({
      room: room().post(0, { channel: OTHER_CHANNEL }),
      params,
      ...elsewhere(OTHER_CHANNEL, { type }),
    })),
  ),
  row(TRUE, 'in a thread that was archived since', 'a thread is a channel of its own', () => ({
    room: room().post(0, { channel: THREAD }),
    params,
    ...elsewhere(THREAD, { type: 11, parent: CHANNEL, isArchived: true }),
  })),
  row(TRUE, 'the first message of a post in a forum', 'it has the id of its thread', () => ({
    room: room().post(0, { channel: MESSAGE }),
    params,
    ...elsewhere(MESSAGE, { type: 11, parent: OTHER_CHANNEL }),
  })),
  row(TRUE, 'a message from which a thread was started', 'it stays in its channel', () => ({
    room: said().touch(100, MESSAGE, { flags: 32, thread: { id: MESSAGE, type: 11, guild_id: GUILD } }),
    params,
  })),
  row(TRUE, 'a reply to another message', 'a reference is no thread', () => ({
    room: room()
      .post(-HOUR, { author: OTHER_AUTHOR })
      .post(0, {
        extra: { type: 19, message_reference: { message_id: THREAD, channel_id: CHANNEL, guild_id: GUILD } },
      }),
    params,
  })),
  row(TRUE, 'by a webhook', 'its author is the id of the webhook', () => ({
    room: room().post(0, { author: WEBHOOK, extra: { webhook_id: WEBHOOK } }),
    params: claimOf(MESSAGE, { text: TEXT, author: WEBHOOK }),
  })),
  row(TRUE, 'the answer to a slash command', 'the bot is its author', () => ({
    room: room().post(0, command()),
    params: claimOf(MESSAGE, { text: TEXT, author: READER }),
  })),
  row(TRUE, 'an answer that was put off for twenty seconds', 'its text came within the tolerance', () => ({
    room: room()
      .post(0, { ...command(128), text: '' })
      .edit(20 * SECOND, MESSAGE, TEXT, { flags: 0 }),
    params: claimOf(MESSAGE, { text: TEXT, author: READER }),
  })),
  row(
    TRUE,
    'an answer that was put off for twenty seconds, and filled without a mark',
    'its text came within the tolerance',
    () => ({
      room: room()
        .post(0, { ...command(128), text: '' })
        .edit(20 * SECOND, MESSAGE, TEXT, { flags: 0, edited_timestamp: null }),
      params: claimOf(MESSAGE, { text: TEXT, author: READER }),
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable'],
    'the answer to a slash command, submitted forty minutes later',
    'it may have been filled since',
    () => ({
      room: room().post(0, command()),
      params: claimOf(MESSAGE, { text: TEXT, author: READER }),
      submittedMs: 40 * MINUTE,
    }),
  ),
  row(TRUE, 'without the intent, no text claimed', 'the message is there', () => ({
    room: said(),
    params: claimOf(MESSAGE, { author: AUTHOR }),
    discord: NO_INTENT,
  })),
  row(TRUE, "without the intent, the connection's own bot", 'a bot sees what it wrote', () => ({
    room: room().post(0, { author: READER }),
    params: claimOf(MESSAGE, { text: TEXT, author: READER }),
    discord: NO_INTENT,
  })),
  row(TRUE, 'without the intent, the bot mentioned', 'a bot sees what mentions it', () => ({
    room: room().post(0, { text: `<@${READER}> ${TEXT}` }),
    params: claimOf(MESSAGE, { text: `<@${READER}> ${TEXT}` }),
    discord: NO_INTENT,
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'without the intent, a card of its own bot, an empty text claimed',
    'a bot sees what it wrote',
    () => ({
      room: room().post(0, { author: READER, text: '', extra: { embeds: [{ type: 'rich', description: TEXT }] } }),
      params: claimOf(MESSAGE, { text: '', author: READER }),
      discord: NO_INTENT,
    }),
  ),
  row(TRUE, 'emoji, mentions and timestamps in the text', 'the content is as the API returns it', () => ({
    room: room().post(0, { text: `🎉 <:done:41771983429993937> <@&${GUILD}> <t:1773221400:R> a < b && c` }),
    params: claimOf(MESSAGE, { text: `🎉 <:done:41771983429993937> <@&${GUILD}> <t:1773221400:R> a < b && c` }),
  })),
  row(TRUE, 'edited two seconds later, the new text claimed', 'the text was so within the tolerance', () => ({
    room: room()
      .post(0, { text: OTHER_TEXT })
      .edit(2 * SECOND, MESSAGE, TEXT),
    params,
    claimedMs: 3 * SECOND,
  })),
  row(TRUE, 'published to other guilds, pinned and with a preview since', 'nothing of it was edited', () => ({
    room: said().touch(30 * MINUTE, MESSAGE, {
      flags: 1,
      pinned: true,
      embeds: [{ type: 'link', url: 'https://example.com' }],
    }),
    params,
    submittedMs: 40 * MINUTE,
  })),
  row(TRUE, 'a picture and no text', 'the claim says nothing of a text', () => ({
    room: room().post(0, {
      text: '',
      extra: { attachments: [{ id: '1', filename: 'a.png', size: 1, url: '', proxy_url: '' }] },
    }),
    params: claimOf(MESSAGE),
  })),
  row(
    ['in time', 'unverifiable', 'refused'],
    'a thread claimed beside its channel',
    'a thread of Discord is a channel',
    () => ({
      room: said(),
      params: { ...params, thread: THREAD },
    }),
  ),
  row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
    room: said(),
    params,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(TRUE, 'not shown for ten seconds', 'a copy that lags is no absence', () => ({
    room: said(),
    params,
    lag: { byMs: 20 * SECOND, untilMs: 10 * SECOND },
  })),
  row(TRUE, 'a channel that cannot be read for two minutes', 'its permissions were set since', () => ({
    room: said(),
    params,
    instead: instead(failure(403, 50_001, 'Missing Access'), { untilMs: 2 * MINUTE }),
  })),
  row(TRUE, 'submitted forty minutes later', 'its id has the time at which Discord made it', () => ({
    room: said(),
    params,
    submittedMs: 40 * MINUTE,
  })),
  row(['in time', 'verified', 'unverifiable'], 'posted a day before the claim', 'it was there before', () => ({
    room: room().post(-DAY),
    params: { ...params, message: idAfter('discord', -DAY) },
    facts: { preexisting: true },
  })),
]

const FALSE: readonly Row[] = [
  // There is none.
  row(FAILED, 'never posted', 'the channel was read, and does not have it', () => ({
    room: room().post(-HOUR, { author: OTHER_AUTHOR }),
    params,
  })),
  row(FAILED, 'an id beside that of another message', 'numbers of 19 digits are not rounded', () => ({
    room: room().post(0, { id: String(BigInt(MESSAGE) - 1n) }),
    params,
  })),
  row(NOT_DONE, 'never posted, claimed an hour ago', 'Discord has no log of what was never there', () => ({
    room: room(),
    params,
    submittedMs: HOUR,
  })),
  row(['never', 'failed', 'unverifiable'], 'an answer that one user alone sees', 'it is in no channel', () => ({
    room: room().post(0, command(64)),
    params: claimOf(MESSAGE, { text: TEXT, author: READER }),
  })),
  row(FAILED, 'in the parent of the claimed thread', 'the message that starts a thread is not in it', () => ({
    room: room().post(0).post(100, { channel: MESSAGE, author: OTHER_AUTHOR, text: 'Thanks' }),
    params,
    ...elsewhere(MESSAGE, { type: 11, parent: CHANNEL }),
  })),
  row(FAILED, 'in a thread of the claimed channel', 'a thread is a channel of its own', () => ({
    room: room().post(0, { channel: THREAD }),
    params,
    discord: { channels: { [THREAD]: { ...usual, type: 11, parent: CHANNEL } } },
  })),
  row(FAILED, 'in another channel', 'the claimed channel does not have it', () => ({
    room: room().post(0, { channel: OTHER_CHANNEL }),
    params,
    discord: { channels: { [OTHER_CHANNEL]: usual } },
  })),

  // Another text.
  row(OTHER, 'another text', 'the content is not the claimed one', () => ({
    room: said(),
    params: claimOf(MESSAGE, { text: OTHER_TEXT }),
  })),
  row(OTHER, 'the text of its card', 'an embed is not the content', () => ({
    room: room().post(0, { text: 'Done', extra: { embeds: [{ type: 'rich', description: TEXT }] } }),
    params,
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'a card and no text',
    'with the intent, the content is empty',
    () => ({
      room: room().post(0, { text: '', extra: { embeds: [{ type: 'rich', description: TEXT }] } }),
      params,
    }),
  ),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the text of what it forwards',
    'who forwards writes nothing',
    () => ({
      room: room().post(0, {
        text: '',
        extra: {
          message_reference: { type: 1, message_id: THREAD, channel_id: OTHER_CHANNEL, guild_id: GUILD },
          message_snapshots: [{ message: { content: TEXT, type: 0, embeds: [], attachments: [], mentions: [] } }],
        },
      }),
      params,
    }),
  ),
  row(OTHER_UNTOLD, 'without the intent, another text', 'an empty content is not shown', () => ({
    room: said(),
    params: claimOf(MESSAGE, { text: OTHER_TEXT }),
    discord: NO_INTENT,
  })),
  row(TRUE_UNTOLD, 'without the intent, the true text', 'an empty content is no difference', () => ({
    room: said(),
    params,
    discord: NO_INTENT,
  })),
  row(OTHER_UNTOLD, 'without the intent, an empty text', 'an empty content is not shown', () => ({
    room: said(),
    params: claimOf(MESSAGE, { text: '' }),
    discord: NO_INTENT,
  })),
  row(
    TRUE_UNTOLD,
    'an intent that is set, and not in force',
    'contents were empty with it, too (discord-api-docs#4552)',
    () => ({
      room: said(),
      params,
      discord: { bot: { hasContent: false, flags: GATEWAY_MESSAGE_CONTENT } },
    }),
  ),
  row(
    OTHER_UNTOLD,
    'an intent that is set, and not in force, an empty text',
    'contents were empty with it, too',
    () => ({
      room: said(),
      params: claimOf(MESSAGE, { text: '' }),
      discord: { bot: { hasContent: false, flags: GATEWAY_MESSAGE_CONTENT } },
    }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'an answer that was put off, and never came',
    'a bot thinks, and says nothing',
    () => ({
      room: room().post(0, { ...command(128), text: '' }),
      params: claimOf(MESSAGE, { text: TEXT, author: READER }),
    }),
  ),

  // Edited.
  row(TRUE_UNTOLD, 'edited before the first look, the first text claimed', 'what it was is not shown', () => ({
    room: said().edit(SECOND / 2, MESSAGE, OTHER_TEXT),
    params,
  })),
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
    ['other', 'unverifiable', 'mismatch'],
    'an answer that was put off, and filled without a mark after half an hour',
    'what a bot was thinking of is not marked as edited',
    () => ({
      room: room()
        .post(0, { ...command(128), text: '' })
        .edit(30 * MINUTE, MESSAGE, TEXT, { flags: 0, edited_timestamp: null }),
      params: claimOf(MESSAGE, { text: TEXT, author: READER }),
      submittedMs: 31 * MINUTE,
    }),
  ),

  // Another author.
  row(OTHER, 'by someone else', 'the author is not the claimed one', () => ({
    room: room().post(0, { author: OTHER_AUTHOR }),
    params,
  })),
  row(OTHER, 'a reply to the claimed author', 'the author of what it refers to is not its own', () => ({
    room: room()
      .post(-HOUR)
      .post(0, {
        author: OTHER_AUTHOR,
        extra: {
          type: 19,
          message_reference: { message_id: THREAD, channel_id: CHANNEL, guild_id: GUILD },
          referenced_message: { id: THREAD, channel_id: CHANNEL, author: userObject(AUTHOR), content: TEXT },
        },
      }),
    params,
  })),
  row(OTHER, 'the command of the claimed author', 'who gives a command is not who answers', () => ({
    room: room().post(0, command()),
    params: claimOf(MESSAGE, { text: TEXT, author: OTHER_AUTHOR }),
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the notice that the author joined',
    'Discord wrote it, and nobody posted',
    () => ({
      room: room().post(0, { text: '', extra: { type: 7 } }),
      params: claimOf(MESSAGE, { author: AUTHOR }),
    }),
  ),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the notice that the author started a thread',
    'its name is no message',
    () => ({
      room: room().post(0, { extra: { type: 18, message_reference: { channel_id: THREAD, guild_id: GUILD } } }),
      params,
    }),
  ),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the notice that the author pinned something',
    'nobody posted',
    () => ({
      room: room().post(0, { text: '', extra: { type: 6 } }),
      params: claimOf(MESSAGE, { author: AUTHOR }),
    }),
  ),

  // Elsewhere.
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'in a channel of another guild',
    'the channel says of which guild it is',
    () => ({
      room: room().post(0, { channel: OTHER_CHANNEL }),
      params,
      target: `discord:${GUILD}/${OTHER_CHANNEL}`,
      discord: {
        bot: { guilds: [GUILD, OTHER_GUILD] },
        channels: { [OTHER_CHANNEL]: { ...usual, guild: OTHER_GUILD } },
      },
    }),
  ),
  row(UNTOLD, 'of another guild than that of the connection', 'nothing reads that guild here', () => ({
    room: said(),
    params,
    target: `discord:${OTHER_GUILD}/${CHANNEL}`,
  })),

  // Deleted.
  row(['in time', 'unverifiable', 'failed'], 'deleted before the first look', 'it was there for half a second', () => ({
    room: said().remove(SECOND / 2, MESSAGE),
    params,
  })),
  row(TRUE_UNTOLD, 'deleted while Discord was down', 'nobody looked while it was there', () => ({
    room: said().remove(2 * MINUTE, MESSAGE),
    params,
    instead: instead(DOWN, { untilMs: 3 * MINUTE }),
  })),
  row(LATE, 'posted after forty minutes, submitted then', 'its id has the time at which Discord made it', () => ({
    room: room().post(40 * MINUTE),
    params: { ...params, message: idAfter('discord', 40 * MINUTE) },
    submittedMs: 41 * MINUTE,
  })),

  // A bot that may not see it.
  ...[
    [true, TRUE_UNTOLD],
    [false, UNTOLD],
  ].flatMap(([isThere, kind]) => {
    const spoken = () => (isThere ? said() : room())
    const what = isThere ? 'there' : 'never posted'
    const untold = kind as typeof UNTOLD
    return [
      row(untold, `${what}, and the bot does not see the channel`, 'Missing Access is no absence', () => ({
        room: spoken(),
        params,
        discord: { channels: { [CHANNEL]: { ...usual, permissions: [] } } },
      })),
      row(untold, `${what}, and the bot reads no history`, 'a list is empty without that permission', () => ({
        room: spoken(),
        params,
        discord: { channels: { [CHANNEL]: { ...usual, permissions: ['VIEW_CHANNEL'] } } },
      })),
      row(untold, `${what}, and the bot is not in the guild`, 'Missing Access is no absence', () => ({
        room: spoken(),
        params,
        discord: { bot: { guilds: [] } },
      })),
      row(untold, `${what}, and the channel is gone`, 'with a channel goes what was in it', () => ({
        room: spoken(),
        params,
        instead: instead(failure(404, 10_003, 'Unknown Channel'), { on: /channels/ }),
      })),
      row(untold, `${what}, and the token was reset`, 'an old token reads nothing', () => ({
        room: spoken(),
        params,
        connection: { token: 'MTAxNDU1ODUyMzEyMzI0NTEwNw.GqXr3a.an0ld0ne0ld0ne0ld0ne0l' },
      })),
    ]
  }),
  row(
    TRUE_UNTOLD,
    'messages that cannot be found, at an address that Discord does not know',
    'code 0 is no unknown message',
    () => ({
      room: said(),
      params,
      instead: instead(failure(404, 0, '404: Not Found'), { on: /messages/ }),
    }),
  ),
  row(TRUE_UNTOLD, 'messages of which only a list can be read', 'it is empty', () => ({
    room: said(),
    params,
    instead: instead({ status: 200, body: [] }, { on: /messages/ }),
  })),

  // What stands between.
  ...(
    [
      [failure(500, 0, '500: Internal Server Error'), 'Discord in trouble'],
      [DOWN, 'Discord down'],
      [BLOCKED, 'a block by Cloudflare'],
      [failure(403, 40_333, 'internal network error'), 'a block by Cloudflare in JSON'],
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

export const DISCORD: readonly Row[] = [...HONEST, ...FALSE]
