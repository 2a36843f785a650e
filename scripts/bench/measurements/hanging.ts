/** What a destination that hangs costs the claims about all others. */
import { SCRIPTED } from '../../../test/support/installation.ts'
import { claimsOf, decidingSide, type Target } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { HANGING_ACTION } from '../hanging.ts'
import { load } from '../load.ts'
import { createWorkspace, HANGING, withOpened, withPlace } from '../place.ts'
import { type Served, withProcess } from '../process.ts'
import { inTurn } from '../turns.ts'

const HANGING_CONNECTIONS = 64
const LOAD = { connections: 64, roundMs: 3_000 }
const ROUNDS = 3
const WARM_UP_MS = 2_000

export async function measureHanging(): Promise<Figure[]> {
  return withHost((quiet) =>
    withHost(async (beside) => {
      // Enough for every place that this destination may take, and a queue behind.
      const hanging = claimsOf(beside.target, HANGING_ACTION)
      await load({ ...hanging, connections: HANGING_CONNECTIONS, durationMs: WARM_UP_MS })
      const sides = {
        undisturbed: decidingSide(quiet.served, quiet.target.key, LOAD),
        disturbed: decidingSide(beside.served, beside.target.key, LOAD),
      }
      const { undisturbed, disturbed } = await inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
      return [
        {
          name: 'receipts issued while another destination hangs, ratio to none hanging',
          value: disturbed.perSecond / undisturbed.perSecond,
          unit: '',
          bar: { atLeast: 0.9 },
        },
        {
          name: 'processor time for a claim while another destination hangs, ratio to none hanging',
          value: disturbed.cpuMicros / undisturbed.cpuMicros,
          unit: '',
        },
      ]
    }),
  )
}

interface Host {
  readonly served: Served
  readonly target: Target
}

async function withHost<T>(work: (host: Host) => Promise<T>): Promise<T> {
  return withPlace({ plugins: [SCRIPTED, HANGING] }, async (place) => {
    const { key } = await withOpened(place, createWorkspace)
    return withProcess('host', place, (served) => work({ served, target: { url: served.url, key } }))
  })
}
