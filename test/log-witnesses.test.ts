// Test run: slow
/** Clients send the newest head that they saw: one that the log does not contain stops it once. Threat O6 of `security.md`. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  checkConsistency,
  checkTreeHead,
  headField,
  readHeadField,
  type SignedTreeHead,
  signTreeHead,
  TREE_HEAD_FIELD,
} from '@claimcheck/core/log'
import { createNobleSigner, parseKeySet } from '@claimcheck/core/receipts'
import t, { type Test } from 'tap'
import { backUpStopped } from './support/backup.ts'
import type { Client } from './support/client.ts'
import { runClaimcheck } from './support/command.ts'
import { newFolder } from './support/copies.ts'
import { createDatabase, DIALECTS, type Dialect } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { query } from './support/sql.ts'

async function start(t: Test, dialect: Dialect = 'sqlite') {
  const installation = await Installation.during(t, { database: await createDatabase(dialect) })
  const client = await installation.client('acme')
  const command = (...args: string[]) => runClaimcheck(installation.folder, args, installation.env)
  return { installation, client, command }
}

type Started = Awaited<ReturnType<typeof start>>

/** @param head the field that the client sends with it @returns the field of the answer */
async function claims(t: Test, client: Client, head: string | undefined, what: string, status = 202): Promise<string> {
  const answer = await client.request('/v1/claims', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(head === undefined ? {} : { [TREE_HEAD_FIELD]: head }) },
    body: JSON.stringify({
      client_claim_id: crypto.randomUUID(),
      agent_id: 'agent-1',
      action: 'test.outcome.reach',
      target: 'somewhere',
      params: { see: 'present' },
      claimed_at: new Date().toISOString(),
    }),
  })
  t.equal(answer.status, status, what)
  return answer.headers.get(TREE_HEAD_FIELD) ?? ''
}

/** Another head of the log that its key signed. */
async function signed({ installation }: Started, over: Partial<SignedTreeHead['body']> = {}): Promise<string> {
  const { signingKeys, storage } = installation.claimcheck
  const log = (await storage.read.log.state())!
  const rootHash = over.root_hash === undefined ? log.rootHash : Buffer.from(over.root_hash, 'base64url')
  const { log_id: logId = log.logId, tree_size: treeSize = log.treeSize } = over
  return headField(await signTreeHead(await signingKeys.latest(), { logId, treeSize, rootHash, issuedAt: Date.now() }))
}

const OTHER_ROOT = Buffer.alloc(32, 7).toString('base64url')

async function heard({ installation }: Started, outcome: string): Promise<number> {
  const { body } = await installation.request('/metrics')
  return Number(new RegExp(`^claimcheck_tree_heads_heard_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)![1])
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 15_000; !(await isTrue()); await setTimeout(50)) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`)
  }
}

/** The next heads of this kind are counted, and stop nothing. */
async function isCounted(t: Test, started: Started, outcome: string, send: () => Promise<unknown>): Promise<void> {
  const before = await heard(started, outcome)
  await until(outcome, async () => {
    await send()
    await setTimeout(150)
    return (await heard(started, outcome)) > before
  })
  t.equal((await started.installation.request('/readyz')).status, 200, outcome)
}

t.test('an answer to a credential has the newest head, which covers its receipt', async (t) => {
  const { installation, client } = await start(t)
  const keys = parseKeySet(JSON.stringify((await installation.request('/.well-known/poaw-keys.json')).body))
  for (let size = 1; size <= 3; size++) {
    const field = await claims(t, client, undefined, 'a claim')
    const head = readHeadField(field)!
    t.equal(head.body.tree_size, size)
    t.ok(checkTreeHead(JSON.stringify(head), keys).valid)
    t.ok(field.length < 400, `${field.length} bytes`)
    t.strictSame((await installation.request('/v1/log/head')).body.tree_head, head)
  }
  const whoami = await client.get('/v1/whoami')
  t.equal(readHeadField(whoami.headers.get(TREE_HEAD_FIELD)!)!.body.tree_size, 3)
  t.match(whoami.headers.get('access-control-expose-headers'), TREE_HEAD_FIELD)
  const refused = await installation.request('/v1/whoami')
  t.equal(refused.headers.get(TREE_HEAD_FIELD), null, 'nobody without a credential is a witness')
  t.equal((await installation.request('/v1/log/head')).headers.get(TREE_HEAD_FIELD), null)
})

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, what is no contradiction stops nothing, and fails no claim`, async (t) => {
    const started = await start(t, dialect)
    const { installation, client } = started
    const first = await claims(t, client, undefined, 'a claim')
    const second = await claims(t, client, undefined, 'a claim')
    await claims(t, client, second, 'the newest')
    await isCounted(t, started, 'contained', () => claims(t, client, first, 'an older head'))
    const log = (await installation.claimcheck.storage.read.log.state())!
    const resigned = await signed(started)
    t.equal(readHeadField(resigned)!.body.tree_size, log.treeSize)
    await isCounted(t, started, 'contained', () => claims(t, client, resigned, 'a state that was signed twice'))
    const empty = await signed(started, { tree_size: 0, root_hash: EMPTY_ROOT })
    await isCounted(t, started, 'contained', () => claims(t, client, empty, 'the empty tree'))

    const other = createNobleSigner(new Uint8Array(32).fill(1))
    const foreign = { logId: log.logId, treeSize: 99, rootHash: log.rootHash, issuedAt: Date.now() }
    const byOther = headField(await signTreeHead(other, foreign))
    await isCounted(t, started, 'unknown_key', () => claims(t, client, byOther, 'of a key that is none of ours'))
    const forged = first.replace(/tree_size=1/, 'tree_size=1000')
    await isCounted(t, started, 'not_signed', () => claims(t, client, forged, 'a wrong signature'))
    const elsewhere = headField(await signTreeHead(other, { ...foreign, logId: OTHER_ROOT }))
    await isCounted(t, started, 'other_log', () => claims(t, client, elsewhere, 'of another issuer'))
    for (const text of ['', 'x', '{"body":{}}', `${first}, ${first}, x`, 'log_id="a", tree_size=1', 'y'.repeat(8000)])
      await isCounted(t, started, 'malformed', () => claims(t, client, text || ' ', `malformed: ${text.slice(0, 40)}`))

    await installation.claimcheck.signingKeys.rotate()
    await claims(t, client, undefined, 'after the rotation')
    await isCounted(t, started, 'contained', () => claims(t, client, second, 'of a key that was retired'))
    await installation.claimcheck.signingKeys.beginLog()
    await until(
      'the new log',
      async () => readHeadField(await claims(t, client, undefined, 'next'))?.body.log_id !== log.logId,
    )
    await isCounted(t, started, 'other_log', () => claims(t, client, second, 'of the log that ended'))
    t.equal(await heard(started, 'contradicting'), 0)
  })

  t.test(
    `on ${dialect}, a head that the log does not contain stops it once, until the operator lets it go on`,
    async (t) => {
      const started = await start(t, dialect)
      const { installation, client, command } = started
      const hosts = [installation.host, ...(dialect === 'postgres' ? [await installation.addHost()] : [])]
      for (let i = 0; i < 3; i++) await claims(t, client, undefined, 'a claim')
      const { logId } = (await installation.claimcheck.storage.read.log.state())!
      t.match(await command('log', 'acknowledge', '--yes'), {
        code: 1,
        stderr: /no head of a client has stopped the log/,
      })

      const larger = await signed(started, { tree_size: 100, root_hash: OTHER_ROOT })
      await claims(t, client, larger, 'the answer comes first')
      for (const host of hosts) {
        await until('stopped', async () => (await host.request('/readyz')).status === 503)
        const { body } = await host.request('/readyz')
        t.match(body.problems, [/a client has a signed head .* has 4 entries, and 100 were signed.*log acknowledge/])
        const metrics = (await host.request('/metrics')).body
        t.match(metrics, /claimcheck_log_contradicted 1/)
        t.match(metrics, /claimcheck_host_read_only 1/)
        await claims(t, client.at(host), undefined, 'nothing is signed', 503)
      }
      t.equal(await heard(started, 'contradicting'), 1)
      const file = join(installation.config.dataDir, `log-contradiction-${logId}.json`)
      t.equal(statSync(file).mode & 0o777, 0o600)
      const proof = JSON.parse(readFileSync(file, 'utf8'))
      const keys = parseKeySet(JSON.stringify(proof.keys))
      t.match(proof, { finding: 'this log is shorter', tree_head_of_client: { body: { tree_size: 100 } } })
      t.equal(proof.tree_head_of_log.body.tree_size, 4)
      for (const head of [proof.tree_head_of_client, proof.tree_head_of_log])
        t.ok(checkTreeHead(JSON.stringify(head), keys).valid)
      const checked = await command('verify', file, '--json')
      t.match(checked, { code: 2, stdout: /"contradiction":"shrank"/ }, 'by keys of the file')

      await installation.stop()
      await installation.resume()
      await claims(t, client, undefined, 'a restart ends it not', 503)
      t.match(await command('log', 'acknowledge', '--yes'), { code: 0, stdout: /goes on, with 4 entries/ })
      for (const host of hosts) await until('signs', async () => (await host.request('/readyz')).status === 200)
      await isCounted(t, started, 'contradicting', () => claims(t, client, larger, 'counted'))
      const otherRoot = await signed(started, { tree_size: 2, root_hash: OTHER_ROOT })
      await isCounted(t, started, 'contradicting', () => claims(t, client, otherRoot, 'another one, too'))
      t.match(await command('log', 'acknowledge', '--yes'), { code: 1 })
      t.match(await command('doctor'), { code: 0 })
      const trail = await command('audit-trail', '--json')
      t.match(trail.stdout, /"log\.acknowledged"/)
    },
  )
}

t.test(
  'a head of a size that the log has with another root: the file has the proof that fails, and another log ends it',
  async (t) => {
    const started = await start(t)
    const { installation, client, command } = started
    for (let i = 0; i < 5; i++) await claims(t, client, undefined, 'a claim')
    const { logId } = (await installation.claimcheck.storage.read.log.state())!
    const forked = await signed(started, { tree_size: 3, root_hash: OTHER_ROOT })
    await claims(t, client, forked, 'the answer comes first')
    await until('stopped', async () => (await installation.request('/readyz')).status === 503)
    const { body } = await installation.request('/readyz')
    t.match(body.problems, [/the log has other entries than the first 3 that were signed/])
    const text = readFileSync(join(installation.config.dataDir, `log-contradiction-${logId}.json`), 'utf8')
    const { consistency, tree_head_of_client: theirs, tree_head_of_log: own } = JSON.parse(text)
    t.match(consistency, { first: 3, second: 6, second_root: own.body.root_hash })
    t.ok(checkConsistency(JSON.stringify(consistency)).valid)
    t.notOk(checkConsistency(JSON.stringify({ ...consistency, first_root: theirs.body.root_hash })).valid)
    const file = join(installation.config.dataDir, `log-contradiction-${logId}.json`)
    const published = `${installation.url}/.well-known/poaw-keys.json`
    t.match(await command('verify', file), { code: 2, stdout: /two different states of the same size.*--keys/s })
    t.match(await command('verify', file, '--keys', published, '--json'), {
      code: 0,
      stdout: /"valid":true,"contradiction":"other_root"/,
    })
    for (const [what, changed] of [
      ['no proof', { consistency: undefined }],
      ['a proof of nothing', { consistency: { ...consistency, proof: [] } }],
      ['one head twice', { tree_head_of_client: own }],
      ['a head that nobody signed', { tree_head_of_client: { ...theirs, body: { ...theirs.body, tree_size: 4 } } }],
    ] as const) {
      const other = join(newFolder(t), 'changed.json')
      writeFileSync(other, JSON.stringify({ ...JSON.parse(text), ...changed }))
      t.match(await command('verify', other, '--keys', published), { code: 1, stdout: /NOT valid/ }, what)
    }
    const later = readHeadField(await signed(started, { tree_size: 100, root_hash: OTHER_ROOT }))
    const open = join(newFolder(t), 'open.json')
    writeFileSync(open, JSON.stringify({ ...JSON.parse(text), tree_head_of_client: later }))
    t.match(await command('verify', open, '--keys', published), { code: 2, stdout: /newest tree head shows whether/ })
    t.match(await command('log', 'new', '--yes'), { code: 0 })
    await until('signs', async () => (await installation.request('/readyz')).status === 200)
    await isCounted(t, started, 'other_log', () => claims(t, client, forked, 'it is of a log that ended'))
  },
)

t.test('no operator acknowledges what a host of the log remembers itself', async (t) => {
  const started = await start(t)
  const { installation, client, command } = started
  await claims(t, client, undefined, 'a claim')
  const restore = await backUpStopped(installation)
  await claims(t, client, undefined, 'lost later')
  const lost = JSON.stringify(readHeadField(await claims(t, client, undefined, 'lost later')))
  await installation.stop()
  await restore()
  // A host that remembers nothing heard of it from a client.
  const witnessed = JSON.stringify({ head: lost, at: Date.now() })
  await query(
    installation.config.databaseUrl,
    `UPDATE logs SET contradicted_by = '${lost}', witnessed = '${witnessed.replaceAll("'", "''")}'`,
  )
  await installation.resume()
  const isOld = /its log has 1 entries, and 3 were signed/
  const readiness = await installation.request('/readyz')
  t.match(readiness, { status: 503, body: { problems: [isOld] } })
  t.notMatch(readiness.body.problems, [/client/], 'nobody is advised to go on')
  t.match(await command('log', 'acknowledge', '--yes'), { code: 1, stderr: isOld })
  const { databaseUrl: DATABASE_URL } = installation.config
  const elsewhere = { ...installation.env, DATABASE_URL, DATA_DIR: newFolder(t), HEAD_MEMORY: newFolder(t) }
  const forgetful = await runClaimcheck(installation.folder, ['log', 'acknowledge', '--yes'], elsewhere)
  t.match(forgetful, { code: 0, stderr: '' }, 'where nothing remembers more')
  const { storage } = installation.claimcheck
  await until('contradicted again', async () => (await storage.read.log.state())!.contradictedBy !== null)
  t.notMatch((await installation.request('/readyz')).body.problems, [/client/])
  const again = await runClaimcheck(installation.folder, ['log', 'acknowledge', '--yes'], elsewhere)
  t.match(again, { code: 1, stderr: /no head of a client has stopped the log/ })
})

t.test('heads that other hosts have just signed are there when a client sends them', async (t) => {
  const started = await start(t, 'postgres')
  const { installation, client } = started
  const clients = [client, client.at(await installation.addHost()), client.at(await installation.addHost())]
  let newest = ''
  await Promise.all(
    clients.map(async (own) => {
      for (let i = 0; i < 40; i++) newest = await claims(t, own, newest || undefined, 'under load')
    }),
  )
  await setTimeout(500)
  for (const { url } of [installation]) t.match(await installation.request('/readyz'), { status: 200 }, url)
  t.equal(await heard(started, 'contradicting'), 0)
  t.equal(await heard(started, 'not_signed'), 0)
})

/** SHA-256 of nothing (RFC 9162, 2.1.1). */
const EMPTY_ROOT = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'
