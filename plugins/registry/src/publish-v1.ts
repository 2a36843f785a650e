/** `registry.package.publish`, version 1: for claims that were submitted under it and wait still. New claims are of the newest version. */
import { isLateLook, type Observation } from '@claimcheck/core/plugin'
import type { Look } from './observe.ts'
import { type Facts, publishProfile } from './profile.ts'

const { shows: _none, ...rest } = publishProfile

export const publishProfileV1: typeof publishProfile = { ...rest, version: '1', rulesVersion: 2, ageMs: 5 * 60_000 }

/** Its rules do not know when a look was late: where a registry has no log, the observation says so. */
export function forgetful(seen: Observation<Facts>, look: Look): Observation<Facts> {
  const showsIt = seen.kind === 'present' && seen.differs.length === 0
  if (showsIt || seen.mark !== undefined || seen.stays !== undefined || !isLateLook(look)) return seen
  return { ...seen, mark: 'may_have_been' }
}
