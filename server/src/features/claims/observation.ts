/** Validates the observation that a verifier returned, by the profile's schemas, and refuses one that holds a credential. */

import { type ReadObservation, readObservation as readByContract } from '@claimcheck/core/hosting'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { validator } from '../../base/validation.ts'
import type { LeakFinder } from '../../outbound/leaks.ts'

/**
 * Reads the observation that a verifier returned.
 * @throws the error of a getter in `returned`; TypeError for a value that JSON cannot express
 */
export function readObservation(
  profile: ActionProfile,
  returned: unknown,
  leaks: Pick<LeakFinder, 'isInValue'>,
): ReadObservation {
  const read = readByContract(profile, returned, (facts) => {
    const [issue] = validator(profile.facts)(facts, ['facts'])
    return issue && `${issue.loc.join('.')}: ${issue.msg}`
  })
  const isLeak = read.observation !== undefined && leaks.isInValue(read.observation.facts)
  return isLeak ? { part: 'facts', problem: 'facts contain a credential' } : read
}
