/** The time line of a claim: times by the clock, with the distance to the claim, and reads that saw the same joined. */
import type { CheckRecord } from '@claimcheck/core/rules'
import { Timeline } from '@claimcheck/server/features/console/parts/timeline'
import { Now } from '@claimcheck/server/web/parts/values'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import t from 'tap'

type Props = Parameters<typeof Timeline>[0]

const CLAIMED = Date.UTC(2026, 0, 31, 23, 59, 30)
const MINUTE_MS = 60_000

function check(afterMs: number) {
  const at = CLAIMED + afterMs
  const record: CheckRecord = {
    sentAt: at,
    answeredAt: at,
    clockOffsetMs: 0,
    observation: { kind: 'absent', facts: { seen: '\u202eabsent' } },
  }
  return record
}

const moments: Props['moments'] = [
  { kind: 'claimed', at: CLAIMED },
  { kind: 'submitted', at: CLAIMED + 400 },
  {
    kind: 'checks',
    at: CLAIMED + 7000,
    checks: [7000, 37_000].map((ms, index) => ({ number: index + 1, record: check(ms) })),
  },
  { kind: 'tolerance', at: CLAIMED + 10 * MINUTE_MS },
  { kind: 'deadline', at: CLAIMED + 15 * MINUTE_MS },
]
const claim = { agentId: 'agent\u2067', claimedAt: CLAIMED } as Props['claim']
const now = CLAIMED + 12 * MINUTE_MS
const html = renderToString(h(Now.Provider, { value: now }, h(Timeline, { moments, claim, profile: undefined })))
const lines = html.split('<li').slice(1)
const text = lines.map((line) =>
  `<li${line}`
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim(),
)

t.test('each moment tells the clock and the distance to the claim, and the day where it changes', async (t) => {
  t.match(text[0], /^2026-01-31 23:59:30 UTC Claimed by agent/)
  t.equal(text[1], '23:59:30 UTC +0.4 s Submitted')
  t.match(text[5], /^2026-02-01 00:09:30 UTC \+10 min End of the tolerance/)
  t.match(text[6], /^00:14:30 UTC \+15 min to come Deadline/)
  t.match(html, 'datetime="2026-01-31T23:59:37.000Z" title="2026-01-31 23:59:37.000 UTC"')
})

t.test('checks that saw the same are one line, and each of them is told on demand', async (t) => {
  t.match(text[2], /^23:59:37 UTC \+7 s Checks 1 to 2 : it is not there seen \S+ 2 checks with this result, /)
  t.match(text[2], /the last at 2026-02-01 00:00:07 UTC \+37 s$/)
  t.equal(text[3], 'Check 1, 23:59:37 UTC +7 s')
  t.equal(text[4], 'Check 2, 2026-02-01 00:00:07 UTC +37 s')
})

t.test('nothing that an agent or a destination writes turns the direction of the line', async (t) => {
  t.notMatch(html, /[\u202e\u2067]/)
  t.match(text[0], 'agent&lt;U+2067>')
  t.match(text[2], '&lt;U+202E>absent')
})
