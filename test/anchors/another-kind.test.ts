// Test run: slow
/** Anchors of another kind than those of the plugin that comes along: a plugin makes them, and its checker checks them. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '@claimcheck/client'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { createEasChecker } from '@claimcheck/plugin-anchor-eas/checker'
import t from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { createStatementAnchorer, createStatementChecker } from './statements.ts'

const eas = createEasChecker({ rpcUrl: 'http://127.0.0.1:1' })

t.test('one plugin makes anchors of another kind and checks them', async (t) => {
  const file = join(t.testdir(), 'statements')
  const statements = createStatementChecker(file)
  const anchoring = {
    use: resolve('build/test/plugins/statements.js'),
    trusted: true,
    with: { file, seed: '11'.repeat(32) },
  }
  const installation = await Installation.during(t, { plugins: [SCRIPTED, anchoring] })
  const client = await installation.client('acme')
  const { body } = await client.submit()
  const path = `/v1/receipts/${body.receipt_id}`
  while (!(await installation.request(path)).body.proof.anchor) await setTimeout(50)
  const receipt = JSON.stringify((await installation.request(path)).body)
  const keys = parseKeySet(JSON.stringify((await installation.request('/.well-known/poaw-keys.json')).body))

  const report = await checkReceipt(receipt, { keys, anchorCheckers: [eas, statements] })
  t.match(report, { valid: true, achieved_trust_level: 2, checks: { anchor: 'anchored' }, proven_by: /^20.*Z$/ })
  const stranger = createClient({ baseUrl: installation.url })
  const bySdk = await stranger.verify(body.receipt_id, { anchorCheckers: [eas, statements] })
  t.match(bySdk, { valid: true, achieved_trust_level: 2, checks: { anchor: 'anchored' } })

  const unknown = await checkReceipt(receipt, { keys, anchorCheckers: [eas] })
  t.match(unknown, { valid: true, achieved_trust_level: 1, checks: { anchor: 'unknown_scheme' } })
  const args = ['verify', `${installation.url}${path}`, '--rpc', 'http://127.0.0.1:1']
  t.match(await runClaimcheck(installation.folder, args), {
    code: 0,
    stdout: /anchor +could not be checked: .*install the plugin that checks them \(unknown_scheme\)/,
  })
  t.match(await runClaimcheck(installation.folder, ['doctor'], installation.env), { code: 0 })

  const kept = readFileSync(file, 'utf8')
  writeFileSync(file, kept.replace('"tree_size":1', '"tree_size":2'))
  const found = async () => (await checkReceipt(receipt, { keys, anchorCheckers: [statements] })).checks.anchor
  t.equal(await found(), 'attestation_not_found', 'a changed statement is another one')
  writeFileSync(file, kept)
  t.equal(await found(), 'anchored')
})

t.test('a statement of another account is no anchor', async (t) => {
  const file = join(t.testdir(), 'statements')
  const forger = createStatementAnchorer(file, Buffer.alloc(32, 2))
  const { signal } = new AbortController()
  const subject = { logId: 'A'.repeat(43), treeSize: 1, rootHash: new Uint8Array(32), previous: null }
  const { raw, txHash } = await forger.sign(subject, [], signal)
  appendFileSync(file, `${raw}\n`)
  const anchor = { chain: forger.chain, scheme: 'eas', uid: txHash, tx_hash: txHash, tree_size: 1 } as const
  const published = { anchorAddresses: ['another'], anchorSchemas: [forger.identity().schema] }
  t.match(await createStatementChecker(file).read(anchor, published), { problem: 'attester_not_published' })
})
