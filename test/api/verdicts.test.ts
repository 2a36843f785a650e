import { checkEvidence, checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { readPublished } from '../../core/test/conformance.ts'
import { afterFile } from '../support/after-file.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'

const MINUTE_MS = 60_000
const TOLERANCE_MS = 10 * MINUTE_MS

const clock = new SkippingClock()
const installation = await Installation.start({
  file: { checks: { closing_ms: 5000, grace_ms: 4000, timeout_ms: 800, first_answer_ms: 400 } },
  now: clock.now,
})
const stopSkipping = clock.skip(installation.claimcheck)
afterFile(async () => {
  await stopSkipping()
  await installation.remove()
})
const client: Client = await installation.client('verdicts')

/** A claim whose tolerance ends in `toleranceEndsInMs`, and whose deadline is `deadlineMs` after that. */
function times(toleranceEndsInMs: number, deadlineMs: number) {
  const claimedAt = clock.now() + toleranceEndsInMs - TOLERANCE_MS
  return {
    claimed_at: new Date(claimedAt).toISOString(),
    deadline_at: new Date(claimedAt + TOLERANCE_MS + deadlineMs).toISOString(),
  }
}

const publishedSchema = new Ajv2020({ strict: false }).compile(JSON.parse(readPublished('poaw', 'receipt.schema.json')))

interface Row {
  readonly name: string
  readonly claim: () => object
  readonly verdict: string
  readonly reason: string | null
  readonly result: string
}

const rows: Row[] = [
  {
    name: 'seen at once',
    claim: () => ({ params: { see: 'present' } }),
    verdict: 'verified',
    reason: null,
    result: 'present',
  },
  {
    name: 'seen only after the end of the tolerance',
    claim: () => ({
      params: { see: 'absent', later: { at: clock.now() + 15_000, see: 'present' } },
      ...times(10_000, 30_000),
    }),
    verdict: 'late',
    reason: 'observed_after_tolerance',
    result: 'present',
  },
  {
    name: 'a difference until the deadline',
    claim: () => ({ params: { see: 'differs' }, ...times(3000, 6000) }),
    verdict: 'mismatch',
    reason: 'content_mismatch',
    result: 'differs',
  },
  {
    name: 'absent until the deadline',
    claim: () => ({ params: { see: 'absent' }, ...times(3000, 6000) }),
    verdict: 'failed',
    reason: 'not_found',
    result: 'absent',
  },
  {
    name: 'seen too late to tell when it came',
    claim: () => ({ params: { see: 'present' }, ...times(-60_000, 61_000) }),
    verdict: 'unverifiable',
    reason: 'claim_ambiguous',
    result: 'present',
  },
  {
    name: 'absent, and submitted long after the deadline',
    claim: () => ({ params: { see: 'absent' }, ...times(-5 * MINUTE_MS, MINUTE_MS) }),
    verdict: 'unverifiable',
    reason: 'claim_ambiguous',
    result: 'absent',
  },
  ...(
    [
      ['unavailable', 'destination_unavailable'],
      ['forbidden', 'permission_denied'],
      ['rate_limited', 'rate_limited'],
      ['throw', 'verifier_error'],
      ['nonsense', 'verifier_error'],
      ['hang', 'destination_unavailable'],
    ] as const
  ).map(([see, reason]) => ({
    name: `${see} until the grace is over`,
    claim: () => ({ params: { see }, ...times(2000, 3000) }),
    verdict: 'unverifiable',
    reason,
    result: 'failed',
  })),
  {
    name: 'told to come back after the grace',
    claim: () => ({ params: { see: 'rate_limited', retry_after_ms: 60 * MINUTE_MS } }),
    verdict: 'unverifiable',
    reason: 'rate_limited',
    result: 'failed',
  },
  {
    name: 'an action that nobody here can check',
    claim: () => ({ action: 'test.outcome.unknown', params: { any: ['thing', 1, null] } }),
    verdict: 'unverifiable',
    reason: 'unsupported_action',
    result: 'failed',
  },
]

t.test('each verdict and reason comes with a receipt that holds', { jobs: rows.length }, async (t) => {
  for (const { name, claim, verdict, reason, result } of rows) {
    t.test(`${name}: ${[verdict, reason].filter(Boolean).join(' / ')}`, async (t) => {
      const { given, submitted } = await clock.during(async () => {
        const given = claim()
        return { given, submitted: await client.submit(given) }
      })
      t.equal(submitted.status, 202)
      t.match(submitted.body, { created: true, claim_id: /^clm_[0-9A-Z]{26}$/ })
      const status = await client.decided(submitted.body.claim_id)
      t.match(status, { state: 'decided', verdict, reason_code: reason, next_check_at: null, last_check: { result } })

      const { body: receipt } = await installation.request(`/v1/receipts/${status.receipt_id}`)
      t.match(receipt.body, {
        receipt_id: status.receipt_id,
        verdict: { value: verdict, ...(reason ? { reason_code: reason } : {}) },
        claim: { ...given, deadline_at: undefined, claim_digest: status.claim_digest },
        observation: { attempts: status.attempts, deadline_at: status.deadline_at },
        trust_level: 2,
      })
      const text = await (await fetch(`${installation.url}/v1/receipts/${status.receipt_id}`)).text()
      const keys = await (await fetch(`${installation.url}/.well-known/poaw-keys.json`)).text()
      const report = await checkReceipt(text, { keys: parseKeySet(keys) })
      t.match(report, { valid: true, verdict, achieved_trust_level: 1, checks: { inclusion: true, signature: true } })
      const evidence = await (await fetch(`${installation.url}/v1/receipts/${status.receipt_id}/evidence`)).text()
      t.match(checkEvidence(receipt.body, evidence), { evidence: 'follows', rules: 'unknown' })
      t.ok(publishedSchema(receipt), JSON.stringify(publishedSchema.errors))
    })
  }
})

t.test('a claim that is not decided yet is queued, and says how it stands', async (t) => {
  const { body } = await client.submit({ params: { see: 'absent' } })
  t.match(body, { state: 'queued', attempts: 1, receipt_id: null, verdict: null, reason_code: null })
  t.match(body, { last_check: { result: 'absent', facts: { seen: 'absent' } } })
  t.ok(Date.parse(body.next_check_at) > Date.parse(body.last_check.at))
  t.equal(Date.parse(body.deadline_at) - Date.parse(body.claimed_at), 15 * MINUTE_MS)
})

t.test('an answer does not wait for a slow first check', async (t) => {
  const { body } = await client.submit({ params: { see: 'hang' } })
  t.match(body, { state: 'queued', attempts: 0, last_check: null })
})

t.test('the destination is not looked at before its Retry-After', async (t) => {
  const { body } = await client.submit({ params: { see: 'rate_limited', retry_after_ms: 30_000 } })
  t.match(body, { state: 'queued', last_check: { result: 'failed', code: 'rate_limited' } })
  t.ok(Date.parse(body.next_check_at) - Date.parse(body.last_check.at) >= 29_000)
})
