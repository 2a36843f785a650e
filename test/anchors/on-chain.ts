/** An installation that anchors on a real chain, over a proxy that can fail. */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import { type Chain, startChain } from '../chain/chain.ts'
import { type RpcInjection, RpcProxy } from '../chain/proxy.ts'
import type { Client } from '../support/client.ts'
import { runClaimcheck } from '../support/command.ts'
import { createDatabase, type Dialect } from '../support/database.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'

const require = createRequire(import.meta.url)

export interface World {
  readonly chain: Chain
  readonly proxy: RpcProxy
  readonly installation: Installation
  readonly client: Client
  /** With the account's key. */
  readonly keyFile: string
}

/** @param fault what the node does from the beginning on @param timeoutS how long it may take to answer */
export async function start(
  t: Test,
  dialect: Dialect = 'sqlite',
  { fault, timeoutS = 1 }: { readonly fault?: RpcInjection; readonly timeoutS?: number } = {},
): Promise<World> {
  // The checker knows where the contracts are by the chain's id.
  const chain = await startChain({ chainId: 84532, predeploys: true })
  t.teardown(chain.stop)
  const proxy = await RpcProxy.start(chain.rpcUrl)
  t.teardown(() => proxy.stop())
  if (fault) proxy.inject(fault)
  const keyFile = join(t.testdir(), 'anchor.key')
  writeFileSync(keyFile, chain.account.key, { mode: 0o600 })
  const anchoring = {
    use: require.resolve('@claimcheck/plugin-anchor-eas'),
    with: {
      rpc_url: proxy.url,
      chain: 'base-sepolia',
      key_file: keyFile,
      interval_s: 1,
      stuck_after_s: 2,
      timeout_s: timeoutS,
    },
  }
  const installation = await Installation.during(t, {
    plugins: [SCRIPTED, anchoring],
    database: await createDatabase(dialect),
  })
  return { chain, proxy, installation, client: await installation.client('acme'), keyFile }
}

export function claimcheck({ installation: { folder, env } }: World, ...args: string[]) {
  return runClaimcheck(folder, args, env)
}

async function listed({ installation }: World): Promise<{ uid: string; tree_size: number }[]> {
  return (await installation.request('/v1/log/anchors')).body.anchors
}

/** With blocks coming, until the newest anchor is of this size. */
export async function anchored(world: World, treeSize: number): Promise<void> {
  for (const end = Date.now() + 30_000; (await listed(world))[0]?.tree_size !== treeSize; await setTimeout(100)) {
    if (Date.now() > end) throw new Error(`not anchored at ${treeSize}`)
    await world.chain.mine()
  }
}

/** How often the contract has recorded an anchor. */
export async function attested({ chain }: World): Promise<number> {
  return (await chain.rpc('eth_getLogs', { address: chain.eas, fromBlock: '0x0' })).length
}
