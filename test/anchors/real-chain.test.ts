// Test run: end-to-end, slow, alone
import { writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { dump } from '../support/sql.ts'
import { openStorage } from '../support/storage.ts'
import { anchored, attested, claimcheck, start } from './on-chain.ts'

t.test('a receipt is anchored on a real chain, and a stranger finds that so', async (t) => {
  const world = await start(t)
  const { installation, client, chain } = world
  const { receipt_id } = (await client.submit()).body
  await anchored(world, 1)
  const url = `${installation.url}/v1/receipts/${receipt_id}`
  const offline = JSON.parse((await claimcheck(world, 'verify', url, '--json')).stdout)
  t.match(offline, { valid: true, checks: { anchor: 'not_checked_offline' } })
  const verified = JSON.parse((await claimcheck(world, 'verify', url, '--rpc', chain.rpcUrl, '--json')).stdout)
  t.match(verified, { valid: true, checks: { anchor: 'anchored' }, achieved_trust_level: 2 })

  await client.submit()
  await anchored(world, 2)
  t.equal(await attested(world), 2)
  const shown = await claimcheck(world, 'anchor', '--json')
  t.match(JSON.parse(shown.stdout), {
    anchorer: { chain: 'eip155:84532', attester: chain.account.address, problem: null },
    open: null,
    anchors: [{ tree_size: 2 }, { tree_size: 1 }],
  })
  t.match(await claimcheck(world, 'doctor', '--json'), {
    code: 0,
    stdout: /^{"ok":true,"problems":\[\],"notices":\[\],/,
  })
  const key = chain.account.key.slice(2)
  t.notMatch(await dump(installation.config.databaseUrl), key)
  t.notMatch(shown.stdout + shown.stderr, key)
})

t.test('a reorg that takes the anchor away, before it is final, is outlived, and one anchor stands', async (t) => {
  const world = await start(t)
  await world.client.submit()
  while ((await attested(world)) === 0) await setTimeout(50)
  await world.chain.mine()
  await world.chain.reorg(2)
  t.equal(await attested(world), 0)
  await anchored(world, 1)
  t.equal(await attested(world), 1)
})

t.test('while no block comes, the fees are raised, and one of the transactions lands', async (t) => {
  const world = await start(t)
  await world.client.submit()
  await anchored(world, 1)
  await world.chain.setMining('none')
  await world.client.submit()
  const { anchors } = world.installation.claimcheck.storage.read
  while (((await anchors.open())?.signed.length ?? 0) < 2) await setTimeout(100)
  await world.chain.setMining('each')
  await anchored(world, 2)
  t.equal(await attested(world), 2)
})

t.test('a host that is stopped and started leaves one anchor for each root', async (t) => {
  const world = await start(t)
  for (let treeSize = 1; treeSize <= 3; treeSize++) {
    await world.client.submit()
    await setTimeout(200 * treeSize)
    await world.installation.stop()
    await world.installation.resume()
    await anchored(world, treeSize)
  }
  t.equal(await attested(world), 3)
})

t.test('an account without money is a visible state, and anchoring goes on when it has some', async (t) => {
  const world = await start(t)
  await world.chain.setBalance(world.chain.account.address, 1n)
  t.match(await world.client.submit(), { body: { verdict: 'verified' } })
  const { anchors } = world.installation.claimcheck.storage.read
  while ((await anchors.open())?.problem !== 'insufficient_balance') await setTimeout(50)
  await world.chain.setBalance(world.chain.account.address, 10n ** 19n)
  await anchored(world, 1)
})

t.test('a database from before an anchor was signed takes it from the chain, and makes no other', async (t) => {
  const world = await start(t)
  const { installation, client } = world
  await client.submit()
  await anchored(world, 1)
  await installation.stop()
  const storage = await openStorage(installation.config)
  const anchor = (await storage.read.anchors.recent(1))[0]!
  const before = { ...anchor, state: 'planned', signed: [], sentAt: null, landing: null } as const
  t.ok(await storage.write((tx) => tx.anchors.replace(anchor, before)))
  await storage.close()
  await installation.resume()
  await anchored(world, 1)
  const { landing } = (await installation.claimcheck.storage.read.anchors.recent(1))[0]!
  t.strictSame(landing, anchor.landing)
  t.match(await claimcheck(world, 'doctor', '--json'), {
    code: 0,
    stdout: /^{"ok":true,"problems":\[\],"notices":\[\],/,
  })
  await client.submit()
  await anchored(world, 2)
  t.equal(await attested(world), 2)
})

t.test(
  'an anchor that an account has signed lands when that account is lost, and another goes on after it',
  async (t) => {
    const world = await start(t)
    const { installation, client, chain, keyFile } = world
    await client.submit()
    await anchored(world, 1)
    await chain.setMining('none')
    await client.submit()
    while ((await installation.claimcheck.storage.read.anchors.open())?.state !== 'sent') await setTimeout(20)
    await installation.stop()
    const { address, key } = await chain.createAccount()
    writeFileSync(keyFile, key, { mode: 0o600 })
    await installation.resume()
    await chain.setMining('each')
    await anchored(world, 2)
    await client.submit()
    await anchored(world, 3)
    const attesters = (await installation.claimcheck.storage.read.anchors.recent(3)).map(({ attester }) => attester)
    t.strictSame(attesters, [address, chain.account.address, chain.account.address])
    t.equal(await attested(world), 3)
  },
)
