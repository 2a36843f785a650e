import { join } from 'node:path'
import { verifyInclusion } from '@claimcheck/core/log'
import { fromBase64url } from '@claimcheck/core/receipts'
import { createLogService } from '@claimcheck/server/features/log/log'
import { createLogArchives } from '@claimcheck/server/features/log/log-archives'
import { SHA256_TREE } from '@claimcheck/server/features/log/log-rows'
import { createReceiptService } from '@claimcheck/server/features/receipts/receipts'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { createLog, grow, receiptId } from '../../support/grown-log.ts'

function receiptsOf(storage: Storage) {
  const archives = createLogArchives({ storage, config: { dataDir: '/nowhere' } })
  return createReceiptService({ storage, log: createLogService({ storage, archives }), archives })
}

async function open(t: Test, leaves: number) {
  const statements: string[] = []
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'), {
    beforeStatement: (sql) => statements.push(sql),
  })
  t.teardown(() => storage.close())
  await createLog(storage)
  await grow(storage, leaves)
  return { storage, statements, receipts: receiptsOf(storage) }
}

async function holds(text: string, leafIndex: number, treeSize: number): Promise<boolean> {
  const { body, signature, proof } = JSON.parse(text)
  const entry = JSON.stringify({ body, signature })
  const path = proof.inclusion.map((hash: string) => fromBase64url(hash, 32))
  const leafHash = SHA256_TREE.leaf(Buffer.from(entry))
  const included = verifyInclusion({
    leafIndex,
    treeSize,
    leafHash,
    rootHash: fromBase64url(proof.root_hash, 32)!,
    path,
  })
  return (
    included && text.startsWith(entry.slice(0, -1)) && proof.leaf_index === leafIndex && proof.tree_size === treeSize
  )
}

t.test('each receipt of a log comes with a proof at the current size', async (t) => {
  const { receipts, storage } = await open(t, 1)
  t.ok(await holds((await receipts.get(receiptId(0)))!, 0, 1), 'also the only one, whose path is empty')
  await grow(storage, 699)
  const texts = await Promise.all(Array.from({ length: 700 }, (_, leaf) => receipts.get(receiptId(leaf))))
  const wrong: number[] = []
  for (const [leaf, text] of texts.entries()) if (!(await holds(text!, leaf, 700))) wrong.push(leaf)
  t.strictSame(wrong, [])
})

t.test('what is asked for together costs five reads at most, however much it is', async (t) => {
  const { receipts, statements } = await open(t, 700)
  await receipts.get(receiptId(0))
  statements.length = 0
  const asked = Array.from({ length: 64 }, (_, index) => receipts.get(receiptId(index * 10)))
  await Promise.all([...asked, receipts.get(receiptId(0)), receipts.get('rcpt_unknown')])
  t.ok(statements.length <= 5, statements.join('\n'))
})

t.test('an id that names no receipt has none, whatever else is asked for with it', async (t) => {
  const { receipts } = await open(t, 3)
  const [known, unknown, twice] = await Promise.all(['rcpt_1', 'rcpt_9', 'rcpt_1'].map((id) => receipts.get(id)))
  t.ok(known)
  t.equal(unknown, undefined)
  t.equal(twice, known)
})

t.test('a receipt whose leaf is not the one in the tree is not given out', async (t) => {
  const { storage } = await open(t, 3)
  const leafHash = SHA256_TREE.empty
  const receiptsByIds = async (ids: readonly string[]) => {
    const { receipts, ...rest } = await storage.read.log.receiptsByIds(ids)
    return { ...rest, receipts: receipts.map((row) => ({ ...row, leafHash })) }
  }
  const damaged = { ...storage, published: { ...storage.published, receiptsByIds } }
  const receipts = receiptsOf(damaged)
  await t.rejects(receipts.get(receiptId(1)), Error)
})
