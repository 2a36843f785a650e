/** What a destination that hangs costs the claims about all others. */
import { SCRIPTED } from '../../../test/support/installation.ts'
import { claimsOf, decidedClaims, type Target } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { HANGING_ACTION } from '../hanging.ts'
import { type Answered, load, together } from '../load.ts'
import { createWorkspace, HANGING, withOpened, withPlace } from '../place.ts'
import { withProcess } from '../process.ts'

const CONNECTIONS = 64
const HANGING_CONNECTIONS = 64
const ROUNDS = 4
const ROUND_MS = 3_000
const WARM_UP_MS = 2_000

export async function measureHanging(): Promise<Figure[]> {
  return withHost((undisturbed) =>
    withHost(async (disturbed) => {
      const submit = (target: Target, durationMs: number) =>
        load({ ...decidedClaims(target), connections: CONNECTIONS, durationMs })
      const rounds: { undisturbed: Answered[]; disturbed: Answered[] } = { undisturbed: [], disturbed: [] }
      // Enough for every place that this destination may take, and a queue behind.
      await load({ ...claimsOf(disturbed, HANGING_ACTION), connections: HANGING_CONNECTIONS, durationMs: WARM_UP_MS })
      await Promise.all([submit(undisturbed, WARM_UP_MS), submit(disturbed, WARM_UP_MS)])
      for (let round = 0; round < ROUNDS; round++) {
        rounds.undisturbed.push(await submit(undisturbed, ROUND_MS))
        rounds.disturbed.push(await submit(disturbed, ROUND_MS))
      }
      return [
        {
          name: 'receipts issued while another destination hangs, ratio to none hanging',
          value: together(rounds.disturbed).perSecond / together(rounds.undisturbed).perSecond,
          unit: '',
          bar: { atLeast: 0.9 },
        },
      ]
    }),
  )
}

async function withHost<T>(work: (target: Target) => Promise<T>): Promise<T> {
  return withPlace({ plugins: [SCRIPTED, HANGING] }, async (place) => {
    const { key } = await withOpened(place, createWorkspace)
    return withProcess('host', place, ({ url }) => work({ url, key }))
  })
}
