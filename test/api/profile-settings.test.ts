// Test run: slow, both-databases
/** The rules under which a database has claims: published for ever, and not changed under one version. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { checkBundle } from '@claimcheck/core/receipts'
import { loadConfig } from '@claimcheck/server/features'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { openStorage } from '@claimcheck/server/storage/open'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { Host } from '../support/host.ts'
import { NO_LIMITS, NO_QUOTAS, SCRIPTED } from '../support/installation.ts'
import { SCHEMA } from '../support/storage.ts'

const CHANGING = { use: resolve('build/test/plugins/changing.js'), trusted: true }
const ACTION = 'test.rules.change'

/** One database, on which the service is started with one configuration after the other. */
async function restarting(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-test-'))
  const database = await createDatabase()
  let running: Host | undefined
  let client: Client | undefined
  async function stop(): Promise<void> {
    const host = running
    running = undefined
    await host?.stop()
  }
  async function config(file: object) {
    const all = { quotas: NO_QUOTAS, rate_limits: NO_LIMITS, ...file }
    await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(all))
    return loadConfig({ PORT: '0', LOG_LEVEL: 'silent', HEAD_MEMORY: 'none', ...database.env }, folder)
  }
  t.teardown(async () => {
    await stop()
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    config,
    stop,
    async start(file: object, now?: () => number): Promise<Client> {
      await stop()
      const host = new Host(await config(file), { now })
      await host.start()
      running = host
      if (client) client = client.at(host)
      else {
        const { workspaces, keys } = host.claimcheck
        const { id } = await workspaces.create('acme')
        client = new Client(host, id, (await keys.create(id, 'test')).key)
      }
      return client
    },
  }
}

async function settingsOf(client: Client) {
  const { settings } = (await client.get('/v1/profiles')).body
  return settings.map(({ since: _, ...rules }: { since: string }) => rules)
}

async function checked(client: Client, receiptId: string) {
  const [receipt, evidence, profiles, keys] = await Promise.all(
    [
      `/v1/receipts/${receiptId}`,
      `/v1/receipts/${receiptId}/evidence`,
      '/v1/profiles',
      '/.well-known/poaw-keys.json',
    ].map(async (path) => JSON.stringify((await client.get(path)).body)),
  )
  const bundle = { receipt: receipt!, evidence: evidence!, profiles: profiles!, keys: keys! }
  return (await checkBundle(bundle, { fromIssuer: true })).evidence
}

t.test(
  'the settings under which there are claims are published, and old receipts are held against theirs',
  async (t) => {
    const service = await restarting(t)
    const first = await service.start({ plugins: [SCRIPTED, CHANGING] })
    t.strictSame(await settingsOf(first), [], 'no claims yet')
    const before = Date.now()
    const { body } = await first.submit()
    t.match(body, { verdict: 'verified' })
    const current = {
      action: 'test.outcome.reach',
      version: '1',
      tolerance_ms: 600_000,
      closing_ms: 30_000,
      grace_ms: 120_000,
    }
    t.match(await settingsOf(first), [{ ...current, required: { content: 'content' }, words: {} }])
    const { settings } = (await first.get('/v1/profiles')).body
    t.ok(Date.parse(settings[0].since) >= before - 1000)

    const second = await service.start({ plugins: [SCRIPTED, CHANGING], checks: { grace_ms: 60_000 } })
    t.match(await settingsOf(second), [current, { ...current, grace_ms: 60_000 }])
    t.equal((await settingsOf(second)).length, 2)
    t.match(await checked(second, body.receipt_id), { evidence: 'follows', rules: 'published' })
    const later = (await second.submit()).body
    t.match(await checked(second, later.receipt_id), { evidence: 'follows', rules: 'published' })

    const third = await service.start({ plugins: [CHANGING] })
    t.equal((await settingsOf(third)).length, 2, 'also without the plugin')
    t.match(await checked(third, body.receipt_id), { evidence: 'follows', rules: 'published' })
  },
)

t.test('rules that changed under one version do not load where there are claims', async (t) => {
  const service = await restarting(t)
  await service.start({ plugins: [CHANGING] })
  const empty = await service.start({ plugins: [{ ...CHANGING, with: { tolerance_ms: 2000 } }] })
  t.match(await empty.submit({ action: ACTION }), { status: 202, body: { verdict: 'verified' } })

  await t.rejects(service.start({ plugins: [CHANGING] }), {
    code: 'unusable_plugins',
    problems: [
      /^changing: the rules of the action test\.rules\.change changed under its version 1 \(tolerance_ms\).*raise the version/,
    ],
  })
  const words = { tolerance_ms: 2000, title: 'Another title' }
  await service.start({ plugins: [{ ...CHANGING, with: words }] })
  const raised = await service.start({ plugins: [{ ...CHANGING, with: { versions: ['2'] } }] })
  t.match(await raised.submit({ action: ACTION }), { status: 202, body: { verdict: 'verified' } })
})

t.test('a claim whose plugin is away waits, and is decided when it comes back', async (t) => {
  const service = await restarting(t)
  const patient = { ...CHANGING, with: { tolerance_ms: 30_000 } }
  const first = await service.start({ plugins: [patient] })
  const params = { see: 'absent', later: { at: Date.now() + 1000, see: 'present' } }
  const { claim_id: claimId } = (await first.submit({ action: ACTION, params })).body
  const away = await service.start({ plugins: [SCRIPTED] })
  await new Promise((done) => setTimeout(done, 3000))
  t.match((await away.get(`/v1/claims/${claimId}`)).body, { state: 'queued', last_check: { code: 'verifier_error' } })
  const back = await service.start({ plugins: [patient] })
  t.match(await back.decided(claimId), { verdict: 'verified' })
})

t.test('a claim whose plugin stays away ends as verifier_error, at the end of its time', async (t) => {
  const service = await restarting(t)
  const checks = { grace_ms: 1500 }
  const first = await service.start({ plugins: [CHANGING], checks })
  const claim = { action: ACTION, params: { see: 'absent' }, deadline_at: new Date(Date.now() + 2500).toISOString() }
  const { claim_id: claimId } = (await first.submit(claim)).body
  for (const plugins of [[SCRIPTED], [{ ...CHANGING, with: { versions: ['2'] } }]])
    await service.start({ plugins, checks })
  const away = await service.start({ plugins: [SCRIPTED], checks })
  const status = await away.decided(claimId)
  t.match(status, { verdict: 'unverifiable', reason_code: 'verifier_error' })
  t.match(await checked(away, status.receipt_id), { evidence: 'follows', rules: 'published' })
})

t.test('a shorter grace decides no waiting claim without a look', async (t) => {
  const service = await restarting(t)
  const first = await service.start({ plugins: [CHANGING] })
  const now = Date.now()
  const params = { see: 'unavailable', later: { at: now + 6000, see: 'present' } }
  const claim = { action: ACTION, params, deadline_at: new Date(now + 1500).toISOString() }
  const { claim_id: claimId } = (await first.submit(claim)).body
  await new Promise((done) => setTimeout(done, 3500))
  const { attempts } = (await first.get(`/v1/claims/${claimId}`)).body
  await service.stop()
  await new Promise((done) => setTimeout(done, Math.max(0, now + 6500 - Date.now())))
  const second = await service.start({ plugins: [CHANGING], checks: { grace_ms: 100 } })
  const status = await second.decided(claimId)
  t.ok(status.attempts > attempts, 'it was read again')
  t.match(status.last_check, { result: 'present' })
})

t.test('a claim whose host was down until after its time ends after two looks', async (t) => {
  const service = await restarting(t)
  const start = (graceMs: number) =>
    service.start({
      plugins: [{ ...CHANGING, with: { rules_version: 2 } }],
      checks: { closing_ms: 1000, grace_ms: graceMs },
    })
  const first = await start(1000)
  const now = Date.now()
  const claim = { action: ACTION, params: { see: 'absent' }, deadline_at: new Date(now + 2500).toISOString() }
  const { claim_id: claimId, attempts } = (await first.submit(claim)).body
  await service.stop()
  await new Promise((done) => setTimeout(done, Math.max(0, now + 5500 - Date.now())))
  const second = await start(1000)
  const status = await second.decided(claimId)
  t.ok(status.attempts >= attempts + 2, `${status.attempts} looks after ${attempts}`)
  t.match(status, { verdict: 'unverifiable' })
  t.match(await checked(second, status.receipt_id), { evidence: 'follows', rules: 'published' })
})

t.test('claims of a database from before settings were kept are judged as before', async (t) => {
  const service = await restarting(t)
  const first = await service.start({ plugins: [SCRIPTED, CHANGING] })
  const decided = (await first.submit()).body
  const { claim_id: waiting } = (await first.submit({ action: ACTION, params: { see: 'absent' } })).body
  await service.stop()
  const before = await openStorage(await service.config({}), { schema: SCHEMA })
  await before.write(async ({ db }) => {
    for (const sql of [
      'DROP INDEX claims_watched',
      ...['profile_digest', 'watched', 'unsigned', 'connection_removed'].map(
        (name) => `ALTER TABLE claims DROP COLUMN ${name}`,
      ),
      'DROP TABLE profile_settings',
      "DELETE FROM migrations WHERE name = '012-profile-settings'",
    ])
      await db.query(sql)
  })
  await before.close()

  const config = await service.config({})
  const upgraded = await openStorage(config, { schema: SCHEMA })
  t.strictSame(upgraded.migrated, ['012-profile-settings'])
  await upgraded.close()
  const second = await service.start({ plugins: [SCRIPTED, CHANGING] })
  t.equal((await settingsOf(second)).length, 2)
  const { settings } = (await second.get('/v1/profiles')).body
  t.equal(settings[0].since, decided.submitted_at, 'since the first claim')
  t.match(await checked(second, decided.receipt_id), { evidence: 'follows', rules: 'published' })
  t.match((await second.get(`/v1/claims/${waiting}`)).body, { state: 'queued' })
  t.match((await second.submit()).body, { verdict: 'verified' })
  await service.stop()
  const storage = await openStorage(config, { schema: SCHEMA })
  t.teardown(() => storage.close())
  t.strictSame((await diagnose(storage, { schema: SCHEMA })).problems, [])
})
