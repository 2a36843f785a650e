// Test run: slow
/** The trap table of `calendar.event.create`: no false `verified`, no false blame, and what is true gets told. */
import plugin from '@claimcheck/plugin-calendar'
import { shareOf } from '../../../../test/support/extent.ts'
import { playScene } from '../../../../test/traps/scripted-life.ts'
import { playTable, requireFacts } from '../../../../test/traps/verifier-table.ts'
import { CALDAV_FALSE } from './caldav-false.ts'
import { CALDAV_HIDDEN } from './caldav-hidden.ts'
import { CALDAV_HONEST } from './caldav-honest.ts'
import { CALDAV_MOMENTS } from './caldav-moments.ts'
import { CALDAV_TIMES } from './caldav-times.ts'
import { GOOGLE_FALSE } from './google-false.ts'
import { GOOGLE_HIDDEN } from './google-hidden.ts'
import { GOOGLE_HONEST } from './google-honest.ts'
import { GOOGLE_MOMENTS } from './google-moments.ts'
import { ATTENDEE, SUMMARY } from './icalendar.ts'
import { type Row, setOf } from './row.ts'

const CALDAV = [...CALDAV_HONEST, ...CALDAV_MOMENTS, ...CALDAV_TIMES, ...CALDAV_FALSE, ...CALDAV_HIDDEN]
const GOOGLE = [...GOOGLE_HONEST, ...GOOGLE_MOMENTS, ...GOOGLE_FALSE, ...GOOGLE_HIDDEN]
const ROWS = [...CALDAV, ...GOOGLE]
/** The usual run plays every so many rows. */
const SHARE = 4

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: process.env.ROW === undefined ? shareOf(ROWS, 0, SHARE) : ROWS,
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secrets } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const word of [SUMMARY, ATTENDEE, ...secrets])
      t.notOk(kept.includes(word), 'no read keeps what an event is about, who attends, nor a secret')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // The rules blame an outcome that came and went before the first look, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { answer, options, target, secrets } = setOf(provider, scene)
  const lived = await playScene(scene, {
    plugin,
    pluginOptions: (url) => ({ google_token_url: `${url}/token` }),
    connection: { provider, options },
    action: 'calendar.event.create',
    target,
    answer,
  })
  return { ...lived, secrets }
}
