/** The title and the reason of a decided claim, for each verdict, with and without the words of a profile. */
import { duration, offset } from '@claimcheck/core/words/durations'
import { type Decided, decidedBy, headlineOf, reasonOf } from '@claimcheck/server/web/receipt-view/headline'
import t from 'tap'

const SHA = '3f2a9c1d2e3f'.padEnd(40, '0')
const worded = {
  words: {
    title: 'Push',
    target: 'Repository',
    claim: 'A push.',
    outcomes: {
      verified: 'Commit {sha:short} was on {branch} in time.',
      late: 'It came onto {branch} too late.',
      mismatch: 'It was found on {found_on}, not on {branch}.',
      failed: 'It was not on {branch}.',
    },
  },
}
const named = { target: 'acme/api', params: { sha: SHA, branch: 'main' }, facts: { found_on: 'dev' } }
const branch = { name: 'branch', title: 'Branch', claimed: 'main', found: 'dev', differs: true }
const plain: Decided = { verdict: 'verified', named, fields: [] }
const told: Decided = { ...plain, worded, toleranceMs: 600_000 }

const rows: [headline: string, reason: string, decided: Decided][] = [
  [
    'Commit 3f2a9c1d2e3f was on main in time',
    'It was there 37 s after the claim, and the tolerance is 10 min.',
    { ...told, afterMs: 37_000 },
  ],
  [
    'Commit 3f2a9c1d2e3f was on main in time',
    'It was there when the agent claimed it, and the tolerance is 10 min.',
    { ...told, afterMs: 0 },
  ],
  ['There as claimed, in time', 'The outcome is there as claimed, and it appeared in time.', { ...plain, afterMs: 1 }],
  [
    'Too late: there 12 min 5 s after the claim',
    'It came onto main too late.',
    { ...told, verdict: 'late', reason: 'observed_after_tolerance', afterMs: 725_000 },
  ],
  [
    'There as claimed, but too late',
    'The outcome is there as claimed, but it appeared after the tolerance.',
    { ...plain, verdict: 'late' },
  ],
  [
    'Found on dev, not main',
    'It was found on dev, not on main.',
    { ...told, verdict: 'mismatch', fields: [{ ...branch, fact: 'found_on', factTitle: 'Found on' }] },
  ],
  [
    'Branch: dev, not main; Commit: 9, not 3f2a9c1d2e3f',
    'Something is there, but it is not what was claimed.',
    {
      ...plain,
      verdict: 'mismatch',
      fields: [branch, { name: 'sha', title: 'Commit', claimed: SHA, found: 9, differs: true }],
    },
  ],
  [
    'Branch not main',
    'Something is there, but it is not what was claimed.',
    { ...plain, verdict: 'mismatch', fields: [{ name: 'branch', title: 'Branch', claimed: 'main', differs: true }] },
  ],
  ['Not as claimed', 'It was found on dev, not on main.', { ...told, verdict: 'mismatch' }],
  ['Not there by the deadline', 'It was not on main.', { ...told, verdict: 'failed', reason: 'not_found' }],
  [
    'Could not be checked',
    'The destination limited the number of requests. This says nothing for or against the agent.',
    { ...told, verdict: 'unverifiable', reason: 'rate_limited' },
  ],
]

for (const [headline, reason, decided] of rows) {
  t.test(`${decided.verdict}: “${headline}”, because “${reason}”`, async (t) => {
    t.equal(headlineOf(decided), headline)
    t.equal(reasonOf(decided), reason)
  })
}

t.test('no value of an agent or a destination turns the text around it, or runs on for ever', async (t) => {
  const field = { ...branch, claimed: '\u202eniam', found: 'x'.repeat(200) }
  const decided: Decided = {
    ...told,
    verdict: 'mismatch',
    fields: [field],
    named: { ...named, facts: { found_on: '\u2067a\n' } },
  }
  t.equal(headlineOf(decided), `Branch: ${'x'.repeat(39)}…, not <U+202E>niam`)
  t.equal(reasonOf(decided), 'It was found on <U+2067>a<U+000A>, not on main.')
})

t.test('a receipt tells how long after the claim the outcome was there', async (t) => {
  const body = {
    claim: { target: 'acme/api', params: {}, claimed_at: '2026-01-01T00:00:00.000Z' },
    observation: { facts: {}, appeared: { not_after: '2026-01-01T00:00:37.500Z', source: 'observation' } },
    verdict: { value: 'verified' },
  } as unknown as Parameters<typeof decidedBy>[0]['body']
  t.equal(decidedBy({ body }).afterMs, 37_500)
  t.equal(
    decidedBy({ body: { ...body, observation: { ...body.observation, appeared: undefined! } } }).afterMs,
    undefined,
  )
})

const lengths: [ms: number, words: string][] = [
  [0, '0 s'],
  [499, '0.4 s'],
  [37_000, '37 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min'],
  [725_999, '12 min 5 s'],
  [7_380_000, '2 h 3 min'],
  [90_000_000, '1 d 1 h'],
]
for (const [ms, words] of lengths) {
  t.test(`a length of ${ms} ms is ${words}`, async (t) => {
    t.equal(duration(ms), words)
    t.equal(offset(-ms - 0.1), `−${words}`)
    t.equal(offset(ms), `+${words}`)
  })
}
