// Test run: slow
/** What is no whole, sound backup is not made and not restored, and nothing that is secret is in one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { secretKeyPath } from '@claimcheck/server/base/secret-keys'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { readManifest, writeLines, writeManifest } from '@claimcheck/server/features/maintenance/backup-format'
import t from 'tap'
import { CLAIMCHECK, type Env } from './support/command.ts'
import { connect } from './support/connect.ts'
import { claimcheck, emptyDatabase, LOCKED, newFolder, rowsIn, startSource, submitMany } from './support/copies.ts'
import { createDatabase, DIALECTS } from './support/database.ts'
import { Installation, SCRIPTED } from './support/installation.ts'
import { CANNOT_MOUNT, mountSmallDisk } from './support/small-disk.ts'
import { query } from './support/sql.ts'
import { openStorage } from './support/storage.ts'

async function refused(source: Installation, args: readonly string[], env: Env = {}) {
  const { code, stdout } = await claimcheck(source, [...args, '--json'], env)
  return { exit: code, ...JSON.parse(stdout || '{}').error }
}

t.test('a backup that is damaged, partial or of others is refused, with the file that is at fault', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 3)
  const { stdout } = await claimcheck(source, ['log', 'new', '--yes', '--json'])
  t.match(await claimcheck(source, ['log', 'archive', JSON.parse(stdout).ended_log_id]), { code: 0 })
  const whole = join(newFolder(t), 'whole')
  t.match(await claimcheck(source, ['backup', whole]), { code: 0, stderr: '' })
  t.strictSame(readdirSync(join(whole, '..')), ['whole'])
  const url = await emptyDatabase(t, 'sqlite')
  const env = { DATABASE_URL: url, DATA_DIR: join(newFolder(t), 'data') }
  const claims = 'claims.jsonl.gz'
  const damages: readonly [string, (folder: string) => void, RegExp][] = [
    ['a file is gone', (folder) => rmSync(join(folder, claims)), /claims\.jsonl\.gz is missing/],
    ['a file is cut off', (folder) => truncateSync(join(folder, claims), 100), /claims\.jsonl\.gz has 100 bytes/],
    ['a byte is changed', (folder) => flip(join(folder, claims)), /claims\.jsonl\.gz differs/],
    ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /no complete backup.*manifest\.json/],
    [
      'a cut manifest',
      (folder) => truncateSync(join(folder, 'manifest.json'), 100),
      /manifest\.json is not a manifest/,
    ],
    ['an invented count', (folder) => edit(folder, '"rows": 3', '"rows": 2'), /manifest\.json was changed/],
    [
      'an invented id',
      (folder) => edit(folder, '"epoch": "bkp_', '"epoch": "bkp_X'),
      /manifest\.json cannot be opened/,
    ],
    ['another format', (folder) => edit(folder, 'backup-1', 'backup-2'), /has the format claimcheck-backup-2/],
  ]
  for (const [what, damage, message] of damages) {
    const folder = join(newFolder(t), 'damaged')
    cpSync(whole, folder, { recursive: true })
    damage(folder)
    t.match(await refused(source, ['restore', folder], env), { exit: 1, message }, what)
    t.notOk(existsSync(url.replace('sqlite:', '')), `${what}: nothing was made`)
  }
  const other = { ...env, SECRET_KEY: 'd1'.repeat(32) }
  t.match(await refused(source, ['restore', whole], other), {
    exit: 1,
    message: /manifest\.json cannot be opened.*SECRET_KEY/,
  })
  const none = { ...env, SECRET_KEY: '' }
  t.match(await refused(source, ['restore', whole], none), { exit: 1, message: /set SECRET_KEY.*secret\.key back/ })
  t.notOk(existsSync(env.DATA_DIR), 'no key is made')
  const full = { DATA_DIR: env.DATA_DIR }
  t.match(await refused(source, ['restore', whole], full), { exit: 1, message: /the target is not empty/ })
  mkdirSync(env.DATA_DIR)
  writeFileSync(join(env.DATA_DIR, 'signing-keys'), 'no folder')
  t.match(await refused(source, ['restore', whole], env), { exit: 1, code: 'unusable_key', message: /EEXIST|ENOTDIR/ })
  t.strictSame(readdirSync(env.DATA_DIR), ['signing-keys'], 'no archive is left')
  t.equal(await rowsIn(url), 0)
  mkdirSync(join(env.DATA_DIR, 'logs'))
  t.match(await refused(source, ['restore', whole], env), { exit: 1, message: /archives of logs/ })
})

/** A backup that only a holder of the secret key can make. */
async function withArchive(backup: string, path: string, { config }: Installation): Promise<void> {
  const secrets = openSecrets(config)
  const manifest = readManifest(backup, secrets)
  for (const name of ['manifest.json', 'archives.jsonl.gz']) rmSync(join(backup, name))
  async function* lines() {
    yield [[path, '']]
  }
  const files = { ...manifest.files, archives: await writeLines(backup, 'archives', lines()) }
  writeManifest(backup, { ...manifest, files }, secrets)
}

t.test('archives of logs are put into their place after the rows, and nowhere else', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 3)
  const { stdout } = await claimcheck(source, ['log', 'new', '--yes', '--json'])
  t.match(await claimcheck(source, ['log', 'archive', JSON.parse(stdout).ended_log_id]), { code: 0 })
  const backup = join(newFolder(t), 'backup')
  t.match(await claimcheck(source, ['backup', backup]), { code: 0 })
  for (const dialect of DIALECTS) {
    const dataDir = join(newFolder(t), 'data')
    const env = { DATABASE_URL: await emptyDatabase(t, dialect), DATA_DIR: dataDir }
    t.match(await claimcheck(source, ['restore', backup], env), { code: 0 }, dialect)
    // As where the command was killed after the commit.
    rmSync(join(dataDir, 'logs'), { recursive: true })
    const again = await claimcheck(source, ['restore', backup, '--json'], env)
    t.match([again.code, JSON.parse(again.stdout)], [0, { ok: true, copied: { logs: 2 } }], 'a second call ends it')
    t.ok(existsSync(join(dataDir, 'logs')))
    rmSync(join(dataDir, 'logs'), { recursive: true })
    t.match(await claimcheck(source, ['log', 'new', '--yes'], env), { code: 0 })
    const resumed = await refused(source, ['restore', backup], env)
    t.match(resumed, { exit: 1, message: /the target is not empty/ }, 'and not once another log goes on')
  }
  await withArchive(backup, '../elsewhere', source)
  const dataDir = join(newFolder(t), 'data')
  const env = { DATABASE_URL: await emptyDatabase(t, 'sqlite'), DATA_DIR: dataDir }
  t.match(await refused(source, ['restore', backup], env), {
    exit: 1,
    code: 'bad_request',
    message: /nothing was restored: .*\.\.\/elsewhere/,
  })
  t.notOk(existsSync(join(dataDir, 'elsewhere')))
  t.equal(await rowsIn(env.DATABASE_URL), 0)
})

function flip(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(path, bytes)
}

function edit(folder: string, from: string, to: string): void {
  const path = join(folder, 'manifest.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
}

t.test('a backup never replaces anything', async (t) => {
  const source = await startSource(t, 'sqlite')
  const there = t.testdir({ 'notes.txt': 'mine' })
  t.match(await refused(source, ['backup', there]), { exit: 1, message: /is there already/ })
  t.strictSame(readdirSync(there), ['notes.txt'])
  const to = join(there, 'new')
  mkdirSync(`${to}.partial`)
  t.match(await refused(source, ['backup', to]), { exit: 1, message: /new\.partial is there already.*did not end/ })
  t.notOk(existsSync(to))
})

t.test('of two backups to one name at once, one is made whole', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 50)
  const to = join(newFolder(t), 'backup')
  const both = await Promise.all([1, 2].map(() => claimcheck(source, ['backup', to])))
  t.strictSame(both.map(({ code }) => code).sort(), [0, 1])
  t.match(both.find(({ code }) => code === 1)!.stderr, /is there already/)
  t.strictSame(readdirSync(join(to, '..')), ['backup'])
  const env = { DATABASE_URL: await emptyDatabase(t, 'sqlite'), DATA_DIR: join(newFolder(t), 'data') }
  t.match(await claimcheck(source, ['restore', to], env), { code: 0 })
})

t.test('where the disk is full, nothing is left of the backup', { skip: CANNOT_MOUNT }, async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 50)
  const { path: disk, unmount } = mountSmallDisk('48k')
  try {
    const full = await refused(source, ['backup', join(disk, 'backup')])
    t.match(full, { exit: 1, code: 'unavailable', message: /the backup was not made: ENOSPC/ })
    t.strictSame(readdirSync(disk), [])
  } finally {
    unmount()
  }
})

t.test('an installation that is not sound gives no backup, unless that is asked for', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  const { body } = await client.submit()
  await query(source.config.databaseUrl, `UPDATE claims SET target = 'elsewhere' WHERE claim_id = '${body.claim_id}'`)
  const to = join(newFolder(t), 'backup')
  t.match(await refused(source, ['backup', to]), { exit: 1, message: new RegExp(`not sound.*\\n.*${body.claim_id}`) })
  t.strictSame(readdirSync(join(to, '..')), [])
  const { code, stdout } = await claimcheck(source, ['backup', to, '--no-verify', '--json'])
  t.match([code, JSON.parse(stdout)], [0, { verified: false }])
})

t.test('no key and no credential is readable in a backup, and the key file is not in it', async (t) => {
  const source = await Installation.start({ database: await createDatabase('sqlite'), plugins: [SCRIPTED, LOCKED] })
  t.teardown(() => source.remove())
  const client = await source.client('acme')
  await connect(source.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
  await client.submit()
  const { dataDir } = source.config
  const to = join(newFolder(t), 'backup')
  t.match(await claimcheck(source, ['backup', to], { SECRET_KEY: '' }), { code: 0, stderr: '' })
  const [keyFile] = readdirSync(join(dataDir, 'signing-keys'))
  const pem = readFileSync(join(dataDir, 'signing-keys', keyFile!), 'utf8')
  t.match(pem, /PRIVATE KEY/, 'in DATA_DIR it is in the clear')
  const secretKey = readFileSync(secretKeyPath(dataDir), 'utf8').trim()
  for (const name of readdirSync(to)) {
    const bytes = readFileSync(join(to, name))
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    for (const secret of ['PRIVATE KEY', pem.split('\n')[1]!, secretKey, 'open sesame'])
      t.notOk(text.includes(secret), name)
  }
  const data = join(newFolder(t), 'data')
  const env = { DATABASE_URL: await emptyDatabase(t, 'sqlite'), DATA_DIR: data, SECRET_KEY: '' }
  mkdirSync(data)
  cpSync(secretKeyPath(dataDir), secretKeyPath(data))
  const { code, stderr } = await claimcheck(source, ['restore', to], env)
  t.equal(code, 0, stderr)
  t.match(await claimcheck(source, ['log', 'new', '--yes'], env), { code: 0 }, 'it signs')
})

/** Ends the command by SIGKILL when `reached` says so. */
async function kill(
  source: Installation,
  args: readonly string[],
  env: Env,
  reached: () => boolean | Promise<boolean>,
): Promise<unknown> {
  const child = spawn(process.execPath, [CLAIMCHECK, ...args], { cwd: source.folder, env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (child.exitCode === null && !(await reached())) await setTimeout(1)
  child.kill('SIGKILL')
  return (await ended)[1]
}

/** Another program has written to the database, and not committed that. */
function isWriting(url: string) {
  if (url.startsWith('sqlite:'))
    return () => (statSync(`${url.slice(7)}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 1 << 19
  const sql = `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO receipts %'`
  return async () => (await query(url, sql)).length > 0
}

t.test('what is killed half-way leaves nothing that looks whole, and is done again', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 600)
  await source.stop()
  const { databaseUrl, dataDir } = source.config
  const common = { PATH: process.env.PATH!, DATA_DIR: dataDir, HEAD_MEMORY: 'none', SECRET_KEY: 'c0'.repeat(32) }

  const to = join(newFolder(t), 'backup')
  const partial = `${to}.partial`
  const env = { ...common, DATABASE_URL: databaseUrl }
  t.equal(await kill(source, ['backup', to], env, () => existsSync(join(partial, 'claims.jsonl.gz'))), 'SIGKILL')
  t.strictSame([existsSync(to), existsSync(partial)], [false, true])
  t.match(await refused(source, ['restore', partial]), { exit: 1, message: /no complete backup/ })
  rmSync(partial, { recursive: true })
  t.match(await claimcheck(source, ['backup', to]), { code: 0 })

  const all = await rowsIn(databaseUrl)
  for (const dialect of DIALECTS) {
    for (const what of ['restore', 'copy']) {
      const url = await emptyDatabase(t, dialect)
      await (await openStorage({ databaseUrl: url })).close()
      const env = { ...common, DATABASE_URL: url, ...(what === 'copy' ? {} : { DATA_DIR: join(newFolder(t), 'data') }) }
      const args = what === 'copy' ? ['copy', '--from', databaseUrl, '--to', url] : ['restore', to]
      t.equal(await kill(source, args, env, isWriting(url)), 'SIGKILL', `${what} to ${dialect}`)
      // On a busy machine it may have ended the moment before.
      const left = await rowsIn(url)
      t.ok(left === 0 || left === all, `${what} to ${dialect}: all or nothing, not ${left} of ${all}`)
      if (left === 0)
        t.match(await claimcheck(source, args, env), { code: 0, stderr: '' }, `${what} to ${dialect}, again`)
      t.equal(await rowsIn(url), all)
    }
  }
})
