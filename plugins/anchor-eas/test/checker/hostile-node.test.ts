// Test run: end-to-end
/** The anchor check with a node that lies, fails, or never ends its answer. */
import { type Checks, checkReceipt } from '@claimcheck/core/receipts'
import { createEasChecker, type EasCheckerOptions } from '@claimcheck/plugin-anchor-eas/checker'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { keySet, receiptAt } from '../../../../core/test/anchor-log.ts'
import { startChain } from '../../../../test/chain/chain.ts'
import { answers, hangs, limits, type RpcFault, RpcProxy, refuses, says, status } from '../../../../test/chain/proxy.ts'
import { afterFile } from '../../../../test/support/after-file.ts'
import { runs } from '../../../../test/support/extent.ts'
import { openAttestations } from './attestations.ts'

const METHODS = ['eth_chainId', 'eth_call', 'eth_getTransactionReceipt', 'eth_getBlockByNumber']

const chain = await startChain()
afterFile(() => chain.stop())
const attestations = await openAttestations(chain)
const anchor = await attestations.attest()
await chain.finalize()
const proxy = await RpcProxy.start(chain.rpcUrl)
afterFile(() => proxy.stop())

/** Begins with a node that does nothing wrong. */
function test(name: string, run: (t: Test) => Promise<unknown>): void {
  t.test(name, async (t) => {
    proxy.clear()
    await run(t)
  })
}

async function found(options: Partial<EasCheckerOptions> = {}): Promise<Checks['anchor']> {
  const keys = keySet([attestations.attester], [attestations.schema])
  const checker = createEasChecker({ rpcUrl: proxy.url, easAddress: chain.eas, ...options })
  return (await checkReceipt(receiptAt(7, anchor), { keys, anchorCheckers: [checker] })).checks.anchor
}

// biome-ignore lint/suspicious/noExplicitAny: the tests change answers in many ways.
type Change = (result: any) => unknown

/** The chain does not change in these tests, so that its node is asked each question once. */
const known = new Map<string, unknown>()

async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
  const question = JSON.stringify([method, params])
  if (!known.has(question)) known.set(question, await chain.rpc(method, ...params))
  return known.get(question)
}

/** Answers as the chain's node does, with a changed result for this method. */
function lying(method: string, change: Change): typeof fetch {
  return async (_, init) => {
    const call = JSON.parse(String(init!.body))
    const result = await ask(call.method, call.params)
    const answer = { jsonrpc: '2.0', id: call.id, result: call.method === method ? change(result) : result }
    return new Response(JSON.stringify(answer))
  }
}

const foundOf = (method: string, change: Change) => found({ fetch: lying(method, change) })

test('a node without a proper answer to any one question is unreadable', async (t) => {
  t.equal(await found(), 'anchored')
  const faults: [name: string, fault: RpcFault][] = [
    ['an empty body', says('')],
    ['a web page', says('<html>')],
    ['half an answer', says('{"jsonrpc":"2.0","id":1,"resu')],
    ['two results', says('{"jsonrpc":"2.0","id":1,"result":"0x1","result":"0x2"}')],
    ['an answer without an id', says('{"jsonrpc":"2.0","id":null,"result":"0x1"}')],
    ['an answer to another question', says('{"jsonrpc":"2.0","id":77,"result":"0x1"}')],
    ['a list', says('[]')],
    ['deep nesting', says('['.repeat(100_000))],
    ['no result', answers(undefined)],
    ['a number', answers(1)],
    ['a text', answers('0x')],
    ['not hex', answers('0xzz')],
    ['an object', answers({})],
    ['a number above 256 bits', answers(`0x${'f'.repeat(65)}`)],
    ['megabytes of hex', answers(`0x${'00'.repeat(900_000)}`)],
    ['a JSON-RPC error', refuses('no')],
    ['HTTP 404', status(404)],
    ['HTTP 503', status(503)],
    ['HTTP 429', limits(1)],
    ['a closed connection', (_, response) => response.destroy()],
  ]
  for (const [name, fault] of faults) {
    for (const on of METHODS) {
      proxy.clear()
      proxy.inject({ fault, on })
      t.equal(await found(), 'unreadable', `${name}, to ${on}`)
    }
  }
})

test('a node that cannot be reached is unreadable', async (t) => {
  for (const rpcUrl of ['http://127.0.0.1:1', 'nonsense', '']) t.equal(await found({ rpcUrl }), 'unreadable', rpcUrl)
})

test('a node that does not answer is unreadable after the time limit', async (t) => {
  for (const on of METHODS) {
    proxy.clear()
    proxy.inject({ fault: hangs(), on })
    t.equal(await found({ timeoutMs: 200 }), 'unreadable', on)
  }
})

test('an endless answer is cut off', async (t) => {
  let isClosed: Promise<void> | undefined
  proxy.inject({
    fault: (_, response) => {
      isClosed = new Promise((resolve) => response.on('close', resolve))
      const go = () => {
        while (response.write('0'.repeat(65_536)));
        response.once('drain', go)
      }
      go()
    },
  })
  t.equal(await found(), 'unreadable')
  await t.resolves(isClosed!)
})

test('a redirect to another node is not followed', async (t) => {
  const other = await RpcProxy.start(chain.rpcUrl)
  t.teardown(() => other.stop())
  proxy.inject({ fault: status(307, { location: other.url }) })
  t.equal(await found(), 'unreadable')
  t.strictSame(other.calls, [])
})

test('without a final block nothing on the chain is an anchor', async (t) => {
  proxy.inject({ fault: answers(null), on: 'eth_getBlockByNumber' })
  t.equal(await found(), 'unreadable')
})

test('when no block is finalized, a block with enough confirmations is final', async (t) => {
  const { blockNumber } = await chain.rpc('eth_getTransactionReceipt', anchor.tx_hash)
  const latest = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  const onTop = Number(latest.number) - Number(blockNumber)
  for (const fault of [answers(null), refuses('finalized block not found')]) {
    proxy.clear()
    proxy.inject({ fault, on: 'eth_getBlockByNumber', with: 'finalized' })
    t.equal(await found(), 'unreadable')
    t.equal(await found({ confirmations: onTop }), 'anchored')
    t.equal(await found({ confirmations: onTop + 1 }), 'attestation_not_found')
  }
  proxy.clear()
  t.equal(await found({ confirmations: onTop + 1 }), 'anchored', 'confirmations do not count when a block is finalized')
  proxy.inject({ fault: status(503), on: 'eth_getBlockByNumber', with: 'finalized' })
  t.equal(await found({ confirmations: onTop }), 'unreadable')
})

test('a changed attestation is never an anchor under its uid, whichever byte is changed', async (t) => {
  const bytes = (await chain.rpc('eth_call', { to: chain.eas, data: `0xa3112a64${anchor.uid.slice(2)}` }, 'latest'))
    .length
  const changed = new Set<string>()
  for (let at = 2; at < bytes; at += 2) {
    const flip = (hex: string) => hex.slice(0, at) + (hex.slice(at, at + 2) === '01' ? '02' : '01') + hex.slice(at + 2)
    const outcome = await foundOf('eth_call', flip)
    changed.add(outcome)
    if (outcome === 'anchored') t.fail(`anchored with byte ${at / 2 - 1} changed`)
  }
  t.strictSame([...changed].sort(), ['attestation_not_found', 'attestation_revoked', 'unreadable'])
})

const OTHER_HASH = `0x${'ab'.repeat(32)}`
const OTHER_ADDRESS = `0x${'ab'.repeat(20)}`

test("an event of another contract, account, schema or attestation is not the attestation's", async (t) => {
  const rows: [name: string, change: Change][] = [
    ['contract', (log) => ({ ...log, address: OTHER_ADDRESS })],
    ['event', ({ topics, ...log }) => ({ ...log, topics: [OTHER_HASH, ...topics.slice(1)] })],
    ['account', ({ topics, ...log }) => ({ ...log, topics: topics.with(2, OTHER_HASH) })],
    ['schema', ({ topics, ...log }) => ({ ...log, topics: topics.with(3, OTHER_HASH) })],
    ['attestation', (log) => ({ ...log, data: OTHER_HASH })],
    ['no topics', (log) => ({ ...log, topics: [] })],
  ]
  for (const [name, change] of rows) {
    const outcome = await foundOf('eth_getTransactionReceipt', (receipt) => ({
      ...receipt,
      logs: receipt.logs.map(change),
    }))
    t.equal(outcome, 'attestation_not_found', name)
  }
})

test('a receipt of another transaction or block does not count', async (t) => {
  const changed = (change: object) => foundOf('eth_getTransactionReceipt', (receipt) => ({ ...receipt, ...change }))
  t.equal(await foundOf('eth_getTransactionReceipt', () => null), 'attestation_not_found')
  t.equal(await changed({ transactionHash: OTHER_HASH }), 'unreadable')
  t.equal(await changed({ blockHash: OTHER_HASH }), 'attestation_not_found', 'its block was replaced')
  t.equal(await changed({ blockNumber: '0x1' }), 'attestation_not_found', 'another block')
  t.equal(await changed({ blockNumber: '0xffffff' }), 'attestation_not_found', 'a block that does not exist yet')
})

test('a block counts only with the number that was asked for and the time of the attestation', async (t) => {
  const changed = (change: object) => foundOf('eth_getBlockByNumber', (block) => ({ ...block, ...change }))
  t.equal(await changed({ number: '0xffffff' }), 'unreadable')
  t.equal(await changed({ timestamp: '0x1' }), 'unreadable')
  t.equal(await changed({ number: '0x1' }), 'attestation_not_found', 'the final one is older than the attestation')
})

test('for any answers the check has a result, and finds no anchor that does not exist', async (t) => {
  const values = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef') }).map((hex) => `0x${hex}`),
  )
  const property = fc.asyncProperty(fc.constantFrom(...METHODS), values, fc.nat(), async (method, value, pick) => {
    const outcome = await foundOf(method, (result) => replaced(result, value, pick))
    return outcome !== 'anchored' || !DECISIVE.has(method)
  })
  await t.resolves(fc.assert(property, runs(500)))
})

/** The whole answer to these is checked. In blocks and receipts only some members are. */
const DECISIVE: ReadonlySet<string> = new Set(['eth_chainId', 'eth_call'])

/** A result, or one member of it, replaced. */
function replaced(result: unknown, value: unknown, pick: number): unknown {
  if (typeof result !== 'object' || result === null) return value
  const names = Object.keys(result)
  const name = names[pick % (names.length + 1)]
  return name === undefined ? value : { ...result, [name]: value }
}
