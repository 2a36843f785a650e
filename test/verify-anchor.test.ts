/** What `claimcheck verify --rpc` finds of a receipt's anchor, for a stranger with a node of the chain. Threat O5 of `security.md`. */
import type { AnchorSubject } from '@claimcheck/core/plugin'
import { checkReceipt, type ProofAnchor, toBase64url } from '@claimcheck/core/receipts'
import { createEasChecker } from '@claimcheck/plugin-anchor-eas/checker'
import t, { type Test } from 'tap'
import { consistencyDocument, keyDocument, keySet, LOG_ID, receiptAt, rootAt } from '../core/test/anchor-log.ts'
import { openAttestations } from '../plugins/anchor-eas/test/checker/attestations.ts'
import { setUp, signal } from '../plugins/anchor-eas/test/fixture.ts'
import { startChain } from './chain/chain.ts'
import { answers, RpcProxy, status } from './chain/proxy.ts'
import { afterFile } from './support/after-file.ts'
import { runClaimcheck } from './support/command.ts'
import { serving } from './support/serving.ts'

const chain = await startChain()
afterFile(() => chain.stop())
const attestations = await openAttestations(chain)
const proxy = await RpcProxy.start(chain.rpcUrl)
afterFile(() => proxy.stop())

const keys = () => keyDocument([attestations.attester], [attestations.schema])

function run(folder: string, ...args: readonly string[]) {
  return runClaimcheck(folder, ['verify', ...args])
}

/** Checks a receipt of size 7 with this anchor. */
function verify(t: Test, anchor: ProofAnchor, ...args: readonly string[]) {
  const folder = t.testdir({ 'receipt.json': receiptAt(7, anchor), 'keys.json': keys() })
  return run(folder, 'receipt.json', '--keys', 'keys.json', ...args)
}

const asking = (rpcUrl = chain.rpcUrl) => ['--rpc', rpcUrl, '--eas', chain.eas]

t.test('an anchored receipt has level 2, and existed by the time of its block', async (t) => {
  const anchor = await attestations.attest()
  await chain.finalize()
  const { code, stdout } = await verify(t, anchor, ...asking(), '--json')
  t.equal(code, 0)
  const report = JSON.parse(stdout)
  t.match(report, { valid: true, achieved_trust_level: 2, checks: { anchor: 'anchored' }, proven_by: /^20.*Z$/ })
  const inWords = await verify(t, anchor, ...asking())
  t.match(inWords, { code: 0, stdout: /Trust level 2/, stderr: '' })
  t.ok(inWords.stdout.includes(report.proven_by))
})

t.test('without a node the anchor is not checked, and that is no failure', async (t) => {
  const anchor = await attestations.attest()
  t.match(await verify(t, anchor), { code: 0, stdout: /Trust level 1 of 2.*anchor +not checked: pass --rpc/s })
  const report = JSON.parse((await verify(t, anchor, '--json')).stdout)
  t.match(report, { valid: true, achieved_trust_level: 1, checks: { anchor: 'not_checked_offline' } })
})

t.test('an anchor that does not hold is told with its code, and leaves the receipt valid', async (t) => {
  const anchor = await attestations.attest({ rootHash: rootAt(6) })
  await chain.finalize()
  const rows: [code: string, anchor: ProofAnchor][] = [
    ['root_mismatch', anchor],
    ['rpc_chain_mismatch', { ...anchor, chain: 'eip155:1' }],
  ]
  for (const [code, anchor] of rows) {
    const { stdout, ...outcome } = await verify(t, anchor, ...asking())
    t.strictSame(outcome, { code: 0, stderr: '' }, code)
    t.match(stdout, new RegExp(`Trust level 1.*anchor .*${code}\\)\n`, 's'))
  }
})

t.test('a node that can not be read is told, without its URL, and leaves the receipt valid', async (t) => {
  const anchor = await attestations.attest()
  proxy.inject({ fault: status(401) })
  t.teardown(() => proxy.clear())
  const outcome = await verify(t, anchor, ...asking(`${proxy.url}/secret-key`))
  t.match(outcome, { code: 0, stdout: /Trust level 1.*unreadable\)\n/s, stderr: /\w/ })
  t.notMatch(outcome.stdout + outcome.stderr, /secret-key/)
})

t.test('on a chain without a finalized block, so many confirmations make an anchor final', async (t) => {
  const anchor = await attestations.attest()
  await chain.mine(2)
  proxy.inject({ on: 'eth_getBlockByNumber', with: 'finalized', fault: answers(null) })
  t.teardown(() => proxy.clear())
  const verified = (...args: readonly string[]) => verify(t, anchor, ...asking(proxy.url), ...args)
  t.match(await verified(), { code: 0, stdout: /unreadable/ })
  t.match(await verified('--confirmations', '3'), { code: 0, stdout: /attestation_not_found/ })
  t.match(await verified('--confirmations', '2'), { code: 0, stdout: /Trust level 2/, stderr: '' })
})

t.test('nobody is asked about the anchor of a receipt that does not hold', async (t) => {
  const receipt = receiptAt(7, await attestations.attest()).replace('"verified"', '"failed"')
  const folder = t.testdir({ 'receipt.json': receipt, 'keys.json': keys() })
  const asked = proxy.calls.length
  t.match(await run(folder, 'receipt.json', '--keys', 'keys.json', ...asking(proxy.url)), { code: 1 })
  t.equal(proxy.calls.length, asked)
})

t.test('a node or a contract that is none is wrong usage', async (t) => {
  const anchor = await attestations.attest()
  for (const args of [
    ['--rpc', 'file:///etc/passwd'],
    [...asking(), '--eas', '0x12'],
    [...asking(), '--confirmations', '0'],
    [...asking(), '--confirmations', 'many'],
  ]) {
    t.match(await verify(t, anchor, ...args), { code: 2, stdout: '', stderr: /\w/ }, args.join(' '))
  }
})

t.test("an anchor of another size is connected by what the issuer's host proves", async (t) => {
  const anchor = await attestations.attest({ treeSize: 11 })
  await chain.finalize()
  const documents: Record<string, string> = {
    '/v1/receipts/rcpt_1': receiptAt(7, anchor),
    '/.well-known/poaw-keys.json': keys(),
    '/v1/log/consistency?first=7&second=11': consistencyDocument(7, 11),
  }
  const host = await serving(t, ({ url }, response) => {
    const document = documents[url!]
    response.writeHead(document ? 200 : 404).end(document)
  })
  const receipt = `${host}/v1/receipts/rcpt_1`

  const outcome = await run('.', receipt, ...asking())
  t.match(outcome, { code: 0, stdout: /Trust level 2/ })
  t.match(await verify(t, anchor, ...asking()), { code: 0, stdout: /consistency_proof_required/ }, 'no host is known')
  delete documents['/v1/log/consistency?first=7&second=11']
  t.match(await run('.', receipt, ...asking()), { code: 0, stdout: /consistency_proof_required/ }, 'the host has none')
})

t.test('what the anchorer publishes is an anchor to a stranger, the first one and those that follow it', async (t) => {
  const { chain, anchorer } = await setUp(t)
  await anchorer.prepare(signal)
  const { attester, schema } = anchorer.identity()
  const anchorCheckers = [createEasChecker({ rpcUrl: chain.rpcUrl, easAddress: chain.eas })]
  const keys = keySet([attester], [schema])
  let previous: AnchorSubject['previous'] = null
  for (const treeSize of [7, 11]) {
    const subject = { logId: toBase64url(LOG_ID), treeSize, rootHash: rootAt(treeSize), previous }
    const signed = await anchorer.sign(subject, [], signal)
    await anchorer.send(signed, signal)
    await chain.finalize()
    const sighting = await anchorer.look(subject, [signed], signal)
    if (sighting.state !== 'final') throw new Error(`the anchor is ${sighting.state}`)
    const { chain: name, uid, txHash, blockTime } = sighting.anchor
    const anchor = { chain: name, scheme: 'eas', uid, tx_hash: txHash, tree_size: treeSize } as const
    const { checks, proven_by } = await checkReceipt(receiptAt(treeSize, anchor), { keys, anchorCheckers })
    t.strictSame([checks.anchor, proven_by], ['anchored', new Date(blockTime * 1000).toISOString()])
    previous = { uid, treeSize, rootHash: rootAt(treeSize) }
  }
})
