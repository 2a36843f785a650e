// Test run: end-to-end, slow
/** What becomes of signed transactions: reorgs, replacements, other transactions with their nonce. */
import type { SignedAnchor } from '@claimcheck/core/plugin'
import t from 'tap'
import type { Chain } from '../../../test/chain/chain.ts'
import { answers } from '../../../test/chain/proxy.ts'
import {
  countAnchors,
  createAnchorer,
  failsWith,
  finalAnchor,
  GWEI,
  REVERTS,
  setUpPrepared,
  setUpSubmitted,
  signal,
  subjectOf,
  submit,
  wei,
} from './fixture.ts'

t.test('a reorg that moves the transaction gives the anchor another uid, and the final one is reported', async (t) => {
  const fixture = await setUpSubmitted(t)
  const { chain, subject, signed, look } = fixture
  await chain.mine()
  const before = await receiptOf(chain, signed)
  await chain.reorg(1, [signed.raw])
  const moved = await receiptOf(chain, signed)
  t.not(moved.logs[0].data, before.logs[0].data)
  t.equal((await look()).state, 'mined')
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, subject, [signed])
  t.equal(anchor.uid, moved.logs[0].data)
  t.equal(await countAnchors(fixture), 1)
})

t.test('a transaction that a reorg removes is waiting again, and is mined when it is sent again', async (t) => {
  const fixture = await setUpSubmitted(t)
  const { chain, anchorer, subject, signed, look } = fixture
  await chain.mine(2)
  t.equal((await look()).state, 'mined')
  await chain.reorg(2)
  t.same(await look(), { state: 'waiting', isKnown: false })
  await anchorer.send(signed, signal)
  await chain.mine()
  await chain.finalize()
  await finalAnchor(fixture, subject, [signed])
  t.equal(await countAnchors(fixture), 1)
})

t.test('a receipt from a block that was replaced is an error', async (t) => {
  const { chain, proxy, signed, look } = await setUpSubmitted(t)
  await chain.mine()
  const remembered = await receiptOf(chain, signed)
  await chain.reorg(1)
  await chain.finalize()
  proxy.inject({ on: 'eth_getTransactionReceipt', fault: answers(remembered) })
  await failsWith(t, 'unexpected_response', look())
})

t.test('a stuck transaction is signed again with fees raised by a quarter, and one of the two is mined', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const first = await submit(fixture, subject)
  const second = await submit(fixture, subject, [first])
  t.equal(second.nonce, first.nonce)
  t.ok(BigInt(second.maxFee) * 4n >= BigInt(first.maxFee) * 5n)
  t.ok(BigInt(second.priorityFee) * 4n >= BigInt(first.priorityFee) * 5n)
  t.same(await anchorer.look(subject, [first, second], signal), { state: 'waiting', isKnown: true })
  await chain.mine()
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, subject, [first, second])
  t.equal(anchor.txHash, second.txHash)
  t.equal(await countAnchors(fixture), 1)
})

t.test('when an earlier one of the signed transactions is mined, it is the anchor', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const first = await submit(fixture, subject)
  const second = await anchorer.sign(subject, [first], signal)
  await chain.mine()
  await anchorer.send(second, signal)
  await failsWith(t, 'nonce_taken', anchorer.sign(subject, [first, second], signal))
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, subject, [first, second])
  t.equal(anchor.txHash, first.txHash)
  t.equal(await countAnchors(fixture), 1)
})

t.test('the last raise goes up to the ceiling, and a further one is refused', async (t) => {
  const { chain, anchorer } = await setUpPrepared(t, { max_fee_gwei: 50 })
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', `0x${GWEI.toString(16)}`)
  await chain.mine()
  const subject = subjectOf(1)
  const signed = await anchorer.sign(subject, [], signal)
  const raise = (maxFee: number, priorityFee: number) =>
    anchorer.sign(subject, [{ ...signed, maxFee: wei(maxFee), priorityFee: wei(priorityFee) }], signal)

  t.match(await raise(20, 10), { maxFee: String(25n * GWEI + 1n), priorityFee: String(125n * (GWEI / 10n) + 1n) })
  // From 45 to the ceiling is just over a tenth, the smallest raise that nodes accept.
  t.match(await raise(45, 10), { maxFee: wei(50), priorityFee: String(125n * (GWEI / 10n) + 1n) })
  t.match(await raise(45, 45), { maxFee: wei(50), priorityFee: wei(50) })
  await failsWith(t, 'fee_ceiling', raise(46, 10))
  await failsWith(t, 'fee_ceiling', raise(50, 10))
})

t.test('another transaction with the nonce drops the anchor when its block is final', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const signed = await anchorer.sign(subject, [], signal)
  await submit(fixture, subjectOf(2))
  await chain.mine()
  t.same(await anchorer.look(subject, [signed], signal), { state: 'waiting', isKnown: true })
  await failsWith(t, 'nonce_taken', anchorer.sign(subject, [signed], signal))
  await t.resolves(anchorer.send(signed, signal))
  await chain.finalize()
  t.same(await anchorer.look(subject, [signed], signal), { state: 'dropped', problem: 'nonce_taken' })
})

t.test('an answer that lacks something does not mean that another transaction used the nonce', async (t) => {
  const { chain, proxy, look } = await setUpSubmitted(t)
  await chain.mine()
  const block = await chain.rpc('eth_getBlockByNumber', 'latest', true)
  await chain.finalize()
  proxy.inject({ on: 'eth_getTransactionReceipt', fault: answers(null), times: 1 })
  t.equal((await look()).state, 'final', 'a moment later the receipt is there')
  const behind: readonly (readonly [string, unknown])[] = [
    ['no block', null],
    ['another block', { ...block, number: '0x1' }],
    ['the block without the transaction', { ...block, transactions: [] }],
    ['a transaction of another block', { ...block, hash: `0x${'ab'.repeat(32)}` }],
    ['the block without a receipt', block],
  ]
  for (const [name, answer] of behind) {
    proxy.clear()
    proxy.inject({ on: 'eth_getTransactionReceipt', fault: answers(null) })
    proxy.inject({ on: 'eth_getBlockByNumber', with: true, fault: answers(answer) })
    await t.rejects(look(), { name: 'AnchorerError', code: 'unexpected_response' }, name)
  }
})

t.test('the transaction that used the nonce is found in a block of several megabytes', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, proxy, anchorer } = fixture
  const subject = subjectOf(1)
  const signed = await anchorer.sign(subject, [], signal)
  await submit(fixture, subjectOf(2))
  await chain.mine()
  const block = await chain.rpc('eth_getBlockByNumber', 'latest', true)
  await chain.finalize()
  const other = { ...block.transactions[0], from: chain.eas, input: `0x${'00'.repeat(2_000_000)}` }
  const transactions = [other, ...block.transactions]
  proxy.inject({ on: 'eth_getBlockByNumber', with: true, fault: answers({ ...block, transactions }) })
  t.same(await anchorer.look(subject, [signed], signal), { state: 'dropped', problem: 'nonce_taken' })
})

t.test('a transaction with a nonce above the next one is an error that names the missing nonces', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const first = await submit(fixture, subjectOf(1))
  await chain.mine()
  const subject = subjectOf(2)
  const signed = await submit(fixture, subject)
  await chain.reorg(1)
  await failsWith(t, 'nonce_gap', anchorer.look(subject, [signed], signal))
  await t.rejects(anchorer.look(subject, [signed], signal), { message: new RegExp(`nonce ${first.nonce}:`) })
  await anchorer.send(first, signal)
  await anchorer.send(signed, signal)
  await chain.mine()
  await chain.finalize()
  await finalAnchor(fixture, subject, [signed])
})

t.test('after a reorg has removed another transaction with the nonce, the anchor can be sent', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const signed = await anchorer.sign(subject, [], signal)
  await submit(fixture, subjectOf(2))
  await chain.mine()
  await chain.reorg(1)
  t.same(await anchorer.look(subject, [signed], signal), { state: 'waiting', isKnown: false })
  await anchorer.send(signed, signal)
  await chain.mine()
  await chain.finalize()
  await finalAnchor(fixture, subject, [signed])
})

for (const [where, distance] of [
  ['in the latest block', 0],
  ['a few blocks back', 2],
  ['long ago', 300],
] as const) {
  t.test(`an attestation of the subject by an unknown transaction is found ${where}`, async (t) => {
    const fixture = await setUpPrepared(t, { chain: { finalityDepth: 2 } })
    const { chain, anchorer } = fixture
    const subject = subjectOf(1)
    const known = await anchorer.sign(subject, [], signal)
    const unknown = await submit(fixture, subject, [known])
    await chain.mine()
    await chain.mine(distance)
    const state = distance < 2 ? 'mined' : 'final'
    t.match(await anchorer.look(subject, [known], signal), {
      state,
      ...(state === 'mined' && { txHash: unknown.txHash }),
    })
    await chain.finalize()
    const { anchor } = await finalAnchor(fixture, subject, [known])
    t.equal(anchor.txHash, unknown.txHash)
    t.equal(await countAnchors(fixture), 1)
  })
}

t.test('an attestation of the same root with another previous anchor is not the subject', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(2)
  const signed = await submit(fixture, subject)
  await chain.mine()
  await chain.finalize()
  const previous = { uid: `0x${'ab'.repeat(32)}`, treeSize: 1, rootHash: new Uint8Array(32) }
  await failsWith(t, 'unexpected_response', anchorer.look({ ...subject, previous }, [signed], signal))
})

t.test('a transaction that reverts drops the anchor when its block is final', async (t) => {
  const { chain, look } = await setUpSubmitted(t)
  const code = await chain.rpc('eth_getCode', chain.eas, 'latest')
  await chain.setCode(chain.eas, REVERTS)
  await chain.mine()
  await chain.setCode(chain.eas, code)
  t.equal((await look()).state, 'mined')
  await chain.finalize()
  t.same(await look(), { state: 'dropped', problem: 'reverted' })
})

t.test('a transaction that succeeds without an attestation is not an anchor', async (t) => {
  const { chain, look } = await setUpSubmitted(t)
  await chain.setCode(chain.eas, '0x00')
  await chain.mine()
  await chain.finalize()
  await failsWith(t, 'unexpected_response', look())
})

t.test('transactions are looked for under the account that signed them, whichever is configured', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const { key } = await chain.createAccount()
  const successor = await createAnchorer(t, chain, {}, key)
  await submit(fixture, subjectOf(1))
  await chain.mine()
  const subject = subjectOf(2)
  const signed = await anchorer.sign(subject, [], signal)
  t.same(await successor.look(subject, [signed], signal), { state: 'waiting', isKnown: false })
  await successor.send(signed, signal)
  await chain.mine()
  await chain.finalize()
  const { anchor } = await finalAnchor({ anchorer: successor }, subject, [signed])
  t.equal(anchor.txHash, signed.txHash)
})

t.test('an attestation of another account is not taken for ours', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const signed = await anchorer.sign(subject, [], signal)
  const { key } = await chain.createAccount()
  await submit({ anchorer: await createAnchorer(t, chain, {}, key) }, subject)
  await chain.mine()
  await chain.finalize()
  t.same(await anchorer.look(subject, [signed], signal), { state: 'waiting', isKnown: false })
})

// biome-ignore lint/suspicious/noExplicitAny: the tests read members of the node's answers.
function receiptOf(chain: Chain, { txHash }: SignedAnchor): Promise<any> {
  return chain.rpc('eth_getTransactionReceipt', txHash)
}
