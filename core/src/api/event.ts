/** The wire format of events: what happened in a workspace, in the order in which it happened there. */
import { type Static, type TSchema, Type } from '../typebox.ts'
import { ClaimStatus } from './claim.ts'
import { Anchor } from './log.ts'
import { nullable, Timestamp } from './primitives.ts'

const ConnectionData = Type.Object(
  {
    connection_id: Type.String(),
    name: Type.String({ description: 'What its owners call it.' }),
    provider: Type.String(),
    failure: nullable(Type.String({ description: 'Why it cannot be read, with `connection.failing`.' })),
    expires_at: nullable(Timestamp),
  },
  { title: 'ConnectionEventData' },
)

const AnchorData = Type.Object({ anchor: Anchor }, { title: 'AnchorEventData' })

const AgentMembers = {
  agent_id: ClaimStatus.properties.agent_id,
  claim_id: ClaimStatus.properties.claim_id,
}

const SilenceData = Type.Object(
  {
    ...AgentMembers,
    last_claim_at: Timestamp,
    hours: Type.Integer({ description: 'The hours without a claim, as the workspace set them.', examples: [24] }),
  },
  { title: 'AgentSilentEventData' },
)

const Judged = Type.Object({
  not_verified: Type.Integer({ description: 'Claims that were late, mismatch or failed.', examples: [9] }),
  judged: Type.Integer({ description: 'These, and verified ones. Unverifiable claims do not count.', examples: [30] }),
})

const RateJumpData = Type.Object(
  { ...AgentMembers, last_day: Judged, weeks_before: Judged },
  { title: 'RateJumpedEventData' },
)
export type RateJumpData = Static<typeof RateJumpData>

const DATA = {
  'claim.decided': [ClaimStatus, 'A claim has its verdict and its receipt.'],
  'connection.failing': [
    ConnectionData,
    'A destination refuses the credentials of a connection, or was not readable for ten minutes.',
  ],
  'connection.recovered': [
    ConnectionData,
    'A connection that was told as failing was read for ten minutes without a failure.',
  ],
  'connection.expiring': [ConnectionData, 'The credentials of a connection end within seven days.'],
  'anchor.landed': [AnchorData, 'The root of the log with receipts of this workspace is on the chain.'],
  'agent.silent': [
    SilenceData,
    'An agent submitted no claim for the hours that the workspace set. `claim_id` is its last claim.',
  ],
  'rate.jumped': [
    RateJumpData,
    'Far more of an agent’s claims are not verified in the last day than in the four weeks before. `claim_id` is the newest of them.',
  ],
} as const satisfies Readonly<Record<string, readonly [TSchema, string]>>

export type EventType = keyof typeof DATA

function eventOf<T extends EventType, D extends TSchema>(type: T, data: D, description: string) {
  return Type.Object(
    {
      id: Type.String({
        pattern: '^[1-9][0-9]*$',
        description: 'The number of the event, which grows by one in each workspace.',
        examples: ['17'],
      }),
      type: Type.Literal(type),
      timestamp: Timestamp,
      data,
    },
    { title: type, description },
  )
}

/** The schema of each event by its type. */
export const EVENTS = Object.fromEntries(
  Object.entries(DATA).map(([type, [data, description]]) => [type, eventOf(type as EventType, data, description)]),
) as { readonly [T in EventType]: ReturnType<typeof eventOf<T, (typeof DATA)[T][0]>> }

export const Event = Type.Union(Object.values(EVENTS), { title: 'Event' })

export type Event = { readonly [T in EventType]: Static<(typeof EVENTS)[T]> }[EventType]
