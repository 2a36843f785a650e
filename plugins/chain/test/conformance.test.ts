// Test run: slow
/** The plugin passes the conformance kit at a node of a chain. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import chain from '@claimcheck/plugin-chain'
import t from 'tap'
import { type Mined, NodeOfTests, SLOT_MS, word } from './node.ts'

t.setTimeout(500_000)

const MINUTE = 60_000
const FINALITY = 64
/** The block that is the newest when the kit begins. */
const NEWEST = 1000
const HASH = word('a1')
const OTHER = word('c3')
const SENDER = `0x${'5e'.repeat(20)}`
const RECIPIENT = `0x${'4e'.repeat(20)}`
const WALLET = `0x${'7c'.repeat(20)}`
const TOKEN = `0x${'70'.repeat(20)}`
const TOPIC = word('dd')
const KEY = 'a-key-of-the-provider'

const sent: Mined = { hash: HASH, from: SENDER, nonce: 0, to: RECIPIENT, value: 5n }

const MINED: readonly Mined[] = [
  { ...sent, block: NEWEST + 1, logs: [{ address: TOKEN, topics: [TOPIC, word('01')] }] },
]

const SITUATIONS: Readonly<Record<string, readonly Mined[]>> = {
  unknown: [],
  waiting: [sent],
  mined: MINED,
  final: MINED,
  late: [{ ...sent, block: NEWEST + 60 }],
  reverted: [{ ...sent, block: NEWEST + 1, reverted: true }],
  replaced: [{ ...sent, hash: OTHER, block: NEWEST + 1 }],
  toWallet: [{ ...sent, to: WALLET, block: NEWEST + 1 }],
  old: [{ ...sent, block: NEWEST - 500 }],
}
/** How the nonce stands: without it the transaction is as unknown. */
const COUNTS = [/eth_getTransactionCount/]
type Situation = keyof typeof SITUATIONS

const connection = (key: string) => (url: string) => ({
  provider: 'evm',
  options: { base_url: `${url}/v3`, chain_id: '1', key },
})

let node: NodeOfTests
const destination: Destination<Situation, undefined> = {
  async start({ now }) {
    node = new NodeOfTests({ genesisAt: now() - NEWEST * SLOT_MS, now, key: KEY })
    node.contracts = [WALLET]
    return node.start(FINALITY)
  },
  set(situation) {
    node.transactions = SITUATIONS[situation]!
    return undefined
  },
}

const claim = { target: 'eip155:1', params: { hash: HASH, sender: SENDER, nonce: 0 } }
const withParams = (params: object) => ({ ...claim, params: { ...claim.params, ...params } })
/** The block of what was sent is final by then. */
const submittedAfterMs = 20 * MINUTE

t.test('at a node', async (t) => {
  const report = await verifierConformance(t, {
    plugin: chain,
    connection: connection(KEY),
    destination,
    before: 'unknown',
    cases: [
      {
        name: 'sent as claimed',
        situation: 'mined',
        submittedAfterMs,
        claim: withParams({ recipient: RECIPIENT, value: '5', event: { contract: TOKEN, topics: [TOPIC] } }),
        sees: { kind: 'present', facts: { block: NEWEST + 1, value: '5', event_found: true } },
        verdict: 'verified',
      },
      {
        name: 'in a block that is not final yet',
        situation: 'unknown',
        changes: [
          { afterMs: MINUTE, situation: 'mined' },
          // The kit gives one answer for a situation, and the block is final by then.
          { afterMs: 18 * MINUTE, situation: 'final' },
        ],
        claim,
        sees: { kind: 'absent', mark: 'unsettled' },
        extraRoutes: COUNTS,
        verdict: 'verified',
      },
      {
        name: 'sent late',
        situation: 'late',
        submittedAfterMs: 40 * MINUTE,
        claim,
        sees: { kind: 'present' },
        verdict: 'late',
      },
      {
        name: 'of another value',
        situation: 'mined',
        submittedAfterMs,
        claim: withParams({ recipient: RECIPIENT, value: '6' }),
        sees: { kind: 'present', differs: ['value'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'an event that is not in it',
        situation: 'mined',
        submittedAfterMs,
        claim: withParams({ event: { contract: TOKEN, topics: [word('ee')] } }),
        sees: { kind: 'present', differs: ['event'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'to a contract, which may have paid the claimed recipient',
        situation: 'toWallet',
        submittedAfterMs,
        claim: withParams({ recipient: RECIPIENT }),
        sees: { error: 'ambiguous_claim' },
        verdict: 'unverifiable',
      },
      {
        name: 'reverted',
        situation: 'reverted',
        submittedAfterMs,
        claim,
        sees: { kind: 'absent', mark: 'final', facts: { reverted: true } },
        verdict: 'failed',
      },
      {
        name: 'replaced by another transaction of the same nonce',
        situation: 'replaced',
        submittedAfterMs,
        claim,
        sees: { kind: 'absent', mark: 'final', facts: { nonce_used_by: OTHER } },
        extraRoutes: COUNTS,
        verdict: 'failed',
      },
      {
        name: 'replaced, and the claim does not say whose it is',
        situation: 'replaced',
        submittedAfterMs,
        claim: { target: 'eip155:1', params: { hash: HASH } },
        sees: { kind: 'absent', mark: 'unsettled' },
        verdict: 'unverifiable',
      },
      {
        name: 'waiting for a block',
        situation: 'waiting',
        claim,
        sees: { kind: 'absent', mark: 'unsettled', facts: { pending: true } },
        extraRoutes: COUNTS,
        verdict: 'unverifiable',
      },
      {
        name: 'unknown to the node',
        situation: 'unknown',
        claim,
        sees: { kind: 'absent', mark: 'unsettled' },
        extraRoutes: COUNTS,
        verdict: 'unverifiable',
      },
      {
        name: 'there long before the claim',
        situation: 'old',
        claim,
        sees: { kind: 'present', facts: { preexisting: true } },
        verdict: 'verified',
      },
    ],
  })
  t.ok(report.ok)
})
