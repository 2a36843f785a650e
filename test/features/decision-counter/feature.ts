/** A feature of the tests' own: it counts decided claims by verdict, by following the log. */
import { print, subcommand } from '@claimcheck/command-line/run'
import type { Worker } from '@claimcheck/server/base/worker'
import type { HostServices } from '@claimcheck/server/host/container'
import type { Feature } from '@claimcheck/server/host/feature'
import { createDecisionCounter, type DecisionCounter, decisionsStored } from './counter.ts'

export interface Services extends Pick<HostServices, 'storage'> {
  readonly decisionCounter: DecisionCounter & Worker
}

export const decisionCounterFeature = {
  name: 'decision-counter',
  needs: ['log'],
  isOptional: true,
  stored: decisionsStored,
  services: async () => ({ decisionCounter: createDecisionCounter }),
  routes: async ({ decisionCounter }) => [
    {
      scope: 'api',
      cost: 'readiness',
      add: (app) =>
        void app.get('/v1/decisions', { schema: { hide: true } as object }, async () => decisionCounter.counts()),
    },
  ],
  workers: ({ decisionCounter }) => [decisionCounter],
  metrics:
    ({ decisionCounter }) =>
    ({ gauge }) => {
      const decisions = gauge('decisions', 'Number of decided claims, by verdict', ['verdict'])
      return async () => {
        for (const [verdict, count] of Object.entries(await decisionCounter.counts())) decisions.set({ verdict }, count)
      }
    },
  commands(program, withServices) {
    subcommand(program, 'decisions', 'count decided claims').action(async (options) => {
      const counts = await withServices(async ({ decisionCounter }: Services) => {
        await decisionCounter.follow()
        return decisionCounter.counts()
      })
      print(
        options,
        counts,
        Object.entries(counts).map(([verdict, count]) => `${verdict}: ${count}`),
      )
    })
  },
  pages: [
    {
      chapter: 'Self-hosting',
      path: 'decision-counter',
      file: 'test/features/decision-counter/page.md',
      url: new URL('../../../../test/features/decision-counter/page.md', import.meta.url),
    },
  ],
} satisfies Feature<Services>
