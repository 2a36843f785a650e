/** The profile of the action `database.row.exists`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

/** Matches a connection's own name for its database. */
export const DATABASE_NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'

/** Matches no control character, line break or character that reorders text. */
const PRINTABLE = '[^\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]'

/** Matches a name without a quotation mark, dot or slash. */
const PLAIN_NAME = '[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069"\'`\\\\./]+'

const column = Type.String({
  title: 'Column',
  pattern: `^${PLAIN_NAME}$`,
  maxLength: 64,
  'x-pattern-help': 'enter the name of a column, without quotation marks',
  description: 'The column, as the catalogue writes it.',
  examples: ['id'],
})

const Params = Type.Object(
  {
    key: Type.Array(
      Type.Object(
        {
          column,
          value: Type.String({
            title: 'Value',
            pattern: `^${PRINTABLE}+$`,
            maxLength: 200,
            'x-pattern-help': 'enter a text of one line',
            description: 'The value, as the database writes it. Receipts show it.',
            examples: ['4711'],
          }),
        },
        { additionalProperties: false },
      ),
      {
        title: 'Key',
        minItems: 1,
        maxItems: 3,
        description: 'The columns that find the one row, and their values.',
        examples: [[{ column: 'id', value: '4711' }]],
      },
    ),
    columns: Type.Optional(
      Type.Array(
        Type.Object(
          {
            column,
            fingerprint: Type.String({
              title: 'Fingerprint',
              pattern: '^hmac-sha256:[0-9a-f]{64}$',
              'x-pattern-help': 'enter hmac-sha256: and 64 hexadecimal digits; a plain hash would tell the value',
              description: 'The keyed fingerprint of the value in this row.',
              examples: ['hmac-sha256:5fc2b5f7f5c4a9f5d3f8c0ce3d6a4f2e5b1f0c2d7e8a9b3c4d5e6f708192a3b4'],
            }),
          },
          { additionalProperties: false },
        ),
        {
          title: 'Columns',
          minItems: 1,
          maxItems: 16,
          description: 'Further columns of the row, with keyed fingerprints of their values.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, minimum: 0, description }))

const Facts = Type.Object(
  {
    rows: Type.Integer({
      title: 'Rows',
      minimum: 0,
      description: 'The number of rows of this very key: 0, 1, or 2 for several.',
    }),
    columns_differ: count('Columns that differ', 'The number of claimed columns whose value is another.'),
    table_id: Type.Optional(
      Type.String({
        title: 'Table',
        pattern: '^[0-9TZ:.-]+$',
        maxLength: 40,
        description:
          'The table’s number in the catalogue, at MySQL and MariaDB the time of its making: a table that is made again has another.',
      }),
    ),
    row_version: Type.Optional(
      Type.String({
        title: 'Version of the row',
        pattern: '^[0-9]+$',
        maxLength: 20,
        description: 'The number of the transaction that wrote the row as it was read.',
      }),
    ),
    committed_at: Type.Optional(
      Type.String({
        title: 'Committed',
        format: 'date-time',
        description: 'The time by which that transaction was committed, by the database’s clock.',
      }),
    ),
    preexisting: Type.Optional(
      Type.Literal(true, {
        title: 'There before',
        description: 'The row was last written more than the tolerance before the claim.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const rowProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'database.row.exists',
  version: '1',
  rulesVersion: 2,
  summary: 'A table had a row with this key, and with these values.',
  words: {
    title: 'Row of a database',
    target: 'Table',
    claim: 'The table {target} has the row of this key.',
    outcomes: {
      verified: 'The table {target} had the row as the claim says.',
      late: 'The row was put into the table {target} too late.',
      mismatch: 'The table {target} had a row of this key, with other values than the claim says.',
      failed: 'The table {target} had no row of this key by the deadline.',
    },
    facts: {
      columns_differ: {
        0: 'All claimed columns were as the claim says.',
        1: 'One of the claimed columns has another value.',
      },
      committed_at: 'As it was read, it was committed by {committed_at}; it may have been there before.',
      preexisting: {
        true: 'It was last written before the claim: the claim may be about work that was done earlier.',
      },
    },
  },
  target: Type.String({
    pattern: `^${DATABASE_NAME}/${PLAIN_NAME}\\.${PLAIN_NAME}$`,
    maxLength: 200,
    'x-pattern-help': 'write the name of the connection, the schema and the table: orders-db/public.orders',
    description:
      'The table: the name that the connection gives its database, a slash, and the schema (at MySQL and MariaDB the database) and the table as the catalogue writes them, with a dot between.',
    examples: ['orders-db/public.orders'],
  }),
  params: Params,
  facts: Facts,
  required: { key: 'target', columns: 'content' },
  shows: { rows: 1 },
  compared: {
    // A name may have letters and spaces that no fact has, and the host holds it against the catalogue.
    target: 'none',
    key: { facts: ['rows'], are: 1 },
    columns: { facts: ['columns_differ'], are: 0 },
  },
  past: ['committed_at'],
  toleranceMs: 5 * MINUTE_MS,
  deadlineMs: 10 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: 'SELECT on the table, by an account that can do nothing else.', anonymous: false },
}
