/** The clocks of listed destinations as checks before the start found them, by which a clock that was set meanwhile is recognized. */
import { requireOrigin } from '@claimcheck/core/hosting'
import { isRead } from '@claimcheck/core/rules'
import type { Clock } from '../../clock/clock.ts'
import type { Storage } from '../../storage/storage.ts'

/** The most waiting claims whose checks are read: a wrong clock would decide these. */
const MOST_READ = 500

export async function rememberClocks({ read }: Pick<Storage, 'read'>, clock: Pick<Clock, 'remembers'>): Promise<void> {
  for (const check of await read.claims.lastChecks(MOST_READ)) {
    if (!isRead(check) || !check.dated || !check.source?.listed) continue
    const { clockOffsetMs, clockAheadMs = 0, ageMs = 0, source } = check
    // A cache repeats the date of the answer that it holds.
    const most = (clockAheadMs < 0 ? clockAheadMs : clockOffsetMs) + ageMs
    clock.remembers(requireOrigin(source.baseUrl), { least: clockAheadMs > 0 ? clockAheadMs : -clockOffsetMs, most })
  }
}
