// Test run: end-to-end
/** The anchorer with a node that fails, refuses or answers wrongly. */
import { setTimeout } from 'node:timers/promises'
import { AnchorerError } from '@claimcheck/core/plugin'
import t from 'tap'
import { answers, hangs, limits, type RpcFault, refuses, says, status } from '../../../test/chain/proxy.ts'
import { collectGarbage } from '../../../test/support/garbage.ts'
import { createAnchorer, failsWith, setUp, setUpPrepared, signal, subjectOf, submit } from './fixture.ts'

const SECRET = 'bearer-4711'

const FAULTS: readonly (readonly [string, RpcFault, AnchorerError['code']])[] = [
  ['HTTP 429', limits(7), 'rate_limited'],
  ["EIP-1474's error for a limit", refuses('request limit reached', -32005), 'rate_limited'],
  ['an error whose message names a limit', refuses('Too Many Requests', -32029), 'rate_limited'],
  ['HTTP 503', status(503), 'rpc_unavailable'],
  ['HTTP 401', status(401), 'unexpected_response'],
  ['a redirect', status(302, { location: 'http://127.0.0.1:1/' }), 'rpc_unavailable'],
  ['a web page', says('<html>'), 'unexpected_response'],
  ['an empty body', says(''), 'unexpected_response'],
  ['a list', says('[]'), 'unexpected_response'],
  ['null', says('null'), 'unexpected_response'],
  ['the answer to another request', says('{"jsonrpc":"2.0","id":0,"result":"0x7a69"}'), 'unexpected_response'],
  [
    'no result',
    ({ id }, response) => says(JSON.stringify({ jsonrpc: '2.0', id }))({} as never, response),
    'unexpected_response',
  ],
  ['an empty error', says('{"error":{}}'), 'unexpected_response'],
  ['an unknown method', refuses('the method does not exist', -32601), 'unexpected_response'],
  ['an answer that is too large', says(`"${'x'.repeat(3_000_000)}"`), 'unexpected_response'],
  ['a closed connection', (_, response) => void response.destroy(), 'rpc_unavailable'],
]

t.test('each failure of a node has its code', async (t) => {
  const { proxy, anchorer } = await setUp(t)
  for (const [name, fault, code] of FAULTS) {
    proxy.clear()
    proxy.inject({ fault })
    await t.rejects(anchorer.account(signal), { name: 'AnchorerError', code }, name)
  }
})

t.test('a request ends after the time limit, or when the signal is aborted', async (t) => {
  const { proxy, anchorer } = await setUp(t, { timeout_s: 1 })
  proxy.inject({ fault: hangs() })
  const asked = anchorer.account(signal)
  while (proxy.calls.length === 0) await setTimeout(10)
  collectGarbage()
  await failsWith(t, 'rpc_unavailable', asked)
  await failsWith(t, 'rpc_unavailable', anchorer.account(AbortSignal.abort()))
})

t.test('an unreachable node is an error only when it is needed', async (t) => {
  const { chain, anchorer } = await setUp(t)
  t.match(anchorer.identity(), { attester: chain.account.address })
  await chain.stop()
  const unreachable = await createAnchorer(t, chain)
  await failsWith(t, 'rpc_unavailable', unreachable.prepare(signal))
})

t.test('Retry-After is passed on, as seconds or as a date', async (t) => {
  const { proxy, anchorer } = await setUp(t)
  const retryAfter = async (header: string, code: number) => {
    proxy.clear()
    proxy.inject({ fault: status(code, { 'retry-after': header }) })
    const error = await anchorer.account(signal).catch((error: unknown) => error)
    return error instanceof AnchorerError ? error.retryAfterMs : error
  }
  t.equal(await retryAfter('7', 429), 7000)
  t.equal(await retryAfter('7', 503), 7000)
  t.equal(await retryAfter('Thu, 01 Jan 1970 00:00:00 GMT', 429), 0)
  t.ok(Number(await retryAfter(new Date(Date.now() + 60_000).toUTCString(), 429)) > 50_000)
  t.equal(await retryAfter('soon', 429), undefined)
})

t.test('an answer of the wrong form is refused, for every question', async (t) => {
  const { chain, proxy, anchorer } = await setUpPrepared(t)
  const subject = subjectOf(1)
  const signed = await submit({ anchorer }, subject)
  await chain.mine()
  await chain.finalize()
  const block = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  const receipt = await chain.rpc('eth_getTransactionReceipt', signed.txHash)
  const look = () => anchorer.look(subject, [signed], signal)
  const sign = () => anchorer.sign(subject, [], signal)
  const garbage: readonly (readonly [string, () => Promise<unknown>, readonly unknown[]])[] = [
    ['eth_chainId', look, [null, 1, '1', '0x', '0x-1', {}, `0x${'f'.repeat(65)}`]],
    ['eth_getBlockByNumber', look, [null, [], 'latest', {}, { ...block, number: '0xffffffffffffffff' }]],
    [
      'eth_getTransactionReceipt',
      look,
      [
        {},
        { ...receipt, transactionHash: `0x${'0'.repeat(64)}` },
        { ...receipt, status: null },
        { ...receipt, logs: null },
        { ...receipt, logs: [{}] },
        { ...receipt, logs: [] },
        { ...receipt, logs: [{ ...receipt.logs[0], data: '0x' }] },
        { ...receipt, blockHash: `0x${'0'.repeat(64)}` },
      ],
    ],
    ['eth_call', look, [null, '0x', '0x0', `0x${'0'.repeat(640)}`]],
    ['eth_getTransactionCount', sign, [null, '', '0xffffffffffffffff']],
    ['eth_estimateGas', sign, [null, 'much']],
    ['eth_maxPriorityFeePerGas', sign, [null, []]],
    ['eth_getBlockByNumber', sign, [null, { ...block, baseFeePerGas: undefined }]],
    ['eth_getBalance', sign, [null, true]],
  ]
  for (const [method, act, results] of garbage) {
    for (const result of results) {
      proxy.clear()
      proxy.inject({ on: method, fault: answers(result) })
      await t.rejects(
        act(),
        { name: 'AnchorerError', code: 'unexpected_response' },
        `${method} ${JSON.stringify(result)}`,
      )
    }
  }
})

t.test('a node that asks for too high a fee or too much gas is refused', async (t) => {
  const { proxy, anchorer } = await setUpPrepared(t)
  const huge = `0x${'f'.repeat(20)}`
  proxy.inject({ on: 'eth_maxPriorityFeePerGas', fault: answers(huge) })
  await failsWith(t, 'fee_ceiling', anchorer.sign(subjectOf(1), [], signal))
  proxy.clear()
  proxy.inject({ on: 'eth_estimateGas', fault: answers(huge) })
  await failsWith(t, 'insufficient_balance', anchorer.sign(subjectOf(1), [], signal))
})

t.test('refusals get the code of what they mean, in the words of all common nodes', async (t) => {
  const { proxy, anchorer } = await setUpPrepared(t)
  const signed = await anchorer.sign(subjectOf(1), [], signal)
  for (const [message, code] of [
    ['insufficient funds for gas * price + value: address 0x12 have 0 want 1', 'insufficient_balance'],
    ['InsufficientFunds, Account balance: 0, cumulative cost: 1', 'insufficient_balance'],
    ['Upfront cost exceeds account balance', 'insufficient_balance'],
    ['execution reverted', 'reverted'],
    ['intrinsic gas too low', 'unexpected_response'],
  ] as const) {
    proxy.clear()
    proxy.inject({ on: 'eth_sendRawTransaction', fault: refuses(message) })
    await t.rejects(anchorer.send(signed, signal), { name: 'AnchorerError', code }, message)
  }
})

t.test('no error shows the key, the words of a node, or its URL but for scheme and host', async (t) => {
  const { chain, proxy } = await setUp(t)
  const anchorer = await createAnchorer(t, chain, { rpc_url: `${proxy.url}/${SECRET}?key=${SECRET}` })
  const faults: readonly RpcFault[] = [
    ...FAULTS.map(([, fault]) => fault),
    refuses(`no such project: ${SECRET}`),
    status(401, {}, SECRET),
    answers(SECRET),
  ]
  for (const fault of faults) {
    proxy.clear()
    proxy.inject({ fault })
    const error = await anchorer.account(signal).catch((error: unknown) => error)
    t.ok(error instanceof AnchorerError)
    t.notMatch(shownOf(error), SECRET)
    t.notMatch(shownOf(error), chain.account.key.slice(2))
  }
})

/** Everything that a logger could write about an error. */
function shownOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.stack} ${JSON.stringify({ ...error })} ${error.cause ? shownOf(error.cause) : ''}`
}
