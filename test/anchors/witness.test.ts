// Test run: slow
/** What is anchored on the chain contradicts a database that lacks it, and nothing that others put there does. Threat O6 of `security.md`. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAnchorer } from '../../plugins/anchor-eas/test/fixture.ts'
import { answersFor, hangs, status } from '../chain/proxy.ts'
import { backUp, backUpStopped } from '../support/backup.ts'
import { DIALECTS } from '../support/database.ts'
import { IS_THOROUGH } from '../support/extent.ts'
import type { Host } from '../support/installation.ts'
import { anchored, claimcheck, start, type World } from './on-chain.ts'

const signal = new AbortController().signal
const AWAY = status(503)

/** As a new host has it. */
function forget({ installation: { config } }: World): void {
  for (const name of ['log-head.json', 'log-heads', 'signed-receipts', 'host-id'])
    rmSync(`${config.dataDir}/${name}`, { recursive: true, force: true })
}

async function ready({ installation }: World): Promise<{ status: number; problems: string }> {
  const { status, body } = await installation.request('/readyz')
  return { status, problems: body.problems.join() }
}

async function becomesReady(t: Test, world: World, what: string): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end && (await ready(world)).status !== 200; ) await setTimeout(200)
  t.match(await ready(world), { status: 200 }, what)
  t.equal((await world.client.submit()).status, 202, what)
}

async function newestTransaction({ installation }: World): Promise<string> {
  return (await installation.request('/v1/log/anchors')).body.anchors[0].tx_hash
}

/** @returns the id of the log */
async function attest(t: Test, { chain, installation }: World, treeSize: number, key?: string): Promise<string> {
  const { logId } = (await installation.claimcheck.storage.read.log.state())!
  const anchorer = await createAnchorer(t, chain, {}, key)
  const signed = await anchorer.sign({ logId, treeSize, rootHash: randomBytes(32), previous: null }, [], signal)
  await anchorer.send(signed, signal)
  await chain.mine()
  return signed.txHash
}

for (const dialect of IS_THOROUGH ? DIALECTS : (['postgres'] as const)) {
  t.test(`on ${dialect}, an old database on a new host with no memory is found to be old by the chain`, async (t) => {
    const world = await start(t, dialect)
    const { installation, client } = world
    const receiptId: string = (await client.submit()).body.receipt_id
    await anchored(world, 1)
    const restore = await backUpStopped(installation)
    await client.submit()
    await client.submit()
    await anchored(world, 3)
    const transaction = await newestTransaction(world)
    await installation.stop()
    const putBack = await backUp(installation.config.databaseUrl, 'newest')
    await restore()
    forget(world)
    await installation.resume()

    const problem = new RegExp(
      `its log has 1 entries, and 3 were signed and anchored by the transaction ${transaction} of 20`,
    )
    t.match(await ready(world), { status: 503, problems: problem })
    t.equal((await client.submit()).status, 503)
    const { code, stdout } = await claimcheck(world, 'doctor', '--json')
    t.equal(code, 1)
    t.match(JSON.parse(stdout).problems.join(), problem)
    t.match(await claimcheck(world, 'log', 'resume', '--yes'), { code: 1, stderr: problem })
    t.match(await claimcheck(world, 'signing-key', 'rotate'), { code: 1, stderr: problem })
    const erase = await claimcheck(world, 'receipt', 'erase', receiptId, '--rule', 'court_order', '--yes')
    t.match(erase, { code: 1, stderr: problem })
    t.equal((await client.get(`/v1/receipts/${receiptId}`)).status, 200, 'not erased')

    await installation.stop()
    await putBack()
    await installation.resume()
    t.notMatch((await ready(world)).problems, /anchored/, 'the newest database is not contradicted')
    await installation.stop()
    await restore()
    forget(world)
    await installation.resume()
    t.match(await claimcheck(world, 'log', 'new', '--yes'), { code: 0 })
    await becomesReady(t, world, 'another log')
  })
}

t.test(
  'an anchor of another root at the same size is a fork, and one that another account made is nothing',
  async (t) => {
    const world = await start(t)
    const { installation, client, chain } = world
    await client.submit()
    await anchored(world, 1)
    const { key } = await chain.createAccount()
    await attest(t, world, 1_000_000, key)
    await installation.stop()
    forget(world)
    await installation.resume()
    await becomesReady(t, world, 'by a stranger')
    await anchored(world, 2)
    const transaction = await attest(t, world, 1, chain.account.key)
    await installation.stop()
    await installation.resume()
    t.match(await ready(world), {
      status: 503,
      problems: new RegExp(
        `entries in the database differ from those that were anchored by the transaction ${transaction}`,
      ),
    })
  },
)

t.test('while the chain cannot be asked, a host that remembers goes on, and one that does not waits', async (t) => {
  const world = await start(t)
  const { installation, client, proxy } = world
  await client.submit()
  await anchored(world, 1)
  await installation.stop()
  proxy.inject({ fault: AWAY })
  await installation.resume()
  await becomesReady(t, world, 'with its memory')
  const { code, stdout } = await claimcheck(world, 'doctor', '--json')
  t.equal(code, 0)
  t.match(JSON.parse(stdout).notices.join(), /cannot be asked \(rpc_unavailable\).*not compared/)

  await installation.stop()
  forget(world)
  await installation.resume()
  t.match(await ready(world), {
    status: 503,
    problems: /cannot be asked \(rpc_unavailable\), and nothing else remembers/,
  })
  t.equal((await client.submit()).status, 503)
  proxy.clear()
  await becomesReady(t, world, 'when the chain answers')
})

/** For longer than a host needs to look again. */
async function staysNotReady(t: Test, hosts: readonly Host[], problem: RegExp): Promise<void> {
  for (const end = Date.now() + 4000; Date.now() < end; await setTimeout(500)) {
    for (const host of hosts) {
      const { status, body } = await host.request('/readyz')
      t.match({ status, problems: body.problems?.join() }, { status: 503, problems: problem })
    }
  }
}

t.test(
  'while the chain cannot be asked, hosts that remember nothing do not take each other for one that does',
  async (t) => {
    const world = await start(t, 'postgres')
    const { installation, client, proxy } = world
    await client.submit()
    await anchored(world, 1)
    await installation.stop()
    forget(world)
    proxy.inject({ fault: AWAY })
    await installation.resume()
    const other = await installation.addHost()
    await staysNotReady(t, [installation.host, other], /cannot be asked/)
    proxy.clear()
    await becomesReady(t, world, 'when the chain answers')
  },
)

t.test(
  'a search of the chain that was cut short is no answer: a host that remembers nothing waits, and searches on',
  async (t) => {
    const world = await start(t)
    const { installation, client, proxy, chain } = world
    await client.submit()
    const restore = await backUpStopped(installation)
    await client.submit()
    await anchored(world, 2)
    await installation.stop()
    forget(world)
    await chain.mine(1200)
    proxy.inject(answersFor(10))
    await installation.resume()
    const cutShort = 'nothing of the log from block [0-9]+ on, and older blocks are not searched yet'
    t.match(await ready(world), { status: 503, problems: new RegExp(`${cutShort}, and nothing else remembers`) })
    t.equal((await client.submit()).status, 503)
    const { stdout } = await claimcheck(world, 'doctor', '--json')
    t.match(JSON.parse(stdout).notices.join(), new RegExp(`${cutShort}: the log was not compared`))
    await becomesReady(t, world, 'when it came to the newest anchor that the database has')
    await installation.stop()
    await restore()
    forget(world)
    await installation.resume()
    const found = /its log has 1 entries, and 2 were signed and anchored by the transaction/
    for (const end = Date.now() + 30_000; Date.now() < end && !found.test((await ready(world)).problems); )
      await setTimeout(200)
    t.match(await ready(world), { status: 503, problems: found }, 'some blocks more each time')
  },
)

t.test('while the chain is silent, a host listens and says what it waits for', async (t) => {
  const world = await start(t, 'sqlite', { timeoutS: 30 })
  const { installation, client, proxy } = world
  await client.submit()
  await anchored(world, 1)
  await installation.stop()
  proxy.inject({ fault: hangs() })
  for (const what of ['it remembers the log', 'it does not']) {
    const from = performance.now()
    await installation.resume()
    const tookMs = performance.now() - from
    t.ok(tookMs < 6000, `${what}: listens after ${Math.round(tookMs)} ms`)
    t.match(await ready(world), { status: 503, problems: /asks the chain of the anchors/ }, what)
    t.equal((await client.submit()).status, 503, what)
    t.equal((await installation.request('/v1/log/head')).status, 200, `${what}: reads work`)
    if (what === 'it remembers the log') await becomesReady(t, world, what)
    await installation.stop()
    forget(world)
  }
})

t.test('while the chain cannot be asked, a new installation begins its log, and signs', async (t) => {
  const world = await start(t, 'sqlite', { fault: { fault: AWAY } })
  await becomesReady(t, world, 'with the log that it made')
})

t.test('while the chain cannot be asked, a host that joins others asks them', async (t) => {
  const world = await start(t, 'postgres')
  await world.client.submit()
  await anchored(world, 1)
  world.proxy.inject({ fault: AWAY })
  const other = await world.installation.addHost()
  t.equal((await world.client.at(other).submit()).status, 202)
})

t.test('a host that went on without the chain stops when the chain answers', async (t) => {
  const world = await start(t)
  const { installation, client, proxy, chain } = world
  await client.submit()
  await anchored(world, 1)
  const transaction = await attest(t, world, 50, chain.account.key)
  await installation.stop()
  proxy.inject({ fault: AWAY })
  await installation.resume()
  await becomesReady(t, world, 'it remembers')
  proxy.clear()
  for (const end = Date.now() + 30_000; Date.now() < end && (await ready(world)).status === 200; ) await setTimeout(200)
  t.match(await ready(world), { status: 503, problems: new RegExp(transaction) })
})
