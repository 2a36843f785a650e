// Test run: slow
/** The trap table of `chat.message.post`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-chat'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { ALIKE } from './alike.ts'
import { DISCORD } from './discord.ts'
import { MATTERMOST } from './mattermost.ts'
import { OTHER_TEXT, type Row, SECOND, setOf, TEXT } from './row.ts'
import { startChat } from './server.ts'
import { SLACK } from './slack.ts'
import { CHANNEL_NAME } from './slack-api.ts'

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...SLACK, ...DISCORD, ...MATTERMOST, ...ALIKE],
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secret } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const word of [TEXT, OTHER_TEXT, CHANNEL_NAME, 'nelly', secret])
      t.notOk(kept.includes(word), 'no read keeps what was said, where and by whom in words, nor the token')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // What came and went before the first look is blamed by the rules, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs, instead, lag } = scene
  const { answer, options, target, secret } = setOf(provider, scene)
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const chat = await startChat({
    answer,
    now: clock.now,
    instead,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
  })
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider, options },
      destination: chat.url,
      claim: {
        action: 'chat.message.post',
        target,
        params: scene.params,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt, secret, faults: chat.faults }
  } finally {
    await chat.close()
  }
}
