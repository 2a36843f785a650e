/** Measures how much longer the pages of a workspace take with a million claims than with ten thousand. */

import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { createClaimStatistics } from '@claimcheck/server/features/claims/claim-statistics'
import type { Figure } from '../figure.ts'
import { createWorkspace, type Installation, withInstallation, withOpened } from '../installation.ts'
import { seedReceipts } from '../seed/receipts.ts'
import { mediansOf, timed } from '../statistics.ts'

const SMALL = 10_000
const ROUNDS = 8
const MOST = { atMost: 1.3 }
const PAGE = { limit: 50 }
/** The most claims that a look of the console examines. */
const MOST_EXAMINED = 10_000

type Look = () => Promise<unknown>

const DAY_MS = 24 * 60 * 60_000
const HOUR_MS = 60 * 60_000

const LOOKS: Readonly<Record<string, (claimcheck: Claimcheck, workspaceId: string) => Look>> = {
  'the table of claims':
    ({ claims }, id) =>
    () =>
      claims.list(id, PAGE),
  'the table of claims with one verdict':
    ({ claims }, id) =>
    () =>
      claims.list(id, { ...PAGE, verdict: 'failed', mostExamined: MOST_EXAMINED }),
  'a search':
    ({ claims }, id) =>
    () =>
      claims.list(id, { ...PAGE, search: 'no such claim', mostExamined: MOST_EXAMINED }),
  'the counts of a month, of which a page was seen before': ({ storage, now }, id) => {
    // Some days later: the claims were submitted on one day, which is over. Each look comes when what the last one found is forgotten.
    let at = now() + 2 * DAY_MS
    const counts = createClaimStatistics({ storage, now: () => at })
    return () => {
      at += HOUR_MS
      return counts.count(id, 'month')
    }
  },
  // Made anew, because it remembers what it counted.
  'the actions of an agent':
    ({ storage, now }, id) =>
    () =>
      createClaimStatistics({ storage, now }).countActions(id, 'bench'),
}

/** @param large with all claims in one workspace */
export async function measureWorkspace(large: Installation, workspaceId: string): Promise<Figure[]> {
  return withInstallation({}, async (installation) => {
    const small = await withOpened(installation, async (claimcheck) => {
      const created = await createWorkspace(claimcheck)
      await seedReceipts(claimcheck, created.workspaceId, SMALL)
      return created.workspaceId
    })
    return withOpened(installation, (atSmall) =>
      withOpened(large, async (atLarge) => {
        const figures: Figure[] = []
        for (const [name, look] of Object.entries(LOOKS)) {
          const ratio = await compare(look(atLarge, workspaceId), look(atSmall, small))
          const title = `${name} in a workspace of 1,000,000 claims, ratio to 10,000`
          figures.push({ name: title, value: ratio, unit: '', bar: MOST })
        }
        const { storage, now } = atLarge
        const first = await timed(() => createClaimStatistics({ storage, now }).count(workspaceId, 'month'))
        const title = 'the counts of a month in a workspace of 1,000,000 claims, the first time after a start'
        return [...figures, { name: title, value: first, unit: 'ms' }]
      }),
    )
  })
}

/** The first looks read from the disk. */
async function compare(large: Look, small: Look): Promise<number> {
  const times = await mediansOf({ small, large }, { rounds: ROUNDS, warmUp: 1 })
  return times.large / times.small
}
