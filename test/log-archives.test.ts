// Test run: slow
/** A log ends, the next one begins, and the first is taken out of the database: its receipts are served from its archive. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { byCommand } from '@claimcheck/server/base/actor'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import type { Env } from './support/command.ts'
import { claimcheck, emptyDatabase, newFolder, startSource } from './support/copies.ts'
import { createDatabase, type Dialect } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { sqlOfLogsPage } from './support/pages-sql.ts'
import { query } from './support/sql.ts'
import { SCHEMA } from './support/storage.ts'

const OLD = 300
const AT_ONCE = 100

/** How rows of the log that has ended are taken out. */
const TAKE_OUT: Readonly<Record<Dialect, (url: string, logId: string) => Promise<void>>> = {
  postgres: async (url) => {
    await query(url, sqlOfLogsPage().takeOut)
  },
  // There are no partitions: only a file without its triggers lets rows go.
  sqlite: async (url, logId) => {
    const triggers = await query(url, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
    for (const { name } of triggers) await query(url, `DROP TRIGGER ${name}`)
    for (const table of ['evidence', 'receipts', 'tiles', 'tree_heads'])
      await query(url, `DELETE FROM ${table} WHERE log_id = '${logId}'`)
    for (const { sql } of triggers) await query(url, String(sql))
  },
}

async function beside<T>({ config }: Installation, work: (claimcheck: Claimcheck) => Promise<T>): Promise<T> {
  const claimcheck = await openClaimcheck(config, { plugins: false })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

function diagnosis(installation: Installation) {
  return beside(installation, ({ storage, archives }) =>
    diagnose(storage, { schema: SCHEMA, archives, signatures: true }),
  )
}

async function diagnosed(installation: Installation): Promise<readonly string[]> {
  return (await diagnosis(installation)).problems
}

async function isServed(t: Test, installation: Installation, receiptId: string, what: string) {
  const keys = parseKeySet(JSON.stringify((await installation.request('/.well-known/poaw-keys.json')).body))
  const { status, body } = await installation.request(`/v1/receipts/${receiptId}`)
  t.equal(status, 200, what)
  t.match(await checkReceipt(JSON.stringify(body), { keys }), { valid: true, checks: { inclusion: true } }, what)
  return body
}

/** @param receiptId of a receipt with evidence in a full tile @param erasedId of one that is erased */
async function damageIsFound(t: Test, installation: Installation, folder: string, receiptId: string, erasedId: string) {
  const fileOf = (id: string) => `receipts/${id.slice(-2)}/${id}.json`
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    bytes[at]! ^= 1
    writeFileSync(path, bytes)
  }
  const replace = (path: string, from: RegExp, to: string) => {
    const text = readFileSync(path, 'utf8')
    t.match(text, from)
    writeFileSync(path, text.replace(from, to))
  }
  const content = readFileSync(join(folder, fileOf(receiptId)), 'utf8')
  const damages: [what: string, file: string, damage: (path: string) => void, found: RegExp][] = [
    ['a leaf', 'tile/0/0.256', (path) => flip(path, 9), /the leaves do not make the signed root/],
    ['a node of a tile', 'tile/0/0.256', (path) => flip(path, 256 * 32 + 9), /tile\/0\/0\.256 does not follow/],
    ['a hash above', 'tile/1/0.1', (path) => flip(path, 9), /tile\/1\/0\.1 does not follow/],
    ['a tile that is cut off', 'tile/0/1.45', (path) => writeFileSync(path, ''), /signed root|it is not leaf/],
    ['a missing tile', 'tile/0/0.256', (path) => rmSync(path), /which this host does not have/],
    [
      'the signature of the head',
      'log.json',
      (path) => replace(path, /"value\\":\\"..../, '"value\\":\\"-_-_'),
      /tree head 301: the signature/,
    ],
    [
      'the root of the head',
      'log.json',
      (path) => replace(path, /"rootHash":"..../, '"rootHash":"zzzz'),
      /tree head 301: what was signed/,
    ],
    ['no JSON in the head', 'log.json', (path) => writeFileSync(path, '{'), /log\.json|JSON/],
    [
      'an entry',
      fileOf(receiptId),
      (path) => replace(path, /verified/, 'verifies'),
      /leaf_hash is not the hash of the entry/,
    ],
    [
      'evidence',
      fileOf(receiptId),
      (path) => replace(path, /evidence_version/, 'evidence_versiom'),
      /its evidence is not the one/,
    ],
    ['no JSON in a receipt', fileOf(receiptId), (path) => writeFileSync(path, '{'), /receipt rcpt_\w+: .*JSON/],
    ['a missing receipt', fileOf(receiptId), (path) => rmSync(path), /the receipt of leaf \d+ is missing/],
    [
      'content that was erased',
      fileOf(erasedId),
      (path) => writeFileSync(path, content),
      /its content is there, and was erased/,
    ],
  ]
  for (const [what, file, damage, found] of damages) {
    cpSync(folder, `${folder}.whole`, { recursive: true })
    damage(join(folder, file))
    const problems = await diagnosed(installation)
    t.ok(
      problems.some((problem) => found.test(problem) && /restore DATA_DIR\/logs\/.* from a backup$/.test(problem)),
      `${what}: ${problems.slice(0, 3).join('; ') || 'nothing'}`,
    )
    rmSync(folder, { recursive: true })
    renameSync(`${folder}.whole`, folder)
  }
  t.strictSame(await diagnosed(installation), [], 'all is as it was')
}

for (const dialect of ['sqlite', 'postgres'] as const) {
  t.test(`on ${dialect}, a log is closed, the next one opened, and the first detached`, async (t) => {
    const database = await createDatabase(dialect)
    const installation = await Installation.during(t, { database })
    const { databaseUrl, dataDir } = installation.config
    const client = await installation.client('acme')
    // A busy machine answers before a claim is decided: a receipt has its id only then.
    const submit = async (id: string) => client.decided((await client.submit({ client_claim_id: id })).body.claim_id)
    const first = await submit('first')
    const logId = (await isServed(t, installation, first.receipt_id, 'while it is open')).proof.log_id
    if (dialect === 'postgres') {
      await query(databaseUrl, sqlOfLogsPage().partition)
      await query(databaseUrl, sqlOfLogsPage(logId).divide)
    }
    const olds: Awaited<ReturnType<typeof submit>>[] = []
    // All at once would be more connections than one address may have, where old ones are not over yet.
    for (let first = 0; first < OLD; first += AT_ONCE)
      olds.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => submit(`old ${first + index}`)))))
    await t.rejects(
      beside(installation, ({ archives }) => archives.write(logId)),
      { code: 'conflict' },
      'it is open',
    )
    const { log, ended } = await beside(installation, ({ signingKeys }) => signingKeys.beginLog())
    t.match([ended.logId, ended.treeSize, log.treeSize], [logId, OLD + 1, 0])

    const second = await submit('second')
    const proof = async (id: string) => (await isServed(t, installation, id, 'after the next began')).proof
    t.match(await proof(second.receipt_id), { log_id: log.logId, leaf_index: 0, tree_size: 1 })
    t.match(await proof(first.receipt_id), { log_id: logId, leaf_index: 0, tree_size: OLD + 1 })
    t.match(await installation.request('/v1/log/head'), { body: { tree_head: { body: { log_id: log.logId } } } })
    t.match(await client.submit({ client_claim_id: 'first' }), { body: { claim_id: first.claim_id, created: false } })
    const before = await installation.request(`/v1/receipts/${olds[7].receipt_id}`)
    const evidence = await installation.request(`/v1/receipts/${olds[7].receipt_id}/evidence`)
    t.equal(evidence.status, 200)
    await t.rejects(
      beside(installation, ({ archives }) => archives.write('none')),
      { code: 'not_found' },
    )

    const { folder } = await beside(installation, ({ archives }) => archives.write(logId))
    t.equal(folder, join(dataDir, 'logs', logId))
    t.match(await diagnosis(installation), { problems: [], notices: [] })
    renameSync(folder, `${folder}.away`)
    const { problems, notices } = await diagnosis(installation)
    // Another host of a shared database has it, and this one serves the log from the tables.
    t.match(dialect === 'postgres' ? notices : problems, [/the archive of the log|^archive of log/])
    t.equal(problems.length, dialect === 'postgres' ? 0 : 1)
    renameSync(`${folder}.away`, folder)
    await TAKE_OUT[dialect](databaseUrl, logId)
    t.strictSame((await query(databaseUrl, `SELECT 1 FROM receipts WHERE log_id = '${logId}'`)).length, 0)

    await installation.stop()
    await installation.resume()
    t.strictSame((await installation.request(`/v1/receipts/${olds[7].receipt_id}`)).body, before.body, 'the same proof')
    t.strictSame((await installation.request(`/v1/receipts/${olds[7].receipt_id}/evidence`)).body, evidence.body)
    for (const { receipt_id } of [first, olds[255], olds[256], olds[OLD - 1], second])
      await isServed(t, installation, receipt_id, 'from the archive')
    t.match(await client.submit({ client_claim_id: 'old 7' }), { body: { claim_id: olds[7].claim_id, created: false } })
    t.equal((await submit('third')).state, 'decided')
    t.equal((await installation.request('/v1/receipts/rcpt_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
    const bundle = await installation.request(`/r/${first.receipt_id}`)
    t.equal(bundle.status, 200, 'its page')
    t.strictSame(await diagnosed(installation), [], 'doctor examines the archive')

    const reason = { rule: 'personal_data', reference: '' } as const
    const erase = (id: string) => beside(installation, ({ erasure }) => erasure.erase(id, reason, byCommand()))
    t.match(await erase(olds[9].receipt_id), { isNew: true, receipt: { leafIndex: Number } })
    const erasedFile = join(folder, 'receipts', olds[9].receipt_id.slice(-2), `${olds[9].receipt_id}.json`)
    t.notMatch(readFileSync(erasedFile, 'utf8'), /body|facts/, 'nothing of it is left')
    t.equal((await installation.request(`/v1/receipts/${olds[9].receipt_id}`)).status, 410)
    t.equal((await installation.request(`/v1/receipts/${olds[9].receipt_id}/evidence`)).status, 410)
    t.equal((await submit('old 9')).claim_id, olds[9].claim_id, 'and it is known by its id')
    t.strictSame(await diagnosed(installation), [])
    if (dialect === 'sqlite') await damageIsFound(t, installation, folder, olds[13].receipt_id, olds[9].receipt_id)

    renameSync(folder, `${folder}.away`)
    const [problem, ...others] = await diagnosed(installation)
    t.match(
      [problem, others.length],
      [/^archive of log .*does not have: .* restore DATA_DIR\/logs\/.* from a backup$/, 0],
    )
    const missing = await installation.request(`/v1/receipts/${olds[11].receipt_id}`)
    t.match([missing.status, missing.body.detail], [503, /archive of the log .*put the archive back/])
    t.equal((await installation.request(`/v1/receipts/${second.receipt_id}`)).status, 200, 'others are served')
    await t.rejects(erase(olds[11].receipt_id), { code: 'unavailable' })
    renameSync(`${folder}.away`, folder)
    t.equal((await installation.request(`/v1/receipts/${olds[11].receipt_id}`)).status, 200)
  })
}

t.test('an archive is not said to be complete when a row of the log is damaged', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('sqlite') })
  const client = await installation.client('acme')
  const { receipt_id } = (await client.submit()).body
  const { ended } = await beside(installation, ({ signingKeys }) => signingKeys.beginLog())
  const { databaseUrl, dataDir } = installation.config
  await query(databaseUrl, 'DROP TRIGGER receipts_no_update')
  await query(databaseUrl, `UPDATE receipts SET entry = replace(entry, 'verified', 'verifies')`)
  const archiving = beside(installation, ({ archives }) => archives.write(ended.logId))
  await t.rejects(archiving, { code: 'conflict', message: /damaged/ })
  t.match(await query(databaseUrl, 'SELECT archived_at FROM logs WHERE ended_at IS NOT NULL'), [{ archived_at: null }])
  t.ok(existsSync(join(dataDir, 'logs', ended.logId, 'receipts', receipt_id.slice(-2))))
})

t.test(
  'a host without the archive backs up and copies what the tables have, and erases nothing of that log',
  async (t) => {
    const source = await startSource(t, 'postgres')
    const client = await source.client('acme')
    const { receipt_id: receiptId } = await client.decided((await client.submit()).body.claim_id)
    const begun = await claimcheck(source, ['log', 'new', '--yes', '--json'])
    const { ended_log_id: logId } = JSON.parse(begun.stdout)
    t.equal((await claimcheck(source, ['log', 'archive', logId])).code, 0)
    const other = { DATA_DIR: join(newFolder(t), 'data') }
    const isSound = async (env: Env) => {
      const { code, stdout } = await claimcheck(source, ['doctor', '--json'], env)
      t.match([code, JSON.parse(stdout)], [0, { problems: [], notices: [] }])
    }

    const erasing = ['receipt', 'erase', receiptId, '--rule', 'personal_data', '--yes', '--json']
    const refused = await claimcheck(source, erasing, other)
    t.match([refused.code, JSON.parse(refused.stdout)], [1, { error: { message: /in the archive of the log/ } }])
    t.equal((await source.request(`/v1/receipts/${receiptId}`)).status, 200, 'its content stays everywhere')

    const backup = join(newFolder(t), 'backup')
    t.match(await claimcheck(source, ['backup', backup], other), { code: 0 })
    const restored = { DATABASE_URL: await emptyDatabase(t, 'sqlite'), DATA_DIR: join(newFolder(t), 'data') }
    t.match(await claimcheck(source, ['restore', backup], restored), { code: 0 })
    await isSound(restored)

    const file = join(source.config.dataDir, 'logs', logId, 'receipts', receiptId.slice(-2), `${receiptId}.json`)
    const content = readFileSync(file)
    t.equal((await claimcheck(source, erasing)).code, 0, 'where the archive is, it is erased')
    t.equal((await source.request(`/v1/receipts/${receiptId}`)).status, 410)
    // As an older version left it, which erased on any host.
    writeFileSync(file, content)
    t.equal((await claimcheck(source, ['doctor'])).code, 1)
    t.equal((await claimcheck(source, ['log', 'archive', logId])).code, 0)
    await isSound({})
    t.notMatch(readFileSync(file, 'utf8'), /facts/, 'to archive again erases it there, too')
    const url = await emptyDatabase(t, 'sqlite')
    const copied = await claimcheck(source, ['copy', '--from', source.config.databaseUrl, '--to', url], other)
    t.equal(copied.code, 0, copied.stderr)
    await isSound({ ...other, DATABASE_URL: url })
  },
)
