// Test run: slow
/** The last backup of a log, which goes on where that is restored. Threat O6 of `security.md`. */
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { formatInstant } from '@claimcheck/core/rules'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { logCloser } from '@claimcheck/server/features/log/closing'
import { fileLock } from '@claimcheck/server/features/log/memory/folder-memories'
import { makeBackup } from '@claimcheck/server/features/maintenance/backup'
import { readManifest, writeManifest } from '@claimcheck/server/features/maintenance/backup-format'
import { restoreBackup } from '@claimcheck/server/features/maintenance/restore'
import { withProgress } from '@claimcheck/server/host/terminal/progress'
import t, { type Test } from 'tap'
import { backUp, backUpStopped } from './support/backup.ts'
import type { Env } from './support/command.ts'
import { claimcheck, configOf, emptyDatabase, newFolder, startHost, startSource, submitMany } from './support/copies.ts'
import { createDatabase, DIALECTS, type Dialect } from './support/database.ts'
import { type Host, Installation } from './support/installation.ts'
import { startObjectStore } from './support/object-store.ts'
import { query } from './support/sql.ts'
import { SCHEMA } from './support/storage.ts'

/** An empty installation: another database, and another DATA_DIR. */
async function elsewhere(t: Test, dialect: Dialect) {
  return { DATABASE_URL: await emptyDatabase(t, dialect), DATA_DIR: join(newFolder(t), 'data') }
}

async function run(source: Installation, args: readonly string[], env: Env = {}) {
  const { code, stdout, stderr } = await claimcheck(source, [...args, '--json'], env)
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
}

/** As the command closes the log. */
function closer({ config }: Installation) {
  return logCloser(async (work) => {
    const claimcheck = await openClaimcheck(config, { plugins: false })
    return work(claimcheck).finally(() => claimcheck.close())
  })
}

async function isSound(t: Test, source: Installation, env: Env) {
  t.match(await run(source, ['doctor', '--signatures'], env), { code: 0, value: { ok: true, problems: [] } })
}

/** It becomes ready within seconds. */
async function becomesReady(t: Test, host: Host) {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    if ((await host.request('/readyz')).status === 200) break
    await new Promise((done) => setTimeout(done, 50))
  }
  t.match(await host.request('/readyz'), { status: 200 })
}

/** A host looks once a second. */
async function says(t: Test, host: Host, problem: RegExp) {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    if (problem.test(JSON.stringify((await host.request('/readyz')).body))) break
    await new Promise((done) => setTimeout(done, 50))
  }
  t.match(await host.request('/readyz'), { status: 503, body: { problems: [problem] } })
}

t.test('a last backup closes the log at its source, and the log goes on where it is restored, once', async (t) => {
  for (const dialect of DIALECTS) {
    const source = await startSource(t, dialect)
    const client = await source.client('acme')
    await submitMany(client, 3)
    const folder = join(newFolder(t), 'last')
    t.match(await run(source, ['backup', folder, '--last']), { code: 0, value: { tree_size: 3, verified: true } })
    t.match(await client.submit(), { status: 503 }, 'closed')
    await says(t, source.host, /goes on where its last backup/)
    t.match(await source.request('/v1/log/head'), { status: 200 })
    for (const args of [
      ['signing-key', 'rotate'],
      ['log', 'resume', '--yes'],
      ['backup', `${folder}-2`, '--last'],
    ])
      t.match(await run(source, args), { code: 1, value: { error: { code: 'read_only' } } }, args.join(' '))
    t.notOk(existsSync(`${folder}-2`))
    await source.stop()
    await source.resume()
    t.match(await client.submit(), { status: 503 }, 'closed for good')

    const env = await elsewhere(t, dialect === 'sqlite' ? 'postgres' : 'sqlite')
    t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true, begun: null } })
    const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
    t.match(await client.at(host).submit(), { body: { verdict: 'verified' } }, 'without a question')
    t.match(await host.request('/v1/log/head'), { body: { tree_head: { body: { tree_size: 4 } } } })
    await isSound(t, source, env)

    const second = await elsewhere(t, dialect)
    t.match(await run(source, ['restore', folder], second), { code: 0, value: { goes_on: false } })
    const other = await startHost(t, configOf(source, second.DATABASE_URL, second))
    t.match(await client.at(other).submit(), { status: 503 }, 'restored once more')
    t.match(await run(source, ['log', 'new', '--yes']), { code: 0 })
    await becomesReady(t, source.host)
    t.match(await client.submit(), { body: { verdict: 'verified' } }, 'another log at the source')
  }
})

t.test('a last backup that fails leaves the log open, and one that was killed is made again', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 3)
  const folder = join(newFolder(t), 'last')
  await query(source.config.databaseUrl, 'UPDATE claims SET verdict = NULL')
  t.match(await run(source, ['backup', folder, '--last']), { code: 1, value: { error: { code: 'conflict' } } })
  await query(source.config.databaseUrl, `UPDATE claims SET verdict = 'verified'`)
  await becomesReady(t, source.host)
  t.match(await client.submit(), { body: { verdict: 'verified' } })
  const killed = `{"epoch":"bkp_01M8K4194AN0FY8P9G4CAFFA6Y","madeAt":${Date.now()},"last":"making"}`
  await query(source.config.databaseUrl, `UPDATE logs SET restored_from = '${killed}'`)
  t.match(await client.submit(), { status: 503 })
  await says(t, source.host, /did not end: make it again/)
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  const env = await elsewhere(t, 'sqlite')
  t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true } })
})

t.test('a last backup that ended before its folder had its name is kept, and completed', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 2)
  const { databaseUrl } = source.config
  const folder = join(newFolder(t), 'last')
  const partial = `${folder}.partial`
  // A commit whose answer is lost: nothing says whether the log is closed.
  const refusing = (name: string, isSo: string) =>
    query(
      databaseUrl,
      `CREATE TRIGGER ${name} BEFORE UPDATE ON logs WHEN ${isSo} BEGIN SELECT RAISE(ABORT, 'no answer'); END`,
    )
  await refusing('unmade', `NEW.restored_from LIKE '%"made"%'`)
  t.match(await run(source, ['backup', folder, '--last']), { code: 1 })
  t.notOk(existsSync(partial), 'undone')
  await becomesReady(t, source.host)
  await refusing('stuck', `OLD.restored_from IS NOT NULL AND NEW.restored_from IS NULL`)
  const unknown = await run(source, ['backup', folder, '--last'])
  t.match(unknown, {
    code: 1,
    value: { error: { code: 'unavailable', message: /keep that folder, and run this command again/ } },
  })
  await query(databaseUrl, 'DROP TRIGGER unmade; DROP TRIGGER stuck')
  const env = await elsewhere(t, 'sqlite')
  t.match(await run(source, ['restore', partial], env), { code: 1, value: { error: { message: /did not end/ } } })
  await query(databaseUrl, `UPDATE logs SET restored_from = replace(restored_from, '"making"', '"made"')`)
  t.match(await run(source, ['backup', folder, '--last']), { code: 0, value: { tree_size: 2 } })
  t.notOk(existsSync(partial))
  t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true } })
})

t.test('copies of a last backup go on in one place of those that have the same HEAD_MEMORY', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 1)
  const folder = join(newFolder(t), 'last')
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  const copies = ['one', 'two', 'three'].map((name) => join(newFolder(t), name))
  for (const copy of copies) cpSync(folder, copy, { recursive: true })
  const HEAD_MEMORY = newFolder(t)
  const [first, second, third] = [
    await elsewhere(t, 'sqlite'),
    await elsewhere(t, 'sqlite'),
    await elsewhere(t, 'sqlite'),
  ]
  const restore = async (copy: number, env: Env, ...more: string[]) =>
    (await run(source, ['restore', copies[copy]!, ...more], { HEAD_MEMORY, ...env })).value.goes_on
  t.equal(await restore(0, first), true)
  t.equal(await restore(1, second), false)
  t.equal(await restore(1, second, '--move'), false, 'whatever the operator says')

  // Older than a day: a copy may have gone on where nothing of this machine sees it.
  const secrets = openSecrets(source.config)
  const manifest = readManifest(copies[2]!, secrets)
  rmSync(join(copies[2]!, 'manifest.json'))
  writeManifest(copies[2]!, { ...manifest, made_at: formatInstant(Date.parse(manifest.made_at) - 90_000_000) }, secrets)
  const other = { ...third, HEAD_MEMORY: newFolder(t) }
  t.equal(await restore(2, other), false, 'it asks')
  t.equal(await restore(2, other, '--move'), true, 'the operator says that it goes on nowhere else')
  const host = await startHost(t, configOf(source, third.DATABASE_URL, other))
  t.match((await host.request('/readyz')).status, 200)
})

t.test('commands work beside a server of SQLite that signs all the time, and remembers it apart', async (t) => {
  const HEAD_MEMORY = newFolder(t)
  const env = { HEAD_MEMORY, SECRET_KEY: 'c0'.repeat(32) }
  const source = await Installation.during(t, { database: await createDatabase('sqlite'), env })
  const client = await source.client('acme')
  let isOver = false
  const busy = Array.from({ length: 4 }, async () => {
    while (!isOver) await client.submit()
  })
  t.match(await run(source, ['signing-key', 'rotate'], env), { code: 0 })
  t.match(await run(source, ['backup', join(newFolder(t), 'last'), '--last'], env), { code: 0 })
  isOver = true
  await Promise.all(busy)
  await isSound(t, source, env)
})

t.test('an old database has no last backup', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 1)
  const restore = await backUpStopped(source)
  await submitMany(client, 1)
  await source.stop()
  await restore()
  const refused = await run(source, ['backup', join(newFolder(t), 'last'), '--last'])
  t.match(refused, { code: 1, value: { error: { code: 'read_only', message: /1 entries, and 2 were signed/ } } })
})

/** Brings back what is in a folder now, into the same files, as a disk does that is restored from a snapshot. */
function snapshot(folder: string): () => void {
  const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile())
  const contents = names.map((name) => [join(folder, name), readFileSync(join(folder, name))] as const)
  return () => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      if (statSync(path).isFile() && !names.includes(name)) rmSync(path)
    }
    for (const [path, content] of contents) writeFileSync(path, content)
  }
}

t.test(
  'a source from before its last backup or copy signs nothing, whatever remembers that it was closed',
  async (t) => {
    for (const [dialect, way, what] of [
      ['sqlite', 'backup', 'DATA_DIR'],
      ['postgres', 'copy', 'DATA_DIR'],
      ['postgres', 'backup', 'HEAD_MEMORY'],
      ['sqlite', 'backup', 'an object store'],
    ] as const) {
      await t.test(`on ${dialect}, ${way}, ${what}`, async (t) => {
        const env = { HEAD_MEMORY: 'none', SECRET_KEY: 'c0'.repeat(32) }
        if (what === 'HEAD_MEMORY') env.HEAD_MEMORY = newFolder(t)
        if (what === 'an object store') {
          const store = await startObjectStore({ name: 'name', secret: 'secret' })
          t.teardown(() => store.close())
          env.HEAD_MEMORY = Object.assign(new URL(store.url), { username: 'name', password: 'secret' }).href
        }
        const source = await Installation.during(t, { database: await createDatabase(dialect), env })
        const client = await source.client('acme')
        await submitMany(client, 2)
        await source.stop()
        const { dataDir, databaseUrl } = source.config
        const bringBack = dialect === 'sqlite' ? snapshot(dataDir) : await backUp(databaseUrl)
        const remembered = join(newFolder(t), 'remembered')
        cpSync(dataDir, remembered, { recursive: true })
        await source.resume()
        const target = { ...(await elsewhere(t, 'sqlite')), HEAD_MEMORY: newFolder(t) }
        // The keys of a copy are where those of its source are.
        if (way === 'copy') target.DATA_DIR = dataDir
        if (way === 'backup') {
          const folder = join(newFolder(t), 'last')
          t.match(await run(source, ['backup', folder, '--last'], env), { code: 0 })
          t.match(await run(source, ['restore', folder], { ...env, ...target }), {
            code: 0,
            value: { goes_on: true },
          })
        } else {
          const args = ['copy', '--from', databaseUrl, '--to', target.DATABASE_URL]
          t.match(await run(source, args, env), { code: 0 })
        }
        const host = await startHost(t, configOf(source, target.DATABASE_URL, { ...env, ...target }))
        await becomesReady(t, host)
        t.match(await client.at(host).submit(), { body: { verdict: 'verified' } })
        await source.stop()
        await bringBack()
        if (what !== 'DATA_DIR') rmSync(join(dataDir, 'log-heads'), { recursive: true, force: true })
        // A copy has the DATA_DIR of its source, which remembers its entries, too.
        cpSync(join(remembered, 'log-head.json'), join(dataDir, 'log-head.json'))
        await source.resume()
        t.match(await client.submit(), { status: 503 }, 'it would fork the log')
        await says(t, source.host, /from before the log was closed here/)
        t.match(await run(source, ['log', 'reopen', '--yes'], env), {
          code: 1,
          value: { error: { code: 'conflict' } },
        })
        t.match(await run(source, ['backup', join(newFolder(t), 'again'), '--last'], env), { code: 1 })
        await host.stop()
        t.match(await run(source, ['doctor'], { ...env, ...target }), { value: { ok: true } }, 'the log goes on there')
        t.match(await run(source, ['log', 'new', '--yes'], env), { code: 0 })
        await becomesReady(t, source.host)
      })
    }
  },
)

t.test('a log goes on after a last backup that was stopped, at once or by its command', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 2)
  t.match(await run(source, ['log', 'reopen', '--yes']), { code: 1, value: { error: { code: 'conflict' } } })
  const killed = `{"epoch":"bkp_01M8K4194AN0FY8P9G4CAFFA6Y","madeAt":${Date.now()},"last":"making"}`
  await query(source.config.databaseUrl, `UPDATE logs SET restored_from = '${killed}'`)
  await says(t, source.host, /claimcheck log reopen goes on/)
  t.match(await run(source, ['log', 'reopen', '--yes']), { code: 0, value: { tree_size: 2 } })
  await becomesReady(t, source.host)
  t.match(await client.submit(), { body: { verdict: 'verified' } })

  const onProgress = withProgress('rows', async (update) => {
    update(1, 2)
    process.emit('SIGINT', 'SIGINT')
    update(2, 2)
  })
  await t.rejects(onProgress, { code: 'interrupted', message: /SIGINT/ })
  const late: string[] = []
  const made = await withProgress(
    'rows',
    async (update) => {
      update(2, 2)
      process.emit('SIGINT', 'SIGINT')
      return 'made'
    },
    (signal) => void late.push(signal),
  )
  t.equal(made, 'made', 'what is done is said')
  await new Promise(setImmediate)
  t.strictSame(late, ['SIGINT'], 'and then it ends')
  const close = closer(source)
  const makes = withProgress('rows', (update) =>
    makeBackup({
      config: source.config,
      schema: SCHEMA,
      to: join(newFolder(t), 'stopped'),
      close,
      onProgress(done, all) {
        process.emit('SIGTERM', 'SIGTERM')
        update(done, all)
      },
    }),
  )
  await t.rejects(makes, { code: 'interrupted' })
  await becomesReady(t, source.host)
  t.match(await client.submit(), { body: { verdict: 'verified' } }, 'it was undone')
})

t.test('what is left of a last backup that did not end is closed where it is restored', async (t) => {
  const source = await startSource(t, 'sqlite')
  const client = await source.client('acme')
  await submitMany(client, 2)
  const [to, left] = [join(newFolder(t), 'stopped'), join(newFolder(t), 'left')]
  const makes = withProgress('rows', (update) =>
    makeBackup({
      config: source.config,
      schema: SCHEMA,
      to,
      close: closer(source),
      onProgress(done, all) {
        // Copies the unfinished backup as a machine leaves it that fails while the backup is tried.
        if (existsSync(join(`${to}.partial`, 'manifest.json')) && !existsSync(left)) {
          cpSync(`${to}.partial`, left, { recursive: true })
          process.emit('SIGTERM', 'SIGTERM')
        }
        update(done, all)
      },
    }),
  )
  await t.rejects(makes, { code: 'interrupted' })
  await becomesReady(t, source.host)
  t.match(await client.submit(), { body: { verdict: 'verified' } }, 'the log goes on here')
  const env = await elsewhere(t, 'sqlite')
  t.match(await run(source, ['restore', left], env), { code: 0, value: { goes_on: false } })
})

t.test('a restore that is stopped after its last step leaves the log closed, and its command goes on', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 2)
  const folder = join(newFolder(t), 'last')
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  const env = await elsewhere(t, 'sqlite')
  const config = configOf(source, env.DATABASE_URL, env)
  const restored = withProgress('rows', (update) =>
    restoreBackup({
      from: folder,
      config,
      schema: SCHEMA,
      onProgress(done, all) {
        update(done, all)
        // Both receipts are examined.
        if (done === 2 && all === 2) process.emit('SIGINT', 'SIGINT')
      },
    }),
  )
  await t.rejects(restored, { code: 'interrupted', message: /SIGINT/ })
  t.equal(fileLock(join(folder, 'restored.json')).read(), undefined)
  const host = await startHost(t, config)
  await says(t, host, /restored from the backup/)
  await host.stop()
  t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true } })
})

t.test('a last backup of which memories were told goes on where its command is run again', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 1)
  const { databaseUrl, dataDir } = source.config
  const folder = join(newFolder(t), 'last')
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  // As where the machine failed between the memory and the commit.
  renameSync(folder, `${folder}.partial`)
  await query(databaseUrl, `UPDATE logs SET restored_from = replace(restored_from, '"made"', '"making"'), moves = NULL`)
  t.ok(readdirSync(join(dataDir, 'log-heads')).some((name) => name.endsWith('.next')))
  t.match(await run(source, ['log', 'reopen', '--yes']), { code: 1, value: { error: { code: 'read_only' } } })
  t.match(await run(source, ['backup', `${folder}-2`, '--last']), { code: 1, value: { error: { code: 'read_only' } } })
  t.match(await run(source, ['backup', folder, '--last']), { code: 0, value: { tree_size: 1 } })
  const env = await elsewhere(t, 'sqlite')
  t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true } })
})

t.test('what was restored to a file is bound to it before its first start', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 1)
  const folder = join(newFolder(t), 'last')
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  const env = await elsewhere(t, 'sqlite')
  t.match(await run(source, ['restore', folder], env), { code: 0, value: { goes_on: true } })
  const file = env.DATABASE_URL.slice('sqlite:'.length)
  cpSync(file, `${file}.copy`)
  const copy = await startHost(t, configOf(source, `${env.DATABASE_URL}.copy`, { DATA_DIR: env.DATA_DIR }))
  await says(t, copy, /the database file is not the one/)
  await copy.stop()
  const host = await startHost(t, configOf(source, env.DATABASE_URL, env))
  await becomesReady(t, host)
})

t.test('a last backup that cannot be written to goes on where something else remembers that', async (t) => {
  const source = await startSource(t, 'sqlite')
  await submitMany(await source.client('acme'), 1)
  const folder = join(newFolder(t), 'last')
  t.match(await run(source, ['backup', folder, '--last']), { code: 0 })
  const lock = fileLock(join(folder, 'restored.json'))
  t.equal(lock.read(), undefined)
  const HEAD_MEMORY = newFolder(t)
  const [first, second] = [await elsewhere(t, 'sqlite'), await elsewhere(t, 'sqlite')]
  chmodSync(folder, 0o500)
  t.teardown(() => chmodSync(folder, 0o700))
  const isRefused = await run(source, ['restore', folder], first)
  // Root may write anywhere.
  if (lock.read() === undefined) {
    t.match(isRefused, { code: 1, value: { error: { code: 'unavailable' } } })
    t.match(await run(source, ['restore', folder], { ...first, HEAD_MEMORY }), { code: 0, value: { goes_on: true } })
  }
  t.match(await run(source, ['restore', folder], { ...second, HEAD_MEMORY }), { code: 0, value: { goes_on: false } })
})
