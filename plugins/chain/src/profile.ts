/** The profile of the action `chain.transaction.confirm`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const ADDRESS = '0x[0-9a-fA-F]{40}'
const WORD = '0x[0-9a-fA-F]{64}'

const address = (title: string, description: string) =>
  Type.Optional(
    Type.String({
      title,
      pattern: `^${ADDRESS}$`,
      'x-pattern-help': 'enter 0x and 40 hexadecimal characters, no name',
      description,
      examples: ['0xd8da6bf26964af9d7eed9e03e53415d37aa96045'],
    }),
  )

const Params = Type.Object(
  {
    hash: Type.String({
      title: 'Hash',
      pattern: `^${WORD}$`,
      'x-pattern-help': 'enter 0x and 64 hexadecimal characters',
      description: 'The hash of the transaction.',
      examples: ['0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060'],
    }),
    sender: address(
      'Sender',
      'The account that signed the transaction, as its `from`: not a wallet that is a contract.',
    ),
    nonce: Type.Optional(
      Type.Integer({
        title: 'Nonce',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The number of the transaction among those of the sender. With both, a transaction that another one replaced is told from one that is not known yet.',
        examples: [7],
      }),
    ),
    recipient: address(
      'Recipient',
      'The `to` of the transaction itself. Name the contract where a contract pays somebody.',
    ),
    value: Type.Optional(
      Type.String({
        title: 'Value',
        pattern: '^[0-9]{1,78}$',
        'x-pattern-help': 'enter a whole number of wei: one ether is 1000000000000000000',
        description: 'The value that the transaction itself carries, in wei. What a contract pays on is not in it.',
        examples: ['1000000000000000000'],
      }),
    ),
    event: Type.Optional(
      Type.Object(
        {
          contract: Type.String({
            title: 'Contract',
            pattern: `^${ADDRESS}$`,
            examples: ['0xdac17f958d2ee523a2206206994597c13d831ec7'],
          }),
          topics: Type.Array(Type.String({ pattern: `^${WORD}$` }), {
            title: 'Topics',
            minItems: 1,
            maxItems: 4,
            description: 'The first topics of the event, the hash of its signature first.',
          }),
        },
        {
          title: 'Event',
          description: 'An event that this contract wrote in the transaction.',
          additionalProperties: false,
        },
      ),
    ),
  },
  { additionalProperties: false },
)

const hex = (title: string, digits: number, description: string) =>
  Type.Optional(Type.String({ title, pattern: `^0x[0-9a-f]{${digits}}$`, maxLength: digits + 2, description }))

const flag = (title: string, description: string) => Type.Optional(Type.Boolean({ title, description }))

const Facts = Type.Object(
  {
    chain: Type.String({
      title: 'Chain',
      pattern: '^eip155:[1-9][0-9]*$',
      maxLength: 40,
      description: 'The chain, by its id as the node tells it.',
    }),
    finalized_block: Type.Integer({
      title: 'Newest final block',
      description: 'The newest block that the node called finalized.',
    }),
    transaction: hex('Transaction', 64, 'The hash under which the node shows the transaction.'),
    block: Type.Optional(Type.Integer({ title: 'Block', description: 'The block that has the transaction.' })),
    block_time: Type.Optional(
      Type.String({
        title: 'Time of the block',
        format: 'date-time',
        description: 'The time of that block, which its proposer wrote.',
      }),
    ),
    pending: flag('Not final', 'The node knows the transaction, and its block is not final yet, or there is none.'),
    reverted: flag('Reverted', 'The transaction is in a block, and was reverted: it had no effect but its fee.'),
    sender: hex('Sender', 40, 'The account that signed it.'),
    nonce: Type.Optional(
      Type.Integer({ title: 'Nonce', description: 'Its number among the transactions of the sender.' }),
    ),
    recipient: hex('Recipient', 40, 'Its own recipient; missing if it made a contract.'),
    value: Type.Optional(
      Type.String({ title: 'Value', pattern: '^[0-9]+$', maxLength: 78, description: 'Its own value, in wei.' }),
    ),
    event_found: flag('Event found', 'The contract wrote an event with the claimed topics in this transaction.'),
    nonce_used_by: hex(
      'Nonce used by',
      64,
      'The other transaction, in a final block, that used the nonce of the sender.',
    ),
    preexisting: flag('There before', 'Its block is more than the tolerance before the claim.'),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const confirmProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'chain.transaction.confirm',
  version: '1',
  rulesVersion: 2,
  summary: 'A transaction succeeded in a block that the chain calls final.',
  words: {
    title: 'Transaction on a chain',
    target: 'Chain',
    claim: [
      'Transaction {hash} on {target} sent {value} wei to {recipient}.',
      'Transaction {hash} on {target} was confirmed.',
    ],
    outcomes: {
      verified: 'Transaction {hash} succeeded on {target}, in a final block.',
      late: 'Transaction {hash} succeeded on {target}, in a final block that came too late.',
      mismatch: 'Transaction {hash} succeeded on {target}, and is not as the claim says.',
      failed: 'Transaction {hash} did not succeed on {target}.',
    },
    facts: {
      block_time: 'It is in block {block}, of {block_time}.',
      pending: { true: 'The node knows it, and its block is not final yet.' },
      reverted: { true: 'It was reverted: it had no effect but its fee.' },
      nonce_used_by:
        'Transaction {nonce_used_by} used this nonce of the sender in a final block, so this one can never be in one.',
      event_found: { false: 'The contract wrote no event with the claimed topics in it.' },
      preexisting: {
        true: 'It was there before the claim, since {block_time}: the claim may be about work that was done earlier.',
      },
    },
  },
  target: Type.String({
    pattern: '^eip155:[1-9][0-9]{0,31}$',
    'x-pattern-help': 'write the chain by CAIP-2: eip155:1 is Ethereum, eip155:8453 is Base',
    description: 'The chain, by CAIP-2: `eip155:` and the id of the chain.',
    examples: ['eip155:1'],
  }),
  params: Params,
  facts: Facts,
  required: {
    hash: 'target',
    sender: 'target',
    nonce: 'target',
    recipient: 'content',
    value: 'content',
    event: 'content',
  },
  shows: { reverted: { not: true }, pending: { not: true } },
  compared: {
    target: { fact: 'chain', as: 'exact' },
    hash: { fact: 'transaction', as: 'case' },
    sender: { fact: 'sender', as: 'case' },
    nonce: { fact: 'nonce', as: 'exact' },
    recipient: { fact: 'recipient', as: 'case' },
    value: { fact: 'value', as: 'exact' },
    event: { facts: ['event_found'], are: true },
  },
  past: ['block_time'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 120 * MINUTE_MS,
  maxDeadlineMs: 48 * 60 * MINUTE_MS,
  access: { permission: 'Reading blocks and transactions by JSON-RPC.', anonymous: false },
}
