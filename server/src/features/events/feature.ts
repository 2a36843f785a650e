/** Events: what happened in a workspace, in its order, for everybody who is told of it or listens. */
import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { connectionHealth } from '../../storage/connection-health.ts'
import { eventHeads, events } from '../../storage/events.ts'
import { connections, workspaces } from '../../storage/workspaces.ts'
import { eventsConfig } from './config.ts'
import type { EventFeed } from './feed.ts'
import { eventMigrations } from './migrations.ts'

export interface Services {
  readonly eventFeed: EventFeed
  readonly eventChores: Worker
}

export const eventsFeature = {
  name: 'events',
  needs: ['claims'],
  stored: {
    tables: [
      { table: events, owners: { workspace_id: workspaces } },
      { table: eventHeads, owners: { workspace_id: workspaces } },
      { table: connectionHealth, owners: { connection_id: connections } },
    ] as const,
    migrations: eventMigrations,
  },
  config: eventsConfig,
  services: async () => {
    const [{ createEvents }, { createEventFeed }, { createEventChores }] = await Promise.all([
      import('./events.ts'),
      import('./feed.ts'),
      import('./chores.ts'),
    ])
    return { events: createEvents, eventFeed: createEventFeed, eventChores: createEventChores }
  },
  workers: ({ eventFeed, eventChores }) => [eventFeed, eventChores],
} satisfies Feature<Services>
