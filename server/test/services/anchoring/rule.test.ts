import type { AnchorSighting } from '@claimcheck/core'
import {
  hasNews,
  isIntervalOver,
  nextStep,
  type Reaction,
  reactionTo,
} from '@claimcheck/server/services/anchoring/rule'
import t from 'tap'

const NOW = Date.UTC(2026, 8, 25, 12)
const STUCK_AFTER_MS = 1000
const mined = { state: 'mined', txHash: '0x1', blockNumber: 7 } as const
const landing = { uid: '0xu', txHash: '0x1', blockNumber: 7, blockTime: 1 }
const final = {
  state: 'final',
  anchor: { ...landing, chain: 'eip155:1', scheme: 'eas', treeSize: 3, rootHash: 'r' },
  cost: '5',
  gasUsed: 2,
} as const
const known = { state: 'waiting', isKnown: true } as const
const unknown = { state: 'waiting', isKnown: false } as const
const waits = (send: boolean, sign: boolean): Reaction => ({ do: 'wait', send, sign })

t.test('what is done next with an anchor follows from its state alone', async (t) => {
  t.equal(nextStep('planned'), 'sign')
  t.equal(nextStep('signed'), 'send')
  t.equal(nextStep('sent'), 'look')
  t.equal(nextStep('mined'), 'look')
})

const reactions: [name: string, state: 'sent' | 'mined', sentAgoMs: number, sighting: AnchorSighting, Reaction][] = [
  ['waits for a block', 'sent', 1, known, waits(false, false)],
  ['is sent again when no node holds it', 'sent', 1, unknown, waits(true, false)],
  ['is signed again with higher fees when it is stuck', 'sent', STUCK_AFTER_MS, known, waits(false, true)],
  ['is sent and signed again when it is stuck and lost', 'sent', STUCK_AFTER_MS, unknown, waits(true, true)],
  ['is mined', 'sent', 1, mined, { do: 'store', change: { state: 'mined', problem: null } }],
  ['waits for finality', 'mined', STUCK_AFTER_MS, mined, waits(false, false)],
  [
    'waits anew when its block is gone',
    'mined',
    STUCK_AFTER_MS,
    unknown,
    { do: 'store', change: { state: 'sent', sentAt: NOW } },
  ],
  [
    'is final',
    'mined',
    1,
    final,
    { do: 'store', change: { state: 'final', problem: null, landing: { ...landing, cost: '5', gasUsed: 2 } } },
  ],
  [
    'is dropped, and says why',
    'sent',
    1,
    { state: 'dropped', problem: 'nonce_taken' },
    { do: 'store', change: { state: 'dropped', problem: 'nonce_taken' } },
  ],
]

for (const [name, state, sentAgoMs, sighting, reaction] of reactions) {
  t.test(`an anchor that was ${state}, seen as ${sighting.state}, ${name}`, async (t) => {
    const moment = { now: NOW, stuckAfterMs: STUCK_AFTER_MS }
    t.strictSame(reactionTo(sighting, { state, sentAt: NOW - sentAgoMs }, moment), reaction)
  })
}

t.test('a root that is anchored is not anchored again, nor the empty tree', async (t) => {
  const newest = { plannedAt: NOW }
  t.equal(hasNews({ treeSize: 0, newest: undefined, newestFinal: undefined }), false)
  t.equal(hasNews({ treeSize: 1, newest: undefined, newestFinal: undefined }), true)
  t.equal(hasNews({ treeSize: 5, newest, newestFinal: { treeSize: 5 } }), false)
  t.equal(hasNews({ treeSize: 6, newest, newestFinal: { treeSize: 5 } }), true)
})

t.test('the interval is a minimum between two plans, whatever became of the first', async (t) => {
  const before = (ms: number) => ({ treeSize: 1, newest: { plannedAt: NOW - ms }, newestFinal: undefined })
  t.equal(isIntervalOver({ ...before(0), newest: undefined }, NOW, 1000), true)
  t.equal(isIntervalOver(before(999), NOW, 1000), false)
  t.equal(isIntervalOver(before(1000), NOW, 1000), true)
})
