/** The wire format of webhooks and their deliveries. It has no URL and no secret: owners see these in the console. */
import { type Static, Type } from '../typebox.ts'
import { VERDICTS } from '../verdict.ts'
import { EVENTS } from './event.ts'
import { nullable, Timestamp } from './primitives.ts'

const EventType = Type.Enum(Object.keys(EVENTS) as (keyof typeof EVENTS)[])

const Filters = Type.Object(
  {
    types: Type.Array(EventType),
    verdicts: Type.Array(Type.Enum(VERDICTS)),
    actions: Type.Array(Type.String()),
    agents: Type.Array(Type.String()),
    connections: Type.Array(Type.String(), { description: 'Ids of connections.' }),
  },
  { title: 'WebhookFilters', description: 'Which events are sent. An empty list restricts nothing.' },
)

export const WebhookList = Type.Object(
  {
    webhooks: Type.Array(
      Type.Object(
        {
          id: Type.String({ examples: ['wht_01M82WPTA0QH9V7R3JYB6ZK4CD'] }),
          format: Type.Enum(
            ['standard', 'slack', 'discord', 'mattermost', 'teams', 'github', 'github_app', 'gitlab', 'gitea'],
            {
              description:
                'What it gets: signed events by Standard Webhooks, messages for the people of a chat service, or reports on commits at a code host.',
            },
          ),
          origin: Type.String({ description: 'The origin of its address.', examples: ['https://hooks.example.com'] }),
          filters: Filters,
          state: Type.Enum(['on', 'off'], { description: '`off`: events wait until it is switched on.' }),
          off_reason: nullable(
            Type.Enum(['owner', 'gone', 'failing'], {
              description:
                'Why it is off. `gone`: the receiver answered 410, or its service that the address takes nothing more. `failing`: nothing arrived for three days.',
            }),
          ),
          created_at: Timestamp,
        },
        { title: 'Webhook' },
      ),
      { description: 'Oldest first.' },
    ),
  },
  { title: 'WebhookList' },
)
export type WebhookList = Static<typeof WebhookList>

const State = Type.Enum(['waiting', 'delivered', 'failed'], {
  description: '`failed`: it is not tried again by itself.',
})

const Fault = Type.Enum(
  [
    'unreachable',
    'timeout',
    'bad_answer',
    'redirect',
    'status',
    'gone',
    'rejected',
    'expired',
    'removed',
    'unreadable',
  ],
  { description: 'Why it did not arrive.' },
)

const LastTry = Type.Object(
  {
    at: Timestamp,
    status: nullable(Type.Integer({ description: 'The HTTP status of the answer.' })),
    duration_ms: Type.Integer({ minimum: 0, description: 'How long the answer took.' }),
  },
  { title: 'WebhookTry' },
)

export const WebhookDelivery = Type.Object(
  {
    id: Type.String({
      description: 'The `webhook-id` of every try.',
      examples: ['msg_01M82WPTA0QH9V7R3JYB6ZK4CD'],
    }),
    webhook: Type.String({ description: 'The id of the webhook.' }),
    event: Type.String({ description: 'The number of the event.', examples: ['17'] }),
    type: EventType,
    subject: Type.String({ description: 'The id of the claim, the connection or the anchor.' }),
    state: State,
    attempts: Type.Integer({ minimum: 0 }),
    next_try_at: nullable(Timestamp),
    last_try: nullable(LastTry),
    fault: nullable(Fault),
    created_at: Timestamp,
  },
  { title: 'WebhookDelivery' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryList = Type.Object(
  {
    deliveries: Type.Array(WebhookDelivery, { description: 'Newest event first.' }),
    next_cursor: nullable(Type.String({ description: 'null: there are no more.' })),
  },
  { title: 'WebhookDeliveryList' },
)
export type WebhookDeliveryList = Static<typeof WebhookDeliveryList>

export const WebhookDeliveryQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 512, description: 'The `next_cursor` of the page before.' })),
    webhook: Type.Optional(Type.String({ maxLength: 64, description: 'The id of a webhook.' })),
    state: Type.Optional(State),
  },
  { additionalProperties: false },
)
export type WebhookDeliveryQuery = Static<typeof WebhookDeliveryQuery>
