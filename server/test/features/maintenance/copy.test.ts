import { BY_SERVICE } from '@claimcheck/server/base/actor'
import { checks, contentLeft } from '@claimcheck/server/storage/claim-row'
import { copyRows, openSource, openTarget, rowsOfDatabase } from '@claimcheck/server/storage/copy'
import { NO_DOMAIN } from '@claimcheck/server/storage/holders'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import { insertRows } from '@claimcheck/server/storage/rows'
import { copiedTables } from '@claimcheck/server/storage/schema'
import { type Writes, writes } from '@claimcheck/server/storage/storage'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t, { type Test } from 'tap'
import { SCHEMA } from '../../../../test/support/storage.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'
import { UNREAD, UNUSED } from '../../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const TABLES = copiedTables(SCHEMA).map(({ name }) => name)
/** More than two pages. */
const CLAIMS = 2100

async function closing(t: Test, opening: Promise<OpenedStorage>): Promise<OpenedStorage> {
  const storage = await opening
  t.teardown(() => storage.close())
  return storage
}

const text = 'quotes \' " \\ and\ttabs,\nlines, ünïcödé, 😀 and \u0001'

/** Rows in every table, with whatever a cell may hold. */
async function fill(storage: OpenedStorage): Promise<void> {
  await storage.transaction(async (db) => {
    const tx = writes(db, SCHEMA)
    await tx.workspaces.insert({ id: 'ws_1', name: text, createdAt: NOON })
    const settings = { digest: 'd', closingMs: 30_000, graceMs: 120_000, since: NOON, deciding: { tolerance_ms: 1 } }
    await tx.profileSettings.add({ action: 'codehost.commit.push', version: '1', ...settings })
    await fillPeople(tx, text)
    await tx.lost.insert([{ receiptId: 'rcpt_lost', logId: 'log', leafIndex: 9, leafHash: Buffer.alloc(32, 9) }])
    const key = { workspaceId: 'ws_1', name: text, lastFour: 'abcd', createdAt: NOON }
    await tx.keys.insert({ ...key, id: 'key_1', keyHash: 'hash-1', ...UNUSED, revokedAt: null })
    await tx.keys.insert({ ...key, id: 'key_2', keyHash: 'hash-2', ...UNUSED, revokedAt: NOON + 1 })
    await tx.keys.bindAgents('ws_1', [text.replaceAll('\n', '')], NOON)
    const secret = { secretHash: 'hash', lastFour: 'abcd', scopes: ['claims:read'], revokedAt: null }
    const machine = { ...secret, id: 'machine_1', workspaceId: 'ws_1', name: text, createdAt: NOON }
    const times = { createdAt: NOON, dueAt: NOON, attempts: 0, sentAt: null }
    await tx.mails.isNewBrowser('usr_1', 'hash', NOON)
    await tx.mails.insert([
      { ...times, id: 'mail_1', kind: 'message', recipient: text, content: 'v1.sealed', once: null, about: 'lnk_1' },
    ])
    await tx.machines.insert({ ...machine, createdBy: null, lastUsedAt: null })
    await tx.connections.insert({
      id: 'conn_1',
      workspaceId: 'ws_1',
      provider: 'test',
      options: { text },
      sealedSecrets: { token: 'v1.sealed' },
      scopes: ['read'],
      ...UNREAD,
      sealedTokens: { token: 'v1.sealed' },
      connectedAt: NOON,
      disconnectedAt: null,
    })
    const numbers = Array.from({ length: CLAIMS }, (_, number) => number)
    const record = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } } as const
    // Of one claim, too: a page may end between two of its checks.
    const history = numbers.flatMap((number) =>
      [1, 2, 10].map((attempt) => ({ claimId: `clm_${number}`, attempt, record })),
    )
    await tx.log.insertSigningKey({ keyId: 'old', publicKey: 'a', validFrom: NOON, revokedAt: NOON + 1 })
    await tx.log.insertSigningKey({ keyId: 'new', publicKey: 'b', validFrom: NOON + 1, revokedAt: null })
    const hash = Buffer.from([0, 255, 10, 39, 0])
    const head = { treeSize: CLAIMS, rootHash: hash, issuedAt: NOON }
    const log = { ...head, logId: 'log', name: text, number: 0, keyId: 'new' }
    await tx.log.create({ ...log, signed: '{}' })
    await tx.log.insertEnded({ logId: 'before', name: 'before' }, NOON)
    const receipts = numbers.map((number) => ({
      logId: 'log',
      leafIndex: number,
      receiptId: `rcpt_${CLAIMS - number}`,
      claimId: `clm_${number}`,
      leafHash: hash,
      issuedAt: NOON,
      entry: JSON.stringify({ text }),
    }))
    const tiles = numbers.map((number) => ({
      logId: 'log',
      level: number % 3,
      index: number,
      width: 1 + (number % 256),
      hashes: hash,
    }))
    const next = { ...log, number: 1, issuedAt: NOON + 1, signed: '{}' }
    // Of every other receipt: evidence that is too large is not stored.
    const evidence = receipts.flatMap(({ receiptId, leafIndex }) =>
      leafIndex % 2 === 0 ? [] : [{ logId: 'log', receiptId, document: text }],
    )
    const newClaims = numbers.map(claim)
    await tx.apply({ log, head: next, newClaims, receipts, evidence, tiles })
    await insertRows(db, checks, history)
    const anchor = { logId: 'log', rootHash: hash, chain: 'eip155:1', scheme: 'eas', attester: text, schema: '0x1' }
    const planned = await tx.anchors.insert({ ...anchor, treeSize: 1, previousId: null, plannedAt: NOON })
    const signed = { txHash: '0x2', nonce: 0, raw: `0x${'ab'.repeat(2000)}`, maxFee: '1', priorityFee: '1' }
    const landing = { uid: '0x3', txHash: '0x2', blockNumber: 1, blockTime: 1, cost: '9'.repeat(30), gasUsed: 1 }
    await tx.anchors.replace(planned, { ...planned, state: 'final', signed: [signed], sentAt: NOON, landing })
    await tx.anchors.insert({ ...anchor, treeSize: 2, previousId: planned.id, plannedAt: NOON + 1 })
    await tx.retentions.set({ workspaceId: 'ws_1', days: 90, changedAt: NOON, erasedBefore: 0 })
    await tx.agentWatch.watchSilence({ workspaceId: 'ws_1', hours: 24, agents: [text], reached: NOON })
    await tx.agentWatch.noteJump('clm_1', NOON, 0)
    await tx.allowedOrigins.set('ws_1', ['https://app.example'], NOON)
    await tx.holders.insert({ workspaceId: 'ws_1', agentsKey: 'sealed', ...NO_DOMAIN, domain: 'acme.com' })
    const [remains] = await tx.erasures.remains([`rcpt_${CLAIMS - 7}`])
    const erased = { ...remains!, claimId: 'clm_7', erasedAt: NOON, rule: 'secret' } as const
    await tx.erasures.erase([{ ...erased, reference: text }], [contentLeft(claim(7))])
    await fillEvents(tx, text)
    tx.audit.record({ event: 'receipt.erased', at: NOON, by: BY_SERVICE, subject: text, details: { text } })
    await tx.audit.flush()
  })
}

async function fillEvents(tx: Writes, text: string): Promise<void> {
  tx.events.record({ workspaceId: 'ws_1', type: 'connection.failing', at: NOON, subject: 'conn_1', detail: text })
  await tx.events.flush()
  await tx.connectionHealth.failed('conn_1', NOON, NOON)
  const target = {
    id: 'wht_1',
    workspaceId: 'ws_1',
    format: 'slack',
    origin: text,
    state: 'on',
    offReason: null,
    stateAt: NOON,
  } as const
  const sealed = { sealedUrl: 'v1.sealed', sealedSecret: 'v1.sealed', sealedFormer: null, formerUntil: null }
  const report = { repositories: [text], reporter: 'account-id:1', comments: false, app: null }
  const reached = { filters: NO_FILTERS, report, reached: 1, quietUntil: null, lastDeliveredAt: NOON }
  await tx.webhooks.insertTarget({ ...target, ...sealed, ...reached, createdBy: 'usr_1', createdAt: NOON })
  const delivery = { id: 'msg_1', workspaceId: 'ws_1', targetId: 'wht_1', eventNumber: 1, subject: 'conn_1' }
  const tried = {
    firstAt: NOON,
    leasedUntil: null,
    triedAt: NOON,
    status: 500,
    durationMs: 7,
    fault: 'status',
    likeness: text,
  } as const
  const waits = { type: 'connection.failing', state: 'waiting', attempts: 1, dueAt: NOON, createdAt: NOON } as const
  await tx.webhooks.insertDeliveries([{ ...delivery, ...waits, ...tried }])
  const address = { address: 'address', connectionId: 'conn_1', workspaceId: 'ws_1', sealedSecret: 'v1.sealed' }
  await tx.hints.give({ ...address, secretSince: NOON, heardAt: null })
  await tx.hints.ask(['clm_1'], NOON, 60)
  await tx.revisits.insert({
    ...{ revisitId: 'rvt_1', claimId: 'clm_1', workspaceId: 'ws_1', ordinal: 1, askedAt: NOON, askedBy: 'owner' },
    ...{ dueAt: NOON, beganAt: null, looks: [], lookCount: 0, result: null, endedAt: null, seenAt: null },
    ...{ change: null, evidence: null, findingId: null, logId: null, leafIndex: null },
  })
  await tx.revisits.setDays('ws_1', [7, 30], () => NOON)
}

async function fillPeople(tx: Writes, text: string): Promise<void> {
  const at = { createdAt: NOON }
  tx.audit.record({ event: 'key.created', at: NOON, by: BY_SERVICE, workspaceId: 'ws_1', details: { name: text } })
  await tx.audit.flush()
  await tx.users.insert({ id: 'usr_1', email: 'ann@example.com', name: text, passwordHash: '$argon2id$...', ...at })
  await tx.users.insert({
    id: 'usr_2',
    email: text,
    name: 'Ben',
    passwordHash: null,
    sharesWith: 'usr_1',
    confirmedAt: NOON,
    ...at,
  })
  await tx.members.insert({ id: 'mem_1', workspaceId: 'ws_1', userId: 'usr_1', role: 'owner', ...at })
  const seen = { lastSeenAt: NOON, expiresAt: NOON + 1, userAgent: text, address: '::1', method: 'passkey' } as const
  await tx.sessions.insert({ id: 'ses_1', tokenHash: 'hash', userId: 'usr_1', ...at, ...seen })
  const invitation = {
    kind: 'invitation',
    workspaceId: 'ws_1',
    role: 'member',
    userId: null,
    createdBy: 'usr_1',
    recipient: text,
    undelivered: text,
  } as const
  await tx.links.insert({ id: 'lnk_1', tokenHash: 'hash', ...invitation, ...at, expiresAt: NOON + 1, usedAt: null })
  const passkey = { publicKey: 'cose', counter: 2 ** 32, transports: ['usb', 'internal'], name: text }
  await tx.passkeys.insert({ id: 'credential', userId: 'usr_2', ...passkey, ...at, lastUsedAt: null })
  const step = { secret: text, lastCounter: 2 ** 33, failures: 3, failedAt: NOON, ...at, lastUsedAt: null }
  await tx.secondSteps.insert({ userId: 'usr_1', ...step })
  await tx.secondSteps.setCodes('usr_1', ['hash', text])
  await tx.identities.insert({ issuer: 'https://id.example.com', subject: text, userId: 'usr_2', ...at })
  const record = { kind: 'AccessToken', idHash: 'hash', payload: 'v1.sealed', grantId: 'grant', uid: null }
  await tx.records.put({ ...record, consumedAt: NOON, expiresAt: null })
}

function claim(number: number) {
  return claimNumber(number, {
    clientClaimId: `Client-${number}`,
    receiptId: `rcpt_${CLAIMS - number}`,
    deadlineAt: Number.MAX_SAFE_INTEGER,
    submittedAt: -1,
    claimDigest: 'digest',
    nextCheckAt: null,
    ...(number % 2 ? { access: 'connection', connectionId: 'conn_1' } : {}),
  })
}

/** Every row of every table, whatever it is called and in whatever order a database gives them. */
function contents(storage: OpenedStorage): Promise<Record<string, string[]>> {
  return storage.snapshot(async (db) => {
    const tables: Record<string, string[]> = {}
    for (const table of await db.dialect.tableNames(db.table)) {
      const rows: Record<string, unknown>[] = await db.table(table)
      tables[table] = rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()
    }
    return tables
  })
}

for (const dialect of DIALECTS) {
  t.test(`what is copied from ${dialect} is what was there, row by row`, async (t) => {
    const databaseUrl = await newDatabase(t, dialect, { isEmpty: true })
    await fill(await opened(t, databaseUrl))
    const source = await closing(t, openSource(databaseUrl, SCHEMA))
    const before = await contents(source)
    for (const table of TABLES) t.ok(before[table]?.length, table)
    for (const to of DIALECTS) {
      const target = await closing(t, openTarget(await newDatabase(t, to, { isEmpty: true }), SCHEMA))
      const progress: [number, number][] = []
      const copied = await source.snapshot((from) =>
        target.transaction((tx) =>
          copyRows(rowsOfDatabase(from), tx, SCHEMA, (rows, all) => progress.push([rows, all])),
        ),
      )
      const there = await contents(target)
      for (const table of TABLES) {
        t.strictSame(there[table], before[table], `${table} on ${to}`)
        t.equal(copied[table], before[table]!.length)
      }
      const all = Object.values(copied).reduce((sum, rows) => sum + rows, 0)
      t.strictSame(progress.at(-1), [all, all])
      t.ok(progress.length > TABLES.length, 'page by page')
    }
  })

  t.test(`whoever writes to a target on ${dialect} between its opening and the copy is not overwritten`, async (t) => {
    const source = await opened(t, await newDatabase(t, 'sqlite'))
    const databaseUrl = await newDatabase(t, dialect, { isEmpty: true })
    const target = await closing(t, openTarget(databaseUrl, SCHEMA))
    const other = await opened(t, databaseUrl)
    await other.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
    const copying = source.snapshot((from) => target.transaction((tx) => copyRows(rowsOfDatabase(from), tx, SCHEMA)))
    await t.rejects(copying, { code: 'not_empty', message: /workspaces/ })
  })
}
