// Test run: alone
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startChain } from './chain.ts'
import { callRpc } from './json-rpc.ts'

t.test('a chain has the id, the contracts and the finality that were asked for', async (t) => {
  const chain = await startChain({ chainId: 84532, predeploys: true, finalityDepth: 6 })
  t.teardown(chain.stop)
  t.equal(await chain.rpc('eth_chainId'), '0x14a34')
  for (const address of [chain.eas, chain.schemaRegistry]) {
    t.match(address, /^0x420{36}2[01]$/)
    t.ok((await chain.rpc('eth_getCode', address, 'latest')).length > 1000)
  }
  await chain.mine(20)
  const [latest, finalized] = await Promise.all(
    ['latest', 'finalized'].map((tag) => chain.rpc('eth_getBlockByNumber', tag, false)),
  )
  t.equal(Number(latest.number) - Number(finalized.number), 6)
})

t.test('a reorg replaces blocks by as many of later times', async (t) => {
  const chain = await startChain()
  t.teardown(chain.stop)
  await chain.mine(10)
  const before = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  await chain.reorg(2)
  const after = await chain.rpc('eth_getBlockByNumber', 'latest', false)
  t.equal(after.number, before.number)
  t.not(after.hash, before.hash)
  t.ok(Number(after.timestamp) > Number(before.timestamp))
})

t.test('a chain ends with the process that started it, also when that is killed', async (t) => {
  const script = `
    const { startChain } = await import(${JSON.stringify(new URL('./chain.js', import.meta.url).href)})
    console.log((await startChain()).rpcUrl)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(parent.stdout, 'data')
  const url = String(printed).trim()
  t.equal(await callRpc(url, 'eth_chainId', []), '0x7a69')
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  const isListening = () =>
    callRpc(url, 'eth_chainId', []).then(
      () => true,
      () => false,
    )
  for (let tries = 0; tries < 50 && (await isListening()); tries++) await delay(100)
  t.notOk(await isListening())
})
