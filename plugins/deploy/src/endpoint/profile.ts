/** The profile of the action `deploy.version.answers`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// Addresses have no query, because receipts are public and queries carry tokens, and no name of a user.
const HOST = '(?:\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z](?:[0-9A-Za-z.-]*[0-9A-Za-z])?)'
const LETTER = "A-Za-z0-9_~!$&'\\(\\)*+,;=:@%\\-"
/** A segment of a path, or none, but not `.` and `..`. */
const SEGMENT = `(?:\\.{0,2}[${LETTER}][${LETTER}.]*)?`
const TARGET = `^[Hh][Tt][Tt][Pp][Ss]://${HOST}(?::[0-9]{1,5})?(?:/${SEGMENT})*$`
export const LONGEST_ADDRESS = 512

/** A version as programs write it: no spaces, so that it is never prose. */
const VERSION = '^[0-9A-Za-z](?:[0-9A-Za-z._+:/@-]*[0-9A-Za-z])?$'
const LONGEST_VERSION = 128

const Params = Type.Object(
  {
    version: Type.String({
      title: 'Version',
      pattern: VERSION,
      'x-pattern-help': 'enter letters, digits and . _ + : / @ - between them',
      maxLength: LONGEST_VERSION,
      description: 'The version that the endpoint answers, exactly as it writes it.',
      examples: ['1.4.0'],
    }),
    pointer: Type.Optional(
      Type.String({
        title: 'Place of the version',
        pattern: '^(?:/(?:[!-.0-}]|~[01])*)+$',
        'x-pattern-help': 'enter a JSON pointer, such as /build/version',
        maxLength: 200,
        description:
          'A JSON pointer (RFC 6901) to the version in the answer. When left out, the answer is a text that is the version alone.',
        examples: ['/version'],
      }),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    self_reported: Type.Literal(true, {
      title: 'Its own word',
      description: 'The program that answers says so of itself; nothing else was looked at.',
    }),
    version: Type.Optional(
      Type.String({
        title: 'Version answered',
        pattern: VERSION,
        maxLength: LONGEST_VERSION,
        description: 'The version in the answer.',
      }),
    ),
  },
  { additionalProperties: false },
)

const IS_VERSION = new RegExp(VERSION)

/** Tells whether a text is a version as claims and receipts have it. */
export function isVersion(text: string): boolean {
  return text.length <= LONGEST_VERSION && IS_VERSION.test(text)
}

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'deploy.version.answers',
  version: '1',
  rulesVersion: 2,
  neverLate: true,
  summary: 'An endpoint answers that its version is the claimed one.',
  words: {
    title: 'Version that an endpoint answers',
    target: 'Address',
    claim: [
      '{target} answers that its version is {version}, at {pointer}.',
      '{target} answers that its version is {version}.',
    ],
    outcomes: {
      verified: '{target} answered in time that its version is {version}.',
      late: '{target} answered too late that its version is {version}.',
      mismatch: [
        '{target} answered that its version is {version}, which is not the claimed one.',
        '{target} answered that it has another version.',
      ],
      failed: '{target} did not answer by the deadline that its version is {version}.',
    },
    facts: {
      self_reported: {
        true: 'That is what the program that answers says of itself: what runs there was not looked at.',
      },
    },
  },
  target: Type.String({
    pattern: TARGET,
    'x-pattern-help':
      'write an address that begins with https://, without a user name, a query (`?`) and a fragment (`#`)',
    maxLength: LONGEST_ADDRESS,
    description: 'The address of the endpoint. Receipts show it to everybody.',
    examples: ['https://api.example.com/version'],
  }),
  params: Params,
  facts: Facts,
  required: { version: 'content', pointer: 'target' },
  shows: { self_reported: true },
  compared: { target: 'none', version: { fact: 'version', as: 'exact' }, pointer: 'none' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: 'None, or that of the header with which the endpoint is read.', anonymous: true },
}
