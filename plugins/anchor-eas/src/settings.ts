/** The anchorer's settings, which follow from the plugin's options. */
import { parseUrl, type Static } from '@claimcheck/core/plugin'
import { isAddress } from 'ethers/address'
import { readAccount } from './account.ts'
import { CHAINS, type Chain } from './chains.ts'
import { INTERVAL_S, MAX_FEE_GWEI, type Options, STUCK_AFTER_S, TIMEOUT_S } from './options.ts'

/** The settings of an anchorer, with everything that it needs. */
export type Settings = ReturnType<typeof readOptions>['settings']

const WEI_PER_GWEI = 1_000_000_000

/** Reads the anchorer's settings. @throws Error that lists every mistake in the options */
export function readOptions(options: Static<typeof Options>, env: Readonly<Record<string, string | undefined>>) {
  const chain = toChain(options.chain)
  const reading = readAccount(options, env)
  const problems = [
    ...(parseUrl(options.rpc_url) ? [] : ['rpc_url is not a URL']),
    ...[chain.eas, chain.schemaRegistry]
      .filter((address) => !isAddress(address))
      .map((address) => `chain: the checksum of the address ${address} is wrong: check it for typing mistakes`),
    ...('problem' in reading ? [reading.problem] : []),
  ]
  if ('problem' in reading || problems.length > 0) throw new Error(problems.join('; '))
  return {
    settings: {
      rpcUrl: options.rpc_url,
      chain,
      account: reading.account,
      intervalMs: (options.interval_s ?? INTERVAL_S) * 1000,
      stuckAfterMs: (options.stuck_after_s ?? STUCK_AFTER_S) * 1000,
      timeoutMs: (options.timeout_s ?? TIMEOUT_S) * 1000,
      /** Number of blocks that make a block final; `null` if the chain has a finalized block. */
      confirmations: options.confirmations ?? null,
      /** The highest price for a unit of gas, in wei. */
      maxFeeWei: BigInt(Math.ceil((options.max_fee_gwei ?? MAX_FEE_GWEI) * WEI_PER_GWEI)),
    },
    isKeyExposed: reading.isExposed,
  }
}

function toChain(chain: Static<typeof Options>['chain']): Chain {
  if (typeof chain === 'string') return CHAINS[chain]!
  return { id: chain.id, eas: chain.eas, schemaRegistry: chain.schema_registry }
}
