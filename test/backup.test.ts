/** Backups of a running installation, and how it goes on after a loss. Threat O6 of `security.md`. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import t, { type Test } from 'tap'
import { connect } from './support/connect.ts'
import { claimcheck, configOf, DIALECTS, emptyDatabase, startHost, startSource, submitMany } from './support/copies.ts'
import type { Dialect } from './support/database.ts'
import type { Host, Installation } from './support/installation.ts'
import { query } from './support/sql.ts'

interface Env {
  readonly [name: string]: string
}

/** An empty installation: another database, and another DATA_DIR. */
async function elsewhere(t: Test, dialect: Dialect): Promise<Env> {
  return { DATABASE_URL: await emptyDatabase(t, dialect), DATA_DIR: join(t.testdir(), 'data') }
}

async function run(source: Installation, args: readonly string[], env: Env = {}) {
  const { code, stdout, stderr } = await claimcheck(source, [...args, '--json'], env)
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
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
    await new Promise((done) => setTimeout(done, 50))
  }
  t.match(await host.request('/readyz'), { status: 200 })
}

for (const dialect of DIALECTS) {
  t.test(`a drill on ${dialect}: load, backup under load, more load, loss, restore, another log`, async (t) => {
    const source = await startSource(t, dialect)
    const client = await source.client('acme')
    await connect(source.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
    const archived = (await client.submit()).body.receipt_id
    const { value: begun } = await run(source, ['log', 'new', '--yes'])
    t.equal((await run(source, ['log', 'archive', begun.ended_log_id])).code, 0)
    await submitMany(client, 100)
    const kept = (await client.submit()).body
    t.match((await source.request('/metrics')).body, /^claimcheck_backup_last_success_timestamp_seconds 0$/m)

    const folder = join(t.testdir(), 'backups', 'tonight')
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
    for (const to of ['sqlite', 'postgres'] as const) {
      await t.test(`restored to ${to}`, async (t) => {
        const env = await elsewhere(t, to)
        const restored = await run(source, ['restore', folder], env)
        t.match(
          restored,
          { code: 0, value: { ok: true, problems: [], copied: { receipts: value.tree_size + 1 } } },
          restored.stderr,
        )
        const host = await startHost(t, configOf(source, env.DATABASE_URL!, env))
        const there = client.at(host)

        const refused = await there.submit()
        t.match(refused, { status: 503, body: { detail: new RegExp(`restored from the backup of ${value.made_at}`) } })
        t.match(refused.headers.get('retry-after'), /^\d+$/)
        t.match(await host.request('/readyz'), {
          status: 503,
          body: { problems: [/log resume or claimcheck log new/] },
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

        t.match(await run(source, ['log', 'new', '--yes'], env), {
          code: 0,
          value: { ended_tree_size: value.tree_size },
        })
        await becomesReady(t, host)
        t.match(await there.submit({ action: 'test.cave.open', params: {} }), { body: { verdict: 'verified' } })
        t.match(await isProven(host, kept.receipt_id), { valid: true, checks: { inclusion: true } })
        t.match(await run(source, ['log', 'resume', '--yes'], env), { code: 1, value: { error: { code: 'conflict' } } })
        await isSound(t, source, env)
        const events = await query(env.DATABASE_URL!, `SELECT event FROM audit_trail WHERE event LIKE 'database.%'`)
        t.match(events.at(-1), { event: 'database.restored' })
      })
    }
  })
}
