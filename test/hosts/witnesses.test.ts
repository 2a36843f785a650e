// Test run: end-to-end, slow
/**
 * Disasters after which nothing of the service remembers what was signed: three clients that go on tell. They are an SDK, the command line and
 * the tools of MCP. Threat O6 of `security.md`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { clientBackend } from '@claimcheck/cli/mcp/client-backend'
import { createClient } from '@claimcheck/client'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { claimcheck, configOf, emptyDatabase, newFolder, startHost, startSource } from '../support/copies.ts'
import { createDatabase } from '../support/database.ts'
import { type Host, Installation } from '../support/installation.ts'
import { startPostgres } from '../support/postgres.ts'
import { Wire } from '../support/wire.ts'

const CLAIM = { action: 'test.outcome.reach', target: 'somewhere', params: { see: 'present' } }

/** One claim each. They fail where the service takes none. */
type Clients = Readonly<Record<'sdk' | 'command line' | 'mcp', () => Promise<unknown>>>

/** Three clients at an address that stays, whichever host is behind it. */
async function threeClients(t: Test, installation: Installation) {
  const wire = await Wire.to(installation.url)
  t.teardown(() => wire.close())
  const url = wire.urlOf(installation.url).replace(/\/$/, '')
  const { key } = await installation.client('acme')
  const sdk = createClient({ baseUrl: url, key, agentId: 'sdk', retryForMs: 0 })
  const tools = clientBackend({ url, key, fetch: atOnce })
  const folder = newFolder(t)
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: key }
  const args = ['claim', '--action', CLAIM.action, '--target', CLAIM.target, '--param', 'see=present']
  const clients: Clients = {
    sdk: () => sdk.submit(CLAIM),
    'command line': async () => {
      const { code, stderr } = await runClaimcheck(folder, args, env)
      if (code !== 0) throw new Error(stderr)
    },
    mcp: () =>
      tools.submit({
        ...CLAIM,
        agent_id: 'mcp',
        client_claim_id: crypto.randomUUID(),
        claimed_at: new Date().toISOString(),
      }),
  }
  return { clients, wire }
}

/** Clients try a minute long when a service takes no claims. */
const atOnce: typeof fetch = async (...request) => {
  const { body, status, headers } = await fetch(...request)
  return new Response(body, { headers, status: status === 503 ? 500 : status })
}

async function all(clients: Clients): Promise<void> {
  for (const claims of Object.values(clients)) await claims()
}

async function sizeOf(host: Pick<Host, 'request'>): Promise<number> {
  return (await host.request('/v1/log/head')).body.tree_head.body.tree_size
}

/** Clients that go on, until the service stops. @returns how many entries were signed meanwhile */
async function goesOnUntilStopped(t: Test, host: Pick<Host, 'request'>, clients: Partial<Clients>, what: string) {
  const before = await sizeOf(host)
  const problems = async () => String((await host.request('/readyz')).body.problems)
  const isStopped = async () => /a client has a signed head/.test(await problems())
  for (const end = Date.now() + 30_000; !(await isStopped()); ) {
    if (Date.now() > end) return t.fail(`${what}: not stopped: ${await problems()}`)
    for (const claims of Object.values(clients)) {
      if (await isStopped()) break
      await claims().catch(() => {})
      await setTimeout(300)
    }
  }
  t.match(await host.request('/readyz'), { status: 503 }, what)
  t.match((await host.request('/metrics')).body, /claimcheck_log_contradicted 1/, what)
  const after = await sizeOf(host)
  t.ok(after - before <= 8, `${what}: ${after - before} entries were signed after ${before}`)
}

async function isReady(host: Pick<Host, 'request'>): Promise<void> {
  for (const end = Date.now() + 30_000; (await host.request('/readyz')).status !== 200; await setTimeout(50))
    if (Date.now() > end) throw new Error('not ready in time')
}

/** All files of a folder, to be put back into the same files, as a block device is: a file keeps its inode and its birth time. */
function snapshot(folder: string): () => void {
  const files = contentsOf(folder)
  const taken = new Set(files.map(([path]) => path))
  return () => {
    for (const path of filesIn(folder)) if (!taken.has(path)) rmSync(path)
    for (const [path, content] of files) writeFileSync(path, content)
  }
}

/** Begins again where a host that ended still folds its write-ahead log into the file. */
function contentsOf(folder: string): readonly (readonly [path: string, content: Buffer])[] {
  try {
    const paths = filesIn(folder).filter((path) => !path.endsWith('-shm'))
    return paths.map((path) => [path, readFileSync(path)])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return contentsOf(folder)
  }
}

function filesIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
  return paths.filter((path) => statSync(path).isFile())
}

t.test('the volume of the data is put back from a snapshot: any one client stops the host', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('sqlite') })
  const { clients, wire } = await threeClients(t, installation)
  await all(clients)
  await installation.stop()
  const restore = snapshot(installation.config.dataDir)
  await installation.resume()
  wire.leadTo(installation.url)
  await all(clients)
  await all(clients)
  const folder = newFolder(t)
  const { receipt_id: receiptId } = (await (await installation.client('other')).submit()).body
  writeFileSync(join(folder, 'bundle.json'), await (await fetch(`${installation.url}/r/${receiptId}.json`)).text())
  const verify = () => {
    const keys = `${installation.url}/.well-known/poaw-keys.json`
    return runClaimcheck(folder, ['verify', 'bundle.json', '--keys', keys, '--json'])
  }
  t.match(await verify(), { code: 0, stdout: /"log_continues":true/ })
  for (const name of ['sdk', 'command line', 'mcp'] as const) {
    await installation.stop()
    restore()
    await installation.resume()
    wire.leadTo(installation.url)
    t.equal(await sizeOf(installation), 3)
    t.match(await installation.request('/readyz'), { status: 200 }, 'nothing of the service knows')
    await goesOnUntilStopped(t, installation, { [name]: clients[name] }, name)
    t.match(await verify(), { code: 1, stdout: /"valid":true.*"log_continues":false/s }, 'a kept bundle tells')
    const { logId } = (await installation.claimcheck.storage.read.log.state())!
    t.ok(existsSync(join(installation.config.dataDir, `log-contradiction-${logId}.json`)))
  }
  t.match(await runClaimcheck(installation.folder, ['log', 'new', '--yes'], installation.env), { code: 0 })
  await isReady(installation)
  await all(clients)
  t.match(await installation.request('/readyz'), { status: 200 }, 'the clients go on with another log')
})

t.test('all volumes are put back together: server, data and memory', async (t) => {
  const postgres = await startPostgres({ fsync: false })
  t.teardown(() => postgres.remove())
  const database = await createDatabase('postgres', { serverUrl: postgres.url })
  const memory = newFolder(t)
  const installation = await Installation.during(t, {
    database: { ...database, remove: async () => {} },
    env: { HEAD_MEMORY: memory },
  })
  const { clients, wire } = await threeClients(t, installation)
  await all(clients)
  await installation.stop()
  await postgres.stop()
  const kept = `${postgres.data}.kept`
  execFileSync('cp', ['-a', postgres.data, kept])
  const restores = [snapshot(installation.config.dataDir), snapshot(memory)]
  await postgres.start()
  await installation.resume()
  wire.leadTo(installation.url)
  await all(clients)
  await all(clients)
  await installation.stop()
  await postgres.stop()
  rmSync(postgres.data, { recursive: true })
  execFileSync('cp', ['-a', kept, postgres.data])
  for (const restore of restores) restore()
  await postgres.start()
  await installation.resume()
  wire.leadTo(installation.url)
  await goesOnUntilStopped(t, installation, clients, 'all volumes')
})

t.test('an asynchronous standby is promoted, the host that signed last is gone, and a spare one starts', async (t) => {
  const primary = await startPostgres({ fsync: false })
  t.teardown(() => primary.remove())
  const address = await Wire.to(primary.url)
  t.teardown(() => address.close())
  const database = await createDatabase('postgres', { serverUrl: primary.url })
  const env = { ...database.env, DATABASE_URL: address.urlOf(database.env.DATABASE_URL!) }
  const installation = await Installation.during(t, { database: { ...database, env, remove: async () => {} } })
  const spare = await installation.addHost()
  const { clients, wire } = await threeClients(t, installation)
  await all(clients)
  await spare.stop()
  const standby = await startPostgres({ standbyOf: primary, fsync: false })
  t.teardown(() => standby.remove())
  await standby.stop()
  // The host has to agree with the restarted server.
  for (
    const end = Date.now() + 30_000;
    !(await all(clients).then(
      () => true,
      () => false,
    ));
    await setTimeout(200)
  )
    if (Date.now() > end) throw new Error('no claims in time')
  await all(clients)
  await primary.stop('immediate')
  await installation.host.stop()
  await standby.start()
  await standby.promote()
  address.leadTo(standby.url)
  await spare.start()
  wire.leadTo(spare.url)
  t.equal(await sizeOf(spare), 3)
  await goesOnUntilStopped(t, spare, clients, 'the spare host')
})

t.test('a backup is restored into a new folder: clients tell before the log may go on', async (t) => {
  const source = await startSource(t, 'sqlite')
  const { clients, wire } = await threeClients(t, source)
  await all(clients)
  const backup = join(newFolder(t), 'backup')
  t.match(await claimcheck(source, ['backup', backup]), { code: 0 })
  await all(clients)
  await all(clients)
  await source.stop()
  const memory = newFolder(t)
  const env = { DATA_DIR: newFolder(t), HEAD_MEMORY: memory }
  const url = await emptyDatabase(t, 'sqlite')
  t.match(await claimcheck(source, ['restore', backup], { ...env, DATABASE_URL: url }), { code: 0 })
  const host = await startHost(t, configOf(source, url, env))
  wire.leadTo(host.url)
  t.match(await host.request('/readyz'), { status: 503, body: { problems: [/restored from the backup/] } })
  await goesOnUntilStopped(t, host, clients, 'restored')
  t.equal(await sizeOf(host), 3, 'nothing was signed')
  const resumed = await claimcheck(source, ['log', 'resume', '--yes'], { ...env, DATABASE_URL: url })
  t.match(resumed, { code: 1, stderr: /a client has a signed head/ })
})
