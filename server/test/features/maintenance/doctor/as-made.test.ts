/** The code that makes receipts accepts those that the service writes, so that the close examination is for the others. */

import { isAsMade } from '@claimcheck/server/features/maintenance/doctor/as-made'
import {
  claimsWithChecks,
  receiptOfRow,
  type StoredReceipt,
} from '@claimcheck/server/features/maintenance/doctor/stored'
import t, { type Test } from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { openSqlite } from '../../../../../test/support/storage.ts'
import { LEAVES } from './installation.ts'
import { keepLog } from './kept-log.ts'

const kept = await keepLog()
afterFile(() => kept.remove())

async function stored(t: Test) {
  const { read, close } = await openSqlite(kept.file)
  t.teardown(() => close())
  const { logId } = (await read.log.state())!
  const receipts = (await read.doctor.receipts(logId, 0, LEAVES)).map(receiptOfRow)
  const claims = await claimsWithChecks(read.doctor, await read.doctor.claims(receipts.map(({ claim_id }) => claim_id)))
  return receipts.map((receipt) => ({ receipt, claim: claims.get(receipt.claim_id)! }))
}

t.test('each usual receipt is what it must be, with the plugin that it names and without one', async (t) => {
  const all = await stored(t)
  t.equal(all.length, LEAVES)
  const refused = all.filter(({ receipt, claim }) => !isAsMade(receipt, claim, boundsOf(receipt)))
  // Leaf 1, too, which has params whose names are numbers.
  t.strictSame(
    refused.map(({ receipt }) => receipt.leaf_index),
    [],
  )
  const named = all.filter(({ receipt }) => JSON.parse(receipt.entry).body.observation.verifier.package !== undefined)
  t.ok(named.length > 0 && named.length < LEAVES, `${named.length} of ${LEAVES} name a plugin`)
})

t.test('a receipt that names another plugin than its check, or came at another time, is not', async (t) => {
  const { receipt, claim } = (await stored(t))[3]!
  const { package: name } = JSON.parse(receipt.entry).body.observation.verifier
  const entry = receipt.entry.replace(`"package":"${name}"`, '"package":"other"')
  t.not(entry, receipt.entry)
  t.notOk(isAsMade({ ...receipt, entry }, claim, boundsOf(receipt)))
  t.notOk(isAsMade(receipt, claim, { ...boundsOf(receipt), notAfter: Number(receipt.issued_at) - 1 }))
  t.notOk(isAsMade({ ...receipt, entry: '{' }, claim, boundsOf(receipt)))
})

function boundsOf({ entry }: StoredReceipt) {
  const { key_id: keyId } = JSON.parse(entry).body.issuer
  return { keyId, notBefore: 0, notAfter: Number.MAX_SAFE_INTEGER }
}
