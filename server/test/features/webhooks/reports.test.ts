/** What a report says of a claim, on which commit, and what nobody can do with the words in it. */
import type { JsonObject } from '@claimcheck/core/rules'
import { code, commentOf, isOvertaken, MARKER, reportOf } from '@claimcheck/server/features/webhooks/reports'
import type { ReportedClaim } from '@claimcheck/server/storage/webhooks'
import t from 'tap'

const OWN = 'https://claims.example.com'
const SHA = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const NOON = Date.UTC(2026, 8, 25, 12)

const claim = (change: Partial<ReportedClaim> = {}): ReportedClaim => ({
  claimId: 'clm_1',
  agentId: 'release-bot',
  profileAction: 'codehost.checks.pass',
  params: { sha: SHA },
  verdict: 'verified',
  reasonCode: null,
  receiptId: 'rcpt_1',
  submittedAt: NOON,
  ...change,
})
const ofPull = (change: Partial<ReportedClaim> = {}) =>
  claim({ profileAction: 'codehost.pull_request.open', params: { number: 7, head_sha: SHA }, ...change })

t.test('a report is on the commit that the claim names, or that the host showed', (t) => {
  const rows: readonly (readonly [what: string, claim: ReportedClaim, facts: JsonObject, sha: string | undefined])[] = [
    ['a commit', claim(), {}, SHA],
    ['a head', ofPull(), {}, SHA],
    ['a verified head that is no longer the head', ofPull(), { head_sha: OTHER }, undefined],
    ['another head than the claimed one', ofPull({ verdict: 'mismatch' }), { head_sha: OTHER }, OTHER],
    ['a head that the host did not show', ofPull({ verdict: 'failed' }), {}, undefined],
    ['a head that only the host told', ofPull({ params: { number: 7 } }), { head_sha: OTHER }, OTHER],
    ['a pull request that is not there', ofPull({ params: { number: 7 } }), {}, undefined],
    ['no commit at all', claim({ params: { tag: 'v1' } }), {}, undefined],
    ['a short id', claim({ params: { sha: 'abcdef1' } }), {}, undefined],
    ['a path in place of an id', claim({ params: { sha: `../../${SHA}` } }), {}, undefined],
    ['what is no text', claim({ params: { sha: [SHA] } }), {}, undefined],
    ['an id of 64 characters', claim({ params: { sha: 'c'.repeat(64) } }), {}, 'c'.repeat(64)],
    ['a claim that is not decided', claim({ verdict: null, receiptId: null }), {}, undefined],
    ['an erased claim', claim({ params: {}, agentId: '' }), {}, undefined],
  ]
  for (const [what, one, facts, sha] of rows) t.equal(reportOf(one, facts, OWN)?.sha, sha, what)
  t.match(reportOf(claim(), {}, OWN), { name: 'claimcheck/codehost.checks.pass', link: `${OWN}/r/rcpt_1` })
  t.end()
})

t.test('the words of a report are ours, and fit a status', (t) => {
  for (const verdict of ['verified', 'late', 'mismatch', 'failed', 'unverifiable'] as const) {
    for (const reasonCode of [null, 'not_found', 'destination_unavailable', 'claim_ambiguous'] as const) {
      const { words } = reportOf(claim({ verdict, reasonCode, agentId: 'evil' }), {}, OWN)!
      t.ok(words.length <= 140 && !words.includes('evil'), words)
      t.equal(words.slice(0, verdict.length).toLowerCase(), verdict)
    }
  }
  t.end()
})

t.test(
  'of several claims of one thing the one that was submitted last is reported, whenever they were decided',
  (t) => {
    const older = claim()
    const newer = claim({ claimId: 'clm_0', submittedAt: NOON + 1 })
    const rows: readonly (readonly [
      what: string,
      one: ReportedClaim,
      others: readonly ReportedClaim[],
      is: boolean,
    ])[] = [
      ['alone', older, [older], false],
      ['older', older, [older, newer], true],
      ['newer', newer, [older, newer], false],
      ['at the same moment', older, [claim({ claimId: 'clm_2' })], true],
      ['another commit', older, [claim({ claimId: 'clm_2', params: { sha: OTHER } })], false],
      ['another action', older, [claim({ claimId: 'clm_2', profileAction: 'codehost.commit.push' })], false],
      ['another pull request', ofPull(), [ofPull({ claimId: 'clm_2', params: { number: 8, head_sha: SHA } })], false],
      ['another head', ofPull(), [ofPull({ claimId: 'clm_2', params: { number: 7, head_sha: OTHER } })], true],
    ]
    for (const [what, one, others, is] of rows) t.equal(isOvertaken(one, others), is, what)
    t.end()
  },
)

t.test('a comment has the last claim of each action about the pull request', (t) => {
  const all = [
    ofPull(),
    ofPull({
      claimId: 'clm_2',
      submittedAt: NOON + 1,
      verdict: 'failed',
      reasonCode: 'not_found',
      receiptId: 'rcpt_2',
    }),
    claim({ claimId: 'clm_3', receiptId: 'rcpt_3' }),
    claim({ claimId: 'clm_4', receiptId: 'rcpt_4', params: { sha: OTHER } }),
    ofPull({
      claimId: 'clm_5',
      receiptId: 'rcpt_5',
      params: { number: 8 },
      profileAction: 'codehost.pull_request.merge',
    }),
  ]
  const body = commentOf(7, SHA, all, OWN)
  t.ok(body.startsWith(`${MARKER}\n`))
  t.strictSame(body.match(/rcpt_\d/g)?.toSorted(), ['rcpt_2', 'rcpt_3'])
  t.match(body, /- \*\*failed\*\*: `codehost\.pull_request\.open` by `release-bot`\. Failed\. /)
  t.end()
})

t.test('words of others are code in one line, which hosts read as nothing else', (t) => {
  for (const words of [
    '@octocat @acme/team #123 acme/api#1 !7 $snippet %milestone ~label :fire:',
    '[click](https://evil.example) ![x](https://evil.example/x.png) https://evil.example <img src=x>',
    'a\r\n\r\n# Title\n- **verified**\u2028\u2029\u0085',
    '`code` ``two`` ```\n@octocat\n```',
    '<!-- claimcheck: the claims about this pull request -->',
    `x${'`'.repeat(300)}@octocat`,
    '\\`@octocat',
    'x\u202eevil\u200b',
  ]) {
    const written = code(words)
    t.match(written, /^`[^`\n\r\u0085\u2028\u2029\u202e]+`$/, encodeURIComponent(words).slice(0, 60))
    t.ok(written.length <= 220)
    const body = commentOf(7, SHA, [ofPull({ agentId: words })], OWN)
    t.equal(body.split('\n').length, 4)
    t.ok(body.includes(written))
  }
  t.equal(code(''), '')
  t.end()
})
