// Test run: end-to-end, slow, alone
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { byCommand } from '@claimcheck/server/base/actor'
import { secretKeyPath } from '@claimcheck/server/base/secret-keys'
import { copyInstallation } from '@claimcheck/server/features/maintenance/copy'
import t from 'tap'
import { connect } from './support/connect.ts'
import {
  claimcheck,
  configOf,
  DIALECTS,
  emptyDatabase,
  LOCKED,
  rowsIn,
  startHost,
  startSource,
  submitMany,
} from './support/copies.ts'
import { createDatabase } from './support/database.ts'
import { Installation, SCRIPTED } from './support/installation.ts'
import { query } from './support/sql.ts'
import { openStorage, SCHEMA } from './support/storage.ts'

/** More than one tile of leaves. */
const MANY = 300

for (const from of DIALECTS) {
  t.test(`an installation on ${from} goes on in its copy`, async (t) => {
    const source = await startSource(t, from)
    const client = await source.client('acme')
    await connect(source.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
    const revoked = await source.client('revoked')
    const [{ id: revokedId } = { id: '' }] = await source.claimcheck.keys.list(revoked.workspaceId)
    await source.claimcheck.keys.revoke(revokedId)
    await client.submit()
    await source.claimcheck.signingKeys.rotate()
    await submitMany(client, MANY)
    const first = (await client.submit()).body
    const deadline = Date.now() + 5000
    const timing = {
      claimed_at: new Date(deadline - 12 * 60_000).toISOString(),
      deadline_at: new Date(deadline).toISOString(),
    }
    const queued = (await client.submit({ params: { see: 'absent' }, ...timing })).body
    t.equal(queued.state, 'queued')
    const receipt = (await source.request(`/v1/receipts/${first.receipt_id}`)).body
    const head = (await source.request('/v1/log/head')).body.tree_head.body
    const keys = (await source.request('/.well-known/poaw-keys.json')).body
    await source.stop()
    const memory = join(source.config.dataDir, 'log-head.json')
    const remembered = readFileSync(memory)
    const moves = join(source.config.dataDir, 'log-heads')

    for (const to of DIALECTS) {
      await t.test(`on ${to}`, async (t) => {
        const url = await emptyDatabase(t, to)
        const args = ['copy', '--from', source.config.databaseUrl, '--to', url]
        const { code, stdout, stderr } = await claimcheck(source, [...args, '--json'])
        t.equal(code, 0, stderr)
        t.equal(stderr, '', 'no bar where there is no terminal')
        t.match(JSON.parse(stdout), {
          copied: {
            workspaces: 2,
            api_keys: 2,
            connections: 1,
            claims: MANY + 3,
            receipts: MANY + 2,
            signing_keys: 2,
            logs: 1,
          },
        })

        // Where the keys are in the database, the new host needs nothing of the old one's.
        const env = to === 'postgres' ? { DATA_DIR: t.testdir() } : {}
        const host = await startHost(t, configOf(source, url, env))
        const there = client.at(host)
        // The log may have grown meanwhile, and the proof with it.
        const { proof: _, ...same } = (await host.request(`/v1/receipts/${first.receipt_id}`)).body
        t.strictSame({ ...same, proof: receipt.proof }, receipt)
        t.strictSame((await host.request('/.well-known/poaw-keys.json')).body, keys)
        // The queued claim may have been decided already.
        const { body: consistency } = await host.request(`/v1/log/consistency?first=${head.tree_size}`)
        t.match(consistency, { log_id: head.log_id, first_root: head.root_hash })
        t.match(await there.submit({ action: 'test.cave.open', params: {} }), { body: { verdict: 'verified' } })
        t.equal((await revoked.at(host).submit()).status, 401)
        t.match(await there.submit(), { body: { verdict: 'verified' } })
        t.match(await there.decided(queued.claim_id), { state: 'decided' })
        const { tree_size } = (await host.request('/v1/log/head')).body.tree_head.body
        t.equal(tree_size, head.tree_size + 3)
        const sound = await claimcheck(source, ['doctor', '--json'], { ...env, DATABASE_URL: url })
        t.match(JSON.parse(sound.stdout), { ok: true, problems: [], notices: [] })
        await host.stop()
        // As before this copy: a log goes on in one.
        writeFileSync(memory, remembered)
        for (const name of readdirSync(moves)) if (name.endsWith('.next')) rmSync(join(moves, name))
        await query(source.config.databaseUrl, 'UPDATE logs SET restored_from = NULL, moves = NULL')
      })
    }
  })
}

t.test('a copy closes the log at its source, and is completed where it was interrupted', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 3)
  const { databaseUrl } = source.config
  const url = await emptyDatabase(t, 'postgres')
  const copy = async (to: string) => {
    const { code, stdout } = await claimcheck(source, ['copy', '--from', databaseUrl, '--to', to, '--json'])
    return { code, ...JSON.parse(stdout) }
  }
  // As where the command was killed after the rows were there.
  await query(
    databaseUrl,
    `CREATE TRIGGER stuck BEFORE UPDATE ON logs WHEN NEW.restored_from LIKE '%"made"%' BEGIN SELECT RAISE(ABORT, 'killed'); END`,
  )
  t.match(await copy(url), { code: 1 })
  t.equal((await client.submit()).status, 503)
  const dataDir = t.testdir()
  const there = await startHost(t, configOf(source, url, { DATA_DIR: dataDir }))
  t.equal((await client.at(there).submit()).status, 503, 'not yet')
  await query(databaseUrl, 'DROP TRIGGER stuck')
  t.match(await copy(url), { code: 0, copied: { receipts: 3 } })
  t.equal((await client.submit()).status, 503, 'closed for good')
  const closed = /is restored or copied to, and is closed here/
  const problems = async () => (await source.request('/readyz')).body.problems
  for (const end = Date.now() + 10_000; Date.now() < end && !closed.test(String(await problems())); )
    await new Promise((done) => setTimeout(done, 50))
  t.match(await problems(), [closed])
  for (const end = Date.now() + 10_000; Date.now() < end && (await there.request('/readyz')).status !== 200; )
    await new Promise((done) => setTimeout(done, 50))
  t.match(await client.at(there).submit(), { body: { verdict: 'verified' } })

  const second = await emptyDatabase(t, 'sqlite')
  t.match(await copy(second), { code: 0, copied: { receipts: 3 } })
  await source.stop()
  const other = await startHost(t, configOf(source, second))
  t.equal((await client.at(other).submit()).status, 503, 'a second copy is closed')
})

t.test('a copy is of one moment, while a server goes on writing to the source', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('busy')
  await submitMany(client, 100)
  const url = await emptyDatabase(t, 'postgres')
  let isCopied = false
  const copying = copyInstallation({ schema: SCHEMA, from: source.config, to: configOf(source, url) }).finally(() => {
    isCopied = true
  })
  while (!isCopied) await submitMany(client, 20)
  const { receipts = 0, logs } = await copying
  const { tree_size } = (await source.request('/v1/log/head')).body.tree_head.body
  t.equal(logs, 1)
  t.ok(receipts >= 100 && receipts < tree_size, `${receipts} of ${tree_size}`)
  const { stdout } = await claimcheck(source, ['doctor', '--json'], { DATABASE_URL: url })
  const { problems } = JSON.parse(stdout)
  t.match(problems, [/^log: the database is an old one/], 'DATA_DIR knows what was signed since')
  t.equal(problems.length, 1, stdout)
})

t.test(
  'who shares a DATA_DIR signs no fork: neither on the source again, nor on a copy that is older than that',
  async (t) => {
    const source = await startSource(t, 'sqlite')
    const client = await source.client('acme')
    await client.submit()
    const [from, older, newer] = [source.config, await emptyDatabase(t, 'sqlite'), await emptyDatabase(t, 'postgres')]
    await copyInstallation({ schema: SCHEMA, from, to: configOf(source, older) })
    t.match(await client.submit(), { body: { verdict: 'verified' } })
    await source.stop()
    const stale = await startHost(t, configOf(source, older))
    t.match(await stale.request('/readyz'), { status: 503 })
    t.equal((await client.at(stale).submit()).status, 503)
    await stale.stop()

    await copyInstallation({ schema: SCHEMA, from, to: configOf(source, newer) })
    const copy = await startHost(t, configOf(source, newer))
    t.match(await client.at(copy).submit(), { body: { verdict: 'verified' } })
    await source.resume()
    t.match(await source.request('/readyz'), { status: 503 })
    t.equal((await client.submit()).status, 503)
    t.match(await client.at(copy).submit(), { body: { verdict: 'verified' } })
  },
)

t.test('a copy that fails half-way leaves the target empty, and the source as it was', async (t) => {
  for (const [from, to] of [
    ['sqlite', 'postgres'],
    ['postgres', 'sqlite'],
  ] as const) {
    const source = await startSource(t, from)
    const client = await source.client('acme')
    await submitMany(client, 20)
    const target = configOf(source, await emptyDatabase(t, to))
    const onProgress = (rows: number) => {
      if (rows > 40) throw new Error('the machine stops')
    }
    await t.rejects(copyInstallation({ schema: SCHEMA, from: source.config, to: target, onProgress }), {
      message: 'the machine stops',
    })
    t.equal(await rowsIn(target.databaseUrl), 0)
    t.match(await client.submit(), { body: { verdict: 'verified' } })
    const copied = await copyInstallation({ schema: SCHEMA, from: source.config, to: target })
    t.equal(copied.receipts, 21, 'and it can be copied again')
  }
})

t.test('an installation that made its own secret key is copied with that', async (t) => {
  const source = await Installation.start({ database: await createDatabase('sqlite'), plugins: [SCRIPTED, LOCKED] })
  t.teardown(() => source.remove())
  const client = await source.client('acme')
  await connect(source.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
  await source.stop()
  const url = await emptyDatabase(t, 'postgres')
  const { databaseUrl, dataDir } = source.config
  const args = ['copy', '--from', databaseUrl, '--to', url]
  t.match(await claimcheck(source, args, { SECRET_KEY: '' }), {
    code: 1,
    stdout: '',
    stderr: /SECRET_KEY.*secret\.key/,
  })
  const kept = { SECRET_KEY: readFileSync(secretKeyPath(dataDir), 'utf8').trim() }
  const { code, stdout, stderr } = await claimcheck(source, args, kept)
  t.equal(code, 0, stderr)
  t.notMatch(stdout, new URL(url).password)
  const host = await startHost(t, configOf(source, url, { ...kept, DATA_DIR: t.testdir() }))
  t.match(await client.at(host).submit({ action: 'test.cave.open', params: {} }), { body: { verdict: 'verified' } })
})

t.test('an installation that nobody has started yet is copied as well', async (t) => {
  const source = await startSource(t, 'sqlite')
  const from = await emptyDatabase(t, 'sqlite')
  await (await openStorage({ databaseUrl: from })).close()
  const to = await emptyDatabase(t, 'postgres')
  t.match(await copyInstallation({ schema: SCHEMA, from: configOf(source, from), to: configOf(source, to) }), {
    logs: 0,
    workspaces: 0,
  })
})

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  t.test(`from ${from} to ${to}, what was erased stays erased, and a retention goes on`, async (t) => {
    const source = await startSource(t, from)
    const client = await source.client('acme')
    const { body: first } = await client.submit({ client_claim_id: 'first' })
    await client.submit()
    await source.claimcheck.retention.set(client.workspaceId, 90, byCommand())
    const reason = { rule: 'court_order', reference: '1/26' } as const
    await source.claimcheck.erasure.erase(first.receipt_id, reason, byCommand())
    const erased = await source.request(`/v1/receipts/${first.receipt_id}`)
    t.equal(erased.status, 410)

    const url = await emptyDatabase(t, to)
    const { code, stderr } = await claimcheck(source, ['copy', '--from', source.config.databaseUrl, '--to', url])
    t.equal(code, 0, stderr)
    await source.stop()
    const host = await startHost(t, configOf(source, url))
    const { status, body } = await host.request(`/v1/receipts/${first.receipt_id}`)
    t.strictSame([status, body], [410, erased.body])
    t.equal(await host.claimcheck.retention.days(client.workspaceId), 90)
    t.match((await client.at(host).submit({ client_claim_id: 'first' })).body, {
      created: false,
      claim_id: first.claim_id,
    })
    const sound = await claimcheck(source, ['doctor', '--json'], { DATABASE_URL: url })
    t.match(JSON.parse(sound.stdout), { ok: true, problems: [] })
    await t.rejects(
      query(url, `UPDATE receipts SET entry = '{}' WHERE receipt_id = '${first.receipt_id}'`),
      /append-only/,
    )
  })
}
