/** What a workspace that floods destinations that hang costs another one: how long its claims take, and how late closing reads are. */
import { runFlood } from '../../../test/hosts/flood.ts'
import type { Figure } from '../figure.ts'
import { median } from '../statistics.ts'

const ROUNDS = 1
const FLOOD = { dialect: 'sqlite', hosts: 1, claims: 2000, honestClaims: 400, deadlineMs: 15_000 } as const

export async function measureFlood(): Promise<Figure[]> {
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await runFlood(FLOOD))
  return [
    {
      name: 'POST to decided (p99) beside a flood of 2,000 claims at destinations that hang, ratio to alone',
      value: median(rounds.map(({ floodedMs, aloneMs }) => floodedMs.p99 / aloneMs.p99)),
      unit: '',
      bar: { atMost: 1.5 },
    },
    {
      name: 'closing reads beside the flood: the latest one',
      value: Math.max(...rounds.map(({ honestLatenessMs }) => honestLatenessMs)),
      unit: 'ms late',
      bar: { atMost: 2000 },
    },
    {
      name: 'closing reads of the flood itself: the latest one',
      value: Math.max(...rounds.map(({ anyLatenessMs }) => anyLatenessMs)),
      unit: 'ms late',
      bar: { atMost: 2000 },
    },
  ]
}
