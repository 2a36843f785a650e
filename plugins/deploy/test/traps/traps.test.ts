// Test run: slow
/** The trap table of `deploy.revision.live` and `deploy.version.answers`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, type Life, type LifeOptions, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-deploy'
import { shareOf } from '../../../../test/support/extent.ts'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { KUBERNETES_FALSE } from './kubernetes-false.ts'
import { KUBERNETES_HONEST } from './kubernetes-honest.ts'
import { type Row, SECOND, setOf } from './row.ts'
import { startServer } from './server.ts'
import { VERCEL_FALSE } from './vercel-false.ts'
import { VERCEL_HONEST } from './vercel-honest.ts'
import { VERSION_ROWS } from './version-rows.ts'

const ROWS = [...KUBERNETES_HONEST, ...KUBERNETES_FALSE, ...VERCEL_HONEST, ...VERCEL_FALSE, ...VERSION_ROWS]
/** The usual run plays every so many rows. */
const SHARE = 5

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: process.env.ROW === undefined ? shareOf(ROWS, 0, SHARE) : ROWS,
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secrets } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const secret of secrets) t.notOk(kept.includes(secret), 'no read keeps a secret')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // What came and went before the first look is blamed by the rules, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs, instead, lag } = scene
  const { answer, action, options, target, secrets } = setOf(provider, scene)
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const server = await startServer({
    answer,
    now: clock.now,
    instead,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
  })
  try {
    const life = await liveOrUnread({
      plugin,
      connection: options ? { provider, options } : null,
      destination: server.url,
      claim: {
        action,
        target,
        params: scene.params,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt, secrets, faults: server.faults, ...(life.isUnread && { undecided: 'refused' }) }
  } finally {
    await server.close()
  }
}

/** Plays a life. A claim that means no connection of the workspace is never looked at. */
async function liveOrUnread(options: LifeOptions): Promise<Omit<Life, 'deadlineAt'> & { readonly isUnread?: true }> {
  try {
    return await liveClaim(options)
  } catch (error) {
    if (!(error instanceof TypeError && error.message === 'the connection does not fit the claim')) throw error
    return { records: [], decision: undefined, decidedAt: options.submittedAt, requests: [], log: [], isUnread: true }
  }
}
