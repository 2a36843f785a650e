/** Measures what a destination that hangs costs the claims about all others. */
import { SCRIPTED } from '../../../test/support/installation.ts'
import { claimsOf, decidingSide, withHost } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { HANGING_ACTION } from '../hanging.ts'
import { HANGING } from '../installation.ts'
import { load } from '../load.ts'
import { inTurn } from '../turns.ts'

const PLUGINS = { plugins: [SCRIPTED, HANGING] }
const HANGING_CONNECTIONS = 64
const LOAD = { connections: 64, roundMs: 3_000 }
const ROUNDS = 3
const WARM_UP_MS = 2_000

export async function measureHanging(): Promise<Figure[]> {
  return withHost(PLUGINS, (quiet) =>
    withHost(PLUGINS, async (loaded) => {
      // Enough for every slot that this destination may take, and a queue behind.
      const hanging = claimsOf(loaded.target, HANGING_ACTION)
      await load({ ...hanging, connections: HANGING_CONNECTIONS, durationMs: WARM_UP_MS })
      const sides = {
        undisturbed: decidingSide(quiet.served, quiet.target.key, LOAD),
        disturbed: decidingSide(loaded.served, loaded.target.key, LOAD),
      }
      const { undisturbed, disturbed } = await inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
      return [
        figure(
          'receipts issued while another destination hangs, ratio to none hanging',
          disturbed.perSecond / undisturbed.perSecond,
          '',
          { atLeast: 0.9 },
        ),
        figure(
          'processor time for a claim while another destination hangs, ratio to none hanging',
          disturbed.cpuMicros / undisturbed.cpuMicros,
          '',
        ),
      ]
    }),
  )
}
