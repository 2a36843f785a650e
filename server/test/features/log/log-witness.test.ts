/** What clients send costs little, however many send the same. Threat O6 of `security.md`. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { headField, signTreeHead } from '@claimcheck/core/log'
import { createNobleSigner } from '@claimcheck/core/receipts'
import { createLogWitness } from '@claimcheck/server/features/log/log-witness'
import { createSigningKeys } from '@claimcheck/server/features/log/signing/signing-keys'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { openLogGuard } from '../../support/log-guard.ts'
import { plainKeyFiles } from '../../support/plain-key-files.ts'

async function begin(t: Test) {
  const folder = t.testdir()
  const storage = await openSqlite(join(folder, 'claimcheck.db'))
  t.teardown(() => storage.close())
  const logGuard = openLogGuard(storage, folder)
  const config = { issuerName: 'Example', publicUrl: undefined }
  const signingKeys = createSigningKeys({ storage, vault: plainKeyFiles(folder), logGuard, now: Date.now, config })
  await signingKeys.ensureLog()
  await logGuard.examine()
  const counts = { states: 0, keys: 0 }
  const { log } = storage.read
  const { state, signingKeys: readKeys } = log
  log.state = (...of) => {
    counts.states++
    return state.apply(log, of)
  }
  log.signingKeys = (...of) => {
    counts.keys++
    return readKeys.apply(log, of)
  }
  const witness = createLogWitness({
    storage,
    logGuard,
    now: Date.now,
    logger: { info() {}, error() {} },
  })
  t.teardown(() => witness.idle())
  return { log, logGuard, signingKeys, witness, counts }
}

t.test('one head that many clients send is verified once', async (t) => {
  const { log, witness, counts } = await begin(t)
  const { logId, rootHash } = (await log.state())!
  const other = createNobleSigner(new Uint8Array(32).fill(1))
  const head = await signTreeHead(other, { logId, treeSize: 99, rootHash, issuedAt: Date.now() })
  for (let client = 0; client < 500; client++) witness.hear(headField(head), `client-${client}`)
  await setTimeout(800)
  t.equal(witness.totals().get('unknown_key'), 500)
  t.equal(counts.keys, 1)
})

t.test("this host's own heads are not looked at, also when another is announced by then", async (t) => {
  const { logGuard, signingKeys, witness, counts } = await begin(t)
  const own = witness.newest()!
  await signingKeys.rotate()
  await logGuard.examine()
  t.not(witness.newest(), own)
  const { states } = counts
  for (let client = 0; client < 10; client++) witness.hear(own, `client-${client}`)
  t.equal(witness.totals().get('contained'), 10)
  await setTimeout(200)
  t.equal(counts.states, states)
})

t.test('of many heads that differ, as many wait as have room, and some are verified at a time', async (t) => {
  const { log, signingKeys, witness } = await begin(t)
  const { logId, rootHash } = (await log.state())!
  const signer = await signingKeys.latest()
  const [first, other] = await Promise.all(
    [1, 2].map((treeSize) => signTreeHead(signer, { logId, treeSize, rootHash, issuedAt: Date.now() })),
  )
  const sizes = Array.from({ length: 1200 }, (_, size) => size + 3)
  // Of one size, but none is signed.
  const forged = sizes.map((tree_size) => headField({ ...first!, body: { ...other!.body, tree_size } }))
  for (const [client, head] of forged.entries()) witness.hear(head, `client-${client}`)
  t.equal(witness.totals().get('left_out'), 200)
  await setTimeout(1000)
  const verified = witness.totals().get('not_signed')!
  t.ok(verified > 0 && verified <= 20, `${verified} in a second`)
})
