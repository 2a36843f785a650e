/** The plugin's options, and what the anchorer makes of them. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { isAddress } from 'ethers/address'
import { type Account, readAccount } from './account.ts'
import { CHAINS, type Chain } from './chains.ts'

const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const Seconds = (seconds: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, default: seconds, description }))

const INTERVAL_S = 600
const STUCK_AFTER_S = 180
const TIMEOUT_S = 10
const MAX_FEE_GWEI = 100

export const Options = Type.Object(
  {
    rpc_url: Type.String({
      pattern: '^https?://[^\\s/?#@]+(?:[/?][^\\s#]*)?$',
      maxLength: 2048,
      description: 'Where a node of the chain answers. Of what follows the host nothing is ever shown.',
    }),
    chain: Type.Union(
      [
        Type.Enum(Object.keys(CHAINS)),
        Type.Object({ id: Type.Integer({ minimum: 1 }), eas: Address, schema_registry: Address }, closed()),
      ],
      { description: 'A known chain by its name, or any other by its id and the addresses of its contracts.' },
    ),
    key_file: Type.Optional(
      Type.String({ minLength: 1, description: "A file with the account's private key in hex." }),
    ),
    key_env: Type.Optional(
      // Shorter than a key: one that is written here by mistake is refused, and not shown as a name.
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        maxLength: 60,
        description: 'The environment variable that holds the key instead.',
      }),
    ),
    interval_s: Seconds(INTERVAL_S, 'At the least so long between two anchors.'),
    confirmations: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'A block with so many on top of it is final: for chains without a finalized block. Else that one counts.',
      }),
    ),
    max_fee_gwei: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        default: MAX_FEE_GWEI,
        description: 'The most that a unit of gas may cost.',
      }),
    ),
    stuck_after_s: Seconds(STUCK_AFTER_S, 'A transaction that waits longer is signed again, with higher fees.'),
    timeout_s: Seconds(TIMEOUT_S, 'The node answers a request within this time.'),
  },
  closed(),
)

/** What an anchorer is made from. */
export interface Settings {
  readonly rpcUrl: string
  readonly chain: Chain
  readonly account: Account
  readonly intervalMs: number
  readonly stuckAfterMs: number
  readonly timeoutMs: number
  /** null: the chain's `finalized` block says what is final. */
  readonly confirmations: number | null
  readonly maxFeeWei: bigint
}

const WEI_PER_GWEI = 1_000_000_000

/** @throws Error that names everything that is wrong with them */
export function readOptions(
  options: Static<typeof Options>,
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: Settings; readonly isKeyExposed: boolean } {
  const chain = toChain(options.chain)
  const reading = readAccount(options, env)
  const problems = [
    ...(URL.canParse(options.rpc_url) ? [] : ['rpc_url is not a URL']),
    ...[chain.eas, chain.schemaRegistry]
      .filter((address) => !isAddress(address))
      .map((address) => `chain: ${address} is mistyped: its checksum is wrong`),
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
      confirmations: options.confirmations ?? null,
      maxFeeWei: BigInt(Math.ceil((options.max_fee_gwei ?? MAX_FEE_GWEI) * WEI_PER_GWEI)),
    },
    isKeyExposed: reading.isExposed,
  }
}

function toChain(chain: Static<typeof Options>['chain']): Chain {
  if (typeof chain === 'string') return CHAINS[chain]!
  return { id: chain.id, eas: chain.eas, schemaRegistry: chain.schema_registry }
}

function closed() {
  return { additionalProperties: false }
}
