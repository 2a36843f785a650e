/** The profile of the action `http.url.status`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// Characters that no name of a host has: white space, control characters and what reorders text. Addresses also have no query, because receipts are
// public and queries carry tokens, and nothing that a URL parser would write otherwise.
const HIDDEN = '\\u007f-\\u00a0\\u1680\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff'
const HOST_PATTERN = `(?:\\[[0-9A-Fa-f:.]{2,45}\\]|[^\\u0000-\\u0020${HIDDEN}/?#@:%\\\\\\[\\]]{1,253})`
const PATH_PATTERN = "(?:/[A-Za-z0-9._~!$&'\\(\\)*+,;=:@%/\\-]*)?"
const TARGET_PATTERN = `^[Hh][Tt][Tt][Pp][Ss]://${HOST_PATTERN}(?::[0-9]{1,5})?${PATH_PATTERN}$`

/** The digest of a text: 32 bytes in base64url, whose last character has two bits that are 0. */
const TEXT_FORM = '[A-Za-z0-9_\\-]{42}[AEIMQUYcgkosw048]'

const ADDRESS = new RegExp(TARGET_PATTERN)
const LONGEST_ADDRESS = 512

const address = {
  pattern: TARGET_PATTERN,
  'x-pattern-help':
    'write an address that begins with `https://`, without a user name, a query (`?`) and a fragment (`#`), and with other letters than English ones percent-encoded in its path',
  minLength: 1,
  maxLength: LONGEST_ADDRESS,
}

const Params = Type.Object(
  {
    status: Type.Optional(
      Type.Integer({
        title: 'Status',
        minimum: 100,
        maximum: 599,
        description: 'The HTTP status of the answer; 200 when left out.',
        examples: [200],
      }),
    ),
    content_fingerprint: Type.Optional(
      Type.String({
        title: 'Fingerprint',
        pattern: `^sha256:(?:${TEXT_FORM}|[0-9a-fA-F]{64})$`,
        'x-pattern-help': 'enter sha256: and 64 hexadecimal characters, or sha256: and 43 of base64url',
        maxLength: 71,
        description:
          'The SHA-256 of the content: `sha256:` and 64 hexadecimal characters for its bytes, or `sha256:` and base64url for its text, as receipts make fingerprints of texts.',
        examples: ['sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      }),
    ),
    final_url: Type.Optional(
      Type.String({
        ...address,
        title: 'Address in the end',
        description:
          'The address that answers after all redirects, without its query, or to which a claimed redirect leads. When left out: the target itself.',
        examples: ['https://example.com/en/'],
      }),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    answered_status: Type.Integer({ title: 'Answered with', description: 'The HTTP status of the answer.' }),
    redirected: Type.Boolean({
      title: 'Redirected',
      description: 'The answer came after redirects within the site.',
    }),
    bytes: Type.Optional(
      Type.Integer({
        title: 'Bytes',
        description:
          'The size of the content, when it is no longer compressed. Absent for a large or slow one that was not read to its end.',
      }),
    ),
    fingerprint: Type.Optional(
      Type.String({
        title: 'Fingerprint of the answer',
        pattern: `^sha256:(?:${TEXT_FORM}|[0-9a-f]{64})$`,
        maxLength: 71,
        description: 'The digest of the content, in the form of the claimed one.',
      }),
    ),
    final_url: Type.Optional(
      Type.String({
        pattern: TARGET_PATTERN,
        maxLength: LONGEST_ADDRESS,
        title: 'Address in the end',
        description:
          'The address that answered after all redirects, or to which the claimed one leads, without its query, where it is not the target, or where the claim names one.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Tells whether a text is an address as targets and receipts have them. */
export function isAddress(text: string): boolean {
  return text.length <= LONGEST_ADDRESS && ADDRESS.test(text)
}

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const USUAL_STATUS = 200

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'http.url.status',
  version: '2',
  rulesVersion: 2,
  neverLate: true,
  summary: 'A web address answers with the status that the claim names, and with its content where it names that.',
  words: {
    title: 'Answer of a web address',
    target: 'Address',
    claim: [
      '{target} answers {status}, with the content {content_fingerprint:short}.',
      '{target} answers 200, with the content {content_fingerprint:short}.',
      '{target} answers {status}.',
      '{target} answers 200.',
    ],
    outcomes: {
      verified: [
        '{target} answered {answered_status} in time, with the content {content_fingerprint:short}.',
        '{target} answered {answered_status} in time.',
      ],
      late: [
        '{target} answered {answered_status} too late, with the content {content_fingerprint:short}.',
        '{target} answered {answered_status} too late.',
      ],
      mismatch: [
        '{target} answered {answered_status} with the content {fingerprint:short}, not {status} with {content_fingerprint:short}.',
        '{target} answered {answered_status} with the content {fingerprint:short}, not 200 with {content_fingerprint:short}.',
        '{target} answered {answered_status}, not {status}.',
        '{target} answered {answered_status}, not 200.',
      ],
      failed: [
        '{target} did not answer {status} with the content {content_fingerprint:short} by the deadline.',
        '{target} did not answer 200 with the content {content_fingerprint:short} by the deadline.',
        '{target} did not answer {status} by the deadline.',
        '{target} did not answer 200 by the deadline.',
      ],
    },
    facts: {
      answered_status: {
        '200': 'The status alone says nothing of what the page shows: pages of errors answer 200, too.',
      },
      redirected: {
        true: ['Redirects within the site led to {final_url}.', 'A redirect within the site led to this answer.'],
      },
    },
    found: { status: 'answered_status', content_fingerprint: 'fingerprint' },
  },
  target: Type.String({
    ...address,
    description:
      'The address. It begins with `https://`, and has no user name, query or fragment. Receipts show it to everybody.',
    examples: ['https://example.com/'],
  }),
  params: Params,
  facts: Facts,
  required: { status: 'content', content_fingerprint: 'content', final_url: 'target' },
  compared: {
    target: 'none',
    status: { fact: 'answered_status', as: 'exact', default: USUAL_STATUS },
    content_fingerprint: { fact: 'fingerprint', as: 'digest' },
    final_url: { fact: 'final_url', as: 'address' },
  },
  toleranceMs: 5 * MINUTE_MS,
  deadlineMs: 10 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: 'None: the address is read as everybody reads it.', anonymous: true },
}
