/** The wire format of lists of events, and of gaps in them. */
import { type Static, Type } from '../typebox.ts'
import { ClaimQuery } from './claim.ts'
import { EVENTS, Event } from './event.ts'

const Id = Type.String({ description: 'The number of an event.', examples: ['17'] })

export const EventGap = Type.Object(
  { from: Id, to: Id },
  {
    title: 'EventGap',
    description:
      'Numbers of events that are not there to send: they are older than what is kept, or the service was restored from a backup. Read the claims once more.',
  },
)
export type EventGap = Static<typeof EventGap>

export const EventList = Type.Object(
  {
    gap: Type.Optional(EventGap),
    events: Type.Array(Type.Unsafe<Event>(Event), { description: 'Oldest first.' }),
    next: Type.String({ description: 'The `after` of the next page, also where filters left this one empty.' }),
  },
  { title: 'EventList' },
)
export type EventList = Static<typeof EventList>

const { agent_id, action, verdict } = ClaimQuery.properties

export const EventQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Events after this number. Left out: from now on. A stream that goes on sends the header `Last-Event-ID`, which counts before it.',
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'The most events of a list.' }),
    type: Type.Optional(Type.Enum(Object.keys(EVENTS) as Event['type'][])),
    agent_id,
    action,
    verdict,
  },
  { additionalProperties: false },
)
export type EventQuery = Static<typeof EventQuery>
