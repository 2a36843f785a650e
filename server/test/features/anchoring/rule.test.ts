import type { AnchorSighting } from '@claimcheck/core/plugin'
import {
  hasUnanchoredEntries,
  isIntervalOver,
  outdatedBy,
  type Reaction,
  reactionTo,
} from '@claimcheck/server/features/anchoring/rule'
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
const moment = { now: NOW, stuckAfterMs: STUCK_AFTER_MS }
const AGO = NOW - 1
const LONG_AGO = NOW - STUCK_AFTER_MS
const SIGNED = [{ txHash: '0x1', nonce: 7, raw: '0x', maxFee: '2', priorityFee: '1' }]
const landed = { state: 'final', problem: null, landing: { ...landing, cost: '5', gasUsed: 2 } } as const

type Stored = Parameters<typeof reactionTo>[1]
const planned: Stored = { state: 'planned', signed: [], sentAt: null }
const signed: Stored = { state: 'signed', signed: SIGNED, sentAt: null }
const sent = (sentAt: number): Stored => ({ state: 'sent', signed: SIGNED, sentAt })
const inBlock = (sentAt: number): Stored => ({ state: 'mined', signed: SIGNED, sentAt })

const reactions: [name: string, Stored, AnchorSighting, Reaction][] = [
  ['is signed', planned, unknown, { sign: true }],
  [
    'is mined: another copy of the database has sent it',
    planned,
    mined,
    { change: { state: 'mined', problem: null, sentAt: NOW } },
  ],
  ['is final, the same', planned, final, { change: { ...landed, sentAt: NOW } }],
  ['is sent', signed, unknown, { send: true, change: { state: 'sent', sentAt: NOW, problem: null } }],
  ['was sent already', signed, known, { change: { state: 'sent', sentAt: NOW, problem: null } }],
  ['was sent, and is mined', signed, mined, { change: { state: 'mined', problem: null, sentAt: NOW } }],
  [
    'is sent with its new fees, and not stuck yet',
    { ...signed, sentAt: LONG_AGO },
    unknown,
    { send: true, change: { state: 'sent', sentAt: NOW, problem: null } },
  ],
  ['waits for a block', sent(AGO), known, {}],
  ['is sent again when no node holds it', sent(AGO), unknown, { send: true }],
  ['is signed again with higher fees when it is stuck', sent(LONG_AGO), known, { sign: true }],
  ['is sent and signed again when it is stuck and lost', sent(LONG_AGO), unknown, { send: true, sign: true }],
  ['is mined', sent(AGO), mined, { change: { state: 'mined', problem: null, sentAt: AGO } }],
  ['waits for finality', inBlock(LONG_AGO), mined, {}],
  ['waits anew when its block is gone', inBlock(LONG_AGO), unknown, { change: { state: 'sent', sentAt: NOW } }],
  [
    'is made anew when the block that it was found in is gone',
    { ...inBlock(AGO), signed: [] },
    unknown,
    { change: { state: 'planned', sentAt: null } },
  ],
  ['is final', inBlock(AGO), final, { change: { ...landed, sentAt: AGO } }],
  [
    'is dropped, and says why',
    sent(AGO),
    { state: 'dropped', problem: 'nonce_taken' },
    { change: { state: 'dropped', problem: 'nonce_taken' } },
  ],
]

for (const [name, stored, sighting, reaction] of reactions) {
  t.test(`an anchor that was ${stored.state}, seen as ${sighting.state}, ${name}`, async (t) => {
    t.strictSame(reactionTo(sighting, stored, moment), reaction)
  })
}

t.test('an anchor is outdated when its log has ended, or another chain or account is configured', async (t) => {
  const current = { logId: 'log', chain: 'eip155:1', scheme: 'eas', attester: '0xa' }
  t.equal(outdatedBy(current, current), undefined)
  t.equal(outdatedBy({ ...current, logId: 'before' }, current), 'log_ended')
  for (const other of [{ chain: 'eip155:2' }, { scheme: 'other' }, { attester: '0xb' }]) {
    t.equal(outdatedBy({ ...current, ...other }, current), 'anchorer_changed')
  }
})

t.test('a root that is anchored is not anchored again, nor the empty tree', async (t) => {
  const newest = { plannedAt: NOW }
  t.equal(hasUnanchoredEntries({ treeSize: 0, newest: undefined, newestFinal: undefined }), false)
  t.equal(hasUnanchoredEntries({ treeSize: 1, newest: undefined, newestFinal: undefined }), true)
  t.equal(hasUnanchoredEntries({ treeSize: 5, newest, newestFinal: { treeSize: 5 } }), false)
  t.equal(hasUnanchoredEntries({ treeSize: 6, newest, newestFinal: { treeSize: 5 } }), true)
})

t.test('the interval is a minimum between two plans, whatever became of the first', async (t) => {
  const before = (ms: number) => ({ treeSize: 1, newest: { plannedAt: NOW - ms }, newestFinal: undefined })
  t.equal(isIntervalOver({ ...before(0), newest: undefined }, NOW, 1000), true)
  t.equal(isIntervalOver(before(999), NOW, 1000), false)
  t.equal(isIntervalOver(before(1000), NOW, 1000), true)
})
