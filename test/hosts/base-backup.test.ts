// Test run: end-to-end, slow
/** Postgres's own backups: a base backup with the write-ahead log after it, restored to a moment. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { appendFile, chmod, chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { claimcheck, startSourceOn, submitMany } from '../support/copies.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres } from '../support/postgres.ts'
import { findPrograms, serverUser } from '../support/postgres-programs.ts'
import { query } from '../support/sql.ts'

const run = promisify(execFile)
const user = serverUser()
const folder = await realpath(await mkdtemp(join(user ? '/tmp' : tmpdir(), 'claimcheck-base-backup-')))
if (user) await chown(folder, user.uid, user.gid)
t.teardown(() => rm(folder, { recursive: true, force: true }))
/** A machine may have the server's programs alone on its path, as links. */
const programs = dirname(realpathSync(join(findPrograms(user, join(folder, 'programs')), 'pg_ctl')))
const MISSING = existsSync(join(programs, 'pg_basebackup')) ? false : `there is no pg_basebackup in ${programs}`

/** Runs one of Postgres's programs as its user. */
const program = (name: string, ...args: string[]) => run(join(programs, name), args, { ...user, cwd: folder })

t.test(
  'restored to a moment, a host that remembers more stops, and another log goes on',
  { skip: MISSING },
  async (t) => {
    const postgres = await startPostgres({ fsync: false })
    t.teardown(() => postgres.remove())
    const archive = join(folder, 'archive')
    mkdirSync(archive)
    if (user) await chown(archive, user.uid, user.gid)
    await query(postgres.url, 'ALTER SYSTEM SET archive_mode = on')
    await query(postgres.url, `ALTER SYSTEM SET archive_command = 'cp %p ${archive}/%f'`)
    await postgres.stop()
    await postgres.start()
    const source = await startSourceOn(t, postgres.url)
    const client = await source.client('acme')
    await submitMany(client, 20)

    const data = join(folder, 'restored')
    await program('pg_basebackup', '-d', postgres.url, '-D', data, '--checkpoint=fast', '--no-sync')
    t.match(await claimcheck(source, ['backup', '--record']), { code: 0 })
    const kept = (await client.submit()).body
    await query(postgres.url, `SELECT pg_create_restore_point('before')`)
    const lost = (await client.submit()).body
    await query(postgres.url, 'SELECT pg_switch_wal()')
    await source.stop()
    await postgres.stop()

    const port = await freePort()
    const settings = [`port = ${port}`, `restore_command = 'cp ${archive}/%f %p'`, `recovery_target_name = 'before'`]
    await appendFile(join(data, 'postgresql.conf'), [...settings, `recovery_target_action = 'promote'`, ''].join('\n'))
    await writeFile(join(data, 'recovery.signal'), '')
    if (user) await chown(join(data, 'recovery.signal'), user.uid, user.gid)
    await chmod(data, 0o700)
    await program('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', 'start')
    t.teardown(() => program('pg_ctl', '-D', data, '-m', 'immediate', 'stop'))
    const url = new URL(source.config.databaseUrl)
    url.port = String(port)
    const isPromoted = async () => !(await query(url.href, 'SELECT pg_is_in_recovery() AS waits'))[0]!.waits
    while (!(await isPromoted())) await new Promise((done) => setTimeout(done, 100))

    const host = await source.addHost({ DATABASE_URL: url.href, DATA_DIR: source.config.dataDir })
    const there = client.at(host)
    t.match(await there.submit(), { status: 503 })
    t.match(await host.request('/readyz'), { status: 503, body: { problems: [/21 entries, and 22 were signed/] } })
    t.match(await host.request(`/v1/receipts/${kept.receipt_id}`), { status: 200 })
    t.equal((await host.request(`/v1/receipts/${lost.receipt_id}`)).status, 503, 'the newest database may come back')
    const env = { DATABASE_URL: url.href }
    t.match(await claimcheck(source, ['log', 'new', '--yes'], env), { code: 0 })
    t.equal((await host.request(`/v1/receipts/${lost.receipt_id}`)).status, 410)
    while ((await host.request('/readyz')).status !== 200) await new Promise((done) => setTimeout(done, 100))
    t.match(await there.submit(), { body: { verdict: 'verified' } })
    t.match(await claimcheck(source, ['doctor', '--json'], env), { code: 0, stdout: /"ok":true/ })
  },
)
