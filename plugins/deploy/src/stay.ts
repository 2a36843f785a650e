/** Makes the stay of a revision from bounds of its beginning that a platform tells. */
import type { Claim, Instant, Stay } from '@claimcheck/core/plugin'
import { profile } from './profile.ts'

/**
 * The stay as it goes into an observation; undefined where the bounds leave open whether it began in time, so that the reads decide.
 * @param notBefore the earliest beginning; undefined where nothing tells it
 */
export function tellingStay(
  { notBefore, notAfter }: { readonly notBefore: Instant | undefined; readonly notAfter: Instant },
  { claimedAt }: Pick<Claim, 'claimedAt'>,
): readonly Stay[] | undefined {
  const inTimeUntil = claimedAt + profile.toleranceMs
  if (notAfter <= inTimeUntil) return [{ appeared: { notAfter } }]
  return notBefore !== undefined && notBefore > inTimeUntil ? [{ appeared: { notBefore, notAfter } }] : undefined
}
