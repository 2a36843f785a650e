/** The schema of the options that an operator gives the plugin anchor-eas. */
import { Type } from '@claimcheck/core/plugin'
import { CHAINS } from './chains.ts'

const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  'x-pattern-help': 'enter 0x and 40 hexadecimal characters',
})
const Seconds = (seconds: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, default: seconds, description }))

export const INTERVAL_S = 600
export const STUCK_AFTER_S = 180
export const TIMEOUT_S = 10
export const MAX_FEE_GWEI = 100

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
      // Limit of the name, shorter than a key, so that a key that is entered here by mistake is refused and never shown.
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

function closed() {
  return { additionalProperties: false }
}
