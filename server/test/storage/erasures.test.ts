/** Erasing content, on every database: what the rows let go, and what they never do. Threat O9 of `security.md`. */
import { existsSync, readFileSync } from 'node:fs'
import type { CheckRecord } from '@claimcheck/core/rules'
import { type ClaimRow, contentLeft } from '@claimcheck/server/storage/claim-row'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import t, { type Test } from 'tap'
import { query } from '../../../test/support/sql.ts'
import { claimNumber } from '../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const HASH = Buffer.alloc(32)
const LOG = { logId: 'log', name: 'log', number: 0, keyId: 'key', treeSize: 0, rootHash: HASH, issuedAt: NOON }
const RECORD: CheckRecord = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } }
/** Longer than a page of SQLite, so that it takes pages of its own. */
const NAME = 'John-Doe '.repeat(1000)
const RULE = { erasedAt: NOON + 5, rule: 'court_order', reference: '12 O 345/26' } as const

function decided(number: number, over: Partial<ClaimRow> = {}): ClaimRow {
  const outcome = { state: 'decided', verdict: 'failed', reasonCode: 'not_found', receiptId: `rcpt_${number}` } as const
  const waits = { dueAt: null, nextCheckAt: null, momentAt: null }
  return claimNumber(number, {
    params: { branch: NAME },
    attempts: 1,
    lastCheck: RECORD,
    ...outcome,
    ...waits,
    ...over,
  })
}

function receipt(leafIndex: number) {
  const ids = { receiptId: `rcpt_${leafIndex}`, claimId: `clm_${leafIndex}` }
  return { logId: 'log', leafIndex, ...ids, leafHash: Buffer.from([leafIndex, 255]), issuedAt: NOON, entry: NAME }
}

/** Two decided claims with receipts and evidence, and one that waits. */
async function begin(t: Test, url: string): Promise<OpenedStorage> {
  const storage = await opened(t, url)
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
  })
  await storage.apply({
    log: LOG,
    head: { ...LOG, number: 1, treeSize: 2, signed: '{}' },
    newClaims: [decided(0), decided(1), claimNumber(2)],
    receipts: [receipt(0), receipt(1)],
    evidence: ['rcpt_0', 'rcpt_1'].map((receiptId) => ({ logId: 'log', receiptId, document: NAME })),
  })
  return storage
}

/** What the service does. */
async function erase(storage: OpenedStorage, receiptIds: readonly string[]): Promise<readonly string[]> {
  return storage.write(async (tx) => {
    const claims = await tx.erasures.lock(receiptIds)
    const remains = await tx.erasures.remains(receiptIds)
    const rows = claims.map(({ receiptId, claimId }) => {
      return { ...remains.find((one) => one.receiptId === receiptId)!, claimId, ...RULE }
    })
    await tx.erasures.erase(rows, claims.map(contentLeft))
    return claims.map(({ claimId }) => claimId)
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, an erasure takes the content of one receipt, and leaves its leaf`, async (t) => {
    const storage = await begin(t, await newDatabase(t, dialect))
    t.strictSame(await erase(storage, ['rcpt_0', 'rcpt_9']), ['clm_0'])
    const { log, claims, erasures } = storage.read
    t.same(await log.receipts('log', 0, 10), [{ ...receipt(0), entry: '' }, receipt(1)])
    t.equal(await log.evidenceOf('rcpt_0'), undefined)
    t.equal(await log.evidenceOf('rcpt_1'), NAME)
    t.same(await claims.history('clm_0'), [])
    t.same(await claims.history('clm_1'), [RECORD])
    const [erased] = await claims.byIds(['clm_0'])
    t.same(await claims.byIds(['clm_1']), [{ ...decided(1), logId: 'log' }])
    t.same(erased, { ...decided(0), logId: 'log', ...contentLeft(decided(0)) })
    t.notMatch(JSON.stringify(erased), /John|client-0|agent"|somewhere/)
    t.match(erased, { verdict: 'failed', receiptId: 'rcpt_0', submittedAt: decided(0).submittedAt, attempts: 1 })
    const left = { logId: 'log', leafIndex: 0, leafHash: receipt(0).leafHash, issuedAt: NOON }
    t.same(await erasures.byReceiptIds(['rcpt_0', 'rcpt_1']), [
      { receiptId: 'rcpt_0', claimId: 'clm_0', ...RULE, ...left },
    ])
    t.match(await erasures.byClaimIds(['clm_0', 'clm_1']), [{ claimId: 'clm_0' }])
    t.strictSame(await erase(storage, ['rcpt_0', 'rcpt_1']), ['clm_1'], 'and the first is not erased twice')
  })

  t.test(`on ${dialect}, two that erase the same at once erase it once`, async (t) => {
    const url = await newDatabase(t, dialect)
    const hosts = [await begin(t, url), await opened(t, url)]
    const erased = await Promise.all([...hosts, ...hosts].map((host) => erase(host, ['rcpt_1', 'rcpt_0'])))
    t.strictSame(erased.flat().sort(), ['clm_0', 'clm_1'])
    t.equal((await hosts[0]!.read.erasures.list(10)).length, 2)
  })

  t.test(`on ${dialect}, no statement changes more than an erasure does, nor without its row`, async (t) => {
    const url = await newDatabase(t, dialect)
    const storage = await begin(t, url)
    const run = (sql: string) => storage.transaction((db) => db.query(sql))
    const content = [
      `UPDATE receipts SET entry = '' WHERE leaf_index = 0`,
      `DELETE FROM evidence WHERE receipt_id = 'rcpt_0'`,
      `DELETE FROM checks WHERE claim_id = 'clm_0'`,
    ]
    for (const sql of content) await t.rejects(run(sql), /append-only/, `${sql}, without an erasure`)
    const hash = dialect === 'sqlite' ? `x'00'` : `'\\x00'`
    await run(`INSERT INTO erasures (receipt_id, claim_id, log_id, leaf_index, leaf_hash, issued_at, erased_at, rule, reference)
      VALUES ('rcpt_0', 'clm_0', 'log', 0, ${hash}, ${NOON}, ${NOON}, 'court_order', '')`)
    const never = [
      `UPDATE receipts SET entry = '{}' WHERE leaf_index = 0`,
      `UPDATE receipts SET entry = '', receipt_id = 'rcpt_x' WHERE leaf_index = 0`,
      `UPDATE receipts SET entry = '', issued_at = 0 WHERE leaf_index = 0`,
      `UPDATE receipts SET entry = '', leaf_index = 9 WHERE leaf_index = 0`,
      `UPDATE receipts SET entry = '', leaf_hash = ${hash} WHERE leaf_index = 0`,
      `UPDATE receipts SET entry = ''`,
      `UPDATE receipts SET entry = '' WHERE leaf_index = 1`,
      'DELETE FROM receipts WHERE leaf_index = 0',
      `UPDATE evidence SET document = '' WHERE receipt_id = 'rcpt_0'`,
      'DELETE FROM evidence',
      `DELETE FROM evidence WHERE receipt_id = 'rcpt_1'`,
      `UPDATE checks SET record = '{}' WHERE claim_id = 'clm_0'`,
      'DELETE FROM checks',
      `DELETE FROM checks WHERE claim_id = 'clm_1'`,
      `UPDATE erasures SET rule = 'secret'`,
      'DELETE FROM erasures',
    ]
    for (const sql of never) await t.rejects(run(sql), /append-only/, sql)
    for (const sql of content) await run(sql)
    t.same(await query(url, `SELECT entry FROM receipts WHERE leaf_index = 0`), [{ entry: '' }])
  })

  t.test(`on ${dialect}, an erasure that fails half way leaves everything`, async (t) => {
    const storage = await begin(t, await newDatabase(t, dialect))
    const work = storage.write(async (tx) => {
      const claims = await tx.erasures.lock(['rcpt_0'])
      const [remains] = await tx.erasures.remains(['rcpt_0'])
      await tx.erasures.erase([{ ...remains!, claimId: 'clm_0', ...RULE }], claims.map(contentLeft))
      throw new Error('crashed')
    })
    await t.rejects(work, /crashed/)
    t.same(await storage.read.log.receipts('log', 0, 10), [receipt(0), receipt(1)])
    t.equal(await storage.read.log.evidenceOf('rcpt_0'), NAME)
    t.same(await storage.read.claims.byIds(['clm_0']), [{ ...decided(0), logId: 'log' }])
    t.same(await storage.read.erasures.list(10), [])
  })
}

t.test('on SQLite, no byte of an erased row is left where the row was, nor in the write-ahead log', async (t) => {
  const url = await newDatabase(t, 'sqlite')
  const file = url.slice('sqlite:'.length)
  const storage = await begin(t, url)
  const holds = () => [file, `${file}-wal`].some((name) => existsSync(name) && readFileSync(name).includes('John-Doe'))
  t.ok(holds())
  await erase(storage, ['rcpt_0', 'rcpt_1'])
  t.ok(holds(), 'the write-ahead log has it')
  t.equal(await storage.forgetDeleted(), true)
  t.notOk(holds())
})

t.test('on SQLite, what a divided page kept of an erased row is gone once the file is written anew', async (t) => {
  const url = await newDatabase(t, 'sqlite')
  const storage = await begin(t, url)
  const log = { ...LOG, number: 1, treeSize: 2 }
  // Not in the order of their keys, so that full pages are divided: a few of the rows that move leave a copy behind.
  const numbers = Array.from({ length: 1000 }, (_, index) => ((index * 7919) % 100_003) + 10)
  const claims = numbers.map((number, index) =>
    decided(number, { agentId: 'John-Doe', params: { branch: 'John-Doe '.repeat(index % 50) } }),
  )
  for (let start = 0; start < claims.length; start += 50) {
    await storage.apply({ log, newClaims: claims.slice(start, start + 50) })
  }
  const insert = `INSERT INTO receipts SELECT 'log', 2 + row_number() OVER (), receipt_id, claim_id, x'00', 0, 'John-Doe'
    FROM claims WHERE receipt_id NOT IN ('rcpt_0', 'rcpt_1')`
  await query(url, insert)
  await erase(storage, ['rcpt_0', 'rcpt_1', ...numbers.map((number) => `rcpt_${number}`)])
  t.equal(await storage.forgetDeleted(), true)
  t.equal(await storage.rewrite(), true)
  const file = url.slice('sqlite:'.length)
  for (const name of [file, `${file}-wal`]) t.notOk(existsSync(name) && readFileSync(name).includes('John-Doe'), name)
})

t.test('on Postgres, no byte of what was erased is left in the tables that are written anew', async (t) => {
  const url = await newDatabase(t, 'postgres')
  const storage = await begin(t, url)
  const tables = `SELECT oid FROM pg_class WHERE relname IN ('claims', 'checks', 'receipts', 'evidence')`
  const parts = `SELECT oid FROM pg_class WHERE oid IN (${tables})
    OR oid IN (SELECT reltoastrelid FROM pg_class WHERE oid IN (${tables}))
    OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN (${tables}))`
  async function holding() {
    await query(url, 'CHECKPOINT')
    const sql = `SELECT oid FROM (${parts}) AS parts
      WHERE position('John-Doe'::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0`
    return (await query(url, sql)).length
  }
  await erase(storage, ['rcpt_0', 'rcpt_1'])
  await query(url, 'VACUUM claims, checks, receipts, evidence')
  t.ok((await holding()) > 0, 'a plain vacuum leaves it')
  t.equal(await storage.rewrite(), true)
  t.equal(await holding(), 0)
  t.match(await storage.read.log.receipts('log', 0, 10), [{ entry: '' }, { entry: '' }])
})

t.test('on SQLite, a reader keeps the write-ahead log, and that is told', async (t) => {
  const storage = await begin(t, await newDatabase(t, 'sqlite'))
  await storage.snapshot(async (db) => {
    await db.query('SELECT entry FROM receipts')
    await erase(storage, ['rcpt_0'])
    t.equal(await storage.forgetDeleted(), false)
  })
  t.equal(await storage.forgetDeleted(), true)
})
