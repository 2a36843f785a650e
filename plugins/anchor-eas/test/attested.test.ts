// Test run: end-to-end, slow
/** What the account attested of a log stops the service where the database lacks it, so only what the account signed counts. Threat O6 of `security.md`. */
import { randomBytes } from 'node:crypto'
import type { Anchorer } from '@claimcheck/core/plugin'
import t from 'tap'
import { answers, answersFor, limits, refuses } from '../../../test/chain/proxy.ts'
import { createAnchorer, type Fixture, failsWith, setUpPrepared, signal, subjectOf, submit } from './fixture.ts'

const { logId } = subjectOf(1)

/** All blocks. */
async function rootsOf({ attested }: Anchorer, limit = 3) {
  return (await attested!(logId, { limit, to: 0 }, signal)).roots
}

async function attest({ chain, anchorer }: Pick<Fixture, 'chain' | 'anchorer'>, subject = subjectOf(1)) {
  const signed = await submit({ anchorer }, subject)
  await chain.mine()
  return { ...subject, txHash: signed.txHash }
}

t.test('the newest attestations of the log come first, and those of other logs are left out', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain } = fixture
  const made = []
  for (const treeSize of [1, 2, 3]) made.push(await attest(fixture, subjectOf(treeSize)))
  await attest(fixture, { ...subjectOf(9), logId: randomBytes(32).toString('base64url') })
  const [, second, third] = made
  const found = await rootsOf(anchorer, 2)
  t.strictSame(
    found.map(({ treeSize, rootHash, txHash }) => [treeSize, Buffer.from(rootHash), txHash]),
    [third!, second!].map(({ treeSize, rootHash, txHash }) => [treeSize, rootHash, txHash]),
  )
  const { timestamp } = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  t.ok(Math.abs(found[0]!.time - Number(timestamp)) < 60)
})

t.test('an account that made no transaction is asked for no events', async (t) => {
  const { chain, proxy } = await setUpPrepared(t)
  const { key } = await chain.createAccount()
  const fresh = await createAnchorer(t, chain, { rpc_url: proxy.url }, key)
  const asked = proxy.calls.length
  t.strictSame(await rootsOf(fresh), [])
  t.notOk(proxy.calls.slice(asked).includes('eth_getLogs'))
})

t.test('what another account attests of the log does not count, also where a node says that it does', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain, proxy } = fixture
  const ours = await attest(fixture)
  const { address, key } = await chain.createAccount()
  const stranger = await createAnchorer(t, chain, {}, key)
  const theirs = await attest({ chain, anchorer: stranger }, subjectOf(1_000_000))
  const sizes = async () => (await rootsOf(anchorer)).map(({ treeSize }) => treeSize)
  t.strictSame(await sizes(), [1])

  const word = (hex: string) => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`
  const [event] = (await chain.rpc('eth_getLogs', { address: chain.eas, fromBlock: '0x0' })).slice(-1)
  t.equal(event.topics[2], word(address))
  const [signature, recipient, , schema] = event.topics
  const forged = { ...event, topics: [signature, recipient, word(chain.account.address), schema] }
  proxy.inject({ on: 'eth_getLogs', fault: answers([forged]), times: 1 })
  t.strictSame(await sizes(), [], 'the event names our account, and the transaction is signed by another')

  const transaction = await chain.rpc('eth_getTransactionByHash', theirs.txHash)
  const own = await chain.rpc('eth_getTransactionByHash', ours.txHash)
  for (const [what, changed] of [
    ['our address', { ...transaction, from: chain.account.address }],
    ['our signature', { ...transaction, r: own.r, s: own.s, v: own.v, yParity: own.yParity }],
    ['other data', { ...own, hash: theirs.txHash, input: transaction.input }],
    ['no signature', { ...own, hash: theirs.txHash, r: '0x0', s: '0x0' }],
  ] as const) {
    proxy.clear()
    proxy.inject({ on: 'eth_getLogs', fault: answers([forged]), times: 1 })
    proxy.inject({ on: 'eth_getTransactionByHash', fault: answers(changed) })
    if (what === 'our address') t.strictSame(await sizes(), [], what)
    else await failsWith(t, 'unexpected_response', sizes())
  }
  proxy.clear()
  const unsigned = { ...transaction, type: '0x0' }
  proxy.inject({ on: 'eth_getTransactionByHash', fault: answers({ ...unsigned, hash: ours.txHash }) })
  t.strictSame(await sizes(), [], 'a type that the account never signs')
})

t.test('what the account signed for another contract, or for another call, does not count', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer, proxy } = fixture
  const { txHash } = await attest(fixture)
  const elsewhere = await createAnchorer(t, chain, {
    rpc_url: proxy.url,
    chain: { id: chain.chainId, eas: chain.schemaRegistry, schema_registry: chain.schemaRegistry },
  })
  const [event] = await chain.rpc('eth_getLogs', { address: chain.eas, fromBlock: '0x0' })
  proxy.inject({ on: 'eth_getLogs', fault: answers([event]), times: 1 })
  t.strictSame(await rootsOf(elsewhere), [])
  const [registration] = (await chain.rpc('eth_getLogs', { address: chain.schemaRegistry, fromBlock: '0x0' })).slice(-1)
  t.not(registration.transactionHash, txHash)
  proxy.inject({
    on: 'eth_getLogs',
    fault: answers([{ ...event, transactionHash: registration.transactionHash }]),
    times: 1,
  })
  t.strictSame(await rootsOf(anchorer), [])
})

t.test('a service that allows few blocks is asked about few', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain, proxy } = fixture
  await attest(fixture)
  await chain.mine(100)
  proxy.inject(answersFor(100))
  t.match(await rootsOf(anchorer, 1), [{ treeSize: 1 }])
})

t.test('a search that is cut short says so, and goes on where it ended', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain, proxy } = fixture
  await attest(fixture)
  await chain.mine(2000)
  proxy.inject(answersFor(10))
  const search = (from?: number, to = 0) =>
    anchorer.attested!(logId, { limit: 1, to, ...(from === undefined ? {} : { from }) }, signal)
  const before = proxy.calls.length
  const first = await search()
  t.match(first, { roots: [], next: Number })
  t.equal(proxy.calls.slice(before).filter((method) => method === 'eth_getLogs').length, 50)

  let next: number | null = first.next
  let rounds = 1
  for (let roots = 0; next !== null && roots === 0; rounds++) {
    const found = await search(next)
    t.ok(found.next === null || found.next < next, 'each goes further back')
    next = found.next
    roots = found.roots.length
    if (roots > 0) t.match(found.roots, [{ treeSize: 1 }])
  }
  t.equal(next, null)
  t.equal(rounds, 5)
  t.strictSame(await search(first.next!, first.next! - 5), { roots: [], next: null }, 'as far as the caller knows')

  proxy.clear()
  proxy.inject({
    on: 'eth_getLogs',
    when: ({ params }) => JSON.stringify(params).includes('"0x0"'),
    fault: refuses('pruned'),
  })
  const { number } = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  t.ok(Number(number) < 10_000, 'one range holds all blocks')
  const kept = await anchorer.attested!('other', { limit: 1, to: 0 }, signal)
  t.match(kept, { roots: [], next: Number }, 'what was searched before the node refused is kept')
  await failsWith(t, 'unexpected_response', anchorer.attested!('other', { limit: 1, from: 5, to: 0 }, signal))
})

t.test('a node that refuses, limits or gives half an answer is an error', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, proxy } = fixture
  await attest(fixture)
  for (const [on, fault, code] of [
    ['eth_getLogs', refuses('no'), 'unexpected_response'],
    ['eth_getLogs', limits(3), 'rate_limited'],
    ['eth_getLogs', answers([{}]), 'unexpected_response'],
    ['eth_getTransactionByHash', answers(null), 'unexpected_response'],
    ['eth_getBlockByNumber', answers(null), 'unexpected_response'],
    ['eth_chainId', answers('0x1'), 'wrong_chain'],
  ] as const) {
    proxy.clear()
    proxy.inject({ on, fault })
    await failsWith(t, code, rootsOf(anchorer))
  }
})
