/** Event streams: programs and pages listen to what happens in a workspace. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { OAuth } from '../oauth/oauth.ts'
import { eventStreamsConfig } from './config.ts'
import type { EventPages } from './pages.ts'
import type { EventStreams } from './streams.ts'

export interface Services extends Pick<HostServices, 'isActive'> {
  readonly eventPages: EventPages
  readonly eventStreams: EventStreams
  readonly oauth: Pick<OAuth, 'audiences'>
}

export const eventStreamsFeature = {
  name: 'event-streams',
  needs: ['events'],
  isOptional: true,
  config: eventStreamsConfig,
  services: async () => {
    const [{ createEventPages }, { createEventStreams }] = await Promise.all([
      import('./pages.ts'),
      import('./streams.ts'),
    ])
    return { eventPages: createEventPages, eventStreams: createEventStreams }
  },
  routes: async (services) => {
    const { eventRoutes } = await import('./routes/events.ts')
    const { eventPages, eventStreams } = services
    const audience = () => services.oauth.audiences().own
    return [
      {
        scope: 'credential',
        cost: 'read',
        add: (app, gate, access) => eventRoutes(app, { eventPages, eventStreams, audience, gate, access }),
      },
    ]
  },
  idle: ({ eventStreams }) => eventStreams.idle(),
  metrics:
    ({ eventStreams }) =>
    ({ gauge }) => {
      const open = gauge('event_streams', 'Number of event streams that are open')
      return () => open.set(eventStreams.size)
    },
} satisfies Feature<Services>
