// Test run: slow
import { readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { byCommand } from '@claimcheck/server/base/actor'
import { isSealed, openSecrets } from '@claimcheck/server/base/secrets'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { sealedKeyFiles } from '@claimcheck/server/features/log/signing/key-files'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { createSecretRotation } from '@claimcheck/server/features/maintenance/secret-rotation'
import t, { type Test } from 'tap'
import { codeOf } from '../../../../test/support/authenticator.ts'
import { connect } from '../../../../test/support/connect.ts'
import { createDatabase, type Dialect } from '../../../../test/support/database.ts'
import { query } from '../../../../test/support/sql.ts'
import { SCHEMA } from '../../../../test/support/storage.ts'
import { DIALECTS } from '../../support/databases.ts'

const [OLD, NEXT, STRANGER] = ['a1', 'b2', 'c3'].map((byte) => byte.repeat(32)) as [string, string, string]
const idOf = (key: string) => openSecrets({ secretKey: Buffer.from(key, 'hex'), dataDir: '' }).keyIds()[0]!
const BY = byCommand()
const atOnce = async () => {}

interface Place {
  readonly folder: string
  readonly databaseUrl: string
}

type Keys = Readonly<Record<string, string>>

async function place(t: Test, dialect: Dialect): Promise<Place> {
  const folder = t.testdir({
    'claimcheck.config.json': JSON.stringify({
      plugins: [{ use: resolve('build/test/plugins/locked.js'), trusted: true }],
    }),
  })
  const database = await createDatabase(dialect)
  t.teardown(() => database.remove())
  return { folder, databaseUrl: database.env.DATABASE_URL ?? `sqlite:${join(folder, 'data/claimcheck.db')}` }
}

/** Another program on the same database and files. It is closed with the test. */
async function host(t: Test, { folder, databaseUrl }: Place, keys: Keys): Promise<Claimcheck> {
  // Mails wait: nothing here sends them.
  const mail = { SMTP_URL: 'smtp://localhost:25', MAIL_FROM: 'claimcheck@example.com' }
  const config = loadConfig({ LOG_LEVEL: 'silent', DATABASE_URL: databaseUrl, ...mail, ...keys }, folder)
  const opened = await openClaimcheck(config, { plugins: true })
  t.teardown(() => opened.close())
  return opened
}

/** Everything that there is to seal. */
async function fill(claimcheck: Claimcheck, tickets = 120): Promise<void> {
  await claimcheck.signingKeys.ensureLog()
  await claimcheck.signingKeys.rotate()
  const { id } = await claimcheck.workspaces.create('acme')
  const { id: removed } = await connect(claimcheck, id, 'cave', { token: 'open sesame' })
  await claimcheck.connections.remove(removed)
  await claimcheck.holders.namesOf(id, 'bot')
  const { id: connected } = await connect(claimcheck, id, 'cave', { token: 'open sesame' })
  await claimcheck.hintAddresses.give(connected, id, BY)
  const filters = { types: [], verdicts: [], actions: [], agents: [], connections: [] }
  const { target } = await claimcheck.webhooks.add(
    id,
    { format: 'standard', url: 'https://1.1.1.1/open-sesame', filters },
    BY,
  )
  await claimcheck.webhooks.rotate(target.id, 60_000, id, BY)
  await claimcheck.connections.refreshesOf({ id: connected }).refresh({
    option: 'token',
    typed: 'open sesame',
    isUsable: () => true,
    exchange: async () => ({ accessToken: 'open', since: 0, until: 0, refreshToken: 'sesame' }),
  })
  await Promise.all(Array.from({ length: tickets }, (_, n) => claimcheck.tickets.issue('passkey_challenge', { n })))
  await claimcheck.oauthRecords.put({ model: 'Grant', id: 'g', payload: { accountId: 'mem_1' }, ttlMs: undefined })
  await withSecondStep(claimcheck)
}

async function withSecondStep({ accounts, secondSteps, sessions, now }: Claimcheck): Promise<void> {
  const proof = { password: 'copper lantern drifts home' }
  // Mails go to addresses that are confirmed.
  const newUser = { name: 'Ann', email: 'ann@example.com', proof, isVerified: true }
  const { user } = await accounts.setUp((await accounts.setupToken())!, newUser, '')
  const { session } = (await sessions.find(await sessions.start(user, 'password', { userAgent: '', address: '' })))!
  const { secret, ticket } = await secondSteps.begin(user)
  await secondSteps.confirm(user, session.id, { ticket, code: codeOf(secret, now()) })
}

async function doctorFinds({ storage, secrets, config }: Claimcheck): Promise<readonly string[]> {
  return (await diagnose(storage, { schema: SCHEMA, secrets, keyFiles: sealedKeyFiles(config.dataDir) })).problems
}

/** The values of each key, those without any left out. */
async function counted(claimcheck: Claimcheck): Promise<Record<string, number>> {
  const use = await createSecretRotation(claimcheck).use()
  return Object.fromEntries(use.filter(({ values }) => values > 0).map(({ keyId, values }) => [String(keyId), values]))
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, all that is sealed is in the table of sealed columns, and doctor opens it`, async (t) => {
    const there = await place(t, dialect)
    const claimcheck = await host(t, there, { SECRET_KEY: OLD })
    await fill(claimcheck)
    const found = new Set<string>()
    for (const { table, isShared } of SCHEMA.tables) {
      if (isShared) continue
      const { name, columns } = table
      for (const row of await query(there.databaseUrl, `SELECT * FROM ${name}`)) {
        for (const column of columns) if (holdsSealed(row[column.name])) found.add(`${name}.${column.name}`)
      }
    }
    const listed = SCHEMA.sealed.map(({ table, column }) => `${table.name}.${column}`)
    // SQLite has the signing keys in files.
    const expected = listed.filter((name) => dialect === 'postgres' || name !== 'sealed_signing_keys.sealed')
    t.strictSame([...found].sort(), expected.sort())
    t.strictSame(await doctorFinds(claimcheck), [])

    const lost = await host(t, there, { SECRET_KEY: STRANGER })
    const named = await doctorFinds(lost)
    const places = [
      /^connections conn_\S+: sealed_secrets: token: /,
      /^connections conn_\S+: sealed_tokens: token: /,
      /^connections conn_\S+: source_key: /,
      /^hint_addresses \S+: sealed_secret: /,
      /^webhook_targets \S+: sealed_former: /,
      /^webhook_targets \S+: sealed_secret: /,
      /^webhook_targets \S+: sealed_url: /,
      /^holders ws_\S+: agents_key: /,
    ]
    const rows = [/^records passkey_challenge [0-9a-f]{64}: payload: /, /^records oauth:Grant [0-9a-f]{64}: payload: /]
    const keys = dialect === 'postgres' ? /^sealed_signing_keys ed25519:\S+: sealed: / : /^the signing key \/.*\.pem: /
    for (const pattern of [...places, ...rows, keys])
      t.ok(
        named.some((text) => pattern.test(text)),
        `${pattern}`,
      )
    for (const text of named) t.match(text, new RegExp(`sealed under the key ${idOf(OLD)}, which is not configured`))
  })

  t.test(`on ${dialect}, a rotation seals everything under the current key while another host serves`, async (t) => {
    const there = await place(t, dialect)
    const running = await host(t, there, { SECRET_KEY: OLD, SECRET_KEY_ALSO: NEXT })
    await fill(running)
    const before = (await counted(running))[idOf(OLD)]!
    const ticket = await running.tickets.issue('passkey_challenge', { kept: true })
    const [connection] = await running.connections.list()

    const next = await host(t, there, { SECRET_KEY: NEXT, SECRET_KEY_ALSO: OLD })
    const [sourceBefore] = [(await running.connections.openById(connection!.id))!.sourceKey]
    const { workspaceId } = connection!
    const named = await running.holders.namesOf(workspaceId, 'bot')
    let issuing = true
    const issued: Promise<boolean>[] = []
    const issue = (async () => {
      while (issuing) {
        const made = await running.tickets.issue('passkey_challenge', { n: issued.length })
        issued.push(next.tickets.take('passkey_challenge', made).then((taken) => taken !== undefined))
      }
    })()
    const seen: number[] = []
    const rotated = await createSecretRotation(next).rotate(BY, (rows) => seen.push(rows))
    issuing = false
    await issue
    t.notOk((await Promise.all(issued)).includes(false), 'nothing is lost meanwhile')
    t.ok(issued.length > 0)
    t.match(rotated, { keyId: idOf(NEXT), isNew: false })
    t.ok(rotated.resealed >= before, `${rotated.resealed} of ${before}`)
    t.ok(seen.length > 1)

    // What the other host sealed last, under its own key.
    await createSecretRotation(next).rotate(BY)
    t.strictSame(Object.keys(await counted(next)), [idOf(NEXT)])
    for (const each of [running, next]) {
      t.match(await each.connections.openById(connection!.id), { options: { token: 'open sesame' } })
    }
    t.same((await next.connections.openById(connection!.id))!.sourceKey, sourceBefore)
    t.same(await running.tickets.take('passkey_challenge', ticket), { kept: true })

    const alone = await host(t, there, { SECRET_KEY: NEXT })
    t.strictSame(await doctorFinds(alone), [])
    await alone.signingKeys.ensureLog()
    await alone.signingKeys.rotate()
    t.match(named.pseudonym, /^.{43}$/)
    t.strictSame(await alone.holders.namesOf(workspaceId, 'bot'), named, 'pseudonyms stay')
    t.match(await alone.oauthRecords.find('Grant', 'g'), { payload: { accountId: 'mem_1' } })
    const trail = await alone.storage.read.audit.after(0, 1000)
    const entries = trail.filter(({ event }) => event === 'secret_key.rotated')
    t.match(entries[0], { subject: idOf(NEXT), actorKind: 'command', details: { resealed: rotated.resealed } })
    t.notMatch(JSON.stringify(trail), new RegExp(`${OLD}|${NEXT}|sesame`))
  })

  t.test(`on ${dialect}, a rotation that was cut off goes on, and changes nothing when it is done`, async (t) => {
    const there = await place(t, dialect)
    await fill(await host(t, there, { SECRET_KEY: OLD }), 200)
    const next = await host(t, there, { SECRET_KEY: NEXT, SECRET_KEY_ALSO: OLD })
    const rotation = createSecretRotation(next)
    const crash = new Error('crash')
    const cut = rotation.rotate(BY, (rows) => {
      if (rows > 100) throw crash
    })
    await t.rejects(cut, crash)
    const half = await counted(next)
    t.ok(half[idOf(OLD)]! > 0 && half[idOf(NEXT)]! > 0, JSON.stringify(half))
    t.strictSame(await doctorFinds(next), [])
    t.equal((await rotation.rotate(BY)).resealed, half[idOf(OLD)])
    t.strictSame(Object.keys(await counted(next)), [idOf(NEXT)])
    t.match(await rotation.rotate(BY), { resealed: 0, isNew: false })
  })
}

t.test('a row that changes while it is sealed again keeps its change', async (t) => {
  const there = await place(t, 'sqlite')
  const claimcheck = await host(t, there, { SECRET_KEY: OLD })
  await fill(claimcheck, 1)
  const column = SCHEMA.sealed.find(({ column }) => column === 'payload')!
  const [cell] = await claimcheck.storage.read.sealed.cells(column, [], 1)
  const changed = { ...cell!, stored: 'v2.00000000.other' }
  t.notOk(await claimcheck.storage.write((tx) => tx.sealed.replace(column, changed, 'mine')))
  t.same(await claimcheck.storage.read.sealed.cells(column, [], 1), [cell])
})

t.test('two rotations at once end with everything under the current key', async (t) => {
  const there = await place(t, 'postgres')
  await fill(await host(t, there, { SECRET_KEY: OLD }))
  const keys = { SECRET_KEY: NEXT, SECRET_KEY_ALSO: OLD }
  const hosts = [await host(t, there, keys), await host(t, there, keys)]
  const before = (await counted(hosts[0]!))[idOf(OLD)]
  const done = await Promise.all(hosts.map((each) => createSecretRotation(each).rotate(BY)))
  const sealed = done.reduce((sum, { resealed }) => sum + resealed, 0)
  await createSecretRotation(hosts[0]!).rotate(BY)
  t.ok(sealed <= before!, 'nothing twice')
  t.strictSame(await counted(hosts[0]!), { [idOf(NEXT)]: before })
})

t.test('what is sealed under another key is sealed again, and what no key opens is left and counted', async (t) => {
  const there = await place(t, 'sqlite')
  const next = await host(t, there, { SECRET_KEY: NEXT, SECRET_KEY_ALSO: OLD })
  await next.signingKeys.ensureLog()
  const put = (idHash: string, payload: string) =>
    next.storage.write((tx) =>
      tx.records.put({ kind: 'k', idHash, payload, grantId: null, uid: null, consumedAt: null, expiresAt: null }),
    )
  const seal = (key: string, value: string, idHash: string) =>
    openSecrets({ secretKey: Buffer.from(key, 'hex'), dataDir: '' }).seal(value, `record:k:${idHash}`)
  await put('a', seal(OLD, 'one', 'a'))
  await put('b', seal(OLD, 'two', 'b'))
  await put('c', 'a text that is not sealed')
  const foreign = seal(STRANGER, 'four', 'd')
  await put('d', foreign)
  const rotation = createSecretRotation(next)
  const { resealed, use } = await rotation.rotate(BY)
  t.equal(resealed, 2)
  t.strictSame(use, [
    { keyId: idOf(NEXT), role: 'current', values: 3 },
    { keyId: idOf(OLD), role: 'also', values: 0 },
    { keyId: null, role: 'unknown', values: 1 },
    { keyId: idOf(STRANGER), role: 'unknown', values: 1 },
  ])
  const alone = openSecrets({ secretKey: Buffer.from(NEXT, 'hex'), dataDir: '' })
  const rows = await query(there.databaseUrl, 'SELECT id_hash, payload FROM records ORDER BY id_hash')
  const opened = rows.slice(0, 2).map((row) => alone.open(String(row.payload), `record:k:${row.id_hash}`))
  t.strictSame(opened, ['one', 'two'])
  t.equal(rows[3]!.payload, foreign, 'it may open with a key that somebody still has')
  await t.rejects(rotation.forget(BY), { code: 'bad_request' })
})

t.test('a key file takes a new key beside a server that runs, and loses the old one when asked', async (t) => {
  const there = await place(t, 'sqlite')
  const running = await host(t, there, {})
  await fill(running)
  const oldKey = readFileSync(join(there.folder, 'data/secret.key'), 'utf8').trim()
  const ticket = await running.tickets.issue('passkey_challenge', { kept: true })

  const command = createSecretRotation(await host(t, there, {}))
  const before = await command.use()
  const { keyId, isNew, resealed, use } = await command.rotate(BY)
  t.ok(isNew)
  t.equal(resealed, before[0]!.values)
  t.match(use, [
    { keyId, role: 'current', values: resealed },
    { keyId: idOf(oldKey), role: 'also', values: 0 },
  ])
  t.same(await running.tickets.take('passkey_challenge', ticket), { kept: true })
  const later = await running.tickets.issue('passkey_challenge', { later: true })
  t.match(await command.use(), [{ keyId }, { values: 0 }], 'the server seals under the new key at once')

  t.strictSame(await command.forget(BY, atOnce), [idOf(oldKey)])
  t.strictSame(await command.forget(BY), [])
  t.notMatch(readFileSync(join(there.folder, 'data/secret.key'), 'utf8'), oldKey)
  t.same(await running.tickets.take('passkey_challenge', later), { later: true })
  t.strictSame(await doctorFinds(await host(t, there, {})), [])
  const trail = await running.storage.read.audit.after(0, 1000)
  t.match(
    trail.map(({ event, subject }) => [event, subject]).filter(([event]) => event?.startsWith('secret_key')),
    [
      ['secret_key.rotated', keyId],
      ['secret_key.forgotten', idOf(oldKey)],
    ],
  )
})

t.test('a rotation of the key file that was cut off is ended before another key is made', async (t) => {
  const there = await place(t, 'sqlite')
  await fill(await host(t, there, {}), 200)
  const command = createSecretRotation(await host(t, there, {}))
  const crash = new Error('crash')
  await t.rejects(
    command.rotate(BY, (rows) => {
      if (rows > 100) throw crash
    }),
    crash,
  )
  const [current, old] = await command.use()
  t.ok(current!.values > 0 && old!.values > 0)
  t.strictSame(await command.forget(BY, atOnce), [], 'what still seals something stays')
  t.match(await command.rotate(BY), { keyId: current!.keyId, isNew: false, resealed: old!.values })
  t.match(await command.rotate(BY), { isNew: true }, 'and the next one makes a key again')
  t.equal((await command.use()).length, 3)
  t.equal((await command.forget(BY, atOnce)).length, 2)
})

t.test('what a server sealed before a rotation and stores after it keeps its key', async (t) => {
  const there = await place(t, 'sqlite')
  const running = await host(t, there, {})
  const sealedBefore = running.secrets.seal('kept', 'record:k:late')
  const command = createSecretRotation(await host(t, there, {}))
  await command.rotate(BY)
  const pauses: number[] = []
  const forgotten = await command.forget(BY, async (ms) => {
    pauses.push(ms)
    const record = { kind: 'k', idHash: 'late', grantId: null, uid: null, consumedAt: null, expiresAt: null }
    await running.storage.write((tx) => tx.records.put({ ...record, payload: sealedBefore }))
  })
  t.strictSame(forgotten, [])
  t.equal(pauses.length, 1)
  t.ok(pauses[0]! > 0 && pauses[0]! <= 30_000)
  t.equal(running.secrets.open(sealedBefore, 'record:k:late'), 'kept')

  await command.rotate(BY)
  const later = new Date(Date.now() - 31_000)
  utimesSync(join(there.folder, 'data/secret.key'), later, later)
  t.equal((await command.forget(BY, async () => t.fail('it waits for nothing'))).length, 1)
  // A file that is dated in the future, by a clock that was wrong.
  await command.rotate(BY)
  utimesSync(join(there.folder, 'data/secret.key'), 2 ** 32, 2 ** 32)
  t.equal((await command.forget(BY, async (ms) => t.equal(ms, 30_000))).length, 1)
})

t.test('only the files that are known to seal do, so that the table of sealed columns stays whole', async (t) => {
  const root = resolve('server/src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const sealing = files.filter((file) => /\bsecrets\.seal\(/.test(readFileSync(join(root, file), 'utf8')))
  // A file that is added here seals into a column that a feature names among its `sealed`, or into a backup.
  t.strictSame(sealing.sort(), [
    'features/hints/hint-addresses.ts',
    // It keeps nothing: it opens a secret that nobody has.
    'features/hints/hints.ts',
    'features/log/signing/key-files.ts',
    'features/log/signing/sealed-keys.ts',
    'features/mail/outbox.ts',
    'features/maintenance/backup-format.ts',
    'features/maintenance/backup.ts',
    'features/oauth/records.ts',
    'features/people/second-steps.ts',
    'features/people/tickets.ts',
    'features/webhooks/webhooks.ts',
    'features/workspaces/connection-secrets.ts',
    'features/workspaces/connection-tokens.ts',
    'features/workspaces/holders.ts',
  ])
})

function holdsSealed(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return isSealed(value) || /"v[12]\.[A-Za-z0-9_.-]{40,}"/.test(value)
}
