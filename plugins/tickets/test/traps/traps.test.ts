// Test run: slow
/** The trap table of `tracker.issue.transition`: no false `verified`, no false blame, and what is true gets told. */

import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-tickets'
import { shareOf } from '../../../../test/support/extent.ts'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { type Row, SECOND, setOf } from './row.ts'
import { ROWS } from './rows.ts'
import { startTracker } from './server.ts'

const WORDS = ['Rotate', 'nelly', 'Nelly', 'For us alone', 'Engineering']

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: process.env.ROW === undefined ? shareOf(ROWS, 0, 10) : ROWS,
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secret } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const word of [...WORDS, secret])
      t.notOk(kept.includes(word), 'no read keeps what the issue says, names of people, nor the token')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // What came and went unseen in a history that forgets is blamed by the rules, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs, instead, lag, clockMs } = scene
  const { plugin: name, answer, options, target, secret } = setOf(provider, scene)
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const tracker = await startTracker({
    answer,
    now: clock.now,
    instead,
    clockMs,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
  })
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: name, options },
      destination: tracker.url,
      claim: {
        action: 'tracker.issue.transition',
        target,
        params: scene.params,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt, secret, faults: tracker.faults }
  } finally {
    await tracker.close()
  }
}
