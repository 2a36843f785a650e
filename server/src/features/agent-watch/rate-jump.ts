/** The rule for a rate that jumped: an agent's claims of a day hold far less often than those of the four weeks before. */

/** The claims of an agent in a time that were verified, late, mismatch or failed: unverifiable ones say nothing for or against it. */
export interface Judged {
  readonly judged: number
  /** Those among them that were not verified. */
  readonly blamed: number
}

/** The least claims by which a rate is judged. */
const LEAST = { day: { judged: 20, blamed: 5 }, before: { judged: 50 } } as const
/** The growth of the share of claims that were not verified: so many times, and by so much. */
const TIMES = 2
const MORE = 0.1

/** Tells whether a day has enough claims against an agent to look at the weeks before. */
export function mayHaveJumped({ judged, blamed }: Judged): boolean {
  return judged >= LEAST.day.judged && blamed >= LEAST.day.blamed
}

export function hasJumped(day: Judged, before: Judged): boolean {
  if (!mayHaveJumped(day) || before.judged < LEAST.before.judged) return false
  const [now, then] = [day.blamed / day.judged, before.blamed / before.judged]
  return now >= TIMES * then && now - then >= MORE
}
