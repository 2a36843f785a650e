/** The kit's clock: it runs as the machine's does, from whatever moment it is set to, and the destination's answers are dated by it. */
import type { Instant } from '../evidence.ts'
import { headerOf, type WholeAnswer, withHeaders } from './exchange.ts'

export interface KitClock {
  now(): Instant
  set(now: Instant): void
  /** The answer with its `Date` as this clock would have it. */
  dated(answer: WholeAnswer): WholeAnswer
}

// The machine's clock itself: the kit replaces the global one to see who reads it.
const machine = Date

export function createClock(start: Instant = machine.now()): KitClock {
  let aheadMs = start - machine.now()
  const now = () => machine.now() + aheadMs
  return {
    now,
    set(moment) {
      aheadMs = moment - machine.now()
    },
    dated(answer) {
      const told = machine.parse(headerOf(answer, 'date') ?? '')
      if (Number.isNaN(told)) return answer
      // A destination that was given this clock tells its time; any other one the machine's.
      const [offByKit, offByMachine] = [told - (answer.answeredAt ?? now()), told - machine.now()]
      const off = Math.abs(offByKit) <= Math.abs(offByMachine) ? offByKit : offByMachine
      // A clock that is wrong by more is so on purpose.
      const shown = Math.abs(off) < 30 * 60_000 ? now() : now() + off
      return withHeaders(answer, { date: new machine(shown).toUTCString() })
    },
  }
}
