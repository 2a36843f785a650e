/** The kit's clock, which runs from whatever moment it is set to, and dates the destination's answers. */
import type { Instant } from '../evidence.ts'
import { headerOf, type WholeAnswer, withHeaders } from './exchange.ts'

export interface KitClock {
  now(): Instant
  set(now: Instant): void
  /** Returns the answer with its `Date` by this clock. */
  dated(answer: WholeAnswer): WholeAnswer
}

// Holds the machine's clock itself, because the kit replaces the global one to see who reads it.
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
      // A destination whose `Date` is by this clock tells its time; any other tells the machine's.
      const [offByKit, offByMachine] = [told - (answer.answeredAt ?? now()), told - machine.now()]
      const off = Math.abs(offByKit) <= Math.abs(offByMachine) ? offByKit : offByMachine
      // A larger difference is a clock that is wrong on purpose.
      const shown = Math.abs(off) < 30 * 60_000 ? now() : now() + off
      return withHeaders(answer, { date: new machine(shown).toUTCString() })
    },
  }
}
