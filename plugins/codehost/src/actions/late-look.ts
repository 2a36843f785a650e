/** How old answers may be when a look decides what came too late. */
import type { Verifier } from '@claimcheck/core/plugin'

/** Caches and replicas of hosts that keep none for longer lag by this much at times. Milliseconds. */
const LAG_MS = 10_000

/**
 * Counts answers from the end of the tolerance on as this old, at least: what an answer does not show yet may be there. A look just after the
 * submission keeps the age that its host declares, else no look could show that the outcome was not there.
 */
export function withLag(verifier: Verifier): Verifier {
  const { toleranceMs } = verifier.profile
  return {
    ...verifier,
    async check(claim, context) {
      const isLate = context.now() >= claim.claimedAt + toleranceMs
      const seen = await verifier.check(claim, context)
      return isLate ? { ...seen, ageMs: Math.max(seen.ageMs ?? 0, LAG_MS) } : seen
    },
  }
}
