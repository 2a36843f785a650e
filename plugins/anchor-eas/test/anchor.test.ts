// Test run: end-to-end, slow
/** Signs, sends and finds anchors on a local chain with the real contracts. */
import { fromBase64url } from '@claimcheck/core/plugin'
import { createEasChecker } from '@claimcheck/plugin-anchor-eas/checker'
import t from 'tap'
import { answers, refuses } from '../../../test/chain/proxy.ts'
import {
  after,
  attestationOf,
  countAnchors,
  createAnchorer,
  EAS,
  failsWith,
  finalAnchor,
  GWEI,
  REVERTS,
  setUp,
  setUpPrepared,
  setUpSubmitted,
  signal,
  subjectOf,
  submit,
  wei,
} from './fixture.ts'

t.test('an anchor is an attestation of the root, and final when its block is final', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(7)
  const signed = await submit(fixture, subject)
  await chain.mine()
  const { number } = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  const blockNumber = Number(number)
  t.same(await anchorer.look(subject, [signed], signal), { state: 'mined', txHash: signed.txHash, blockNumber })
  await chain.mine(chain.finalityDepth - 1)
  t.equal((await anchorer.look(subject, [signed], signal)).state, 'mined')
  await chain.mine()

  const { anchor, cost, gasUsed } = await finalAnchor(fixture, subject, [signed])
  const receipt = await chain.rpc('eth_getTransactionReceipt', signed.txHash)
  const block = await chain.rpc('eth_getBlockByNumber', number, false)
  t.match(anchor, {
    chain: 'eip155:31337',
    scheme: 'eas',
    uid: receipt.logs[0].data,
    txHash: signed.txHash,
    treeSize: 7,
    rootHash: Buffer.from(subject.rootHash).toString('base64url'),
    blockNumber,
    blockTime: Number(block.timestamp),
  })
  t.equal(BigInt(cost), BigInt(gasUsed) * BigInt(receipt.effectiveGasPrice))
  t.equal(gasUsed, Number(receipt.gasUsed))
})

t.test('an attestation has the log, the tree sizes and roots, and the previous attestation', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const first = subjectOf(1)
  const signed = await submit(fixture, first)
  await chain.mine(chain.finalityDepth + 1)
  const { anchor } = await finalAnchor(fixture, first, [signed])
  const second = subjectOf(300, after(anchor))
  const next = await submit(fixture, second)
  await chain.mine(chain.finalityDepth + 1)
  const { anchor: nextAnchor } = await finalAnchor(fixture, second, [next])

  const attestation = await attestationOf(fixture, nextAnchor.uid)
  const { attester, schema } = anchorer.identity()
  t.equal(attester, chain.account.address)
  t.same(attestation.toObject(), {
    uid: nextAnchor.uid,
    schema,
    time: BigInt(nextAnchor.blockTime),
    expirationTime: 0n,
    revocationTime: 0n,
    refUID: anchor.uid,
    recipient: `0x${'0'.repeat(40)}`,
    attester,
    revocable: false,
    data: attestation.data,
  })
  t.same(EAS.getAbiCoder().decode(['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'], attestation.data), [
    hex(Buffer.from(second.logId, 'base64url')),
    300n,
    hex(second.rootHash),
    1n,
    hex(first.rootHash),
    'poaw/0.1',
  ])
  t.equal((await attestationOf(fixture, anchor.uid)).refUID, `0x${'0'.repeat(64)}`)
})

t.test('a final anchor passes the check of a stranger who knows the account and the schema', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(7)
  const signed = await submit(fixture, subject)
  await chain.mine(chain.finalityDepth + 1)
  const { anchor } = await finalAnchor(fixture, subject, [signed])

  const checker = createEasChecker({ rpcUrl: chain.rpcUrl, easAddress: chain.eas })
  const { attester, schema } = anchorer.identity()
  const { uid, txHash, treeSize, rootHash } = anchor
  const published = { anchorAddresses: [attester], anchorSchemas: [schema] }
  const named = { chain: anchor.chain, scheme: 'eas', uid, tx_hash: txHash, tree_size: treeSize } as const
  t.ok(checker.knows(named))
  t.same(await checker.read(named, published), {
    logId: fromBase64url(subject.logId),
    treeSize: 7,
    rootHash: fromBase64url(rootHash),
    provenBy: anchor.blockTime * 1000,
  })
})

t.test('signing a subject again on the same chain gives the same transaction', async (t) => {
  const { anchorer } = await setUpPrepared(t)
  const subject = subjectOf(1)
  t.same(await anchorer.sign(subject, [], signal), await anchorer.sign(subject, [], signal))
})

t.test('signing sends nothing, and a subject without a sent transaction is waiting', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer } = fixture
  const subject = subjectOf(1)
  t.same(await anchorer.look(subject, [], signal), { state: 'waiting', isKnown: false })
  const signed = await anchorer.sign(subject, [], signal)
  t.same(await anchorer.look(subject, [signed], signal), { state: 'waiting', isKnown: false })
  t.equal(await countAnchors(fixture), 0)
})

t.test('sending a transaction again, before or after it is mined, is no error and no second anchor', async (t) => {
  const fixture = await setUpSubmitted(t)
  const { chain, anchorer, signed, look } = fixture
  await anchorer.send(signed, signal)
  t.same(await look(), { state: 'waiting', isKnown: true })
  await chain.mine()
  await anchorer.send(signed, signal)
  t.equal(await countAnchors(fixture), 1)
})

t.test('refusals because of a nonce or a fee, in the words of all common nodes, are not errors', async (t) => {
  const { proxy, anchorer } = await setUpPrepared(t)
  const signed = await anchorer.sign(subjectOf(1), [], signal)
  const words = [
    'already known',
    'AlreadyKnown',
    'ALREADY_EXISTS: already known',
    'Known transaction',
    'nonce too low: next nonce 5, tx nonce 4',
    'OldNonce',
    'replacement transaction underpriced',
    'ReplacementNotAllowed',
    'transaction underpriced: gas tip cap 0, minimum needed 1',
    'max fee per gas less than block base fee',
    'FeeTooLow',
  ]
  for (const message of words) {
    proxy.clear()
    proxy.inject({ on: 'eth_sendRawTransaction', fault: refuses(message) })
    await t.resolves(anchorer.send(signed, signal), message)
  }
})

t.test('a node that answers with the hash of another transaction is an error', async (t) => {
  const { proxy, anchorer } = await setUpPrepared(t)
  const signed = await anchorer.sign(subjectOf(1), [], signal)
  proxy.inject({ on: 'eth_sendRawTransaction', fault: answers(`0x${'ab'.repeat(32)}`) })
  await failsWith(t, 'unexpected_response', anchorer.send(signed, signal))
})

t.test('on an OP-stack chain the contracts are known, and the cost includes the fee for the chain below', async (t) => {
  const chain = { chainId: 84532, predeploys: true }
  const { chain: baseSepolia, proxy } = await setUp(t, { chain })
  const anchorer = await createAnchorer(t, baseSepolia, { rpc_url: proxy.url, chain: 'base-sepolia' })
  await anchorer.prepare(signal)
  const subject = subjectOf(1)
  const signed = await submit({ anchorer }, subject)
  await baseSepolia.mine(baseSepolia.finalityDepth + 1)
  const { anchor, cost } = await finalAnchor({ anchorer }, subject, [signed])
  t.equal(anchor.chain, 'eip155:84532')
  const receipt = await baseSepolia.rpc('eth_getTransactionReceipt', signed.txHash)
  proxy.inject({ on: 'eth_getTransactionReceipt', fault: answers({ ...receipt, l1Fee: '0x64' }) })
  const withL1Fee = await finalAnchor({ anchorer }, subject, [signed])
  t.equal(BigInt(withL1Fee.cost), BigInt(cost) + 100n)
})

t.test('when no block is finalized, an anchor is final with enough blocks after its own', async (t) => {
  const { chain, proxy, look } = await setUpSubmitted(t, { chain: { finalityDepth: 64 }, confirmations: 3 })
  proxy.inject({ on: 'eth_getBlockByNumber', with: 'finalized', fault: refuses('finalized block not found') })
  await chain.mine(3)
  t.equal((await look()).state, 'mined')
  await chain.mine()
  t.equal((await look()).state, 'final')
})

t.test('when a block is finalized, confirmations do not count', async (t) => {
  const { chain, proxy, look } = await setUpSubmitted(t, { confirmations: 1 })
  await chain.mine(chain.finalityDepth)
  t.equal((await look()).state, 'mined')
  proxy.inject({ on: 'eth_getBlockByNumber', with: 'finalized', fault: refuses('internal error') })
  await failsWith(t, 'unexpected_response', look())
  proxy.clear()
  await chain.mine()
  t.equal((await look()).state, 'final')
})

t.test('fees above the ceiling are refused', async (t) => {
  const { chain, anchorer } = await setUpPrepared(t, { max_fee_gwei: 50 })
  await setBaseFee(chain, 48n * GWEI)
  const { maxFee, priorityFee } = await anchorer.sign(subjectOf(1), [], signal)
  t.equal(maxFee, wei(50))
  t.ok(BigInt(priorityFee) <= 2n * GWEI)
  await setBaseFee(chain, 51n * GWEI)
  await failsWith(t, 'fee_ceiling', anchorer.sign(subjectOf(1), [], signal))
})

t.test('an account that cannot pay the highest possible cost signs nothing', async (t) => {
  const { chain, anchorer } = await setUpPrepared(t)
  await chain.setBalance(chain.account.address, 1000n * GWEI)
  await failsWith(t, 'insufficient_balance', anchorer.sign(subjectOf(1), [], signal))
})

t.test('an account without the balance to send is an error', async (t) => {
  const { chain, anchorer } = await setUpPrepared(t)
  const signed = await anchorer.sign(subjectOf(1), [], signal)
  await chain.setBalance(chain.account.address, 1000n * GWEI)
  await failsWith(t, 'insufficient_balance', anchorer.send(signed, signal))
})

t.test('an attestation that the contract would refuse is not signed', async (t) => {
  const { chain, anchorer } = await setUpPrepared(t)
  await chain.setCode(chain.eas, REVERTS)
  await failsWith(t, 'reverted', anchorer.sign(subjectOf(1), [], signal))
})

t.test('nothing is signed when the previous anchor is not on the chain', async (t) => {
  const { anchorer } = await setUpPrepared(t)
  const previous = { uid: `0x${'ab'.repeat(32)}`, treeSize: 1, rootHash: new Uint8Array(32) }
  await failsWith(t, 'previous_missing', anchorer.look(subjectOf(2, previous), [], signal))
  await failsWith(t, 'previous_missing', anchorer.sign(subjectOf(2, previous), [], signal))
})

async function setBaseFee(chain: Awaited<ReturnType<typeof setUp>>['chain'], fee: bigint): Promise<void> {
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', `0x${fee.toString(16)}`)
  await chain.mine()
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
