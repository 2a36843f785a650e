import type { Receipt } from '@claimcheck/core/receipts'
import type { CheckRecord } from '@claimcheck/core/rules'
import { type Moment, type StoryOptions, storyOf } from '@claimcheck/server/features/console/claims/story'
import t from 'tap'
import { claimStatus } from '../../http/support/services.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000

const status = claimStatus(
  { clientClaimId: 'one', agentId: 'a', action: 'x.y.z', target: 't', params: {}, claimedAt: NOON },
  { submittedAt: NOON + 1000, deadlineAt: NOON + 15 * MINUTE_MS, nextCheckAt: null },
)

function detail(history: readonly CheckRecord[], over: Partial<typeof status> = {}): StoryOptions['detail'] {
  const profile = { action: 'x.y.z', version: '1' }
  const claim = { ...status, ...over }
  return { claim, payer: 'usr_1', params: {}, profile, access: 'anonymous', connectionId: null, history }
}

function absentAt(afterMs: number): CheckRecord {
  const at = NOON + afterMs
  return { sentAt: at, answeredAt: at, clockOffsetMs: 0, observation: { kind: 'absent', facts: { seen: 'no' } } }
}

function failedAt(afterMs: number, retryAt: number): CheckRecord {
  const at = NOON + afterMs
  return { sentAt: at, answeredAt: at, failure: { code: 'rate_limited', retryAt } }
}

const UNDECIDED = { toleranceMs: 10 * MINUTE_MS, receipt: undefined, landing: undefined, anchors: true }

/** Kinds in order, with the numbers of checks. */
function told(story: readonly Moment[]): string[] {
  return story.map((moment) =>
    moment.kind === 'checks' ? `checks ${moment.checks.map(({ number }) => number)}` : moment.kind,
  )
}

t.test('what happened and what is to come is in the order of its times', async (t) => {
  const story = storyOf({ detail: detail([absentAt(2000)], { nextCheckAt: NOON + 7000 }), ...UNDECIDED })
  t.strictSame(told(story), ['claimed', 'submitted', 'checks 1', 'next', 'tolerance', 'deadline'])
})

t.test('checks in a row that found the same are one moment, until something else happens', async (t) => {
  const history = [
    failedAt(1000, NOON),
    failedAt(2000, NOON + 5000),
    absentAt(3000),
    absentAt(4000),
    absentAt(11 * MINUTE_MS),
  ]
  const story = storyOf({ detail: detail(history), ...UNDECIDED })
  t.strictSame(told(story), ['claimed', 'submitted', 'checks 1,2', 'checks 3,4', 'tolerance', 'checks 5', 'deadline'])
})

t.test('without the profile that judges a claim, nothing is said of the tolerance', async (t) => {
  const story = storyOf({ detail: detail([]), ...UNDECIDED, toleranceMs: undefined })
  t.strictSame(told(story), ['claimed', 'submitted', 'deadline'])
})

t.test('what limited a claim is no part of its story once it is decided, unless it was over before', async (t) => {
  const decided = detail([absentAt(11 * MINUTE_MS)], { state: 'decided' })
  const receiptAt = (afterMs: number) => ({ body: { issued_at: new Date(NOON + afterMs).toISOString() } }) as Receipt
  const story = (receipt: Receipt | undefined, of = decided) => told(storyOf({ ...UNDECIDED, detail: of, receipt }))
  const start = ['claimed', 'submitted']
  const early = detail([absentAt(MINUTE_MS)], { state: 'decided' })
  t.strictSame(story(receiptAt(MINUTE_MS), early), [...start, 'checks 1', 'decided', 'unanchored'])
  const late = [...start, 'tolerance', 'checks 1', 'decided', 'unanchored']
  t.strictSame(story(receiptAt(12 * MINUTE_MS)), late)
  const over = [...start, 'tolerance', 'checks 1', 'deadline', 'decided', 'unanchored']
  t.strictSame(story(receiptAt(16 * MINUTE_MS)), over)
  t.strictSame(story(undefined), [...start, 'tolerance', 'checks 1'], 'also where the receipt cannot be shown')
  t.strictSame(story(undefined, detail([], { state: 'decided' })), start)
})

t.test('a decision, its leaf and its anchor come in this order, and an anchor to come comes last', async (t) => {
  const issuedAt = NOON + 3000
  const receipt = {
    body: { issued_at: new Date(issuedAt).toISOString() },
    proof: { leaf_index: 4, tree_size: 9 },
  } as Receipt
  const landing = { chain: 'eip155:1', txHash: '0x1', uid: '0x2' }
  const parts = {
    detail: detail([absentAt(3000)], { state: 'decided' }),
    toleranceMs: undefined,
    receipt,
    anchors: true,
  }
  const start = ['claimed', 'submitted', 'checks 1', 'decided', 'logged']

  const pending = storyOf({ ...parts, landing: undefined })
  t.strictSame(told(pending), [...start, 'unanchored'])
  t.match(
    pending.find(({ kind }) => kind === 'logged'),
    { at: issuedAt, leafIndex: 4, treeSize: 9 },
  )
  t.match(pending.at(-1), { isToCome: true })
  t.match(storyOf({ ...parts, landing: undefined, anchors: false }).at(-1), { kind: 'unanchored', isToCome: false })
  const block = { number: 7, time: NOON + MINUTE_MS }
  t.strictSame(told(storyOf({ ...parts, landing: { ...landing, block } })), [...start, 'anchored'])
  t.strictSame(told(storyOf({ ...parts, landing })), [...start, 'anchored'])
})
