// Test run: slow
/** The trap table of `payment.refund.succeed` and `payment.charge.succeed`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-payments'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { CHARGES } from './charges.ts'
import { REFUNDS } from './refunds.ts'
import { connected, type Row } from './row.ts'
import { CUSTOMER, startStripe } from './stripe-api.ts'

const SECOND = 1000

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...REFUNDS, ...CHARGES],
  play,
  nameOf: ({ action, title }) => `${action.split('.')[1]}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const secret of Object.values(CUSTOMER)) t.notOk(kept.includes(secret), 'no read keeps who the customer is')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
})

async function play(row: Row) {
  const scene = row.scene()
  const {
    claimedMs = 0,
    submittedMs = claimedMs + SECOND,
    deadlineMs,
    ledger,
    instead,
    version,
    lag,
    dropsAccount = false,
  } = scene
  const { key, options, target } = connected(scene)
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const stripe = await startStripe({
    ledger,
    keys: [key],
    now: clock.now,
    instead,
    dropsAccount,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
    ...(version !== undefined && { version }),
  })
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: 'stripe', options },
      destination: stripe.url,
      claim: {
        action: row.action,
        target,
        params: scene.params as never,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt, faults: stripe.faults }
  } finally {
    await stripe.close()
  }
}
