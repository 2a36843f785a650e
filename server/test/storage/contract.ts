/** What storage promises, on every database. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { CheckRecord } from '@claimcheck/core/rules'
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import { newId } from '@claimcheck/server/base/ids'
import { isSharedDatabase } from '@claimcheck/server/config/database-url'
import { CHAIN_START, chainHash } from '@claimcheck/server/storage/audit-chain'
import { type ClaimRow, checks, clientIdLeft, contentLeft } from '@claimcheck/server/storage/claim-row'
import { type DueKind, laneOf, namesOfLane, partsOfLane } from '@claimcheck/server/storage/claims'
import type { TreeHeadRow } from '@claimcheck/server/storage/log-state'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import { insertRows } from '@claimcheck/server/storage/rows'
import { type Migration, schemaOf } from '@claimcheck/server/storage/schema'
import type { Storage } from '@claimcheck/server/storage/storage'
import type { Test } from 'tap'
import type { Dialect } from '../../../test/support/database.ts'
import { query } from '../../../test/support/sql.ts'
import { openStorage, SCHEMA, type TestStorageOptions } from '../../../test/support/storage.ts'
import { claimNumber } from '../support/claim-row.ts'
import { newDatabase, opened } from '../support/databases.ts'
import { UNREAD, UNUSED } from '../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const WORKSPACE = { id: 'ws_1', name: 'acme', createdAt: NOON }
const HASH = Buffer.alloc(32)
const LOG = {
  logId: 'log',
  name: 'log',
  contradictedBy: null,
  witnessed: null,
  closedBy: null,
  moves: null,
  number: 0,
  keyId: 'key',
  treeSize: 0,
  rootHash: HASH,
  issuedAt: NOON,
}
const RECORD: CheckRecord = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } }

/** A workspace, a log, and these claims. */
async function filled(storage: OpenedStorage, claims: readonly ClaimRow[]): Promise<OpenedStorage> {
  await storage.write(async (tx) => {
    await tx.workspaces.insert(WORKSPACE)
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
    await tx.claims.insertNew(claims)
  })
  return storage
}

const EVIDENCE = { logId: 'log', receiptId: 'rcpt_0', document: '{"text":"\\n\u00e9\u{1f600} \'quoted\'"}' }

/** The next head of a log that has none but its first. */
function head(treeSize: number, over: Partial<TreeHeadRow> = {}): TreeHeadRow {
  const { name, ...first } = LOG
  return { ...first, number: 1, treeSize, signed: '{}', ...over }
}

function hasReceipt(number: number): ClaimRow {
  return claimNumber(number, { receiptId: `rcpt_${number}` })
}

function receipt(leafIndex: number) {
  const ids = { receiptId: `rcpt_${leafIndex}`, claimId: `clm_${leafIndex}` }
  const leaf = { logId: 'log', leafIndex, leafHash: Buffer.from([leafIndex, 255]) }
  return { ...leaf, ...ids, issuedAt: NOON, entry: '{"quoted":"\\n"}' }
}

async function ranMigrations(databaseUrl: string, options: TestStorageOptions): Promise<string> {
  const script = `import { SCHEMA } from ${JSON.stringify(resolve('server/dist/features.js'))}
    import { openStorage } from ${JSON.stringify(resolve('server/dist/storage/open.js'))}
    const options = { ...${JSON.stringify(options)}, schema: SCHEMA }
    const storage = await openStorage(${JSON.stringify({ databaseUrl })}, options)
    process.stdout.write(String(storage.migrated.length))
    await storage.close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece) => pieces.push(piece))
  await once(child, 'close')
  return Buffer.concat(pieces).toString()
}

/** @param rewrites statements beside UPDATE and DELETE that this database has for changing rows */
export function testStorage(
  t: Test,
  dialect: Dialect,
  rewrites: (table: string) => readonly string[],
  options: TestStorageOptions = {},
): void {
  const fresh = (t: Test) => newDatabase(t, dialect)
  const open = (t: Test, url: string) => opened(t, url, options)
  const begin = async (t: Test, url: string, claims: readonly ClaimRow[] = []) => filled(await open(t, url), claims)

  t.test('an empty database is migrated when it is opened, and opened again as it was', async (t) => {
    const url = await newDatabase(t, dialect, { isEmpty: true })
    const first = await openStorage({ databaseUrl: url }, options)
    t.strictSame(first.migrated, Object.keys(SCHEMA.migrations))
    await first.write((tx) => tx.workspaces.insert(WORKSPACE))
    await first.close()
    const second = await open(t, url)
    t.strictSame(second.migrated, [])
    t.match(await second.read.workspaces.byIdOrName('acme'), WORKSPACE)
  })

  t.test('processes that start together migrate once', async (t) => {
    const url = await newDatabase(t, dialect, { isEmpty: true })
    const ran = await Promise.all(Array.from({ length: 4 }, () => ranMigrations(url, options)))
    t.strictSame(ran.sort(), ['0', '0', '0', String(Object.keys(SCHEMA.migrations).length)])
  })

  t.test('a database from a newer version is refused', async (t) => {
    const url = await fresh(t)
    await (await openStorage({ databaseUrl: url }, options)).close()
    await query(url, `INSERT INTO migrations (name) VALUES ('999-newer')`)
    await t.rejects(openStorage({ databaseUrl: url }, options), { code: 'newer_schema', message: /999-newer/ })
  })

  t.test('a database from before the baseline is refused by the names that it has, and left as it is', async (t) => {
    const url = await newDatabase(t, dialect, { isEmpty: true })
    const made = `CREATE TABLE migrations (id integer, name text, batch integer, migration_time text)`
    for (const sql of [made, `INSERT INTO migrations (name) VALUES ('001-initial')`]) await query(url, sql)
    const message = /has 001-initial\), and was left as it is: name another database in DATABASE_URL/
    await t.rejects(openStorage({ databaseUrl: url }, options), { code: 'older_schema', message })
    t.strictSame(
      (await query(url, 'SELECT name FROM migrations')).map(({ name }) => name),
      ['001-initial'],
    )
    await t.rejects(query(url, 'SELECT 1 FROM claims'))
  })

  t.test('a later migration is applied once to a database with rows, which earlier code refuses', async (t) => {
    const url = await fresh(t)
    await (await begin(t, url)).close()
    const named: Migration = { up: (db) => db.schema.alterTable('workspaces', (table) => table.text('motto')) }
    const failing: Migration = { up: () => Promise.reject(new Error('out of paper')) }
    const later = (over: Readonly<Record<string, Migration>>): TestStorageOptions => ({
      ...options,
      schema: schemaOf([SCHEMA, { tables: [], migrations: { '100-mottos': named, ...over } }]),
    })
    const open = (over = {}) => openStorage({ databaseUrl: url }, later(over))
    await t.rejects(open({ '101-failing': failing }), { message: /out of paper/ })
    await t.rejects(query(url, 'SELECT motto FROM workspaces'), 'all of them are applied, or none')
    for (const migrated of [['100-mottos'], []]) {
      const storage = await open()
      t.strictSame(storage.migrated, migrated)
      await storage.close()
    }
    t.strictSame(await query(url, 'SELECT name, motto FROM workspaces'), [{ name: 'acme', motto: null }])
    await t.rejects(openStorage({ databaseUrl: url }, options), { code: 'newer_schema', message: /100-mottos/ })
  })

  t.test('what hosts share is there where the URL says that they can share the database', async (t) => {
    const url = await fresh(t)
    const { shared } = await open(t, url)
    t.equal(shared !== undefined, isSharedDatabase(url))
  })

  t.test('a commit is seen by other programs when it returns', async (t) => {
    const url = await fresh(t)
    const storage = await open(t, url)
    await storage.write((tx) => tx.workspaces.insert(WORKSPACE))
    t.strictSame(
      (await query(url, 'SELECT id FROM workspaces')).map(({ id }) => id),
      ['ws_1'],
    )
  })

  t.test('a transaction that fails leaves nothing, and the next one is not held up', async (t) => {
    const storage = await open(t, await fresh(t))
    const work = storage.write(async (tx) => {
      await tx.workspaces.insert(WORKSPACE)
      throw new Error('crashed')
    })
    await t.rejects(work, { message: 'crashed' })
    t.equal(await storage.read.workspaces.any(), false)
    t.ok(await storage.write((tx) => tx.workspaces.insert({ ...WORKSPACE, id: 'ws_2' })))
  })

  t.test('what is not committed is seen within its transaction alone', async (t) => {
    const storage = await open(t, await fresh(t))
    await storage.write(async (tx) => {
      await tx.workspaces.insert(WORKSPACE)
      t.equal(await storage.read.workspaces.any(), false)
      t.equal(await tx.workspaces.any(), true)
    })
    t.equal(await storage.read.workspaces.any(), true)
  })

  t.test('a snapshot stays as it was when it began, while others write', async (t) => {
    const storage = await open(t, await fresh(t))
    await storage.snapshot(async (db) => {
      const count = async () => (await db.query('SELECT id FROM workspaces')).length
      t.equal(await count(), 0)
      await storage.write((tx) => tx.workspaces.insert(WORKSPACE))
      t.equal(await count(), 0)
    })
  })

  t.test('hosts that lock the log append one after the other', async (t) => {
    const url = await fresh(t)
    const hosts = [await begin(t, url), await open(t, url)]
    const grow = (host: Storage) =>
      host.write(async (tx) => {
        const state = (await tx.log.lock())!
        await setTimeout(5)
        await tx.log.insertHead({ ...state, number: state.number + 1, treeSize: state.treeSize + 1, signed: '{}' })
      })
    await Promise.all(Array.from({ length: 10 }, (_, index) => grow(hosts[index % 2]!)))
    t.match(await hosts[0]!.read.log.state(), { ...LOG, number: 10, treeSize: 10 })
  })

  t.test('a claim that is not checked keeps its checks', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(0)])
    const checked = { ...claimNumber(0), attempts: 1, lastCheck: RECORD }
    await storage.apply({ log: LOG, progress: [checked] })
    await storage.apply({ log: LOG, progress: [{ ...checked, lastCheck: null, dueAt: NOON + 7 }] })
    t.match(await storage.read.claims.byIds(['clm_0']), [{ attempts: 1, lastCheck: RECORD, dueAt: NOON + 7 }])
    t.same(await storage.read.claims.history('clm_0'), [RECORD])
  })

  t.test('one statement changes the log, claims, checks, receipts, their evidence, tiles and heads', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(0)])
    const newHead = head(2, { rootHash: Buffer.from([1, 0, 255]), issuedAt: NOON + 1 })
    const progress = { ...claimNumber(0), attempts: 1, lastCheck: RECORD, dueAt: null, nextCheckAt: null }
    const decided = { ...progress, state: 'decided', receiptId: 'rcpt_0', verdict: 'verified' } as const
    const added = claimNumber(1, { attempts: 1, lastCheck: RECORD })
    const tile = { logId: 'log', level: 0, index: 0, width: 2, hashes: Buffer.from([0, 10, 255]) }
    await storage.apply({
      log: LOG,
      head: newHead,
      newClaims: [added],
      progress: [decided],
      receipts: [receipt(0), receipt(1)],
      evidence: [EVIDENCE],
      tiles: [tile],
    })
    const { claims, log } = storage.read
    const { signed, ...grown } = newHead
    t.match(await log.state(), { ...LOG, ...grown })
    t.same(await claims.byIds(['clm_0']), [{ ...decided, logId: 'log' }], 'with the log that has its receipt')
    t.same(await claims.byIds(['clm_1']), [added])
    for (const id of ['clm_0', 'clm_1']) t.same(await claims.history(id), [RECORD])
    t.same(await log.receipts('log', 0, 10), [receipt(0), receipt(1)])
    t.equal(await log.evidenceOf('rcpt_0'), EVIDENCE.document, 'byte for byte')
    t.equal(await log.evidenceOf('rcpt_1'), undefined)
    t.equal(await log.evidenceOf('rcpt_2'), undefined)
    t.same(await log.tile('log', 0, 0, 1), tile)
    t.match(newHead, await log.newestHead())
  })

  t.test('the large values of many rows come back as they were, whatever their length and letters', async (t) => {
    const storage = await begin(t, await fresh(t))
    const numbers = Array.from({ length: 300 }, (_, number) => number)
    const text = (number: number) => 'é😀a'.repeat(number * 3)
    const newClaims = numbers.map((number) => {
      const lastCheck = { ...RECORD, plugin: { package: text(number) } }
      return claimNumber(number, {
        receiptId: `rcpt_${number}`,
        ...(number % 3 === 0 ? {} : { attempts: 1, lastCheck }),
      })
    })
    const receipts = numbers.map((number) => ({
      ...receipt(number),
      leafHash: Buffer.from([number >> 8, number]),
      entry: text(number + 1),
    }))
    const evidence = numbers.map((number) => ({
      logId: 'log',
      receiptId: `rcpt_${number}`,
      document: text(number + 2),
    }))
    const tiles = [1, 2].map((width) => ({
      logId: 'log',
      level: 0,
      index: 0,
      width,
      hashes: randomBytes(width * 9000),
    }))
    await storage.apply({ log: LOG, head: head(numbers.length), newClaims, receipts, evidence, tiles })
    const { claims, log } = storage.read
    t.same(await log.receipts('log', 0, numbers.length), receipts)
    for (const { receiptId, document } of evidence)
      if ((await log.evidenceOf(receiptId)) !== document) t.fail(receiptId)
    for (const { width, hashes } of tiles) t.same((await log.tile('log', 0, 0, width))?.hashes, hashes)
    for (const claim of newClaims) {
      t.same(await claims.byIds([claim.claimId]), [{ ...claim, logId: 'log' }])
      t.same(await claims.history(claim.claimId), claim.lastCheck ? [claim.lastCheck] : [])
    }
  })

  t.test('where the log or a claim stands otherwise, nothing is changed', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(0)])
    const rest = { log: LOG, head: head(1), receipts: [receipt(0)], evidence: [EVIDENCE] }
    const otherwise = {
      'the log is longer': { ...rest, log: { ...LOG, number: 5 }, head: head(6, { number: 6 }) },
      'its next head is there already': { ...rest, head: head(1, { number: 0 }) },
      'the log has another root': { ...rest, log: { ...LOG, rootHash: Buffer.alloc(32, 1) } },
      'another key signs': { ...rest, log: { ...LOG, keyId: 'other' } },
      'another log is open': { ...rest, log: { ...LOG, logId: 'other' } },
      'another log is open, and nothing is appended': { log: { ...LOG, logId: 'other' }, newClaims: [claimNumber(3)] },
      'a claim was checked meanwhile': { ...rest, progress: [{ ...claimNumber(0), attempts: 2, lastCheck: RECORD }] },
      'a claim has not these checks': { ...rest, progress: [{ ...claimNumber(0), attempts: 1 }] },
      'a claim is not there': { ...rest, progress: [{ ...claimNumber(7), attempts: 1, lastCheck: RECORD }] },
      'a new claim is there already': {
        ...rest,
        newClaims: [claimNumber(3, { clientClaimId: 'client-0' })],
      },
    }
    for (const [what, changes] of Object.entries(otherwise)) await t.rejects(storage.apply(changes), what)
    t.equal(await storage.read.log.evidenceOf('rcpt_0'), undefined)
    t.match(await storage.read.log.state(), LOG)
    t.same(await storage.read.claims.byIds(['clm_0', 'clm_3', 'clm_7']), [claimNumber(0)])
    t.same(await storage.read.log.receipts('log', 0, 10), [])
    t.match(await storage.read.log.newestHead(), { number: 0 })
  })

  t.test('no statement changes, replaces or deletes rows of the log and of checks', async (t) => {
    const url = await fresh(t)
    const storage = await begin(t, url, [claimNumber(0)])
    await storage.apply({
      log: LOG,
      head: head(1),
      progress: [{ ...claimNumber(0), attempts: 1, lastCheck: RECORD }],
      receipts: [receipt(0)],
      evidence: [EVIDENCE],
      tiles: [{ logId: 'log', level: 0, index: 0, width: 1, hashes: HASH }],
    })
    for (const table of ['checks', 'receipts', 'evidence', 'tiles', 'tree_heads']) {
      const before = await query(url, `SELECT * FROM ${table}`)
      const [column] = Object.keys(before[0]!)
      const statements = [`UPDATE ${table} SET ${column} = ${column}`, `DELETE FROM ${table}`, ...rewrites(table)]
      for (const sql of statements)
        await t.rejects(
          storage.transaction((db) => db.query(sql)),
          /append-only/,
          sql,
        )
      await t.rejects(query(url, `INSERT INTO ${table} SELECT * FROM ${table}`), /UNIQUE/i, table)
      t.same(await query(url, `SELECT * FROM ${table}`), before)
    }
  })

  t.test('the first leaf with a hash is found in each part of the log', async (t) => {
    const storage = await begin(
      t,
      await fresh(t),
      Array.from({ length: 5 }, (_, number) => claimNumber(number)),
    )
    const hashOf = (number: number) => Buffer.alloc(32, number)
    const leaves = [
      [0, 1],
      [1023, 2],
      [1024, 3],
      [2048, 3],
      [3071, 4],
    ] as const
    await storage.apply({
      log: LOG,
      head: head(3072),
      receipts: leaves.map(([leafIndex, hash], claim) => ({
        ...receipt(leafIndex),
        claimId: `clm_${claim}`,
        leafHash: hashOf(hash),
      })),
    })
    const found = async (hash: number, logId = 'log') =>
      (await storage.read.log.leafByHash({ logId, treeSize: 3072 }, hashOf(hash)))?.leafIndex
    t.equal(await found(1, 'other'), undefined)
    t.strictSame(await Promise.all([1, 2, 3, 4, 5].map((hash) => found(hash))), [0, 1023, 1024, 3071, undefined])
  })

  t.test('a receipt and its evidence are stored together or not at all', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(0)])
    const wrong = {
      'the evidence of another receipt': [EVIDENCE, { logId: 'log', receiptId: 'rcpt_9', document: '{}' }],
      'two documents for one receipt': [EVIDENCE, EVIDENCE],
    }
    for (const [what, evidence] of Object.entries(wrong)) {
      await t.rejects(storage.apply({ log: LOG, head: head(1), receipts: [receipt(0)], evidence }), what)
      t.match(await storage.read.log.state(), LOG)
      t.same(await storage.read.log.receipts('log', 0, 10), [])
      t.equal(await storage.read.log.evidenceOf('rcpt_0'), undefined)
    }
  })

  t.test('a claim is inserted once for its client_claim_id, also within one statement', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(1)])
    const again = [
      claimNumber(2, { clientClaimId: 'client-1' }),
      claimNumber(3, { attempts: 1, lastCheck: RECORD }),
      claimNumber(4, { clientClaimId: 'client-3' }),
    ]
    const inserted = await storage.write((tx) => tx.claims.insertNew(again))
    t.strictSame([...inserted], ['clm_3'])
    const { claims } = storage.read
    t.same(await claims.history('clm_3'), [RECORD], 'with its check')
    t.same(await claims.byClientIds([{ workspaceId: 'ws_1', clientClaimId: 'client-1' }]), [claimNumber(1)])
    t.same(await claims.byClientIds([{ workspaceId: 'ws_2', clientClaimId: 'client-1' }]), [undefined])
  })

  t.test('a claim whose content was erased is known by its client_claim_id, and not stored again', async (t) => {
    const identity = { workspaceId: 'ws_1', clientClaimId: 'client-1' }
    const erased = claimNumber(1, { clientClaimId: clientIdLeft(identity), agentId: '' })
    const storage = await begin(t, await fresh(t), [erased])
    t.same(await storage.read.claims.byClientIds([identity]), [erased])
    const again = claimNumber(2, identity)
    t.strictSame([...(await storage.write((tx) => tx.claims.insertNew([again])))], [])
    await t.rejects(storage.apply({ log: LOG, newClaims: [again] }))
    await storage.apply({ log: LOG, newClaims: [claimNumber(3)] })
  })

  t.test('thousands of rows are inserted in one statement, whatever text is in them', async (t) => {
    const target = 'quotes \' " \\ ? and\ttabs,\nlines, ünïcödé, 😀 and \u0001'
    const many = Array.from({ length: 3000 }, (_, number) => claimNumber(number, { target, params: { target } }))
    const storage = await begin(t, await fresh(t), many)
    t.same(await storage.read.claims.list({ workspaceId: 'ws_1', limit: 5000 }), many.toReversed())
  })

  t.test('the audit trail is a chain without gaps, also when many write at once or fail', async (t) => {
    const url = await fresh(t)
    const hosts = [await begin(t, url), await open(t, url)]
    const entry = (subject: string) => ({ event: 'key.created', at: NOON, by: BY_SERVICE, subject }) as const
    const writes = Array.from({ length: 20 }, (_, number) =>
      hosts[number % 2]!.write(async (tx) => {
        tx.audit.record(entry(`first ${number}`))
        tx.audit.record({ ...entry(`second ${number}`), workspaceId: 'ws_1', details: { name: 'ünïcödé', count: 1 } })
        if (number === 7) throw new Error('refused')
      }),
    )
    t.equal((await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected').length, 1)
    const rows = await hosts[0]!.read.audit.after(0, 100)
    t.strictSame(
      rows.map(({ position }) => position),
      Array.from({ length: 38 }, (_, index) => index + 1),
    )
    t.notOk(
      rows.some(({ subject }) => subject === 'first 7'),
      'nothing of a write that failed',
    )
    let hash = CHAIN_START
    for (const row of rows) {
      hash = chainHash(hash, row)
      t.same(Buffer.from(row.hash), Buffer.from(hash), `entry ${row.position}`)
    }
    t.match(await hosts[0]!.read.audit.ends(), { last: 38, first: 1 })
    t.same(Buffer.from((await hosts[0]!.read.audit.ends())!.lastHash), Buffer.from(hash))
    for (const sql of [`UPDATE audit_trail SET event = 'x'`, 'DELETE FROM audit_trail WHERE position = 1']) {
      await t.rejects(
        hosts[0]!.transaction((db) => db.query(sql)),
        /append-only/,
      )
    }
    await hosts[0]!.transaction(async (db) => {
      await db.query('UPDATE audit_trail_head SET first_position = 3')
      await db.query('DELETE FROM audit_trail WHERE position < 3')
    })
    t.equal((await hosts[0]!.read.audit.after(0, 1))[0]?.position, 3, 'below the first that is kept, entries go')
  })

  t.test('what belongs to a workspace needs one', async (t) => {
    const storage = await begin(t, await fresh(t))
    const inserted = storage.write((tx) => tx.claims.insertNew([claimNumber(1, { workspaceId: 'ws_none' })]))
    await t.rejects(inserted, /FOREIGN KEY/i)
  })

  t.test('due claims are handed out to one worker each', async (t) => {
    const url = await fresh(t)
    const due = [3, 1, 2, 100].map((ms, number) => claimNumber(number, { dueAt: NOON + ms }))
    const storage = await begin(t, url, [...due, claimNumber(5, { state: 'decided', dueAt: null })])
    const other = await open(t, url)
    async function lease(host: Storage, limit: number, now = NOON + 10): Promise<string[]> {
      const ids = (await host.read.claims.due('first', now, limit, [])).map(({ claimId }) => claimId)
      return (await host.write((tx) => tx.claims.lease(ids, now, now + 40))).map(({ claimId }) => claimId)
    }
    t.strictSame((await lease(storage, 2)).sort(), ['clm_0', 'clm_2'])
    t.strictSame((await Promise.all([lease(storage, 5), lease(other, 5)])).flat(), ['clm_1'])
    t.equal((await lease(storage, 5, NOON + 50)).length, 3, 'and again when the lease is over')
  })

  t.test('lanes that are busy are passed over in the queue', async (t) => {
    const origins = ['https://a.example', 'https://b.example', 'https://a.example']
    const queue = origins.map((origin, number) => claimNumber(number, { dueAt: NOON + number, origin }))
    const { read } = await begin(t, await fresh(t), queue)
    const lanes = queue.map(laneOf)
    t.equal(lanes[0], 'ws_1 ws_1 key_1  https://a.example')
    t.match(queue[0], partsOfLane(lanes[0]!))
    t.strictSame(await read.claims.due('first', NOON + 10, 5, [lanes[0]!]), [
      { claimId: 'clm_1', target: 'somewhere', lane: lanes[1], deadlineAt: queue[1]!.deadlineAt },
    ])
    for (const [what, name] of Object.entries(namesOfLane(lanes[0]!))) {
      const left = (await read.claims.due('first', NOON + 10, 5, [name])).length
      t.equal(left, what === 'payer' ? 0 : 1, name)
    }
    const all = await read.claims.due('first', NOON + 10, 2, [])
    t.strictSame(
      all.map(({ lane }) => lane),
      lanes.slice(1).reverse(),
    )
  })

  t.test('claims are passed over by who pays, and counted by the allowance', async (t) => {
    const [ann, bob, cyn, dan] = ['A', 'B', 'C', 'D'].map((letter) => `usr_${letter.repeat(26)}`)
    const payers = [ann!, `${ann}/${bob}`, `${ann}/${bob}/${dan}`, `${ann}/${cyn}`, `${bob}/${ann}`]
    const queue = payers.map((payer, number) => claimNumber(number, { dueAt: NOON + number, payer }))
    const { read } = await begin(t, await fresh(t), queue)
    const left = async (name: 'payer' | 'destination', number: number) => {
      const busy = namesOfLane(laneOf(queue[number]!))[name]
      return (await read.claims.due('first', NOON + 10, 5, [busy])).map(({ claimId }) => claimId).sort()
    }
    for (const name of ['payer', 'destination'] as const) {
      t.strictSame(await left(name, 0), ['clm_1', 'clm_2', 'clm_3', 'clm_4'])
      t.strictSame(await left(name, 1), ['clm_0', 'clm_2', 'clm_3', 'clm_4'])
    }
    const counted = [...(await read.claims.queuedCounts(ann!, 10))].sort((one, other) =>
      one.payer < other.payer ? -1 : 1,
    )
    t.strictSame(
      counted,
      payers.slice(0, 4).map((payer) => ({ payer, workspaceId: 'ws_1', count: 1 })),
    )
  })

  t.test('of claims that no check has read the newest comes first; of the others the longest due', async (t) => {
    const due = [0, 1].flatMap((attempts) =>
      [3, 1, 2].map((ms) => claimNumber(10 * attempts + ms, { dueAt: NOON + ms, attempts })),
    )
    const { read } = await begin(t, await fresh(t), due)
    const ids = async (kind: DueKind) => (await read.claims.due(kind, NOON + 8, 10, [])).map(({ claimId }) => claimId)
    t.strictSame(await ids('first'), ['clm_3', 'clm_2', 'clm_1'])
    t.strictSame(await ids('looking'), ['clm_11', 'clm_12', 'clm_13'])
  })

  t.test('of due claims, those whose checks decide are apart, and come in the order of their moments', async (t) => {
    const moments = [5, 500, 3, 9, 4]
    const due = moments.map((ms, number) =>
      claimNumber(number, { dueAt: NOON, momentAt: NOON + ms, attempts: number % 3 }),
    )
    const { read } = await begin(t, await fresh(t), [...due, claimNumber(9, { dueAt: NOON + 50, momentAt: NOON + 1 })])
    const ids = async (kind: DueKind) => (await read.claims.due(kind, NOON + 8, 10, [])).map(({ claimId }) => claimId)
    t.strictSame(await ids('deciding'), ['clm_2', 'clm_4', 'clm_0'])
    t.strictSame(await ids('first'), ['clm_3'], 'no check has read it yet')
    t.strictSame(await ids('looking'), ['clm_1'])
    t.strictSame(await read.claims.dueCounts(NOON + 8), {
      deciding: 3,
      first: 1,
      watching: 0,
      looking: 1,
      decidingSince: NOON + 3,
    })
    t.equal((await read.claims.firstQueued())?.dueAt, NOON)
  })

  t.test('the queued claims of a workspace are counted, up to a number', async (t) => {
    const rows = [1, 2, 3].map((number) => claimNumber(number))
    const { read } = await begin(t, await fresh(t), [...rows, claimNumber(4, { state: 'decided', dueAt: null })])
    const counted = { payer: 'ws_1', workspaceId: 'ws_1' }
    t.strictSame(await read.claims.queuedCounts('ws_1', 10), [{ ...counted, count: 3 }])
    t.strictSame(await read.claims.queuedCounts('ws_1', 2), [{ ...counted, count: 2 }])
    t.strictSame(await read.claims.queuedCounts('ws_2', 2), [])
  })

  t.test('pages of claims go on where the last one ended, also among claims of one moment', async (t) => {
    const claims = [1, 2, 3, 4, 5].map((number) => claimNumber(number, { submittedAt: NOON }))
    const storage = await begin(t, await fresh(t), claims)
    const seen: string[] = []
    for (let before: ClaimRow | undefined; ; ) {
      const page = await storage.read.claims.list({ workspaceId: 'ws_1', limit: 2, ...(before ? { before } : {}) })
      if (page.length === 0) break
      seen.push(...page.map((row) => row.claimId))
      before = page.at(-1)!
    }
    t.strictSame(seen, ['clm_5', 'clm_4', 'clm_3', 'clm_2', 'clm_1'])
  })

  t.test('a search finds a part of what a claim says, in either case, and takes no wildcard for one', async (t) => {
    const rows = [
      claimNumber(1, { target: 'Acme/API_v2', agentId: 'Release-Bot', clientClaimId: 'run-77' }),
      claimNumber(2, { target: '100%', params: { path: 'C:\\x', note: 'say "hi"', n: 4711 } }),
      claimNumber(3, { target: 'ÉCLAIR Straße', receiptId: 'rcpt_abcdef' }),
      claimNumber(4, { target: 'plain', params: { nested: { deep: ['Needle'] } } }),
    ]
    const { read } = await begin(t, await fresh(t), rows)
    const found: [search: string, numbers: number[]][] = [
      ['acme/api', [1]],
      ['API_V2', [1]],
      ['i_v', [1]],
      ['e%i', []],
      ['%', [2]],
      ['_', [4, 3, 2, 1]],
      ['p_ain', []],
      ['release-BOT', [1]],
      ['RUN-77', [1]],
      ['clm_3', [3]],
      ['CDEF', [3]],
      ['éclair', [3]],
      ['ÉCLAIR STRASS', []],
      ['straße', [3]],
      ['C:\\x', [2]],
      ['c:\\\\x', []],
      ['say "hi"', [2]],
      ['4711', [2]],
      ['needle', [4]],
      ["' OR 1=1 --", []],
      ['\\'.repeat(400), []],
    ]
    for (const [search, numbers] of found) {
      const page = await read.claims.list({ workspaceId: 'ws_1', limit: 10, search })
      t.strictSame(
        page.map(({ claimId }) => claimId),
        numbers.map((number) => `clm_${number}`),
        search,
      )
    }
  })

  t.test('a whole id of a claim or of a receipt is looked up, in either case, in its workspace alone', async (t) => {
    const claimId = newId('clm_', NOON)
    const receiptId = newId('rcpt_', NOON)
    const rows = [claimNumber(1, { claimId, receiptId }), claimNumber(2, { params: { about: claimId } })]
    const storage = await begin(t, await fresh(t), rows)
    await storage.apply({ log: LOG, head: head(1), receipts: [{ ...receipt(0), claimId, receiptId }] })
    t.strictSame(await storage.read.claims.decidedAt([claimId, 'clm_2']), new Map([[claimId, NOON]]))
    for (const search of [claimId, claimId.toLowerCase(), receiptId, receiptId.toLowerCase()]) {
      const ids = async (workspaceId: string) =>
        (await storage.read.claims.list({ workspaceId, limit: 10, search })).map((row) => row.claimId)
      t.strictSame(await ids('ws_1'), [claimId], search)
      t.strictSame(await ids('ws_2'), [], search)
    }
  })

  t.test('a receipt belongs to one claim, and is found with the log that has it', async (t) => {
    const storage = await begin(t, await fresh(t), [hasReceipt(0), claimNumber(1)])
    await storage.apply({ log: LOG, head: head(1), receipts: [receipt(0)] })
    for (const [id, logId] of [
      ['clm_0', 'log'],
      ['clm_1', null],
    ] as const)
      t.match(await storage.read.claims.byIds([id]), [{ logId }])
    await t.rejects(storage.apply({ log: LOG, newClaims: [claimNumber(2, { receiptId: 'rcpt_0' })] }))
    const found = await storage.read.log.receiptsByIds(['rcpt_0', 'rcpt_1'])
    t.same(found, { receipts: [receipt(0)], elsewhere: [] })
    t.match(await storage.read.log.anchoredState(), { logId: 'log', treeSize: 1, anchoredSize: 0 })
    const none = await storage.read.log.receiptsByIds(['rcpt_1'])
    t.same(none, { receipts: [], elsewhere: [] })
  })

  t.test('no row of the log is changed by an append, and one of those who append at once does', async (t) => {
    const url = await fresh(t)
    const hosts = [await begin(t, url), await open(t, url)]
    // Not by another library of SQLite: in one process, each ends the other's locks on the file.
    const rows = (sql: string) => hosts[0]!.snapshot((db) => db.query(sql))
    const before = await rows('SELECT * FROM logs')
    const appended = await Promise.allSettled(
      hosts.map((host, number) =>
        host.apply({
          log: LOG,
          head: head(1),
          newClaims: [hasReceipt(number)],
          receipts: [{ ...receipt(number), leafIndex: 0 }],
        }),
      ),
    )
    t.strictSame(appended.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    t.strictSame(await rows('SELECT * FROM logs'), before)
    t.equal((await hosts[0]!.read.log.receipts('log', 0, 10)).length, 1)
    t.strictSame(
      (await rows('SELECT number FROM tree_heads ORDER BY number')).map((row) => Number(row.number)),
      [0, 1],
    )
  })

  t.test('a claim that waited to be stored again while it was erased is not stored again', async (t) => {
    const url = await fresh(t)
    const [host, other] = [await begin(t, url, [claimNumber(0)]), await open(t, url)]
    const stored = await host.write(async (tx) => {
      await tx.log.lock()
      const again = other.apply({ log: LOG, newClaims: [claimNumber(1, { clientClaimId: 'client-0' })] }).then(
        () => 'stored',
        () => 'refused',
      )
      await setTimeout(100)
      const [claim] = await tx.claims.byIds(['clm_0'])
      const left = { receiptId: 'rcpt_0', claimId: 'clm_0', logId: 'log', leafIndex: 0, leafHash: HASH, issuedAt: NOON }
      await tx.erasures.erase([{ ...left, erasedAt: NOON, rule: 'secret', reference: '' }], [contentLeft(claim!)])
      return { again }
    })
    t.equal(await stored.again, 'refused')
  })

  t.test('claims are listed and counted from one moment to before another', async (t) => {
    const rows = [0, 1, 2, 3].map((number) => claimNumber(number))
    const { read } = await begin(t, await fresh(t), rows)
    const range = { workspaceId: 'ws_1', since: NOON + 1, until: NOON + 3 }
    const page = await read.claims.list({ ...range, limit: 10 })
    t.strictSame(
      page.map(({ claimId }) => claimId),
      ['clm_2', 'clm_1'],
    )
    t.match(await read.claims.counts(range, 1000), [{ bucket: NOON / 1000, verdict: null, count: 2 }])
    t.match(await read.claims.position(range, 2), { claimId: 'clm_1' })
    t.equal(await read.claims.position(range, 3), undefined)
  })

  t.test('agents are listed once, by their newest claim', async (t) => {
    const by = (number: number, agentId: string) => claimNumber(number, { agentId, submittedAt: NOON + (number >> 1) })
    const rows = [by(1, 'a'), by(2, 'b'), by(3, 'b'), by(4, 'a'), by(5, 'c'), by(6, 'a')]
    const { read } = await begin(t, await fresh(t), rows)
    const names = async (more: object) =>
      (await read.claims.agents({ workspaceId: 'ws_1', limit: 10, ...more })).map(({ agentId }) => agentId)
    t.strictSame(await names({}), ['a', 'c', 'b'])
    t.strictSame(await names({ limit: 1 }), ['a'])
    const c = (await read.claims.agents({ workspaceId: 'ws_1', limit: 2 }))[1]!
    t.match(c, { agentId: 'c', claimId: 'clm_5', submittedAt: NOON + 2 })
    t.strictSame(await names({ before: c }), ['b'], 'a has a newer claim')
    t.strictSame(await names({ from: c }), ['a', 'c'])
  })

  t.test('the claims of an agent are counted by action and verdict', async (t) => {
    const decided = { state: 'decided', verdict: 'late', dueAt: null } as const
    const rows = [
      claimNumber(1, decided),
      claimNumber(2, decided),
      claimNumber(3),
      claimNumber(4, { agentId: 'other' }),
    ]
    const { read } = await begin(t, await fresh(t), rows)
    const counts = await read.claims.countsByAction({ workspaceId: 'ws_1', agentId: 'agent' })
    const action = 'test.outcome.reach'
    t.same(
      counts.toSorted((one, other) => other.count - one.count),
      [
        { action, verdict: 'late', count: 2 },
        { action, verdict: null, count: 1 },
      ],
    )
  })

  t.test('a removed connection keeps no secret', async (t) => {
    const url = await fresh(t)
    const storage = await begin(t, url)
    const sealed = { options: { base: 1 }, sealedSecrets: { token: 'v1.sealed' }, scopes: ['read'], ...UNREAD }
    const sealedTokens = { token: 'v1.sealed' }
    const at = { connectedAt: NOON, disconnectedAt: null }
    const connection = { id: 'conn_1', workspaceId: 'ws_1', provider: 'test', ...sealed, sealedTokens, ...at }
    await storage.write((tx) => tx.connections.insert(connection))
    t.same(await storage.read.connections.activeById('conn_1'), connection)
    t.equal(await storage.write((tx) => tx.connections.disconnect('conn_1', NOON)), true)
    t.equal(await storage.write((tx) => tx.connections.disconnect('conn_1', NOON)), false)
    t.equal(await storage.read.connections.activeById('conn_1'), undefined)
    t.same(await query(url, 'SELECT sealed_secrets, sealed_tokens FROM connections'), [
      { sealed_secrets: '{}', sealed_tokens: '{}' },
    ])
  })

  t.test('a claim whose agent is bound is stored only where it came through a key of that agent', async (t) => {
    const storage = await begin(t, await fresh(t))
    const made = { workspaceId: 'ws_1', name: 'bound', keyHash: 'hash', lastFour: 'abcd', createdAt: NOON }
    const boundKey = { ...UNUSED, ...made, id: 'key_1', agentIds: ['other', 'bound'], revokedAt: null }
    await storage.write(async (tx) => {
      await tx.workspaces.insert({ ...WORKSPACE, id: 'ws_2', name: 'other' })
      t.strictSame(await tx.keys.bindAgents('ws_1', ['bound'], NOON), ['bound'])
      t.strictSame(await tx.keys.bindAgents('ws_1', ['bound'], NOON + 1), [])
      await tx.keys.insert(boundKey)
    })
    t.strictSame(await storage.read.keys.boundAgents('ws_1'), [
      { workspaceId: 'ws_1', agentId: 'bound', boundAt: NOON },
    ])
    t.strictSame(await storage.read.keys.boundLike('ws_1', 'B0und'), ['bound'])
    t.strictSame(await storage.read.keys.boundLike('ws_2', 'bound'), [])
    const through = (number: number, agentBound: number, over = {}) =>
      claimNumber(number, { agentId: 'bound', agentBound, ...over })
    const insert = (...rows: readonly ClaimRow[]) => storage.write((tx) => tx.claims.insertNew(rows))
    const added = await insert(through(1, 0), through(2, 1), claimNumber(3), through(4, 0, { workspaceId: 'ws_2' }))
    t.strictSame([...added].sort(), ['clm_2', 'clm_3', 'clm_4'])
    t.match(await storage.read.claims.byId('ws_1', 'clm_2'), { agentBound: 1 })

    const log = LOG
    await t.rejects(storage.apply({ log, newClaims: [claimNumber(5), through(6, 0)] }), 'as one statement')
    t.equal(await storage.read.claims.byId('ws_1', 'clm_5'), undefined, 'and then nothing is stored')
    await storage.apply({ log, newClaims: [claimNumber(5), through(6, 1)] })
    t.ok(await storage.read.claims.byId('ws_1', 'clm_6'))

    await storage.write(async (tx) => {
      const agent = await tx.keys.lockAgent('ws_1', 'bound')
      await tx.keys.releaseAgent(agent!)
    })
    await storage.apply({ log, newClaims: [through(7, 0)] })
    t.ok(await storage.read.claims.byId('ws_1', 'clm_7'), 'a released agent is as any other')
  })

  t.test('no claim is stored as bound through a key that has ended, or is not for its agent', async (t) => {
    const storage = await begin(t, await fresh(t))
    const made = { workspaceId: 'ws_1', name: 'bound', lastFour: 'abcd', createdAt: NOON, revokedAt: null }
    const key = (id: string, over: object) => ({ ...UNUSED, ...made, id, keyHash: id, agentIds: ['agent'], ...over })
    const ended = {
      key_revoked: { revokedAt: NOON },
      key_expired: { expiresAt: NOON + 3 },
      key_of_others: { agentIds: ['agent-2'] },
      key_unbound: { agentIds: null },
      key_elsewhere: { workspaceId: 'ws_2' },
    }
    await storage.write(async (tx) => {
      await tx.workspaces.insert({ ...WORKSPACE, id: 'ws_2', name: 'other' })
      for (const [id, over] of Object.entries(ended)) await tx.keys.insert(key(id, over))
      await tx.keys.insert(key('key_good', { expiresAt: NOON + 100 }))
    })
    const through = (submittedBy: string, number: number) => claimNumber(number, { submittedBy, agentBound: 1 })
    const names = [...Object.keys(ended), 'key_missing']
    for (const [index, name] of names.entries()) {
      const claim = through(name, 10 + index)
      t.strictSame([...(await storage.write((tx) => tx.claims.insertNew([claim])))], [], name)
      await t.rejects(storage.apply({ log: LOG, newClaims: [claim] }), name)
    }
    t.strictSame([...(await storage.write((tx) => tx.claims.insertNew([through('key_good', 1)])))], ['clm_1'])
    await storage.apply({ log: LOG, newClaims: [through('key_good', 2)] })
    const before = through('key_expired', 0)
    t.strictSame([...(await storage.write((tx) => tx.claims.insertNew([before])))], ['clm_0'], 'submitted in time')
  })

  t.test('no claim is stored while its agent is being bound', async (t) => {
    const url = await fresh(t)
    const [binding, storing] = [await begin(t, url), await open(t, url)]
    const stored = await binding.write(async (tx) => {
      await tx.keys.bindAgents('ws_1', ['agent'], NOON)
      const insert = storing.write((other) => other.claims.insertNew([claimNumber(1)]))
      const apply = storing.apply({ log: LOG, newClaims: [claimNumber(2)] }).then(
        () => 'stored',
        () => 'refused',
      )
      await setTimeout(50)
      return { insert, apply }
    })
    t.strictSame([...(await stored.insert)], [])
    t.equal(await stored.apply, 'refused')
  })

  t.test('a lease has one holder, until that lets go or is silent for as long as it asked', async (t) => {
    const storage = await open(t, await fresh(t))
    const take = (holder: string, forMs: number) => storage.write((tx) => tx.leases.take('anchor', holder, forMs))
    t.equal(await take('one', 60_000), true)
    t.equal(await take('other', 60_000), false)
    t.equal(await take('one', 0), true, 'its holder may change it')
    await setTimeout(2)
    t.equal(await take('other', 60_000), true)
    await storage.write((tx) => tx.leases.release('anchor', 'one'))
    t.equal(await take('one', 60_000), false, 'another holder lets go of nothing')
    await storage.write((tx) => tx.leases.release('anchor', 'other'))
    t.equal(await take('one', 60_000), true)
  })

  t.test('what goes on when its transaction is over writes nothing', async (t) => {
    const storage = await open(t, await fresh(t))
    let late: Promise<unknown> | undefined
    const work = storage.write(async (tx) => {
      late = setTimeout(20).then(() => tx.workspaces.insert(WORKSPACE))
      throw new Error('failed')
    })
    await t.rejects(work, { message: 'failed' })
    await t.rejects(late!)
    t.equal(await storage.read.workspaces.any(), false)
  })

  t.test('what is under way when its transaction fails is not written on its own', async (t) => {
    const storage = await begin(t, await fresh(t))
    for (let time = 0; time < 50; time++) {
      const work = storage.write((tx) =>
        Promise.all([
          ...Array.from({ length: 10 }, (_, index) => tx.log.insertHead(head(index, { number: index + 1 }))),
          Promise.reject(new Error('failed')),
        ]),
      )
      await t.rejects(work, { message: 'failed' })
    }
    t.match(await storage.read.log.newestHead(), { number: 0 })
  })

  t.test('a row that is refused takes its transaction with it, and says that rows are refused', async (t) => {
    const storage = await begin(t, await fresh(t), [claimNumber(1)])
    await storage.transaction(async (db) => {
      const twice = [1, 1].map((attempt) => ({ claimId: 'clm_1', attempt, record: RECORD }))
      const error = await insertRows(db, checks, twice).catch((cause) => cause)
      t.equal(db.dialect.refusesRows(error), true)
      t.equal(db.dialect.isUnavailable(error), false)
    })
    t.same(await storage.read.claims.history('clm_1'), [])
  })
}
