/** The profile of the action `tracker.issue.transition`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

/** The id of a status: a number in Jira and Redmine, a UUID in Linear. */
const STATUS = '^(?:[0-9]+|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$'
/** The id of an account. The key of a user at Jira Data Center may be any name that an administrator once gave. */
const ACCOUNT = '^[0-9A-Za-z][0-9A-Za-z:._-]*$'
const KEY = '^(?:[A-Za-z][0-9A-Za-z_]*-)?[1-9][0-9]*$'
const LONGEST_ID = 128

/** The host of a server, its port, and the path below which it answers. */
const SERVER = '(?:[0-9A-Za-z.-]+|\\[[0-9A-Fa-f:]+\\])(?::[0-9]+)?(?:/[0-9A-Za-z_~-][0-9A-Za-z._~-]*)*'
const TARGETS = [
  `jira:${SERVER}/[A-Za-z][0-9A-Za-z_]*-[1-9][0-9]*`,
  'linear:[0-9A-Za-z][0-9A-Za-z_-]*/[A-Za-z][0-9A-Za-z_]*-[1-9][0-9]*',
  `redmine:${SERVER}/[1-9][0-9]*`,
]

export const CATEGORIES = ['open', 'in_progress', 'done', 'canceled'] as const
export type Category = (typeof CATEGORIES)[number]

const category = (options: { readonly title: string; readonly description: string }) =>
  Type.Optional(
    Type.Union(
      [Type.Literal('open'), Type.Literal('in_progress'), Type.Literal('done'), Type.Literal('canceled')],
      options,
    ),
  )
const status = (title: string, example: string, description: string) =>
  Type.Optional(
    Type.String({
      title,
      pattern: STATUS,
      maxLength: LONGEST_ID,
      'x-pattern-help': 'enter the id of the status, not its name',
      description,
      examples: [example],
    }),
  )

const Params = Type.Object(
  {
    category: category({
      title: 'Category',
      description:
        'The kind of state that the issue came into: in Jira the category of the status (`open`, `in_progress`, `done`), in Linear its type, in Redmine `done` for statuses that close and `open` for others. A claim names this, `status`, or both.',
    }),
    status: status('Status', '10002', 'The status that the issue came into, by its id.'),
    from: status('Earlier status', '10001', 'The status that the issue was in just before, by its id.'),
    by: Type.Optional(
      Type.String({
        title: 'Account',
        pattern: ACCOUNT,
        maxLength: LONGEST_ID,
        'x-pattern-help': 'enter the id of the account, not its name or address',
        description:
          "The account that moved the issue, by its id: Jira's accountId, or the user's key at Data Center; the id of a user in Linear or Redmine.",
        examples: ['5b10ac8d82e05b22cc7d4ef5'],
      }),
    ),
  },
  { additionalProperties: false },
)

const id = (title: string, pattern: string, description: string) =>
  Type.Optional(Type.String({ title, pattern, maxLength: LONGEST_ID, description }))

const Facts = Type.Object(
  {
    issue_id: id('Issue', '^[0-9A-Za-z-]+$', "The tracker's own id of the issue, which a move does not change."),
    key: id('Key', KEY, 'The key that the issue has now; for Redmine its number.'),
    status: id('Status', STATUS, 'The status in which it was when it was read.'),
    category: category({ title: 'Category', description: 'The category of that status when it was read.' }),
    changed_at: Type.Optional(
      Type.String({
        title: 'Moved at',
        format: 'date-time',
        description: "The time at which it came into the claimed state, by the tracker's history.",
      }),
    ),
    from: id('Earlier status', STATUS, 'The status that it was in just before that.'),
    by: id('Account', ACCOUNT, 'The account that moved it.'),
    preexisting: Type.Optional(
      Type.Literal(true, {
        title: 'There before',
        description: 'It came into the claimed state more than the tolerance before the claim.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

/** The sentences of a claim, from the one that needs most params. */
const CLAIMS = ['status {status}, of the category {category}', 'status {status}', 'the category {category}'].flatMap(
  (state) =>
    [', from status {from}, by {by}', ', from status {from}', ', by {by}', ''].map(
      (rest) => `Issue {target} came into ${state}${rest}.`,
    ),
)

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'tracker.issue.transition',
  version: '1',
  rulesVersion: 2,
  summary: 'An issue came into a state: a status, or any status of a category.',
  words: {
    title: 'Move of an issue',
    target: 'Issue',
    claim: CLAIMS,
    outcomes: {
      verified: 'Issue {target} came into the claimed state in time.',
      late: 'Issue {target} came into the claimed state, and too late.',
      mismatch: 'Issue {target} came into the claimed state otherwise than the claim says.',
      failed: 'Issue {target} did not come into the claimed state as claimed by the deadline.',
    },
    facts: {
      changed_at: "It came into the claimed state at {changed_at}, by the tracker's history.",
      by: 'It was moved by {by}.',
      from: 'Before that it was in status {from}.',
      status: 'When it was read, it was in status {status}.',
      category: {
        open: 'When it was read, that status was of the category open.',
        in_progress: 'When it was read, that status was of the category in progress.',
        done: 'When it was read, that status was of the category done.',
        canceled: 'When it was read, that status was of the category canceled.',
      },
      key: 'Its key is {key} now.',
      preexisting: { true: 'It came into that state long before the claim: the claim may be about an earlier move.' },
    },
  },
  target: Type.String({
    pattern: `^(?:${TARGETS.join('|')})$`,
    maxLength: 300,
    'x-pattern-help':
      'write the tracker, a colon, its place and the issue: `jira:acme.atlassian.net/SHOP-1`, `linear:acme/ENG-1`, `redmine:redmine.example.com/123`',
    description:
      "The issue: for Jira the server's host (with its path, if it has one) and the key, for Linear the workspace as in its address and the key, for Redmine the host and the number.",
    examples: ['jira:acme.atlassian.net/SHOP-1'],
  }),
  params: Params,
  facts: Facts,
  required: { category: 'content', status: 'content', from: 'content', by: 'content' },
  compared: {
    target: 'none',
    category: { fact: 'category', as: 'exact' },
    status: { fact: 'status', as: 'exact' },
    from: { fact: 'from', as: 'exact' },
    by: { fact: 'by', as: 'exact' },
  },
  past: ['changed_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  // The window is long, because agents report when their run ends, and clients date the claim then.
  removedWithinMs: 60 * MINUTE_MS,
  access: {
    permission:
      'Seeing the issue with its history: in Jira Browse Projects, in Linear a key that reads, in Redmine View Issues.',
    anonymous: false,
  },
}
