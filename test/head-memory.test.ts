// Test run: slow
/** The newest head is remembered in an object store, too. Threat O6 of `security.md`. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fromRecord, type Head, toRecord } from '@claimcheck/server/features/log/memory/head-record'
import { resumeLog } from '@claimcheck/server/features/log/resume'
import t, { type Test } from 'tap'
import { backUp } from './support/backup.ts'
import type { Client } from './support/client.ts'
import { createDatabase, DIALECTS, type Dialect } from './support/database.ts'
import { type Host, Installation } from './support/installation.ts'
import { startObjectStore } from './support/object-store.ts'

const ACCOUNT = { name: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI+K7MDENG+bPxRfiCYEXAMPLEKEY' }

async function start(t: Test, { dialect = 'sqlite', aws = false }: { dialect?: Dialect; aws?: boolean } = {}) {
  const store = await startObjectStore(ACCOUNT)
  t.teardown(() => store.close())
  const { name, secret } = ACCOUNT
  const named = new URL(store.url)
  if (!aws) Object.assign(named, { username: name, password: secret })
  const credentials = { AWS_ACCESS_KEY_ID: name, AWS_SECRET_ACCESS_KEY: secret, AWS_REGION: 'eu-central-1' }
  const env = { HEAD_MEMORY: named.href, HOME: '', ...(aws ? credentials : {}) }
  const installation = await Installation.during(t, { database: await createDatabase(dialect), env })
  return { store, installation, client: await installation.client('acme') }
}

async function until(what: string, isTrue: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 15_000; !(await isTrue()); await setTimeout(50)) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`)
  }
}

async function isReady(host: Host): Promise<boolean> {
  return (await host.request('/readyz')).status === 200
}

function sizes({ objects }: { readonly objects: ReadonlyMap<string, string> }): number[] {
  return [...objects.values()].map((object) => JSON.parse(object.split('\n')[0]!).tree_size)
}

/** Says what else the service answered. */
async function issueReceipt(t: Test, client: Client): Promise<void> {
  const { status, body } = await client.submit()
  t.equal(status, 202, body.detail)
  t.equal(body.state, 'decided')
}

for (const aws of [false, true]) {
  t.test(
    `DATA_DIR that is restored as a whole is found to be old, with ${aws ? 'signed' : 'Basic'} requests`,
    async (t) => {
      const { store, installation, client } = await start(t, { aws })
      const { dataDir } = installation.config
      await issueReceipt(t, client)
      await installation.stop()
      t.strictSame(sizes(store), [1], 'what was signed is there when the host has ended')
      cpSync(dataDir, `${dataDir}.backup`, { recursive: true })
      await installation.resume()
      await issueReceipt(t, client)
      await issueReceipt(t, client)
      await installation.stop()
      t.strictSame(sizes(store), [3])
      rmSync(dataDir, { recursive: true })
      renameSync(`${dataDir}.backup`, dataDir)
      await installation.resume()
      t.match(await installation.request('/readyz'), {
        status: 503,
        body: { problems: [/its log has 1 entries, and 3 were signed/] },
      })
      t.equal((await client.submit()).status, 503)
      await installation.claimcheck.signingKeys.beginLog()
      await until('ready', () => isReady(installation.host))
      t.equal((await client.submit()).status, 202)
      await until('the new log is remembered', () => sizes(store).length === 2)
    },
  )
}

t.test('a copy of the newest database does not go on: what a store has may be some seconds old', async (t) => {
  const { installation, client } = await start(t)
  const { dataDir } = installation.config
  await issueReceipt(t, client)
  await installation.stop()
  cpSync(dataDir, `${dataDir}.copy`, { recursive: true })
  rmSync(dataDir, { recursive: true })
  renameSync(`${dataDir}.copy`, dataDir)
  await installation.resume()
  t.match(await installation.request('/readyz'), {
    status: 503,
    body: { problems: [/the database file is not the one/] },
  })
  t.equal((await client.submit()).status, 503)
  await t.rejects(
    resumeLog(installation.claimcheck, async () => {}),
    { code: 'read_only', message: /nothing proves/ },
  )
})

t.test(
  'a store that is away: a host that knows nothing waits for it, and one that knows the newest state warns',
  async (t) => {
    const { store, installation, client } = await start(t)
    await issueReceipt(t, client)
    await installation.stop()
    store.isAway = true
    const own = join(installation.config.dataDir, 'log-head.json')
    rmSync(own)
    await installation.resume()
    t.match(await installation.request('/readyz'), {
      status: 503,
      body: { problems: [/cannot read HEAD_MEMORY.*it answers 503\. This host signs as soon as it can be read/] },
    })
    t.equal((await client.submit()).status, 503)
    store.isAway = false
    await until('ready', () => isReady(installation.host))
    t.equal((await client.submit()).status, 202)
    await until('written', () => sizes(store)[0] === 2)

    store.isAway = true
    t.equal((await client.submit()).status, 202)
    const warnings = async () => (await installation.request('/readyz')).body.warnings.join()
    await until('warned', async () => /HEAD_MEMORY cannot be written: it answers 503/.test(await warnings()))
    t.ok(await isReady(installation.host))
    t.match((await installation.request('/metrics')).body, /durability_at_risk\{reason="head_memory"\} 1/)
    store.isAway = false
    await until('written', () => sizes(store)[0] === 3)
    t.equal(await warnings(), '')
  },
)

/** With a digest that fits: anyone can compute it. */
function forged(object: string, changes: (head: Head) => object): string {
  const head = fromRecord(object)!
  return toRecord({ ...head, ...changes(head) })
}

t.test('what no key of the log signed stops no host, and the next head replaces it', async (t) => {
  const { store, installation, client } = await start(t)
  await issueReceipt(t, client)
  await installation.stop()
  const [[path, sound] = []] = [...store.objects]
  const { signed = '' } = fromRecord(sound!)!
  const grown = JSON.parse(signed)
  grown.body.tree_size = 1_000_000
  let treeSize = 1
  for (const [what, object] of [
    ['a size that nothing proves', forged(sound!, () => ({ treeSize: 1_000_000, signed: undefined }))],
    ['a size beside the signature of a smaller one', forged(sound!, () => ({ treeSize: 1_000_000 }))],
    ['another root beside the signature', forged(sound!, () => ({ rootHash: new Uint8Array(32) }))],
    ['a signature of something else', forged(sound!, () => ({ treeSize: 1_000_000, signed: JSON.stringify(grown) }))],
    ['a signature that is no text', forged(sound!, () => ({ treeSize: 1_000_000, signed: 5 as never }))],
    ['no record', '{"tree_size":1000000}'],
  ] as const) {
    store.objects.set(path!, object)
    await installation.resume()
    t.match(await installation.request('/readyz'), { status: 200 }, what)
    t.equal((await client.submit()).status, 202, what)
    treeSize++
    await installation.stop()
    t.strictSame(sizes(store), [treeSize], `${what}: replaced`)
  }
})

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, an old database is recognised after two rotations of the key, of which it knows none`,
    async (t) => {
      const { store, installation, client } = await start(t, { dialect })
      const { config } = installation
      await issueReceipt(t, client)
      await installation.stop()
      const restore = await backUp(config.databaseUrl)
      await installation.resume()
      for (let rotations = 0; rotations < 2; rotations++) {
        await issueReceipt(t, client)
        await installation.claimcheck.signingKeys.rotate()
        await issueReceipt(t, client)
      }
      await installation.stop()
      await restore()
      const own = join(config.dataDir, 'log-head.json')
      const remembered = readFileSync(own)
      for (const what of ['the object store', 'this host']) {
        if (what === 'this host') {
          store.objects.clear()
          writeFileSync(own, remembered)
        } else rmSync(own)
        await installation.resume()
        t.match(
          await installation.request('/readyz'),
          { status: 503, body: { problems: [/its log has 1 entries, and [2-5] were signed/] } },
          what,
        )
        t.not(
          (await installation.claimcheck.storage.read.log.state())!.contradictedBy,
          null,
          `${what} stops the other hosts, too`,
        )
        await installation.stop()
        await restore()
      }
    },
  )
}

t.test('hosts write one object, and each writes only over what it knows', async (t) => {
  const { store, installation, client } = await start(t, { dialect: 'postgres' })
  const other = await installation.addHost()
  for (let i = 1; i <= 3; i++) {
    await issueReceipt(t, client)
    await issueReceipt(t, client.at(other))
    await until('written', () => sizes(store)[0] === 2 * i)
  }
  t.notOk(store.requests.some((request) => /400|403/.test(request)))
})

t.test('what another host wrote in between is written over when a host ends', async (t) => {
  const { store, installation, client } = await start(t)
  await issueReceipt(t, client)
  await installation.stop()
  const [[path, earlier] = []] = [...store.objects]
  await installation.resume()
  await issueReceipt(t, client)
  await until('written', () => sizes(store)[0] === 2)
  await issueReceipt(t, client)
  store.objects.set(path!, `${earlier}\n`)
  await installation.stop()
  t.strictSame(sizes(store).slice(-1), [3])
  t.ok(store.requests.includes('PUT 412'))
})

t.test('what is no URL of an object store is refused at the start', async (t) => {
  for (const HEAD_MEMORY of ['s3://bucket/folder', 'https://example.com/?x=1']) {
    await t.rejects(
      Installation.start({ database: await createDatabase('sqlite'), env: { HEAD_MEMORY } }),
      /HEAD_MEMORY: must be/,
    )
  }
})
