/** The fast check of receipts accepts those that the service writes, so that the slow one is for the others. */
import { SEPARATORS } from '@claimcheck/server/storage/lines'
import { openSqlite } from '@claimcheck/server/storage/sqlite'
import { isSound } from '@claimcheck/server/upkeep/doctor/sound-receipt'
import { type ReceiptLine, readReceiptLine } from '@claimcheck/server/upkeep/doctor/stored'
import t from 'tap'
import { afterFile } from '../../../../test/support/after-file.ts'
import { LEAVES } from './installation.ts'
import { keepLog } from './kept-log.ts'

const kept = await keepLog()
afterFile(() => kept.remove())

t.test('each usual receipt is accepted at a glance, with the plugin that it names and without one', async (t) => {
  const storage = await openSqlite(kept.file)
  t.teardown(() => storage.close())
  const text = await storage.read.doctor.receiptLines(0, LEAVES)
  const lines = text.split(SEPARATORS.row).map((line) => readReceiptLine(line)!)
  t.equal(lines.length, LEAVES)
  const refused = lines.filter((line) => !isSound(line, boundsOf(line)))
  // Leaf 1, too, which has params whose names are numbers.
  t.strictSame(
    refused.map(({ leaf_index }) => leaf_index),
    [],
  )
  const named = lines.filter(({ entry }) => JSON.parse(entry).body.observation.verifier.package !== undefined)
  t.ok(named.length > 0 && named.length < LEAVES, `${named.length} of ${LEAVES} name a plugin`)
})

t.test('a receipt that names another plugin than its check is not', async (t) => {
  const storage = await openSqlite(kept.file)
  t.teardown(() => storage.close())
  const line = readReceiptLine((await storage.read.doctor.receiptLines(3, 4)).split(SEPARATORS.row)[0]!)!
  const { package: name } = JSON.parse(line.entry).body.observation.verifier
  const entry = line.entry.replace(`"package":"${name}"`, '"package":"other"')
  t.not(entry, line.entry)
  t.notOk(isSound({ ...line, entry }, boundsOf(line)))
})

function boundsOf({ entry }: ReceiptLine) {
  const { key_id: keyId } = JSON.parse(entry).body.issuer
  return { keyId, notBefore: 0, notAfter: Number.MAX_SAFE_INTEGER }
}
