/** The profile of the action `chat.message.post`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

/** A message's id: Slack's `ts`, Discord's snowflake, or the id of a post in Mattermost. */
const MESSAGE = '^(?:[0-9]{10}\\.[0-9]{6}|[0-9]{17,20}|[0-9a-z]{26})$'
const THREAD = '^(?:[0-9]{10}\\.[0-9]{6}|[0-9a-z]{26})$'
const AUTHOR = '^(?:[UWBA][0-9A-Z]+|[0-9]{17,20}|[0-9a-z]{26})$'
const LONGEST_ID = 32

/** The host of a Mattermost server, its port, and the path below which it answers. */
const SERVER = '(?:[0-9A-Za-z.-]+|\\[[0-9A-Fa-f:]+\\])(?::[0-9]+)?(?:/[0-9A-Za-z_~-][0-9A-Za-z._~-]*)*'
const PLACES = [
  'slack:T[0-9A-Z]+/[CG][0-9A-Z]+',
  'discord:[0-9]{17,20}/[0-9]{17,20}',
  `mattermost:${SERVER}/[0-9a-z]{26}`,
]

const Params = Type.Object(
  {
    message: Type.String({
      title: 'Message',
      pattern: MESSAGE,
      maxLength: LONGEST_ID,
      'x-pattern-help': "enter the message's id as the API returned it: in Slack its ts, `1700000000.123456`",
      description: 'The id of the message: in Slack its `ts`, in Discord its id, in Mattermost the id of the post.',
      examples: ['1700000000.123456'],
    }),
    text_fingerprint: Type.Optional(
      Type.String({
        title: 'Fingerprint of the text',
        pattern: '^sha256:[0-9A-Za-z_-]{43}$',
        maxLength: 64,
        'x-pattern-help': 'enter `sha256:` and the 43 characters of a fingerprint',
        description:
          "The fingerprint of the text as the platform's API returns it: Slack's `text`, Discord's `content`, Mattermost's `message`. For Slack also that with `&amp;`, `&lt;` and `&gt;` decoded.",
        examples: ['sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
      }),
    ),
    thread: Type.Optional(
      Type.String({
        title: 'Thread',
        pattern: THREAD,
        maxLength: LONGEST_ID,
        'x-pattern-help': 'enter the id of the message that begins the thread',
        description:
          "The message that begins the thread: Slack's `thread_ts`, Mattermost's `root_id`. A thread in Discord is a channel of its own, and goes into the target. When left out, the message may be in a thread.",
        examples: ['1699999000.000100'],
      }),
    ),
    author: Type.Optional(
      Type.String({
        title: 'Author',
        pattern: AUTHOR,
        maxLength: LONGEST_ID,
        'x-pattern-help': 'enter the id of the account, not its name',
        description: 'The account that posted it, by its id: in Slack that of the user, the bot or the app.',
        examples: ['U061F7AUR'],
      }),
    ),
  },
  { additionalProperties: false },
)

const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))
const id = (title: string, pattern: string, description: string) =>
  Type.Optional(Type.String({ title, pattern, maxLength: LONGEST_ID, description }))
const time = (title: string, description: string) =>
  Type.Optional(Type.String({ title, format: 'date-time', description }))

const Facts = Type.Object(
  {
    message: id('Message', MESSAGE, 'The message that the platform showed.'),
    posted_at: time('Posted', "The time at which it was posted, by the platform's clock."),
    edited_at: time('Edited', "The time of its last edit, by the platform's clock."),
    found_thread: id(
      'Thread found',
      THREAD,
      'The message that begins its thread: the message itself, if it is in no other thread.',
    ),
    found_author: id('Author found', AUTHOR, 'The account that posted it.'),
    same_text: Type.Optional(
      Type.Boolean({ title: 'Same text', description: 'Whether its text has the claimed fingerprint.' }),
    ),
    system: flag('Notice', 'It is a notice of the platform, such as that somebody joined, and no post.'),
    deleted: flag('Deleted', 'The platform shows that it was deleted.'),
    elsewhere: flag('Elsewhere', 'What has this id is in another channel, or the channel is in another place.'),
    undated: flag('Time not known', 'Its author may choose the time of a post, so the time says nothing.'),
    preexisting: flag('There before', 'It was posted more than the tolerance before the claim.'),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'chat.message.post',
  version: '1',
  rulesVersion: 2,
  summary: 'A message was posted to a channel.',
  words: {
    title: 'Message',
    target: 'Channel',
    claim: [
      'Message {message} was posted to {target} by {author}, in the thread of {thread}.',
      'Message {message} was posted to {target} by {author}.',
      'Message {message} was posted to {target}, in the thread of {thread}.',
      'Message {message} was posted to {target}.',
    ],
    outcomes: {
      verified: 'Message {message} was in {target} in time, as claimed.',
      late: 'Message {message} was in {target} as claimed, and too late.',
      mismatch: 'Message {message} in {target} is not as the claim says.',
      failed: 'Message {message} was not in {target} by the deadline.',
    },
    facts: {
      posted_at: 'It was posted at {posted_at}.',
      same_text: { true: 'Its text is the claimed one.', false: 'Its text is not the claimed one.' },
      edited_at: 'It was edited, last at {edited_at}.',
      found_author: 'It was posted by {found_author}.',
      found_thread: 'Its thread begins with {found_thread}.',
      system: { true: 'It is a notice of the platform, and nobody posted it.' },
      deleted: { true: 'The platform shows that it was deleted.' },
      elsewhere: { true: 'It is in another channel than claimed, or the channel is in another place.' },
      undated: { true: 'Since when it is there is not known: its author may choose the time of a post.' },
      preexisting: {
        true: 'It was posted before the claim, at {posted_at}: the claim may be about an earlier message.',
      },
    },
    found: { thread: 'found_thread', author: 'found_author' },
  },
  target: Type.String({
    pattern: `^(?:${PLACES.join('|')})$`,
    maxLength: 300,
    'x-pattern-help':
      'write the platform, a colon, the place and the channel by their ids: `slack:T024BE7LD/C024BE91L`, `discord:GUILD/CHANNEL`, `mattermost:chat.example.com/CHANNEL`',
    description:
      "The channel by ids: Slack's team and channel, Discord's guild and channel or thread, Mattermost's host (with its path, if it has one) and channel.",
    examples: ['slack:T024BE7LD/C024BE91L'],
  }),
  params: Params,
  facts: Facts,
  required: { message: 'target', thread: 'target', text_fingerprint: 'content', author: 'content' },
  compared: {
    target: 'none',
    message: { fact: 'message', as: 'exact' },
    thread: { fact: 'found_thread', as: 'exact' },
    author: { fact: 'found_author', as: 'exact' },
    text_fingerprint: { facts: ['same_text'], are: true },
  },
  past: ['posted_at', 'edited_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: {
    permission:
      'Reading the channel: in Slack channels:history or groups:history, in Discord View Channel and Read Message History, in Mattermost membership of the channel.',
    anonymous: false,
  },
}
