/** Measures what webhooks cost the claims that they tell of. */
import { setTimeout } from 'node:timers/promises'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import { decidingSide, withHost } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { withProcess } from '../process.ts'
import { inTurn, type Side } from '../turns.ts'

const WEBHOOKS = 10
const LOAD = { connections: 64, roundMs: 4_000 }
const ROUNDS = 3
const WARM_UP_MS = 4_000
const LONGEST_MS = 180_000
const PAUSE_MS = 50

export async function measureWebhooks(): Promise<Figure[]> {
  return withProcess('receiver', {}, (receiver) =>
    withHost({}, (quiet) => {
      const file = { webhooks: { allow_private: [new URL(receiver.url).host] } }
      const received = async () => Number(await (await fetch(receiver.url)).text())
      return withHost(
        { file },
        async (telling) => {
          const behindMs: number[] = []
          let expected = 0
          const deciding = decidingSide(telling.served, telling.target.key, LOAD)
          /** Waits for the deliveries of its claims, so that they do not disturb the other side. */
          const telling_: Side = {
            ...deciding,
            async load(durationMs) {
              const answered = await deciding.load(durationMs)
              const begun = performance.now()
              expected += WEBHOOKS * answered.requests
              while ((await received()) < expected) {
                if (performance.now() - begun > LONGEST_MS) throw new Error('webhooks are lost')
                await setTimeout(PAUSE_MS)
              }
              behindMs.push(performance.now() - begun)
              return answered
            },
          }
          const sides = { without: decidingSide(quiet.served, quiet.target.key, LOAD), with: telling_ }
          const measured = await inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
          const cpuMicros = measured.with.cpuMicros - measured.without.cpuMicros
          return [
            { name: 'decided claims without webhooks', value: measured.without.perSecond, unit: '1/s' },
            figure(
              `decided claims with ${WEBHOOKS} webhooks on each, ratio to none`,
              measured.with.perSecond / measured.without.perSecond,
              '',
              { atLeast: 0.7 },
            ),
            figure(
              `from the last claim of ${LOAD.roundMs / 1000} s to its last delivery, ${WEBHOOKS} webhooks on each`,
              Math.max(...behindMs) / 1000,
              's',
              { atMost: 60 },
            ),
            figure('processor time of the host for a delivery', cpuMicros / WEBHOOKS, 'µs'),
          ]
        },
        async ({ webhooks }, workspaceId) => {
          for (let number = 0; number < WEBHOOKS; number++)
            await webhooks.add(workspaceId, {
              format: 'standard',
              url: `${receiver.url}/${number}`,
              filters: NO_FILTERS,
            })
        },
      )
    }),
  )
}
