/** Measures the cost of the size of a log: the time of appending and proving, and the memory of a host. */
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { decidedClaims } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, type Installation, withInstallation, withOpened } from '../installation.ts'
import { load } from '../load.ts'
import { withProcess } from '../process.ts'
import { queuedClaim, seedQueued } from '../seed/claims.ts'
import { seedLog } from '../seed/tiles.ts'
import { mediansOf } from '../statistics.ts'

const SMALL = 10_000
const LARGE = 10_000_000
const ROUNDS = 150
const WARM_UP_ROUNDS = 20
const RECEIPTS_A_ROUND = 16

const QUEUED = 100_000
const CONNECTIONS = 64
const LOAD_MS = 5_000
const MIB = 1024 * 1024
const DAY_MS = 24 * 60 * 60_000

interface Seeded {
  readonly installation: Installation
  readonly workspaceId: string
  readonly key: string
}

export async function measureSize(): Promise<Figure[]> {
  return withLog(SMALL, (small) =>
    withLog(LARGE, async (large) => [await compareTimes(small, large), await measureMemory(large)]),
  )
}

async function withLog<T>(treeSize: number, work: (seeded: Seeded) => Promise<T>): Promise<T> {
  return withInstallation({}, async (installation) => {
    const workspace = await withOpened(installation, async (claimcheck) => {
      const created = await createWorkspace(claimcheck)
      await seedLog(claimcheck, created.workspaceId, treeSize)
      return created
    })
    return work({ installation, ...workspace })
  })
}

async function compareTimes(small: Seeded, large: Seeded): Promise<Figure> {
  const times = await withOpened(small.installation, (atSmall) =>
    withOpened(large.installation, async (atLarge) => {
      const works = {
        small: (round: number) => appendAndProve(atSmall, small.workspaceId, round),
        large: (round: number) => appendAndProve(atLarge, large.workspaceId, round),
      }
      return mediansOf(works, { rounds: ROUNDS, warmUp: WARM_UP_ROUNDS })
    }),
  )
  return figure('append and proof at 10,000,000 leaves, ratio to 10,000', times.large / times.small, '', {
    atMost: 1.3,
  })
}

/** Times one transaction of the sequencer, and a proof of as many leaves, each from anywhere in the log. */
async function appendAndProve({ sequencer, log, now }: Claimcheck, workspaceId: string, round: number): Promise<void> {
  const at = now()
  const record = {
    sentAt: at,
    answeredAt: at,
    observation: { kind: 'present', facts: {}, differs: [] },
    clockOffsetMs: 0,
  } as const
  const decided = {
    verdict: { value: 'verified' },
    basis: record,
    facts: {},
    source: undefined,
    evidence: undefined,
  } as const
  const numbers = Array.from({ length: RECEIPTS_A_ROUND }, (_, index) => index)
  await Promise.all(
    numbers.map((number) => {
      const claim = queuedClaim(workspaceId, `round-${round}-${number}`, at)
      return sequencer.storeChecked({ claim, record, at, decided, next: null })
    }),
  )
  const { treeSize } = await log.entries(undefined, 1)
  await Promise.all(numbers.map(() => log.inclusion(Math.floor(Math.random() * treeSize))))
}

async function measureMemory({ installation, workspaceId, key }: Seeded): Promise<Figure> {
  const later = Date.now() + DAY_MS
  await withOpened(installation, (claimcheck) =>
    seedQueued(claimcheck, workspaceId, QUEUED, (number) => later + number),
  )
  const bytes = await withProcess('host', installation, async ({ url, memoryBytes }) => {
    await load({ ...decidedClaims({ url, key }), connections: CONNECTIONS, durationMs: LOAD_MS })
    return memoryBytes()
  })
  return figure('memory of a host under load at 10,000,000 leaves, 100,000 queued claims', bytes / MIB, 'MiB', {
    atMost: 300,
  })
}
