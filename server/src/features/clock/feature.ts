/** The clock: compared with the log and with listed destinations, so that a host with a wrong clock decides and signs nothing. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { ClockWatch } from './clock-watch.ts'

export interface Services extends Pick<HostServices, 'clock'> {
  readonly clockWatch: ClockWatch
}

export const clockFeature = {
  name: 'clock',
  services: async () => {
    const { createClockWatch } = await import('./clock-watch.ts')
    return { clockWatch: createClockWatch }
  },
  workers: ({ clockWatch }) => [clockWatch],
  readiness: async ({ clock }) => {
    const doubt = clock.doubt()
    return doubt === undefined ? undefined : { problem: `the time is in doubt: ${doubt}`, serves: false }
  },
  metrics:
    ({ clock }) =>
    ({ gauge }) => {
      const doubted = gauge('clock_doubted', '1 while the time is in doubt, and this host decides and signs nothing')
      return () => doubted.set(clock.doubt() === undefined ? 0 : 1)
    },
} satisfies Feature<Services>
