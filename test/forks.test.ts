// Test run: end-to-end, slow, alone
/** No host continues a log behind what it has signed. Threat O6 of `security.md`. */
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TREE_HEAD_FIELD } from '@claimcheck/core/log'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { byCommand } from '@claimcheck/server/base/actor'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { machineId } from '@claimcheck/server/features/log/file-binding'
import { dataDirMemory, folderIdOf } from '@claimcheck/server/features/log/memory/folder-memories'
import { resumeLog } from '@claimcheck/server/features/log/resume'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import { backUp, backUpStopped } from './support/backup.ts'
import { runClaimcheck } from './support/command.ts'
import { createDatabase, DIALECTS, type Dialect } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { query } from './support/sql.ts'
import { SCHEMA } from './support/storage.ts'

async function start(t: Test, dialect: Dialect = 'sqlite') {
  const database = await createDatabase(dialect)
  const installation = await Installation.during(t, { database })
  const client = await installation.client('acme')
  return { installation, client, memory: join(installation.config.dataDir, 'log-head.json') }
}

type Started = Awaited<ReturnType<typeof start>>

/** What a command does beside the server. */
async function beside<T>({ installation }: Started, work: (claimcheck: Claimcheck) => Promise<T>): Promise<T> {
  const claimcheck = await openClaimcheck(installation.config, { plugins: false })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

function beginLog(started: Started) {
  return beside(started, ({ signingKeys }) => signingKeys.beginLog())
}

function rotate(started: Started) {
  return beside(started, ({ signingKeys }) => signingKeys.rotate())
}

function erase(started: Started, receiptId: string) {
  const reason = { rule: 'court_order', reference: '' } as const
  return beside(started, ({ erasure }) => erasure.erase(receiptId, reason, byCommand()))
}

function resume(started: Started) {
  return beside(started, (claimcheck) => resumeLog(claimcheck, async () => {}))
}

/** As a copy that has all rows of its source: what no operator does. */
async function unbind({ installation }: Started) {
  await query(installation.config.databaseUrl, `UPDATE logs SET agreed_on = ''`)
}

async function receiptOf({ client }: Started): Promise<string> {
  const { body } = await client.submit()
  if (body.state !== 'decided') throw new Error(`not decided: ${JSON.stringify(body)}`)
  return body.receipt_id
}

async function isReadOnly(t: Test, { installation, client }: Started, what: string) {
  t.match(await installation.request('/readyz'), { status: 503, body: { ok: false, problems: [/^read-only/] } }, what)
  const refused = await client.submit()
  t.equal(refused.status, 503, what)
  t.match(refused.headers.get('retry-after'), /^\d+$/, what)
  t.equal((await installation.request('/v1/log/head')).status, 200, `${what}, reads work`)
}

/** Without being started again: as soon as the worker looks. */
async function signsAgain(t: Test, started: Started, what: string) {
  const { installation, client } = started
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    if ((await client.get('/readyz')).status === 200) break
    await new Promise((done) => setTimeout(done, 50))
  }
  t.equal((await client.get('/readyz')).status, 200, what)
  t.match(await receiptOf(started), /^rcpt_/, what)
  const { storage } = installation.claimcheck
  t.strictSame((await diagnose(storage, { schema: SCHEMA, signatures: true })).problems, [], what)
}

async function isSound({ installation }: Started, receiptId: string) {
  const keys = parseKeySet(JSON.stringify((await installation.request('/.well-known/poaw-keys.json')).body))
  const { body } = await installation.request(`/v1/receipts/${receiptId}`)
  return { report: await checkReceipt(JSON.stringify(body), { keys }), logId: body.proof.log_id }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, nothing is signed on a database from an older backup, until another log begins`, async (t) => {
    const started = await start(t, dialect)
    const { installation, client } = started
    const kept = await receiptOf(started)
    const soon = { at: Date.now() + 1000, see: 'present' }
    const { body: waiting } = await client.submit({ params: { see: 'absent', later: soon } })
    t.match(waiting, { state: 'queued', attempts: 1 })
    const restore = await backUpStopped(installation)
    const lost = await receiptOf(started)
    await installation.stop()
    await restore()
    await installation.resume()

    await isReadOnly(t, started, 'restored')
    t.equal((await installation.request(`/v1/receipts/${kept}`)).status, 200)
    t.equal((await installation.request(`/v1/receipts/${lost}`)).status, 503, 'it may come back')
    await t.rejects(rotate(started), { code: 'read_only' }, 'no command signs either')
    await t.rejects(erase(started, kept), { code: 'read_only' }, 'or erases')
    await new Promise((done) => setTimeout(done, Date.parse(waiting.next_check_at) + 500 - Date.now()))
    t.match((await client.get(`/v1/claims/${waiting.claim_id}`)).body, { attempts: 1 }, 'nothing is checked')

    const before = await isSound(started, kept)
    const { log, ended, lost: named } = await beginLog(started)
    t.ok(named.some(({ receiptId, logId }) => receiptId === lost && logId === before.logId))
    t.match(await installation.request(`/v1/receipts/${lost}`), {
      status: 410,
      body: { detail: /of a log that ended.*submit the claim again/, lost: { receipt_id: lost, log_id: before.logId } },
    })
    t.equal((await installation.request(`/v1/receipts/${lost}/evidence`)).status, 410)
    t.match([log.treeSize, ended.treeSize, ended.logId], [0, 1, before.logId])
    await signsAgain(t, started, 'a new log')
    t.match(await client.decided(waiting.claim_id), { verdict: 'verified', attempts: 2 })
    const after = await isSound(started, kept)
    t.match(after, { report: { valid: true, checks: { inclusion: true } }, logId: before.logId })
    t.match(await erase(started, kept), { isNew: true }, 'in the new log')

    await rotate(started)
    await receiptOf(started)
    await installation.stop()
    await installation.resume()
    await signsAgain(t, started, 'started again')

    await installation.stop()
    await restore()
    await installation.resume()
    await isReadOnly(t, started, 'restored once more, to the log that had ended')
    t.equal((await beginLog(started)).ended.logId, before.logId)
    await signsAgain(t, started, 'a third log')
  })
}

t.test('a host goes on when the newest database is back, as a folder apart proves', async (t) => {
  const { started } = await startApart(t)
  const { installation } = started
  const restore = await backUpStopped(installation, 'older')
  const receiptId = await receiptOf(started)
  await installation.stop()
  const putBack = await backUp(installation.config.databaseUrl, 'newest')
  await restore()
  await installation.resume()
  await isReadOnly(t, started, 'the older one')
  await installation.stop()
  await putBack()
  await installation.resume()
  await signsAgain(t, started, 'the newest one')
  t.equal((await installation.request(`/v1/receipts/${receiptId}`)).status, 200)
})

t.test('without a folder apart, the newest database in another file is as any other', async (t) => {
  const started = await start(t)
  const { installation } = started
  await receiptOf(started)
  await installation.stop()
  const putBack = await backUp(installation.config.databaseUrl)
  await putBack()
  await installation.resume()
  await isReadOnly(t, started, 'another file')
  await t.rejects(resume(started), { code: 'read_only', message: /nothing proves that no more were signed/ })
  await beginLog(started)
  await signsAgain(t, started, 'a new log')
})

t.test('hosts are read-only when the database falls back while they run, and go on with another log', async (t) => {
  const started = await start(t, 'postgres')
  const { installation, client } = started
  const restore = await backUpStopped(installation)
  const second = await installation.addHost()
  for (let i = 0; i < 3; i++) {
    await receiptOf(started)
    t.equal((await client.at(second).submit()).body.state, 'decided')
  }
  await restore()
  for (const host of [installation.host, second]) {
    // The first may find its connections gone.
    for (let i = 0; i < 3; i++) t.equal((await client.at(host).submit()).status, 503)
    t.match(await host.request('/readyz'), { status: 503, body: { problems: [/^read-only/] } })
  }
  await beginLog(started)
  await signsAgain(t, started, 'the first host')
  await signsAgain(t, { ...started, client: client.at(second) }, 'the second')
})

t.test('another history of the same log is found, as long as what was signed and longer', async (t) => {
  for (const more of [1, 3]) {
    const started = await start(t)
    const { installation, memory } = started
    await receiptOf(started)
    const restore = await backUpStopped(installation)
    await receiptOf(started)
    await installation.stop()
    const remembered = readFileSync(memory)
    await restore()
    rmSync(memory)
    await unbind(started)
    await installation.resume()
    await signsAgain(t, started, 'another history')
    for (let i = 1; i < more; i++) await receiptOf(started)
    await installation.stop()
    writeFileSync(memory, remembered)
    await installation.resume()
    await isReadOnly(t, started, `${more} more`)
    await beginLog(started)
    await signsAgain(t, started, `a new log, ${more} more`)
  }
})

t.test('a host that remembers another log signs nothing in this one', async (t) => {
  const [started, other] = [await start(t), await start(t)]
  const { installation, memory } = started
  await Promise.all([installation.stop(), other.installation.stop()])
  writeFileSync(memory, readFileSync(other.memory))
  await installation.resume()
  await isReadOnly(t, started, 'another')
  await beginLog(started)
  await signsAgain(t, started, 'a new log')
})

t.test('what a host remembers is made at its first start, and for its owner alone', async (t) => {
  const started = await start(t)
  const { installation, memory } = started
  t.equal(statSync(memory).mode & 0o777, 0o600)
  t.match(JSON.parse(readFileSync(memory, 'utf8')), { tree_size: 0 })
  await receiptOf(started)
  t.match(JSON.parse(readFileSync(memory, 'utf8')), { tree_size: 1 })
  await installation.stop()
  rmSync(memory)
  await installation.resume()
  t.match(JSON.parse(readFileSync(memory, 'utf8')), { tree_size: 1 })
})

t.test('a host that cannot read what it remembers signs nothing, until it can or another log begins', async (t) => {
  const started = await start(t)
  const { installation, memory } = started
  await receiptOf(started)
  await installation.stop()
  const remembered = readFileSync(memory)
  writeFileSync(memory, 'nonsense')
  await installation.resume()
  await isReadOnly(t, started, 'damaged')
  writeFileSync(memory, remembered)
  await signsAgain(t, started, 'brought back')

  await installation.stop()
  writeFileSync(memory, '')
  await installation.resume()
  await isReadOnly(t, started, 'empty')
  await beginLog(started)
  await signsAgain(t, started, 'a new log')
})

t.test('a host that cannot remember signs nothing, until it can', async (t) => {
  const started = await start(t)
  const { installation, memory } = started
  await receiptOf(started)
  await installation.stop()
  const remembered = readFileSync(memory)
  rmSync(memory)
  symlinkSync('nowhere/at/all', memory)
  await installation.resume()
  await isReadOnly(t, started, 'at the start')
  rmSync(memory)
  await signsAgain(t, started, 'a file can be made')

  rmSync(memory)
  symlinkSync('nowhere/at/all', memory)
  const unanswered = { client_claim_id: 'unanswered' }
  t.equal((await started.client.submit(unanswered)).status, 503)
  await isReadOnly(t, started, 'while it runs')
  rmSync(memory)
  writeFileSync(memory, remembered, { mode: 0o600 })
  await signsAgain(t, started, 'an older one is overwritten')
  t.match((await started.client.submit(unanswered)).body, { created: false, state: 'decided' })
})

/** An installation on SQLite whose head is remembered in a folder apart from DATA_DIR. */
async function startApart(t: Test) {
  const apart = t.testdir()
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database, env: { HEAD_MEMORY: apart } })
  const client = await installation.client('acme')
  return { apart, started: { installation, client, memory: join(installation.config.dataDir, 'log-head.json') } }
}

t.test('DATA_DIR that is restored as a whole, with what it remembers, is found to be old', async (t) => {
  const { apart, started } = await startApart(t)
  const { installation } = started
  const { dataDir } = installation.config
  const kept = await receiptOf(started)
  await installation.stop()
  cpSync(dataDir, `${dataDir}.backup`, { recursive: true })
  await installation.resume()
  const lost = await receiptOf(started)
  await installation.stop()
  rmSync(dataDir, { recursive: true })
  renameSync(`${dataDir}.backup`, dataDir)
  await installation.resume()
  await isReadOnly(t, started, 'restored')
  t.match((await installation.request('/readyz')).body.problems, [/its log has 1 entries, and 2 were signed/])
  await beginLog(started)
  await signsAgain(t, started, 'a new log')
  t.equal((await installation.request(`/v1/receipts/${kept}`)).status, 200)
  t.equal((await installation.request(`/v1/receipts/${lost}`)).status, 410)
  const { stdout } = await runClaimcheck(installation.folder, ['log', 'new', '--yes'], {
    DATA_DIR: dataDir,
    HEAD_MEMORY: apart,
  })
  t.match(stdout, /^No receipt is known to be lost\.$/m)
})

t.test('a folder that the operator names has to be there; the default one need not', async (t) => {
  const { apart, started } = await startApart(t)
  const { installation } = started
  await receiptOf(started)
  await installation.stop()
  renameSync(apart, `${apart}.kept`)
  writeFileSync(apart, 'no folder')
  await installation.resume()
  await isReadOnly(t, started, 'no folder')
  rmSync(apart)
  await isReadOnly(t, started, 'a folder without its record')
  renameSync(`${apart}.kept`, apart)
  await signsAgain(t, started, 'the folder is back')

  const HOME = join(t.testdir({ file: '' }), 'file')
  const without = await Installation.start({ database: await createDatabase('sqlite'), env: { HOME } })
  t.teardown(() => without.remove())
  t.match(await (await without.client('acme')).submit(), { status: 202 })
})

t.test('one host that remembers stops all, also those that remember nothing, and after it has ended', async (t) => {
  const started = await start(t, 'postgres')
  const { installation, client } = started
  await receiptOf(started)
  const restore = await backUpStopped(installation, 'older')
  await receiptOf(started)
  await installation.stop()
  const putBack = await backUp(installation.config.databaseUrl, 'newest')
  await restore()
  await installation.resume()
  await isReadOnly(t, started, 'the host that signed')
  const { problems } = await diagnose(installation.claimcheck.storage, { schema: SCHEMA })
  t.match(problems, [/it lacks entries that were signed/])
  const other = await installation.addHost()
  await installation.host.stop()
  t.equal((await client.at(other).submit()).status, 503, 'a host with a new folder')
  t.match(await other.request('/readyz'), { status: 503, body: { problems: [/1 entries, and 2 were signed/] } })
  t.match(await other.request('/v1/log/head'), { status: 200 })

  await installation.stop()
  await putBack()
  await installation.resume()
  await signsAgain(t, started, 'the newest database')
})

async function becomes({ installation }: Started, problem: RegExp) {
  for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50)))
    if (problem.test(String((await installation.request('/readyz')).body.problems))) return
  throw new Error(`not in time: ${problem}`)
}

/** A host with a new folder, alone on the restored database after a host that remembers has seen it. */
async function stopsNewHosts(t: Test, started: Started, restore: () => Promise<void>, what: string) {
  const { installation, client } = started
  await installation.stop()
  await restore()
  await installation.resume()
  await isReadOnly(t, started, what)
  const other = await installation.addHost({ DATA_DIR: `data-new-${what.length}` })
  await installation.host.stop()
  t.equal((await client.at(other).submit()).status, 503, `${what}: a host with a new folder`)
  await other.stop()
}

t.test('a backup from before a rotation of the key, and from before another log began, stops all hosts', async (t) => {
  const started = await start(t, 'postgres')
  const { installation } = started
  await receiptOf(started)
  const restore = await backUpStopped(installation)
  await receiptOf(started)
  await rotate(started)
  await receiptOf(started)
  await stopsNewHosts(t, started, restore, 'before the rotation')
  await restore()
  await installation.host.start()
  await beginLog(started)
  await signsAgain(t, started, 'another log')
  await stopsNewHosts(t, started, restore, 'before the other log')
})

t.test(
  'a copy of DATA_DIR in another folder waits for a confirmation, and the log goes on in one of both',
  async (t) => {
    const HOME = t.testdir()
    const env = { HEAD_MEMORY: '', XDG_STATE_HOME: '', HOME }
    const installation = await Installation.during(t, { database: await createDatabase('sqlite'), env })
    const client = await installation.client('acme')
    await client.submit()
    await installation.stop()
    const { dataDir } = installation.config
    cpSync(dataDir, `${dataDir}-trial`, { recursive: true })
    const url = installation.config.databaseUrl.replace('data/', 'data-trial/')
    const trial = await installation.addHost({ DATA_DIR: `${dataDir}-trial`, DATABASE_URL: url })
    t.match(await trial.request('/readyz'), { status: 503, body: { problems: [/claimcheck log resume/] } })
    t.equal((await client.at(trial).submit()).status, 503)
    const confirmed = await runClaimcheck(installation.folder, ['log', 'resume', '--yes'], {
      ...env,
      DATA_DIR: `${dataDir}-trial`,
      DATABASE_URL: url,
    })
    t.match(confirmed, { code: 0, stdout: /goes on, with 1 entries/ })
    for (let i = 0; i < 50 && (await trial.request('/readyz')).status !== 200; i++) {
      await new Promise((done) => setTimeout(done, 100))
    }
    t.match(await client.at(trial).submit(), { status: 202 })
    await trial.stop()
    await installation.host.start()
    t.match(await installation.request('/readyz'), {
      status: 503,
      body: { problems: [/goes on in another data folder/] },
    })
    t.equal((await client.submit()).status, 503)
    const remembered = readdirSync(join(HOME, '.local/state/claimcheck'))
    t.equal(remembered.filter((name) => name.endsWith('.json')).length, 2)

    // And back again.
    await installation.host.stop()
    rmSync(dataDir, { recursive: true })
    cpSync(`${dataDir}-trial`, dataDir, { recursive: true })
    const own = { ...env, DATA_DIR: dataDir, DATABASE_URL: installation.config.databaseUrl }
    const back = await runClaimcheck(installation.folder, ['log', 'resume', '--yes'], own)
    t.match(back, { code: 0, stdout: /goes on, with 2 entries/ })
    await installation.host.start()
    t.match(await client.submit(), { status: 202 }, 'where it was before')
    await trial.start()
    t.match(await trial.request('/readyz'), { status: 503, body: { problems: [/goes on in another data folder/] } })
  },
)

t.test('a move that an earlier version wrote stops the folder to which it led, where the log moves back', async (t) => {
  const HOME = t.testdir()
  const env = { HEAD_MEMORY: '', XDG_STATE_HOME: '', HOME }
  const installation = await Installation.during(t, { database: await createDatabase('sqlite'), env })
  const client = await installation.client('acme')
  await client.submit()
  await installation.stop()
  const { dataDir, databaseUrl } = installation.config
  const other = `${dataDir}-other`
  const url = databaseUrl.replace('data/', 'data-other/')
  cpSync(dataDir, other, { recursive: true })
  const resumed = (DATA_DIR: string, DATABASE_URL: string) =>
    runClaimcheck(installation.folder, ['log', 'resume', '--yes'], { ...env, DATA_DIR, DATABASE_URL })
  t.match(await resumed(other, url), { code: 0 })
  // As that version left it: beside the head of the first folder, and nowhere else.
  const memory = join(HOME, '.local/state/claimcheck')
  for (const folder of [memory, join(other, 'log-heads')])
    for (const name of readdirSync(folder)) if (name.endsWith('.next')) rmSync(join(folder, name))
  await query(url, 'UPDATE logs SET moves = NULL')
  const logId = readdirSync(memory)
    .find((name) => name.endsWith('.json'))!
    .slice(0, 43)
  writeFileSync(join(memory, `${logId}-${folderIdOf(dataDir)}.moved`), JSON.stringify({ restore: folderIdOf(other) }))
  const second = await installation.addHost({ DATA_DIR: other, DATABASE_URL: url })
  t.match(await client.at(second).submit(), { status: 202 }, 'it goes on there')
  await second.stop()

  rmSync(dataDir, { recursive: true })
  cpSync(other, dataDir, { recursive: true })
  t.match(await resumed(dataDir, databaseUrl), { code: 0, stdout: /goes on, with 2 entries/ })
  await second.start()
  t.match(await second.request('/readyz'), { status: 503, body: { problems: [/goes on in another data folder/] } })
  t.equal((await client.at(second).submit()).status, 503, 'before the first host is started')
  await installation.host.start()
  t.match(await client.submit(), { status: 202 })
})

t.test('a copy does not go on while its original signs, whatever is signed between question and answer', async (t) => {
  const HOME = t.testdir()
  const env = { HEAD_MEMORY: '', XDG_STATE_HOME: '', HOME }
  const installation = await Installation.during(t, { database: await createDatabase('sqlite'), env })
  const client = await installation.client('acme')
  await client.submit()
  await installation.stop()
  const { dataDir, databaseUrl } = installation.config
  cpSync(dataDir, `${dataDir}-copy`, { recursive: true })
  await installation.resume()
  const common = { ...installation.database.env, ...env, PORT: '0', LOG_LEVEL: 'silent' }
  const config = loadConfig(
    { ...common, DATA_DIR: `${dataDir}-copy`, DATABASE_URL: databaseUrl.replace('data/', 'data-copy/') },
    installation.folder,
  )
  const copy = await openClaimcheck(config, { plugins: false })
  t.teardown(() => copy.close())
  const signMore = async () => {
    t.equal((await client.submit()).body.state, 'decided')
  }
  await t.rejects(resumeLog(copy, signMore), { code: 'read_only', message: /has 1 entries, and 2 were signed/ })
  t.not((await copy.storage.read.log.state())!.agreedOn, '', 'the copy stays as it was')
  t.equal((await client.submit()).body.state, 'decided', 'the original goes on')
  t.match(await installation.request('/readyz'), { status: 200 })
})

/** Brings back what was in the files, which stay the same files, as a disk does that is restored from a snapshot. */
function snapshot(folder: string): () => void {
  const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile())
  const contents = names.map((name) => [join(folder, name), readFileSync(join(folder, name))] as const)
  return () => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      if (statSync(path).isFile() && !names.includes(name)) rmSync(path)
    }
    for (const [path, content] of contents) writeFileSync(path, content)
  }
}

t.test('a disk that is restored on a machine with an empty HEAD_MEMORY signs nothing', async (t) => {
  const { apart, started } = await startApart(t)
  const { installation } = started
  const kept = await receiptOf(started)
  await installation.stop()
  const { dataDir: DATA_DIR } = installation.config
  const restore = snapshot(DATA_DIR)
  await installation.resume()
  const lost = await started.client.submit()
  await installation.stop()
  restore()
  const remembered = readdirSync(apart).map((name) => [join(apart, name), readFileSync(join(apart, name))] as const)
  for (const [path] of remembered) rmSync(path)
  await installation.resume()
  await isReadOnly(t, started, 'the record is gone')
  const isGone = /HEAD_MEMORY had a record of the log, and has none/
  t.match((await installation.request('/readyz')).body.problems, [isGone])
  const command = (...args: string[]) => runClaimcheck(installation.folder, args, { DATA_DIR, HEAD_MEMORY: apart })
  t.match(await command('signing-key', 'rotate'), { code: 1, stderr: isGone }, 'it would make the record')
  const erase = ['receipt', 'erase', kept, '--rule', 'court_order', '--reference', '1', '--yes']
  t.match(await command(...erase), { code: 1, stderr: isGone })
  t.match(await command('doctor'), { code: 1, stdout: isGone })
  await started.client.request('/v1/whoami', { headers: { [TREE_HEAD_FIELD]: lost.headers.get(TREE_HEAD_FIELD)! } })
  await becomes(started, /a client has a signed head/)
  t.match(await command('log', 'acknowledge', '--yes'), { code: 1, stderr: isGone }, 'nothing else tells who is right')
  for (const [path, content] of remembered) writeFileSync(path, content)
  await isReadOnly(t, started, 'the record is back, and tells that more was signed')
  await beginLog(started)
  await signsAgain(t, started, 'a new log')
})

t.test(
  'a memory that is named for the first time, or after another, gets its record; one that lost it waits',
  async (t) => {
    const { apart, started } = await startApart(t)
    const { installation } = started
    await receiptOf(started)
    await installation.stop()
    const [name] = readdirSync(apart).filter((name) => !name.startsWith('signed-receipts'))
    const content = readFileSync(join(apart, name!))
    rmSync(join(apart, name!))
    await installation.resume()
    await isReadOnly(t, started, 'lost')
    writeFileSync(join(apart, name!), content)
    await signsAgain(t, started, 'brought back')
    await installation.stop()
    rmSync(join(apart, name!))
    const HEAD_MEMORY = join(apart, 'other')
    const host = await installation.addHost({ DATA_DIR: installation.config.dataDir, HEAD_MEMORY })
    t.match(await started.client.at(host).submit(), { status: 202 }, 'another memory')
    t.ok(readdirSync(HEAD_MEMORY).includes(name!))
  },
)

// Where a container has no machine's id, `file-binding.test.ts` plays it alone.
const isNowhere = machineId() === '' && 'a container without the id of a machine'
t.test(
  'a file on another machine waits, unless a folder apart proves it the newest',
  { skip: isNowhere },
  async (t) => {
    const without = await start(t)
    const moved = (installation: Installation) =>
      query(installation.config.databaseUrl, `UPDATE logs SET agreed_system = 'machine:another'`)
    await receiptOf(without)
    await without.installation.stop()
    await without.installation.resume()
    t.match(await receiptOf(without), /^rcpt_/, 'the machine was started again')
    await without.installation.stop()
    await moved(without.installation)
    await without.installation.resume()
    await isReadOnly(t, without, 'another machine')

    const { started } = await startApart(t)
    await receiptOf(started)
    await started.installation.stop()
    await moved(started.installation)
    await started.installation.resume()
    t.match(await receiptOf(started), /^rcpt_/, 'moved with what it remembers')
  },
)

t.test('a host whose memory is gone goes on beside one that remembers, and none does where all are gone', async (t) => {
  const memories = t.testdir({ one: {}, two: {} })
  const [one, two] = [join(memories, 'one'), join(memories, 'two')]
  const database = await createDatabase('postgres')
  const installation = await Installation.during(t, { database, env: { HEAD_MEMORY: one } })
  const client = await installation.client('acme')
  await client.submit()
  const other = await installation.addHost({ DATA_DIR: 'data-2', HEAD_MEMORY: two })
  await client.at(other).submit()
  await other.stop()
  const clear = (folder: string) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  }
  clear(two)
  await other.start()
  await signsAgain(t, { installation, client: client.at(other), memory: '' }, 'the other remembers')
  t.ok(
    readdirSync(two).some((name) => name.endsWith('.json')),
    'its record is made',
  )
  await installation.stop()
  for (const folder of [one, two]) clear(folder)
  await installation.resume()
  for (const host of [installation.host, other])
    t.match(await host.request('/readyz'), { status: 503, body: { problems: [/HEAD_MEMORY had a record/] } })
  await installation.stop()
  await query(installation.config.databaseUrl, `UPDATE logs SET agreed_on = agreed_on || '0'`)
  await installation.resume()
  const restarted = (await installation.request('/readyz')).body.problems
  t.match(restarted, [/HEAD_MEMORY had a record/], 'also where the server was restarted')
})

t.test('a head that no key of the log has signed stops nobody else', async (t) => {
  const started = await start(t, 'postgres')
  const { installation, client, memory } = started
  await receiptOf(started)
  const other = await installation.addHost()
  const { storage } = installation.claimcheck
  const log = (await storage.read.log.state())!
  const { signed } = (await storage.read.log.newestHead())!
  const forged = JSON.stringify({ ...JSON.parse(signed), body: { ...JSON.parse(signed).body, tree_size: 9 } })
  await installation.host.stop()
  dataDirMemory(installation.config.dataDir).remember({ ...log, treeSize: 9, signed: forged })
  t.match(readFileSync(memory, 'utf8'), /"tree_size":9/)
  await installation.host.start()
  await isReadOnly(t, started, 'the host with the forged file')
  t.match(await client.at(other).submit(), { status: 202, body: { state: 'decided' } })
})
