/** The rules of claims of `acme.ticket.close`: their params, the facts that a receipt may show, and how long an outcome may take. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000
const word = { pattern: '^[a-z_]{1,40}$', examples: ['done'] }

const Params = Type.Object(
  { resolution: Type.String({ title: 'Resolution', description: 'As what it was closed.', ...word }) },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    ticket_id: Type.Optional(Type.Integer({ title: 'Ticket id', description: 'Another ticket never gets it.' })),
    closed_as: Type.Optional(Type.String({ title: 'Closed as', ...word })),
    closed_at: Type.Optional(Type.String({ title: 'Closed at', format: 'date-time' })),
  },
  { additionalProperties: false },
)

export type Facts = Static<typeof Facts>

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'acme.ticket.close',
  version: '2',
  rulesVersion: 2,
  summary: 'A ticket was closed with the resolution that the claim names.',
  words: {
    title: 'Closing of a ticket',
    target: 'Ticket',
    claim: 'Ticket {target} was closed as {resolution}.',
    outcomes: {
      verified: 'Ticket {target} was closed as {resolution} in time.',
      late: 'Ticket {target} was closed as {resolution} too late.',
      mismatch: 'Ticket {target} was closed as {closed_as}, not as {resolution}.',
      failed: 'Ticket {target} was not closed as {resolution}.',
    },
    facts: { closed_at: "It was closed at {closed_at}, by the destination's own log." },
    found: { resolution: 'closed_as' },
  },
  target: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{1,9}-[1-9][0-9]{0,8}$', examples: ['SHOP-1'] }),
  params: Params,
  facts: Facts,
  required: { resolution: 'content' },
  compared: { target: 'none', resolution: { fact: 'closed_as', as: 'exact' } },
  past: ['closed_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: 'Reading all tickets of the project.', anonymous: false },
}
