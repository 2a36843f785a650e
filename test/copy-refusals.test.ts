// Test run: end-to-end, slow, alone
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { copyInstallation } from '@claimcheck/server/features/maintenance/copy'
import t from 'tap'
import type { Env } from './support/command.ts'
import { connect } from './support/connect.ts'
import { claimcheck, configOf, DIALECTS, emptyDatabase, rowsIn, startSource } from './support/copies.ts'
import { query } from './support/sql.ts'
import { openStorage, SCHEMA } from './support/storage.ts'

t.test('a source whose rows do not belong together is refused, and nothing is copied', async (t) => {
  const source = await startSource(t, 'sqlite')
  await (await source.client('acme')).submit()
  await query(source.config.databaseUrl, `INSERT INTO checks VALUES ('clm_none', 1, '{}')`)
  for (const dialect of DIALECTS) {
    const target = configOf(source, await emptyDatabase(t, dialect))
    await t.rejects(copyInstallation({ schema: SCHEMA, from: source.config, to: target }), {
      code: 'corrupt',
      message: /checks/,
    })
    t.equal(await rowsIn(target.databaseUrl), 0, dialect)
  }
})

t.test('a target that anybody has written to is refused, and left as it was', async (t) => {
  const source = await startSource(t, 'sqlite')
  const other = await startSource(t, 'postgres')
  for (const [from, to] of [
    [source, other],
    [other, source],
  ] as const) {
    const before = await rowsIn(to.config.databaseUrl)
    await t.rejects(copyInstallation({ schema: SCHEMA, from: from.config, to: to.config }), { code: 'not_empty' })
    t.equal(await rowsIn(to.config.databaseUrl), before)
  }
  for (const dialect of DIALECTS) {
    const url = await emptyDatabase(t, dialect)
    await query(url, 'CREATE TABLE notes (text text)')
    await query(url, `INSERT INTO notes VALUES ('mine')`)
    const refused = copyInstallation({ schema: SCHEMA, from: source.config, to: configOf(source, url) })
    await t.rejects(refused, { code: 'not_empty', message: /notes/ }, dialect)
    await t.rejects(query(url, 'SELECT * FROM claims'), /claims/, 'without a table of ours')
  }
})

t.test('a database is not copied to itself, by whatever name', async (t) => {
  const source = await startSource(t, 'sqlite')
  const { databaseUrl } = source.config
  const link = join(source.folder, 'link.db')
  symlinkSync(databaseUrl.replace('sqlite:', ''), link)
  await t.rejects(copyInstallation({ schema: SCHEMA, from: source.config, to: source.config }), { code: 'conflict' })
  const to = configOf(source, `sqlite:${link}`)
  await t.rejects(copyInstallation({ schema: SCHEMA, from: source.config, to }), { code: 'not_empty' })

  const shared = await startSource(t, 'postgres')
  const same = configOf(shared, `${shared.config.databaseUrl}?application_name=copy`)
  await t.rejects(copyInstallation({ schema: SCHEMA, from: shared.config, to: same }), { code: 'conflict' })
})

t.test('a source that is not there, is none, or is of another version is refused, and not changed', async (t) => {
  const source = await startSource(t, 'sqlite')
  const folder = t.testdir({ 'notes.txt': 'These are the notes of somebody else. '.repeat(50) })
  const [missing, notes, foreign, later] = ['missing.db', 'notes.txt', 'foreign.db', 'later.db'].map(
    (name) => `sqlite:${join(folder, name)}`,
  ) as [string, string, string, string]
  await query(foreign, 'CREATE TABLE notes (text text)')
  await (await openStorage({ databaseUrl: later })).close()
  await query(later, `INSERT INTO migrations (name) VALUES ('999-later')`)
  const target = await emptyDatabase(t, 'postgres')
  for (const [url, code] of [
    [missing, 'unavailable'],
    [notes, 'corrupt'],
    [foreign, 'older_schema'],
    [later, 'newer_schema'],
    ['postgres://nobody:secret@127.0.0.1:1/none', 'unavailable'],
  ] as const) {
    const copying = copyInstallation({ schema: SCHEMA, from: configOf(source, url), to: configOf(source, target) })
    await t.rejects(copying, { name: 'StorageError', code, message: /^(?!.*secret)/ }, url)
  }
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('missing')),
    [],
  )
  await t.rejects(query(foreign, 'SELECT * FROM claims'), /claims/, 'a source is not migrated')
  await t.rejects(query(target, 'SELECT * FROM claims'), /claims/, 'nor a target for nothing')
  await t.rejects(copyInstallation({ schema: SCHEMA, from: source.config, to: configOf(source, later) }), {
    code: 'newer_schema',
  })
})

t.test('credentials and keys that would not open in the copy are told before the target is touched', async (t) => {
  const source = await startSource(t, 'sqlite')
  const { workspaceId } = await source.client('acme')
  await connect(source.claimcheck, workspaceId, 'cave', { token: 'open sesame' })
  const target = await emptyDatabase(t, 'postgres')
  const copyUnder = (env: Env) =>
    copyInstallation({
      schema: SCHEMA,
      from: configOf(source, source.config.databaseUrl, env),
      to: configOf(source, target, env),
    })
  await t.rejects(copyUnder({ SECRET_KEY: 'd1'.repeat(32) }), { name: 'SecretError', code: 'wrong_key' })
  await t.rejects(copyUnder({ DATA_DIR: t.testdir() }), { name: 'SigningError', code: 'missing_key' })
  await t.rejects(query(target, 'SELECT * FROM claims'), /claims/)

  const shared = await startSource(t, 'postgres')
  const elsewhere = { SECRET_KEY: 'd1'.repeat(32) }
  const copying = copyInstallation({
    schema: SCHEMA,
    from: configOf(shared, shared.config.databaseUrl, elsewhere),
    to: configOf(shared, await emptyDatabase(t, 'sqlite'), elsewhere),
  })
  await t.rejects(copying, { name: 'SigningError', code: 'unusable_key' })
})

t.test('what is wrong with an address is told by the name of its option, without its password', async (t) => {
  const source = await startSource(t, 'sqlite')
  const wrong = await claimcheck(source, ['copy', '--from', 'mysql://u:hidden@host/db', '--to', 'sqlite:copy.db'])
  t.match(wrong, { code: 1, stdout: '', stderr: /--from: the scheme mysql/ })
  t.notMatch(wrong.stderr, /hidden|DATABASE_URL/)
  t.match(await claimcheck(source, ['copy', '--from', 'sqlite:a.db']), { code: 2, stderr: /--to/ })
})
