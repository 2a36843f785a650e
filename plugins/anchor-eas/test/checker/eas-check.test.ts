// Test run: end-to-end
/** The anchor check, with attestations on a local chain with the real contracts. Threat O2 of `security.md`. */
import { toBase64url } from '@claimcheck/core/plugin'
import { type Checks, checkReceipt, type ProofAnchor, type ReadConsistency } from '@claimcheck/core/receipts'
import { createEasChecker, type EasCheckerOptions } from '@claimcheck/plugin-anchor-eas/checker'
import t, { type Test } from 'tap'
import { consistencyDocument, keySet, LOG_ID, receiptAt, rootAt } from '../../../../core/test/anchor-log.ts'
import { startChain } from '../../../../test/chain/chain.ts'
import { afterFile } from '../../../../test/support/after-file.ts'
import { anchorData, openAttestations, type Wanted } from './attestations.ts'

const chain = await startChain()
afterFile(() => chain.stop())
const attestations = await openAttestations(chain)

async function anchorFinally(wanted?: Wanted): Promise<ProofAnchor> {
  const anchor = await attestations.attest(wanted)
  await chain.finalize()
  return anchor
}

interface Asked {
  readonly treeSize?: number
  readonly published?: { readonly attesters?: readonly string[]; readonly schemas?: readonly string[] }
  readonly options?: Partial<EasCheckerOptions> & { readonly readConsistency?: ReadConsistency }
}

/** Checks the receipt with this anchor, and with a proof at this tree size. */
function check(anchor: ProofAnchor, { treeSize = 7, published = {}, options = {} }: Asked = {}) {
  const { attester, schema, revocableSchema } = attestations
  const keys = keySet(published.attesters ?? [attester], published.schemas ?? [schema, revocableSchema])
  const { readConsistency, ...others } = options
  const anchorCheckers = [createEasChecker({ rpcUrl: chain.rpcUrl, easAddress: chain.eas, ...others })]
  const asked = { keys, anchorCheckers, ...(readConsistency ? { readConsistency } : {}) }
  return checkReceipt(receiptAt(treeSize, anchor), asked)
}

/** Asserts the result of the anchor check, that the receipt stays valid, and its trust level. */
async function finds(t: Test, expected: Checks['anchor'], anchor: ProofAnchor, asked?: Asked, name: string = expected) {
  const { checks, valid, achieved_trust_level, proven_by } = await check(anchor, asked)
  t.equal(checks.anchor, expected, name)
  const isAnchored = expected === 'anchored'
  t.strictSame([valid, achieved_trust_level, proven_by !== undefined], [true, isAnchored ? 2 : 1, isAnchored])
}

t.test('an attestation of the root in a final block is an anchor, and the time of the block is reported', async (t) => {
  const anchor = await anchorFinally()
  const { blockNumber } = await chain.rpc('eth_getTransactionReceipt', anchor.tx_hash)
  const { timestamp } = await chain.rpc('eth_getBlockByNumber', blockNumber, false)
  const report = await check(anchor)
  t.match(report, { valid: true, achieved_trust_level: 2, checks: { anchor: 'anchored', inclusion: true } })
  t.equal(report.proven_by, new Date(Number(timestamp) * 1000).toISOString())
})

t.test('hashes and addresses are compared without regard to upper and lower case', async (t) => {
  const anchor = await anchorFinally()
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
  const { attester, schema } = attestations
  const published = { attesters: ['', 'nonsense', upper(attester)], schemas: ['', upper(schema)] }
  const spelled = { ...anchor, uid: upper(anchor.uid), tx_hash: upper(anchor.tx_hash) }
  await finds(t, 'anchored', spelled, { published })
  await finds(t, 'anchored', anchor, { options: { easAddress: upper(chain.eas) } })
})

t.test('the address of the service is known on chains of the OP stack', async (t) => {
  const opStack = await startChain({ chainId: 84532, predeploys: true })
  t.teardown(opStack.stop)
  const { attest, attester, schema } = await openAttestations(opStack)
  const anchor = await attest()
  await opStack.finalize()
  const anchorCheckers = [createEasChecker({ rpcUrl: opStack.rpcUrl })]
  const report = await checkReceipt(receiptAt(7, anchor), { keys: keySet([attester], [schema]), anchorCheckers })
  t.equal(report.checks.anchor, 'anchored')
})

t.test('a block after the year 9999 proves no time', async (t) => {
  const farAhead = await startChain()
  t.teardown(farAhead.stop)
  const { attest, attester, schema } = await openAttestations(farAhead)
  const keys = keySet([attester], [schema])
  const anchorCheckers = [createEasChecker({ rpcUrl: farAhead.rpcUrl, easAddress: farAhead.eas })]
  const found = async (time: string) => {
    await farAhead.rpc('evm_setNextBlockTimestamp', Date.parse(time) / 1000)
    const anchor = await attest()
    await farAhead.finalize()
    return (await checkReceipt(receiptAt(7, anchor), { keys, anchorCheckers })).checks.anchor
  }
  t.equal(await found('9999-12-31T23:00:00Z'), 'anchored')
  t.equal(await found('+010000-01-01T00:00:00Z'), 'unreadable')
})

t.test('an anchor of another kind is not known, and no node is asked', async (t) => {
  const anchor = await anchorFinally()
  for (const name of ['bip122:31337', 'eip155', '']) {
    await finds(t, 'unknown_scheme', { ...anchor, chain: name }, { options: { rpcUrl: 'http://127.0.0.1:1' } }, name)
  }
  const checker = createEasChecker({ rpcUrl: chain.rpcUrl })
  t.notOk(checker.knows({ ...anchor, scheme: 'another' as 'eas' }))
})

t.test('a node of another chain cannot check an anchor', async (t) => {
  const anchor = await anchorFinally()
  for (const name of ['eip155:1', 'eip155:031337', 'eip155:', 'eip155:0x7a69']) {
    await finds(t, 'rpc_chain_mismatch', { ...anchor, chain: name }, undefined, name)
  }
})

t.test('an attestation that does not exist is not found', async (t) => {
  const anchor = await anchorFinally()
  await finds(t, 'attestation_not_found', { ...anchor, uid: `0x${'ab'.repeat(32)}` })
})

t.test('an attestation is not found in a transaction that did not make it', async (t) => {
  const [anchor, other] = [await anchorFinally(), await anchorFinally()]
  await finds(t, 'attestation_not_found', { ...anchor, tx_hash: other.tx_hash })
  await finds(t, 'attestation_not_found', { ...anchor, tx_hash: `0x${'ab'.repeat(32)}` })
})

t.test('an attestation is not found until its block is final', async (t) => {
  const anchor = await attestations.attest()
  await finds(t, 'attestation_not_found', anchor)
  await chain.mine(chain.finalityDepth - 1)
  await finds(t, 'attestation_not_found', anchor)
  await chain.mine()
  await finds(t, 'anchored', anchor)
})

t.test('a transaction that is mined again after a reorg makes another attestation', async (t) => {
  const anchor = await attestations.attest()
  const raw = await chain.rpc('eth_getRawTransactionByHash', anchor.tx_hash)
  await chain.reorg(1, [raw])
  await chain.finalize()
  const { logs } = await chain.rpc('eth_getTransactionReceipt', anchor.tx_hash)
  await finds(t, 'attestation_not_found', anchor)
  await finds(t, 'anchored', { ...anchor, uid: logs[0].data })
})

t.test('each of several equal attestations in one block is found', async (t) => {
  const anchors = await attestations.attestAlike(3)
  await chain.finalize()
  t.equal(new Set(anchors.map(({ uid }) => uid)).size, 3)
  for (const anchor of anchors) await finds(t, 'anchored', anchor)
})

t.test('a revoked attestation is not an anchor, and a revocable one that is not revoked is', async (t) => {
  const anchor = await anchorFinally({ revocable: true })
  await finds(t, 'anchored', anchor)
  await attestations.revoke(anchor)
  await finds(t, 'attestation_revoked', anchor)
})

t.test('an attestation by an account that the issuer does not publish is not its anchor', async (t) => {
  const { address } = await chain.createAccount()
  await chain.rpc('anvil_impersonateAccount', address)
  const anchor = await anchorFinally({ from: address })
  await finds(t, 'attester_not_published', anchor)
  await finds(t, 'attester_not_published', anchor, { published: { attesters: [] } })
  await finds(t, 'anchored', anchor, { published: { attesters: [attestations.attester, address] } })
})

t.test('an attestation under a schema that the issuer does not publish is not its anchor', async (t) => {
  const anchor = await anchorFinally()
  for (const schemas of [[], [attestations.revocableSchema]]) {
    await finds(t, 'schema_not_published', anchor, { published: { schemas } })
  }
})

t.test('data that is not encoded as the schema says is not decoded', async (t) => {
  const data = anchorData(LOG_ID, 7, rootAt(7))
  const rows: [name: string, data: string][] = [
    ['no data', '0x'],
    ['a missing byte', data.slice(0, -2)],
    ['an additional byte', `${data}00`],
    ['an additional word', `${data}${'00'.repeat(32)}`],
    ['a size above 64 bits', data.replace(`${'0'.repeat(63)}7`, `${'0'.repeat(47)}1${'0'.repeat(15)}7`)],
    ['a text that is not UTF-8', `${data.slice(0, -64)}ff${data.slice(-62)}`],
    ['padding that is not zero', `${data.slice(0, -2)}01`],
  ]
  for (const [name, data] of rows) await finds(t, 'data_undecodable', await anchorFinally({ data }), undefined, name)
})

t.test('an attestation of another log or another tree size is not the anchor', async (t) => {
  const ofAnotherLog = await anchorFinally({ logId: Buffer.alloc(32, 1) })
  await finds(t, 'log_or_size_mismatch', ofAnotherLog)
  const ofSix = await anchorFinally({ treeSize: 6 })
  await finds(t, 'log_or_size_mismatch', { ...ofSix, tree_size: 7 })
})

t.test('an attestation of another root at that size is not the anchor', async (t) => {
  await finds(t, 'root_mismatch', await anchorFinally({ rootHash: rootAt(6) }))
})

t.test('an anchor of a tree without the leaf does not cover it, even with a consistency proof', async (t) => {
  const anchor = await anchorFinally({ treeSize: 3 })
  const options = { readConsistency: async () => consistencyDocument(3, 7) }
  await finds(t, 'anchor_does_not_cover_leaf', anchor, { options })
})

t.test('an anchor at another tree size than the proof needs a consistency proof between the two', async (t) => {
  const asked: string[] = []
  const readConsistency = async (first: number, second: number) => {
    asked.push(`${first} to ${second}`)
    return consistencyDocument(first, second)
  }
  for (const [anchored, proven] of [
    [4, 7],
    [7, 4],
    [11, 7],
  ] as const) {
    const anchor = await anchorFinally({ treeSize: anchored })
    const none = { readConsistency: async () => undefined }
    await finds(t, 'consistency_proof_required', anchor, { treeSize: proven })
    await finds(t, 'consistency_proof_required', anchor, { treeSize: proven, options: none })
    await finds(t, 'anchored', anchor, { treeSize: proven, options: { readConsistency } })
  }
  t.strictSame(asked, ['4 to 7', '4 to 7', '7 to 11'])
})

t.test('a consistency proof that does not connect the two roots is invalid', async (t) => {
  const anchor = await anchorFinally({ treeSize: 5 })
  const good = JSON.parse(consistencyDocument(5, 7))
  const rows: [name: string, document: string][] = [
    ['for other sizes', consistencyDocument(6, 7)],
    ['a missing hash', JSON.stringify({ ...good, proof: good.proof.slice(1) })],
    ['an additional hash', JSON.stringify({ ...good, proof: [...good.proof, toBase64url(rootAt(1))] })],
    ['an entry that is not a hash', JSON.stringify({ ...good, proof: ['x'] })],
    ['no path', JSON.stringify({ ...good, proof: undefined })],
    ['not JSON', 'x'],
    ['an empty text', ''],
  ]
  for (const [name, document] of rows) {
    const options = { readConsistency: async () => document }
    await finds(t, 'consistency_proof_invalid', anchor, { options }, name)
  }
  const forged = await anchorFinally({ treeSize: 5, rootHash: rootAt(6) })
  const options = { readConsistency: async () => JSON.stringify(good) }
  await finds(t, 'consistency_proof_invalid', forged, { options }, 'for another anchored root')
})

t.test('without a node the anchor is not checked, and the receipt is valid', async (t) => {
  const { attester, schema } = attestations
  const report = await checkReceipt(receiptAt(7, await anchorFinally()), { keys: keySet([attester], [schema]) })
  t.match(report, { valid: true, achieved_trust_level: 1, checks: { anchor: 'not_checked_offline' } })
})
