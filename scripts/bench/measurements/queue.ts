/** Measures how long the worker takes to take a thousand due claims, out of a short queue and a long one. */

import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { createDueClaims } from '@claimcheck/server/features/claims/due-claims'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, withInstallation, withOpened } from '../installation.ts'
import { seedQueued } from '../seed/claims.ts'
import { mediansOf } from '../statistics.ts'

const DUE = 1_000
const LONG_QUEUE = 1_000_000
const ROUNDS = 60
const WARM_UP_ROUNDS = 5
/** All rounds together end before the first claims have to be decided. */
const LEASE_MS = 5_000
const DAY_MS = 24 * 60 * 60_000
/** The queue is measured, and not the slots. */
const ALL = { enter: () => ({ kind: 'looking' as const, shared: undefined, end() {} }), busy: () => [] }

export async function measureQueue(): Promise<Figure[]> {
  const start = Date.now()
  const ratio = await withQueue(DUE, start, (short) =>
    withQueue(LONG_QUEUE, start, async (long) => {
      // The same claims are due again when the leases of the round before have run out.
      const at = (round: number) => start + (round + WARM_UP_ROUNDS + 1) * LEASE_MS
      const works = {
        short: (round: number) => takeDue(short, at(round)),
        long: (round: number) => takeDue(long, at(round)),
      }
      const times = await mediansOf(works, { rounds: ROUNDS, warmUp: WARM_UP_ROUNDS })
      return times.long / times.short
    }),
  )
  return [figure('taking 1,000 due claims of 1,000,000 queued, ratio to 1,000 queued', ratio, '', { atMost: 1.5 })]
}

/** A queue in which a thousand claims are due, and the others are much later. */
async function withQueue<T>(count: number, start: number, work: (claimcheck: Claimcheck) => Promise<T>): Promise<T> {
  return withInstallation({}, (installation) =>
    withOpened(installation, async (claimcheck) => {
      const { workspaceId } = await createWorkspace(claimcheck)
      const every = count / DUE
      // The due claims lie anywhere among the others.
      const dueAt = (number: number) => (number % every === 0 ? start : start + DAY_MS + number)
      await seedQueued(claimcheck, workspaceId, count, dueAt)
      return work(claimcheck)
    }),
  )
}

/** Takes claims as the worker does. */
async function takeDue({ storage }: Claimcheck, at: number): Promise<void> {
  const dueClaims = createDueClaims({ storage, admission: ALL })
  const taken = await dueClaims.take('looking', { at, leaseEnd: at + LEASE_MS, limit: DUE })
  if (taken.length !== DUE) throw new Error(`${taken.length} claims were due, not ${DUE}`)
}
