/** The connection to a node of a chain. */
import { defineConnectionType, isRefused, type Static, secret, Type } from '@claimcheck/core/plugin'
import { nodeOf } from './node.ts'

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
      'x-pattern-help': 'enter an address that begins with https:// or http://, without a key, a user name and a query',
      maxLength: 2048,
      description: 'The address of the JSON-RPC of the node, without the key: `https://mainnet.infura.io/v3`.',
      examples: ['https://mainnet.infura.io/v3'],
    }),
    chain_id: Type.String({
      title: 'Chain',
      pattern: '^[1-9][0-9]{0,31}$',
      'x-pattern-help': 'enter the number of the chain: 1 is Ethereum',
      description: 'The id of the chain, in digits.',
      examples: ['1'],
    }),
    key: Type.Optional(
      secret({
        title: 'Key',
        description: 'The key, as the last segment of the path. Leave it out for a node without one.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

export const connectionType = defineConnectionType({
  provider: 'evm',
  title: 'EVM chain',
  options: Options,
  credentials: { key: { scheme: 'path', secret: 'key' } },
  help: 'Any node that answers Ethereum’s JSON-RPC and knows the block `finalized`. A key of a provider can send signed transactions, which this plugin never does: there are no keys that only read.',
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ chain_id }, { target }) => target === `eip155:${chain_id}`,
  refusesHidden: true,
  identified: true,
  async probe(options, context) {
    const { key: _, ...withoutKey } = options
    const node = nodeOf(context, options)
    const identity = await node.identity()
    await node.finalized()
    // Reads without the key, too: anybody may read what a node answers then.
    const isRead = options.key !== undefined && (await isRefused(() => nodeOf(context, withoutKey).identity()))
    return { proves: isRead ? 'works' : 'reached', scopes: [], warnings: [], identity }
  },
})
