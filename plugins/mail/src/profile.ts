/** The profile of the action `mail.message.send`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

/** An id of RFC 5322 without its brackets: printable ASCII. */
const ID = '[!-;=?-~]+@[!-;=?-~]+'
const LONGEST_ID = 512
const WHOLE_ID = new RegExp(`^${ID}$`)

/** Tells whether a text is an id that a fact can show. */
export function isMessageId(text: string): boolean {
  return text.length <= LONGEST_ID && WHOLE_ID.test(text)
}

const Params = Type.Object(
  {
    message_id: Type.String({
      title: 'Message-ID',
      pattern: `^(?:${ID}|<${ID}>)$`,
      maxLength: LONGEST_ID,
      'x-pattern-help': 'enter the Message-ID of the message’s header, such as 20260302.1@agent.acme.example',
      description: 'The Message-ID in the header of the message, with or without its angle brackets.',
      examples: ['20260302.1@agent.acme.example'],
    }),
    to_fingerprint: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^hmac-sha256:[0-9a-f]{64}$',
          'x-pattern-help': 'enter hmac-sha256: and 64 hexadecimal characters',
        }),
        {
          title: 'Recipients',
          minItems: 1,
          maxItems: 16,
          description:
            'Keyed fingerprints of recipients, made with the key of the connection of the address, its domain in lower case. All of them are in To, Cc or Bcc of the copy: most servers file a copy without Bcc.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, minimum: 0, description }))
const id = (title: string, description: string) =>
  Type.Optional(Type.String({ title, pattern: `^${ID}$`, maxLength: LONGEST_ID, description }))
const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))

const Facts = Type.Object(
  {
    message_id: id('Message-ID', 'The Message-ID of the copy.'),
    sent_as: id('Message-ID of the provider', 'The Message-ID that the copy bears in place of that one.'),
    uid_validity: Type.Integer({
      title: 'Mailbox number',
      minimum: 1,
      description: 'The number of the mailbox (UIDVALIDITY). A mailbox that was made again has another one.',
    }),
    uid: count('Copy number', 'The number of the copy in that mailbox (UID).'),
    uid_next: count('Next number', 'The number that the next message in that mailbox gets (UIDNEXT).'),
    saved_at: Type.Optional(
      Type.String({
        title: 'Saved',
        format: 'date-time',
        description: 'The time at which the copy was in this mailbox at the latest, by the server (SAVEDATE).',
      }),
    ),
    recipients_missing: count('Recipients missing', 'Number of claimed recipients that the copy does not name.'),
    preexisting: flag('There before', 'The server saved the copy long before the claim.'),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const sendProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'mail.message.send',
  version: '1',
  rulesVersion: 2,
  summary: 'A copy of a message is in the mailbox of sent messages.',
  words: {
    title: 'Sent message',
    target: 'Mailbox',
    claim: 'A copy of message {message_id} is in the mailbox of sent messages of {target}.',
    outcomes: {
      verified: 'A copy of message {message_id} was in the mailbox of sent messages of {target} in time.',
      late: 'A copy of message {message_id} came into the mailbox of sent messages of {target} too late.',
      mismatch:
        'The copy of message {message_id} in the mailbox of sent messages of {target} does not name all claimed recipients.',
      failed: 'No copy of message {message_id} was in the mailbox of sent messages of {target} by the deadline.',
    },
    facts: {
      saved_at: 'By the server it was there at {saved_at} at the latest.',
      sent_as: 'It bears the id {sent_as}, and names the claimed one as its former id.',
      recipients_missing: 'Of the claimed recipients it does not name {recipients_missing}.',
      preexisting: { true: 'It was there before the claim: the claim may be about a message that was sent earlier.' },
    },
  },
  target: Type.String({
    pattern: '^[!-;=?A-Z^-~]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$',
    maxLength: 254,
    'x-pattern-help': 'enter the address of a mailbox, such as agent@acme.example',
    description: 'The address of the mailbox from which the message was sent.',
    examples: ['agent@acme.example'],
  }),
  params: Params,
  facts: Facts,
  required: { message_id: 'target', to_fingerprint: 'content' },
  compared: {
    target: 'none',
    message_id: { fact: 'message_id', as: 'exact' },
    to_fingerprint: { facts: ['recipients_missing'], are: 0 },
  },
  past: ['saved_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: 'Reading the mailbox of sent messages, by IMAP.', anonymous: false },
}
