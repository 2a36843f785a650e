// Test run: slow
/** Backups of a running installation, and how it goes on after a loss. Threat O6 of `security.md`. */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { newId } from '@claimcheck/server/base/ids'
import t, { type Test } from 'tap'
import type { Env } from './support/command.ts'
import { connect } from './support/connect.ts'
import {
  claimcheck,
  configOf,
  DIALECTS,
  emptyDatabase,
  newFolder,
  startHost,
  startSource,
  submitMany,
} from './support/copies.ts'
import { createDatabase, type Dialect, DIALECTS as SHORT_DIALECTS } from './support/database.ts'
import { type Host, Installation } from './support/installation.ts'
import { Mailbox } from './support/mailbox.ts'
import { query } from './support/sql.ts'
import { Visitor } from './support/visitor.ts'

/** An empty installation: another database, and another DATA_DIR. */
async function elsewhere(t: Test, dialect: Dialect) {
  return { DATABASE_URL: await emptyDatabase(t, dialect), DATA_DIR: join(newFolder(t), 'data') }
}

async function run(source: Installation, args: readonly string[], env: Env = {}) {
  const { code, stdout, stderr } = await claimcheck(source, [...args, '--json'], env)
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
}

/** Whoever was invited shares what the owner may use, so that an account names another one. @returns the address of the owner */
async function inviteColleague({ host, claimcheck: { accounts, storage } }: Installation, workspaceId: string) {
  const owner = await Visitor.joining(host, workspaceId, 'owner', 'Ann')
  const { id } = (await storage.read.users.byEmail(owner.email))!
  await Visitor.enter(host, `/console/join/${await accounts.inviteToken(workspaceId, 'member', id)}`, 'Mia')
  return owner.email
}

/** A mail that waits: this installation has no server for it. */
async function askForPassword({ claimcheck: { storage }, config }: Installation, recipient: string) {
  await query(config.databaseUrl, `UPDATE users SET confirmed_at = ${Date.now()} WHERE email = '${recipient}'`)
  const at = Date.now()
  const [waiting, times] = [
    { content: null, once: null, about: null, attempts: 0 },
    { createdAt: at, dueAt: at, sentAt: null },
  ]
  await storage.write((tx) =>
    tx.mails.insert([{ id: newId('mail_', at), kind: 'reset', recipient, ...waiting, ...times }]),
  )
}

async function isSound(t: Test, source: Installation, env: Env) {
  t.match(await run(source, ['doctor', '--signatures'], env), { code: 0, value: { ok: true, problems: [] } })
}

async function isProven(host: Host, receiptId: string) {
  const keys = parseKeySet(JSON.stringify((await host.request('/.well-known/poaw-keys.json')).body))
  return checkReceipt(JSON.stringify((await host.request(`/v1/receipts/${receiptId}`)).body), { keys })
}

/** It becomes ready within seconds. */
async function becomesReady(t: Test, host: Host) {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    if ((await host.request('/readyz')).status === 200) break
    await setTimeout(50)
  }
  t.match(await host.request('/readyz'), { status: 200 })
}

for (const dialect of DIALECTS) {
  t.test(
    `a drill on ${dialect}: load, backup under load, more load, loss, restore to another database, another log`,
    async (t) => {
      const source = await startSource(t, dialect)
      const client = await source.client('acme')
      await connect(source.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
      const owner = await inviteColleague(source, client.workspaceId)
      await askForPassword(source, owner)
      const archived = (await client.submit()).body.receipt_id
      const { value: begun } = await run(source, ['log', 'new', '--yes'])
      const archive = await run(source, ['log', 'archive', begun.ended_log_id])
      t.equal(archive.code, 0, archive.stderr)
      await submitMany(client, 100)
      const kept = (await client.submit()).body
      t.match((await source.request('/metrics')).body, /^claimcheck_backup_last_success_timestamp_seconds 0$/m)

      const folder = join(newFolder(t), 'backups', 'tonight')
      let isMade = false
      const making = run(source, ['backup', folder]).finally(() => {
        isMade = true
      })
      let submitted = 0
      for (; !isMade; submitted += 20) await submitMany(client, 20)
      const { code, stderr, value } = await making
      t.equal(code, 0, stderr)
      t.match(value, { folder, epoch: /^bkp_/, log_id: begun.log_id, verified: true, unrecorded: null })
      t.ok(value.tree_size >= 101 && value.tree_size < 101 + submitted, `${value.tree_size} of ${101 + submitted}`)
      const [, seconds] = /^claimcheck_backup_last_success_timestamp_seconds (\S+)$/m.exec(
        (await source.request('/metrics')).body,
      )!
      t.equal(Number(seconds) * 1000, Date.parse(value.made_at))

      const lost = (await client.submit()).body
      await source.stop()
      const env = await elsewhere(t, dialect === 'sqlite' ? 'postgres' : 'sqlite')
      const restored = await run(source, ['restore', folder], env)
      t.match(
        restored,
        { code: 0, value: { ok: true, problems: [], copied: { receipts: value.tree_size + 1 } } },
        restored.stderr,
      )
      const mailbox = await Mailbox.open()
      t.teardown(() => mailbox.close())
      const host = await startHost(
        t,
        configOf(source, env.DATABASE_URL, { ...env, ...mailbox.env, PUBLIC_URL: 'https://example.com' }),
      )
      const there = client.at(host)

      const refused = await there.submit()
      t.match(refused, { status: 503, body: { detail: new RegExp(`restored from the backup of ${value.made_at}`) } })
      t.match(refused.headers.get('retry-after'), /^\d+$/)
      t.match(await host.request('/readyz'), {
        status: 503,
        body: { problems: [/its log stays closed\. Begin another log with: claimcheck log new$/] },
      })
      t.match(await host.request('/v1/log/head'), {
        status: 200,
        body: { tree_head: { body: { tree_size: value.tree_size } } },
      })
      for (const id of [archived, kept.receipt_id])
        t.match(await isProven(host, id), { valid: true, checks: { inclusion: true } })
      t.equal((await host.request(`/v1/receipts/${lost.receipt_id}`)).status, 404)
      t.match(await there.get(`/v1/claims/${kept.claim_id}`), { body: { state: 'decided' } })
      t.match(await run(source, ['signing-key', 'rotate'], env), { code: 1, value: { error: { code: 'read_only' } } })

      await setTimeout(3000)
      t.strictSame(mailbox.mails, [], 'a rehearsal writes to nobody')

      t.match(await run(source, ['log', 'new', '--yes'], env), { code: 0, value: { ended_tree_size: value.tree_size } })
      await becomesReady(t, host)
      await mailbox.mailTo(owner, /password/)
      t.match(await there.submit({ action: 'test.cave.open', params: {} }), { body: { verdict: 'verified' } })
      t.match(await isProven(host, kept.receipt_id), { valid: true, checks: { inclusion: true } })
      t.match(await run(source, ['log', 'resume', '--yes'], env), { code: 1, value: { error: { code: 'conflict' } } })
      await isSound(t, source, env)
      const events = await query(env.DATABASE_URL, `SELECT event FROM audit_trail WHERE event LIKE 'database.%'`)
      t.match(events.at(-1), { event: 'database.restored' })
    },
  )
}

t.test('restore --begin has hosts take claims at once, and what was restored stays proven', async (t) => {
  for (const dialect of SHORT_DIALECTS) {
    const { source, client, folder } = await backedUp(t, dialect)
    const [kept] = await query(source.config.databaseUrl, 'SELECT receipt_id FROM receipts LIMIT 1')
    const env = await elsewhere(t, dialect)
    const { code, value, stderr } = await run(source, ['restore', folder, '--begin'], env)
    t.match({ code, value }, { code: 0, value: { ok: true, begun: { ended_tree_size: 3, lost_receipts: [] } } }, stderr)
    const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
    t.match(await client.at(host).submit(), { body: { verdict: 'verified' } })
    t.match(await isProven(host, String(kept!.receipt_id)), { valid: true, checks: { inclusion: true } })
    await isSound(t, source, env)
  }
})

/** Waits until the first host has learned what another signed. */
async function untilRemembers({ config: { dataDir } }: Installation, treeSize: number) {
  const head = join(dataDir, 'log-head.json')
  const isLearned = () => readFileSync(head, 'utf8').includes(`"tree_size":${treeSize}`)
  for (const end = Date.now() + 10_000; Date.now() < end && !isLearned(); ) await setTimeout(100)
}

/** A backup, and the only copy of all that was stored since is gone. */
async function backedUp(t: Test, dialect: Dialect) {
  const source = await startSource(t, dialect)
  const client = await source.client('acme')
  await submitMany(client, 3)
  const memory = join(newFolder(t), 'memory')
  const folder = join(newFolder(t), 'backup')
  t.match(await run(source, ['backup', folder]), { code: 0 })
  return { source, client, memory, folder }
}

const RESUME = ['log', 'resume'] as const

t.test('where nothing remembers, only another log helps', async (t) => {
  for (const dialect of SHORT_DIALECTS) {
    const { source, client, folder } = await backedUp(t, dialect)
    await source.stop()
    const env = await elsewhere(t, dialect)
    t.match(await run(source, ['restore', folder], env), { code: 0 })
    const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
    const refused = await run(source, [...RESUME, '--yes'], env)
    t.match(refused, { code: 1, value: { error: { code: 'read_only', message: /nothing proves/ } } }, dialect)
    t.match(await client.at(host).submit(), { status: 503 })
  }
})

t.test('the default memory of the same machine knows what another data folder signed', async (t) => {
  const HOME = newFolder(t)
  const common = { HOME, HEAD_MEMORY: '', XDG_STATE_HOME: '', SECRET_KEY: 'c0'.repeat(32) }
  for (const more of [0, 1]) {
    const database = { ...(await createDatabase('sqlite')), env: common }
    const source = await Installation.during(t, { database, env: common })
    const client = await source.client('acme')
    await submitMany(client, 3)
    const folder = join(newFolder(t), 'backup')
    t.match(await run(source, ['backup', folder], common), { code: 0 })
    await submitMany(client, more)
    await source.stop()
    const env = { ...(await elsewhere(t, 'sqlite')), ...common }
    t.match(await run(source, ['restore', folder], env), { code: 0 })
    const resumed = await run(source, [...RESUME, '--yes'], env)
    if (more > 0) {
      t.match(resumed, { code: 1, value: { error: { code: 'read_only', message: /3 entries, and 4 were signed/ } } })
      continue
    }
    t.match(resumed, { code: 0, value: { tree_size: 3 } }, 'it proves that no more was signed')
    const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
    t.match(await client.at(host).submit(), { body: { verdict: 'verified' } })
    await source.resume()
    t.match(await client.submit(), { status: 503 }, 'the log goes on in one folder alone')
  }
})

t.test('where a folder remembers exactly the head of the backup, the log goes on', async (t) => {
  const { source, memory, folder } = await backedUp(t, 'sqlite')
  const env = { ...(await elsewhere(t, 'sqlite')), HEAD_MEMORY: memory }
  t.match(await run(source, ['restore', folder], env), { code: 0 })
  mkdirSync(memory)
  const head = join(source.config.dataDir, 'log-head.json')
  const { log_id } = (await source.request('/v1/log/head')).body.tree_head.body
  cpSync(head, join(memory, `${log_id}.json`))
  t.match(await run(source, RESUME, env), { code: 1, stderr: /a folder apart from DATA_DIR remembers exactly these/ })
  t.match(await run(source, [...RESUME, '--yes'], env), { code: 0, value: { tree_size: 3 } })
})

t.test('where hosts shared a database, the record of each that ran is needed', async (t) => {
  const { source, client, memory } = await backedUp(t, 'postgres')
  const other = await source.addHost()
  t.match(await client.at(other).submit(), { status: 202 })
  const folder = join(newFolder(t), 'shared')
  t.match(await run(source, ['backup', folder]), { code: 0, value: { tree_size: 4 } })
  const { log_id } = (await source.request('/v1/log/head')).body.tree_head.body
  const [own, others] = [source.config.dataDir, other.config.dataDir].map((dataDir) => join(dataDir, 'log-head.json'))
  await untilRemembers(source, 4)
  const env = { ...(await elsewhere(t, 'postgres')), HEAD_MEMORY: memory }
  t.match(await run(source, ['restore', folder], env), { code: 0 })
  mkdirSync(memory)
  cpSync(own!, join(memory, `${log_id}.json`))
  const missing = readFileSync(join(other.config.dataDir, 'host-id'), 'utf8')
  const refused = await run(source, [...RESUME, '--yes'], env)
  t.match(refused, { code: 1, value: { error: { code: 'read_only', message: new RegExp(`${missing} are missing`) } } })

  // It signs once more, and dies with the database: what it remembers refutes.
  t.match(await client.at(other).submit(), { status: 202 })
  cpSync(others!, join(memory, `${log_id}-other.json`))
  const more = await run(source, [...RESUME, '--yes'], env)
  t.match(more, { code: 1, value: { error: { message: /4 entries, and 5 were signed/ } } })
  t.match(await run(source, ['log', 'new', '--yes'], env), { code: 0 })
})

t.test('with the records of all hosts that shared a database, the log goes on', async (t) => {
  const { source, client, memory } = await backedUp(t, 'postgres')
  const other = await source.addHost()
  t.match(await client.at(other).submit(), { status: 202 })
  const folder = join(newFolder(t), 'shared')
  t.match(await run(source, ['backup', folder]), { code: 0, value: { tree_size: 4 } })
  const { log_id } = (await source.request('/v1/log/head')).body.tree_head.body
  await source.stop()
  const env = { ...(await elsewhere(t, 'postgres')), HEAD_MEMORY: memory }
  t.match(await run(source, ['restore', folder], env), { code: 0 })
  mkdirSync(memory)
  for (const [name, { dataDir }] of [
    [log_id, source.config],
    [`${log_id}-other`, other.config],
  ] as const)
    cpSync(join(dataDir, 'log-head.json'), join(memory, `${name}.json`))
  t.match(await run(source, [...RESUME, '--yes'], env), { code: 0, value: { tree_size: 4 } })
})

t.test('a host that ends remembers what another one has just signed', async (t) => {
  const source = await startSource(t, 'postgres')
  const client = await source.client('acme')
  const other = await source.addHost()
  for (let size = 1; size <= 3; size++) {
    t.match(await client.at(other).submit(), { body: { state: 'decided' } })
    await source.stop()
    for (const { dataDir } of [source.config, other.config])
      t.match(readFileSync(join(dataDir, 'log-head.json'), 'utf8'), `"tree_size":${size},`)
    await source.resume()
  }
})

t.test('where a folder remembers more, only another log helps', async (t) => {
  const { source, client, memory, folder } = await backedUp(t, 'sqlite')
  await client.submit()
  const env = { ...(await elsewhere(t, 'sqlite')), HEAD_MEMORY: memory }
  t.match(await run(source, ['restore', folder], env), { code: 0 })
  mkdirSync(memory)
  const { log_id } = (await source.request('/v1/log/head')).body.tree_head.body
  cpSync(join(source.config.dataDir, 'log-head.json'), join(memory, `${log_id}.json`))
  const refused = await run(source, [...RESUME, '--yes'], env)
  t.match(refused, { code: 1, value: { error: { code: 'read_only', message: /3 entries, and 4 were signed/ } } })
  t.match(await run(source, ['log', 'new', '--yes'], env), { code: 0 })
  const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
  t.match(await client.at(host).submit(), { body: { verdict: 'verified' } })
})

t.test('where a host that runs remembers more, only another log helps', async (t) => {
  const { source, client, folder } = await backedUp(t, 'postgres')
  await client.submit()
  await source.stop()
  const env = await elsewhere(t, 'postgres')
  t.match(await run(source, ['restore', folder], env), { code: 0 })
  // It has its DATA_DIR from before.
  await startHost(t, configOf(source, env.DATABASE_URL))
  const refused = await run(source, [...RESUME, '--yes'], env)
  t.match(refused, { code: 1, value: { error: { code: 'read_only', message: /3 entries, and 4 were signed/ } } })
})

t.test('a backup that another program made is recorded', async (t) => {
  const source = await startSource(t, 'sqlite')
  const before = Date.now()
  t.match(await run(source, ['backup', '--record']), { code: 0, value: { epoch: /^bkp_/ } })
  const metrics: string = (await source.request('/metrics')).body
  const [, seconds] = /^claimcheck_backup_last_success_timestamp_seconds (\S+)$/m.exec(metrics)!
  t.ok(Number(seconds) * 1000 >= before && Number(seconds) * 1000 <= Date.now())
  t.match(await claimcheck(source, ['backup']), { code: 2, stderr: /Name a folder, or give --record/ })
  t.match(await claimcheck(source, ['backup', 'folder', '--record']), { code: 2 })
  t.notOk(existsSync(join(source.folder, 'folder')))
})
