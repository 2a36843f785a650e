// Test run: end-to-end
/** Preparing the anchorer: the chain, its contracts, the account and the schema. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Chain } from '../../../test/chain/chain.ts'
import { answers, refuses } from '../../../test/chain/proxy.ts'
import { createAnchorer, failsWith, REGISTRY, setUp, signal, subjectOf, submit } from './fixture.ts'

const SCHEMA =
  'bytes32 logId,uint64 treeSize,bytes32 rootHash,uint64 prevTreeSize,bytes32 prevRootHash,string specVersion'
const SCHEMA_UID = '0x8c2390b3ccbad40acc0b8bd80ddcaff120854e94b881fc226924c51cde0a28ec'
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

t.test('a missing schema is registered once, with the properties that anchors have', async (t) => {
  const { chain, proxy, anchorer } = await setUp(t)
  t.equal(anchorer.identity().schema, SCHEMA_UID)
  await anchorer.prepare(signal)
  await anchorer.prepare(signal)
  const data = REGISTRY.encodeFunctionData('getSchema', [SCHEMA_UID])
  const answer = await chain.rpc('eth_call', { to: chain.schemaRegistry, data }, 'latest')
  t.same([...REGISTRY.decodeFunctionResult('getSchema', answer)[0]], [SCHEMA_UID, ZERO_ADDRESS, false, SCHEMA])
  t.equal(proxy.calls.filter((method) => method === 'eth_sendRawTransaction').length, 1)
})

t.test('the same schema with other properties has another uid, and does not matter', async (t) => {
  const { chain, anchorer } = await setUp(t)
  const [from] = await chain.rpc('eth_accounts')
  const data = REGISTRY.encodeFunctionData('register', [SCHEMA, ZERO_ADDRESS, true])
  await chain.rpc('eth_sendTransactionSync', { from, to: chain.schemaRegistry, data })
  await anchorer.prepare(signal)
  await submit({ anchorer }, subjectOf(1))
})

t.test('a registry with other properties under the uid of the schema is refused', async (t) => {
  const { chain, anchorer } = await setUp(t)
  await anchorer.prepare(signal)
  const slot = await chain.rpc('web3_sha3', `0x${SCHEMA_UID.slice(2)}${'0'.repeat(64)}`)
  const resolverAndRevocable = `0x${(BigInt(slot) + 1n).toString(16).padStart(64, '0')}`
  const revocable = `0x${(1n << 160n).toString(16).padStart(64, '0')}`
  await chain.rpc('anvil_setStorageAt', chain.schemaRegistry, resolverAndRevocable, revocable)
  await failsWith(t, 'schema_differs', anchorer.prepare(signal))
})

t.test('an answer of the registry that is not a schema is an error', async (t) => {
  const { chain, proxy, anchorer } = await setUp(t)
  const notUtf8 = REGISTRY.encodeFunctionResult('getSchema', [[SCHEMA_UID, ZERO_ADDRESS, false, 'a']]).replace(
    /61(0{62})$/,
    'ff$1',
  )
  const registry = await chain.rpc('eth_call', { to: chain.eas, data: '0xf10b5cc8' }, 'latest')
  for (const answer of ['0x', `0x${'00'.repeat(31)}`, notUtf8]) {
    proxy.clear()
    proxy.inject({ on: 'eth_call', fault: answers(registry), times: 1 })
    proxy.inject({ on: 'eth_call', fault: answers(answer) })
    await failsWith(t, 'unexpected_response', anchorer.prepare(signal))
  }
})

t.test('a stuck registration is sent again with higher fees, and mined at most once', async (t) => {
  const { chain, anchorer } = await setUp(t, { stuck_after_s: 1 })
  await chain.setMining('none')
  await failsWith(t, 'schema_pending', anchorer.prepare(signal))
  const first = await pendingOf(chain)
  await failsWith(t, 'schema_pending', anchorer.prepare(signal))
  const second = await pendingOf(chain)
  t.equal(second.nonce, first.nonce)
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas']) {
    t.ok(BigInt(second[fee]!) * 4n >= BigInt(first[fee]!) * 5n, fee)
  }
  await chain.setMining('each')
  await chain.mine()
  await anchorer.prepare(signal)
  t.equal(await chain.rpc('eth_getTransactionCount', chain.account.address, 'latest'), '0x1')
})

t.test('waiting for a registration ends when the signal is aborted', async (t) => {
  const { chain, proxy, anchorer } = await setUp(t)
  await chain.setMining('none')
  const controller = new AbortController()
  const prepared = anchorer.prepare(controller.signal)
  // It is sent, and looked for once: then the anchorer waits for a second.
  const sentAt = () => proxy.calls.indexOf('eth_sendRawTransaction')
  while (sentAt() === -1 || !proxy.calls.includes('eth_call', sentAt())) await delay(20)
  setTimeout(() => controller.abort(), 300)
  await failsWith(t, 'schema_pending', prepared)
})

t.test('a node of another chain is refused by every method', async (t) => {
  const { anchorer, proxy } = await setUp(t)
  await anchorer.prepare(signal)
  const signed = await anchorer.sign(subjectOf(1), [], signal)
  proxy.inject({ on: 'eth_chainId', fault: answers('0x1') })
  const before = proxy.calls.length
  await failsWith(t, 'wrong_chain', anchorer.prepare(signal))
  await failsWith(t, 'wrong_chain', anchorer.account(signal))
  await failsWith(t, 'wrong_chain', anchorer.sign(subjectOf(1), [], signal))
  await failsWith(t, 'wrong_chain', anchorer.send(signed, signal))
  await failsWith(t, 'wrong_chain', anchorer.look(subjectOf(1), [signed], signal))
  t.same(new Set(proxy.calls.slice(before)), new Set(['eth_chainId']))
})

t.test('both addresses must have a contract', async (t) => {
  const { chain } = await setUp(t)
  const { chainId: id, eas, schemaRegistry: schema_registry } = chain
  const empty = `0x${'12'.repeat(20)}`
  for (const addresses of [
    { eas: empty, schema_registry },
    { eas, schema_registry: empty },
  ]) {
    const anchorer = await createAnchorer(t, chain, { chain: { id, ...addresses } })
    await failsWith(t, 'no_code', anchorer.prepare(signal))
  }
})

t.test('the contract must be the attestation service and use the configured registry', async (t) => {
  const { chain } = await setUp(t)
  const { chainId: id, eas, schemaRegistry } = chain
  const another = `0x${'12'.repeat(20)}`
  await chain.setCode(another, await chain.rpc('eth_getCode', schemaRegistry, 'latest'))
  for (const addresses of [
    { eas, schema_registry: another },
    { eas: schemaRegistry, schema_registry: eas },
  ]) {
    const anchorer = await createAnchorer(t, chain, { chain: { id, ...addresses } })
    await failsWith(t, 'not_eas', anchorer.prepare(signal))
  }
})

t.test('an account with code is refused, also with code that it delegates to', async (t) => {
  const { chain, anchorer } = await setUp(t)
  for (const code of ['0x6000', `0xef0100${'12'.repeat(20)}`]) {
    await chain.setCode(chain.account.address, code)
    await failsWith(t, 'account_is_contract', anchorer.prepare(signal))
  }
})

t.test('an account without a balance is an error', async (t) => {
  const { chain, anchorer } = await setUp(t)
  await chain.setBalance(chain.account.address, 0n)
  t.same(await anchorer.account(signal), { address: chain.account.address, balance: '0' })
  await failsWith(t, 'insufficient_balance', anchorer.prepare(signal))
})

t.test('a chain without a finalized block needs a number of confirmations', async (t) => {
  for (const fault of [answers(null), refuses('invalid argument 0: hex string without 0x prefix', -32602)]) {
    const { chain, proxy, anchorer } = await setUp(t)
    proxy.inject({ on: 'eth_getBlockByNumber', fault })
    await failsWith(t, 'unexpected_response', anchorer.prepare(signal))
    await (await createAnchorer(t, chain, { confirmations: 2 })).prepare(signal)
  }
})

/** The one transaction that waits for a block. */
async function pendingOf(chain: Chain): Promise<Record<string, string>> {
  const { pending } = await chain.rpc('txpool_content')
  const [transaction, ...others] = Object.values<object>(pending).flatMap((byNonce) => Object.values(byNonce))
  if (others.length > 0) throw new Error('more than one transaction waits')
  return transaction
}
