// Test run: both-databases, end-to-end
/**
 * Looking again: a decided claim keeps its receipt and its verdict, and what changed since is found by evidence alone. Owners ask; what they learn blames
 * nobody, and no checker takes the entry of the log for a receipt.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checkFinding, checkReceipt, parseKeySet, sha256Text } from '@claimcheck/core/receipts'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import type { ForgeRepository } from '../destinations/forge/model.ts'
import { afterFile } from '../support/after-file.ts'
import { type Answer, type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { query } from '../support/sql.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'token-of-the-reader'
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const clock = new SkippingClock()
const github = await startGitHub({ now: clock.now })
const installation = await Installation.start({
  plugins: [{ use: CODEHOST, trusted: true, with: { public_base_url: github.url } }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  file: { sources: { github: [github.url] } },
  now: clock.now,
})
/** The services of the host that runs now. */
const services = () => installation.claimcheck
afterFile(async () => {
  await installation.examine({ isWhole: true })
  await installation.remove()
  await github.close()
})

let count = 0

/** Submits a claim, and waits for its verdict. A clock that has just skipped may be in doubt for a while, and no claim is taken then. */
async function decided(client: Client, claim: object): Promise<Answer['body']> {
  const client_claim_id = `decided-${++count}`
  for (let tries = 0; tries < 60; tries++) {
    const { status, body } = await client.submit({ client_claim_id, ...claim })
    if (status === 202) return client.decided(body.claim_id, 20_000)
    if (status !== 503) throw new Error(JSON.stringify(body))
    await setTimeout(500)
  }
  throw new Error('no claim is taken')
}

/** A workspace that reads GitHub by a token, with a machine that an owner allowed to ask, and a verified claim of a commit. */
async function verified() {
  const client = await installation.client(`revisits-${++count}`)
  const token = `${TOKEN}-${count}`
  const repository = await github.createRepository(`acme-${count}/api`, {
    createdAt: clock.now() - DAY_MS,
    isPrivate: true,
  })
  github.addToken({ token, repositories: [repository], contents: true })
  const by = { userId: null, insists: false }
  const options = { base_url: github.url, token }
  const connection = await services().connections.connect(client.workspaceId, 'github', options, by)
  if (!('id' in connection)) throw new Error('it is not connected')
  const date = new Date(clock.now() - MINUTE_MS)
  const base = await repository.commit({ date })
  await repository.push('main', base, { at: date.getTime() })
  const sha = await repository.commit({ parents: [base], date: new Date(clock.now()) })
  await repository.push('main', sha)
  const params = { sha, branch: 'main' }
  const claim = await decided(client, { action: 'codehost.commit.push', target: repository.slug, params })
  t.equal(claim.verdict, 'verified')
  return { client, claim, repository, connection, base, sha, token, ask: await asker(client, claim.claim_id) }
}

async function asker(client: Client, claimId: string, scopes = ['claims:revisit', 'claims:read']) {
  const { clientId, clientSecret } = await services().machines.create(client.workspaceId, `m-${++count}`, scopes)
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: scopes.join(' '),
    resource: installation.url,
  })
  const { body: granted } = await installation.request('/oauth/token', {
    method: 'POST',
    body,
    headers: { authorization },
  })
  return (id = claimId): Promise<Answer> =>
    installation.request(`/v1/claims/${id}/revisit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${granted.access_token}` },
    })
}

async function pass(ms: number): Promise<void> {
  const end = clock.skip(services())
  await clock.sleep(ms)
  await end()
}

/** Forces the branch back, long enough before a look that its log dates this before it. */
async function forceAway(repository: ForgeRepository, base: string): Promise<void> {
  await repository.push('main', base, { force: true })
  await pass(5000)
}

async function revisitsOf({ client, claim }: Awaited<ReturnType<typeof verified>>) {
  return (await client.get(`/v1/claims/${claim.claim_id}`)).body.revisits
}

async function rowOf(claimId: string) {
  const sql = `SELECT * FROM revisits WHERE claim_id = '${claimId}' ORDER BY ordinal DESC LIMIT 1`
  return (await query(installation.config.databaseUrl, sql))[0]
}

/** Waits until the revisit has so many looks, or a result. */
async function looked(claimId: string, looks: number) {
  for (let tries = 0; tries < 600; tries++) {
    const row = await rowOf(claimId)
    if (row && (Number(row.look_count) >= looks || row.result !== null)) return row
    await setTimeout(20)
  }
  throw new Error('it was not looked at')
}

/** Plays a revisit to its end: the first look at once, and the others after the deadline. */
async function played(claimId: string) {
  await looked(claimId, 1)
  for (let round = 0; round < 4; round++) {
    if ((await rowOf(claimId))?.result !== null) break
    const before = Number((await rowOf(claimId))!.look_count)
    await pass(round === 0 ? 15 * MINUTE_MS + 11_000 : 2 * MINUTE_MS)
    await looked(claimId, before + 1)
    // The witnesses of a change are made 2 s apart.
    for (let tries = 0; tries < 35 && (await rowOf(claimId))?.result === null; tries++) await setTimeout(100)
  }
  return (await rowOf(claimId))!
}

async function logEntries(): Promise<number> {
  return (await installation.request('/v1/log/head')).body.tree_head.body.tree_size
}

t.test('a commit that was forced away is found, signed and shown, and blames nobody', async (t) => {
  const given = await verified()
  const { client, claim, repository, base, ask } = given
  const receipt = await (await fetch(`${installation.url}/v1/receipts/${claim.receipt_id}`)).text()
  await forceAway(repository, base)
  const entries = await logEntries()
  t.match(await ask(), { status: 202, body: { asked_by: 'owner', result: null } })
  t.equal((await ask()).body.revisit_id, (await revisitsOf(given))[0].revisit_id, 'one that waits is joined')
  t.equal((await played(claim.claim_id)).result, 'changed')
  const [revisit, ...others] = await revisitsOf(given)
  t.strictSame(others, [])
  t.match(revisit, { result: 'changed', found: 'absent', finding_id: /^fnd_/, seen_at: /Z$/ })
  t.equal(await logEntries(), entries + 1, 'it is in the log, once')

  const keys = parseKeySet(await (await fetch(`${installation.url}/.well-known/poaw-keys.json`)).text())
  const finding = await (await fetch(`${installation.url}/v1/findings/${revisit.finding_id}`)).text()
  t.match(checkFinding(finding, keys), { valid: true, checks: { signature: true, inclusion: true } })
  const evidence = await (await fetch(`${installation.url}/v1/findings/${revisit.finding_id}/evidence`)).text()
  t.equal(sha256Text(evidence), JSON.parse(finding).body.evidence_digest)
  for (const secret of [claim.agent_id, repository.slug, given.sha]) t.notMatch(finding, secret, 'it names nobody')
  const asReceipt = await checkReceipt(finding, { keys })
  t.match(asReceipt, { valid: false, verdict: null, achieved_trust_level: 0 }, 'no checker takes it for a receipt')
  t.match(asReceipt.checks, { spec_version: false, schema: false, signature: false })
  const asSuperseding = finding.replace('claimcheck-finding/1', 'poaw/0.2')
  t.equal((await checkReceipt(asSuperseding, { keys })).valid, false)
  t.equal(checkFinding(finding.replace('"absent"', '"differs"'), keys).valid, false)
  t.equal((await fetch(`${installation.url}/v1/receipts/${revisit.finding_id}`)).status, 404, 'nor is it served as one')

  const after = JSON.parse(await (await fetch(`${installation.url}/v1/receipts/${claim.receipt_id}`)).text())
  t.strictSame([after.body, after.signature], [JSON.parse(receipt).body, JSON.parse(receipt).signature])
  t.match(await client.get(`/v1/claims/${claim.claim_id}`), {
    body: { verdict: 'verified', receipt_id: claim.receipt_id },
  })
  const page = await (await fetch(`${installation.url}/r/${claim.receipt_id}`)).text()
  t.match(page, 'it was no longer there. The claim was right when it was checked.')
  t.match(await (await fetch(`${installation.url}/r/${claim.receipt_id}.svg`)).text(), ', changed since')
  const trail = await query(
    installation.config.databaseUrl,
    `SELECT event FROM audit_trail WHERE subject = '${claim.claim_id}'`,
  )
  t.strictSame(trail.map(({ event }) => event).sort(), ['claim.change_found', 'claim.revisit_asked'])
})

t.test('what is still there is still so, and nothing goes to the log', async (t) => {
  const given = await verified()
  const entries = await logEntries()
  await given.ask()
  t.equal((await played(given.claim.claim_id)).result, 'still_so')
  t.match(await revisitsOf(given), [{ result: 'still_so' }])
  t.equal(await logEntries(), entries)
  t.match(
    await (await fetch(`${installation.url}/r/${given.claim.receipt_id}`)).text(),
    'it was still there as claimed',
  )
})

const untold: readonly (readonly [what: string, change: (given: Awaited<ReturnType<typeof verified>>) => unknown])[] = [
  ['a lost permission', ({ token }) => github.addToken({ token, repositories: [] })],
  ['a revoked token', ({ token }) => github.revokeToken(token)],
  [
    'a removed connection',
    ({ client, connection }) => services().connections.remove(connection.id, client.workspaceId),
  ],
  [
    'a replaced credential',
    async ({ client, connection, repository, token }) => {
      const other = `${token}-next`
      github.addToken({ token: other, repositories: [repository], contents: true })
      const by = { workspaceId: client.workspaceId, insists: false }
      await services().connections.replaceSecrets(connection.id, { token: other }, by)
    },
  ],
  [
    'another repository of that name',
    async ({ repository, token }) => {
      github.delete(repository)
      const other = await github.createRepository(repository.slug, { createdAt: clock.now(), isPrivate: true })
      await other.push('main', await other.commit({ date: new Date(clock.now()) }))
      github.addToken({ token, repositories: [other], contents: true })
    },
  ],
]

for (const [what, change] of untold) {
  t.test(`${what} is no change`, async (t) => {
    const given = await verified()
    await change(given)
    const entries = await logEntries()
    await given.ask()
    t.equal((await played(given.claim.claim_id)).result, 'cannot_be_told')
    t.equal(await logEntries(), entries)
    t.notMatch(await (await fetch(`${installation.url}/r/${given.claim.receipt_id}`)).text(), 'Looked at again')
  })
}

t.test('only an owner asks, three times at most, and of what was verified', async (t) => {
  const given = await verified()
  const { client, claim, ask } = given
  const path = `/v1/claims/${claim.claim_id}/revisit`
  const byKey = { method: 'POST', headers: { authorization: `Bearer ${client.key}` } }
  t.equal((await client.request(path, byKey)).status, 403, 'not an API key')
  t.equal((await (await asker(client, claim.claim_id, ['claims:read']))()).status, 403)
  t.equal((await installation.request(path, { method: 'POST' })).status, 401)
  t.equal((await ask('clm_none')).status, 404)
  t.equal((await ask('~')).status, 404)
  const other = await verified()
  t.equal((await ask(other.claim.claim_id)).status, 404, 'nor of another workspace')
  const unknown = (await client.submit({ action: 'no.such.action', target: 'x', params: {} })).body
  t.equal((await ask(unknown.claim_id)).status, 409)
  for (let times = 1; times <= 3; times++) {
    // A token lasts for a quarter of an hour.
    t.equal((await (await asker(client, claim.claim_id))()).status, 202)
    await played(claim.claim_id)
  }
  t.equal((await (await asker(client, claim.claim_id))()).status, 409)
  t.equal((await revisitsOf(given)).length, 3)
})

t.test('erasure takes what was found, and the log keeps an entry without content', async (t) => {
  const given = await verified()
  const { claim, repository, base, ask } = given
  await forceAway(repository, base)
  await ask()
  await played(claim.claim_id)
  const [{ finding_id }] = await revisitsOf(given)
  const reason = { rule: 'personal_data', reference: '' } as const
  await services().erasure.erase(claim.receipt_id, reason, byCommand())
  t.equal(await revisitsOf(given), undefined)
  t.equal((await fetch(`${installation.url}/v1/findings/${finding_id}`)).status, 404)
  t.equal((await fetch(`${installation.url}/v1/findings/${finding_id}/evidence`)).status, 404)
  t.notMatch(await (await fetch(`${installation.url}/r/${claim.receipt_id}`)).text(), 'Looked at again')
  t.equal((await (await asker(given.client, claim.claim_id))()).status, 409)
  t.strictSame(
    await query(installation.config.databaseUrl, `SELECT * FROM revisits WHERE claim_id = '${claim.claim_id}'`),
    [],
  )
})

t.test('a claim that is erased while it is looked at gets no finding', async (t) => {
  const { claim, repository, base, ask } = await verified()
  await forceAway(repository, base)
  await ask()
  await looked(claim.claim_id, 1)
  const entries = await logEntries()
  await services().erasure.erase(claim.receipt_id, { rule: 'secret', reference: '' }, byCommand())
  await pass(16 * MINUTE_MS)
  await setTimeout(2500)
  t.equal(await logEntries(), entries)
})

t.test('a workspace that is deleted while a claim of it is looked at gets no finding', async (t) => {
  const { client, claim, repository, base, ask } = await verified()
  await forceAway(repository, base)
  await ask()
  await looked(claim.claim_id, 1)
  const entries = await logEntries()
  await services().workspaces.delete(client.workspaceId, byCommand())
  t.equal(await rowOf(claim.claim_id), undefined)
  await pass(16 * MINUTE_MS)
  await setTimeout(2500)
  t.equal(await logEntries(), entries)
})

t.test('no more are asked for while the most of a workspace wait', async (t) => {
  const { client, ask } = await verified()
  const other = await verified()
  const full = 'rvt_full_'
  const url = installation.config.databaseUrl
  const columns = 'revisit_id, claim_id, workspace_id, ordinal, asked_at, asked_by, looks, look_count'
  const rows = Array.from({ length: 1000 }, (_, at) => {
    const values = `'${full}${at}', '${other.claim.claim_id}', '${client.workspaceId}', ${100 + at}, 0, 'schedule', '[]', 0`
    return `(${values})`
  })
  await query(url, `INSERT INTO revisits (${columns}) VALUES ${rows.join(', ')}`)
  t.equal((await ask()).status, 429)
  await query(url, `DELETE FROM revisits WHERE revisit_id LIKE '${full}%'`)
  t.equal((await ask()).status, 202)
})

t.test('a schedule asks for claims that come of age, and for no older ones', async (t) => {
  const old = await verified()
  await pass(8 * DAY_MS)
  await services().revisits.setDays(old.client.workspaceId, [7], byCommand())
  t.rejects(services().revisits.setDays(old.client.workspaceId, [1, 2, 3], byCommand()), { code: 'bad_request' })
  t.rejects(services().revisits.setDays(old.client.workspaceId, [0], byCommand()), { code: 'bad_request' })
  const { repository, client } = old
  const sha = await repository.commit({ parents: [old.sha], date: new Date(clock.now()) })
  await repository.push('main', sha)
  const claimed = { action: 'codehost.commit.push', target: repository.slug, params: { sha, branch: 'main' } }
  const claim = await decided(client, claimed)
  await pass(7 * DAY_MS)
  services().revisitSchedule.wake()
  await looked(claim.claim_id, 1)
  t.equal((await rowOf(claim.claim_id))!.asked_by, 'schedule')
  t.equal(await rowOf(old.claim.claim_id), undefined)
})

t.test('two hosts that conclude one revisit write one finding', async (t) => {
  const { claim, repository, base, ask } = await verified()
  await forceAway(repository, base)
  await ask()
  await looked(claim.claim_id, 1)
  // As a host has it that was handed out the revisit, and another one whose lease ended meanwhile.
  const leaseEnd = clock.now() + DAY_MS
  const taken = await services().storage.write((tx) => tx.revisits.lease(leaseEnd - 1, leaseEnd, 8))
  const row = taken.find(({ claimId }) => claimId === claim.claim_id)!
  const entries = await logEntries()
  const at = clock.now()
  const verifier = { id: 'codehost.commit.push', version: '1' }
  const content = {
    receiptId: claim.receipt_id,
    change: 'absent',
    beganAt: at,
    observedAt: at,
    looks: 1,
    verifier,
  } as const
  const append = (one = row) => services().findingLog.append(one, content, '{}', at)
  const written = await Promise.all([append(), append(), append({ ...row, lookCount: 0 })])
  t.strictSame(written.filter(Boolean), [true])
  t.equal(await append(), false, 'nor later')
  t.equal(await logEntries(), entries + 1)
  t.match(await rowOf(claim.claim_id), { result: 'changed' })
})
