/** Measures what a workspace that floods hanging destinations costs another one: how long its claims take, and how late closing reads are. */
import { runFlood } from '../../../test/hosts/flood.ts'
import { type Figure, figure } from '../figure.ts'
import { median } from '../statistics.ts'

const ROUNDS = 1
const FLOOD = { dialect: 'sqlite', hosts: 1, claims: 2000, honestClaims: 400, deadlineMs: 15_000 } as const

export async function measureFlood(): Promise<Figure[]> {
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await runFlood(FLOOD))
  return [
    figure(
      'POST to decided (p99) beside a flood of 2,000 claims at destinations that hang, ratio to alone',
      median(rounds.map(({ floodedMs, aloneMs }) => floodedMs.p99 / aloneMs.p99)),
      '',
      { atMost: 1.5 },
    ),
    figure(
      'closing reads beside the flood: the latest one',
      Math.max(...rounds.map(({ honestLatenessMs }) => honestLatenessMs)),
      'ms late',
      { atMost: 2000 },
    ),
    figure(
      'closing reads of the flood itself: the latest one',
      Math.max(...rounds.map(({ anyLatenessMs }) => anyLatenessMs)),
      'ms late',
      { atMost: 2000 },
    ),
  ]
}
