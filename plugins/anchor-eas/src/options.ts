/** The plugin's options, and the anchorer's settings that follow from them. */
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import { isAddress } from 'ethers/address'
import { type Account, readAccount } from './account.ts'
import { CHAINS, type Chain } from './chains.ts'

const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  'x-pattern-help': 'enter 0x and 40 hexadecimal characters',
})
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
      'x-pattern-help': 'enter a URL that begins with https:// or http://, without a user name and a password',
      examples: ['https://rpc.example.com'],
      maxLength: 2048,
      description: 'The URL of a node of the chain. Only its scheme and host are ever shown.',
    }),
    chain: Type.Union(
      [
        Type.Enum(Object.keys(CHAINS)),
        Type.Object({ id: Type.Integer({ minimum: 1 }), eas: Address, schema_registry: Address }, closed()),
      ],
      { description: 'The name of a known chain, or the id of another one with the addresses of its contracts.' },
    ),
    key_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: "A file with the account's private key in hex. Its owner alone should be able to read it.",
      }),
    ),
    key_env: Type.Optional(
      // Shorter than a key, so that a key that is entered here by mistake is refused and never shown as a name.
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        'x-pattern-help': 'enter the name of the variable, letters, digits and underscores',
        examples: ['ANCHOR_KEY'],
        maxLength: 60,
        description: 'The name of an environment variable with the key, instead of key_file.',
      }),
    ),
    interval_s: Seconds(INTERVAL_S, 'The shortest time between two anchors, in seconds.'),
    confirmations: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'For chains without a finalized block: a block with this many blocks after it is final.',
      }),
    ),
    max_fee_gwei: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        default: MAX_FEE_GWEI,
        description: 'The highest price for a unit of gas.',
      }),
    ),
    stuck_after_s: Seconds(
      STUCK_AFTER_S,
      'A transaction that waits for a block longer than these seconds is signed again with higher fees.',
    ),
    timeout_s: Seconds(TIMEOUT_S, 'How many seconds the node may take for an answer.'),
  },
  closed(),
)

/** Everything that the anchorer needs. */
export interface Settings {
  readonly rpcUrl: string
  readonly chain: Chain
  readonly account: Account
  readonly intervalMs: number
  readonly stuckAfterMs: number
  readonly timeoutMs: number
  /** `null`: the chain has a finalized block. */
  readonly confirmations: number | null
  /** For a unit of gas. */
  readonly maxFeeWei: bigint
}

const WEI_PER_GWEI = 1_000_000_000

/** @throws Error that lists every mistake in the options */
export function readOptions(
  options: Static<typeof Options>,
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: Settings; readonly isKeyExposed: boolean } {
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
