// Test run: slow
/** The trap table of `tracker.issue.transition`: no false `verified`, no false blame, and what is true gets told. */

import plugin from '@claimcheck/plugin-tickets'
import { shareOf } from '../../../../test/support/extent.ts'
import { playScene } from '../../../../test/traps/scripted-life.ts'
import { playTable, requireFacts } from '../../../../test/traps/verifier-table.ts'
import { type Row, setOf } from './row.ts'
import { ROWS } from './rows.ts'

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
  // The rules blame an outcome that came and went unseen in a history that forgets, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { plugin: name, answer, options, target, secret } = setOf(provider, scene)
  const lived = await playScene(scene, {
    plugin,
    connection: { provider: name, options },
    action: 'tracker.issue.transition',
    target,
    answer,
  })
  return { ...lived, secret }
}
