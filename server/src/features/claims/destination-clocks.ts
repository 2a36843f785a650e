/** What checks of before the start found of the clocks of listed destinations: by these a clock that was set meanwhile is known. */
import { requireOrigin } from '@claimcheck/core/hosting'
import { isRead } from '@claimcheck/core/rules'
import type { Clock } from '../../clock/clock.ts'
import type { Storage } from '../../storage/storage.ts'

/** Waiting claims are those that a wrong clock would decide. */
const MOST_READ = 500

export async function rememberClocks({ read }: Pick<Storage, 'read'>, clock: Pick<Clock, 'remembers'>): Promise<void> {
  for (const check of await read.claims.lastChecks(MOST_READ)) {
    if (!isRead(check) || !check.dated || !check.source?.listed) continue
    clock.remembers(requireOrigin(check.source.baseUrl), check.clockOffsetMs)
  }
}
