/** The demo's chain: a local EVM node with the real contracts, under the id of a test network, and an account with money on it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChain } from '../../test/chain/chain.ts'

export interface Anchoring {
  readonly rpcUrl: string
  /** An entry of the configuration file. */
  readonly plugin: { readonly use: string; readonly with: object }
  stop(): Promise<void>
}

const BASE_SEPOLIA = 84532

/** @param options more options of the plugin */
export async function startAnchoring(options: object = {}): Promise<Anchoring> {
  const chain = await startChain({ chainId: BASE_SEPOLIA, predeploys: true })
  await chain.setMining({ everySeconds: 1 })
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-demo-key-'))
  const keyFile = join(folder, 'anchor.key')
  await writeFile(keyFile, chain.account.key, { mode: 0o600 })
  return {
    rpcUrl: chain.rpcUrl,
    plugin: {
      use: createRequire(import.meta.url).resolve('@claimcheck/plugin-anchor-eas'),
      with: { rpc_url: chain.rpcUrl, chain: 'base-sepolia', key_file: keyFile, ...options },
    },
    stop: async () => {
      await chain.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
