/** Claims that are false, or of which nothing can tell, with what a careless reader of a node would make of them. */

import { type Kind, row, START } from '../../../../test/traps/verifier-table.ts'
import { digest, ETHEREUM, EvmChain, HOUR, MINUTE, SECOND, SECOND_LAYER, sign } from './evm-chain.ts'
import {
  ALICE,
  BOB,
  BUNDLER,
  CAROL,
  DELEGATED,
  ETHER,
  FAKE_TOKEN,
  named,
  payment,
  type Row,
  SAFE,
  type Scene,
  SOME_CODE,
  SPLITTER,
  TOKEN,
  TRANSFER,
  tokenCall,
  topicOf,
  transferOf,
} from './row.ts'
import { ARCHIVE, type Client, type NodeView, refusing, withoutFirst } from './rpc-node.ts'

const FAILED: Kind = ['never', 'failed']
const OTHER: Kind = ['other', 'mismatch']
const LATE: Kind = ['late', 'late']
const NEVER_TOLD: Kind = ['never', 'unverifiable']
const IN_TIME_UNTOLD: Kind = ['in time', 'unverifiable']
const UNKNOWABLE: Kind = ['unknowable', 'unverifiable']

function trap(kind: Kind, title: string, why: string, scene: () => Scene): Row {
  const [truth, right] = kind
  // Most of what ends undecided is as undecided by a deadline that is nearer than the usual one.
  const near = right === 'unverifiable' ? { deadlineMs: 50 * MINUTE } : {}
  // A claim about a block's contents comes when that is final.
  const later = truth === 'other' || truth === 'unknowable' ? { submittedMs: 25 * MINUTE } : {}
  return row(kind, title, why, () => ({ ...near, ...later, ...scene() }))
}

const PAYMENT = payment()
const TOKEN_CALL = tokenCall()
/** Alice's other one with the same nonce. */
const FASTER = payment({ input: '0x00' })

function chainOf(kind = ETHEREUM): EvmChain {
  const chain = new EvmChain(kind, START)
  chain.setNonce(ALICE, 7)
  for (const contract of [TOKEN, FAKE_TOKEN, SPLITTER, SAFE]) chain.setCode(contract, SOME_CODE)
  return chain
}

/** A chain on which a transaction came into a block within some seconds. */
function mined(
  transaction = PAYMENT,
  { at = 8 * SECOND, ...placed }: { at?: number } & Parameters<EvmChain['include']>[2] = {},
): EvmChain {
  const chain = chainOf()
  chain.include(transaction, START + at, placed)
  return chain
}

/** A chain on which Alice's transaction waits, until another one takes its nonce. */
function replaced(by = FASTER, kind = ETHEREUM): EvmChain {
  const chain = chainOf(kind)
  chain.pend(PAYMENT, { from: START, until: START + 50 * SECOND })
  chain.include(by, START + 50 * SECOND)
  return chain
}

const seen = (chain: EvmChain, view: Partial<NodeView> = {}): readonly NodeView[] => [
  { chain, states: ARCHIVE, ...view },
]

const PRUNED: readonly Client[] = ['geth', 'erigon', 'nethermind', 'infura']

export const FALSE: readonly Row[] = [
  // It did not succeed.
  trap(FAILED, 'reverted', 'its block is final, and it had no effect', () => ({
    chain: mined(PAYMENT, { status: 0 }),
    params: named(PAYMENT),
    facts: { reverted: true },
  })),
  trap(FAILED, 'reverted, by its hash alone', 'the hash is enough to see it', () => ({
    chain: mined(PAYMENT, { status: 0 }),
    params: { hash: PAYMENT.hash },
  })),
  trap(FAILED, 'a token transfer that reverted', 'what it would have written is not there, and nor is it', () => ({
    chain: mined(TOKEN_CALL, { status: 0 }),
    params: { ...named(TOKEN_CALL), event: { contract: TOKEN, topics: [TRANSFER] } },
  })),
  trap(FAILED, 'replaced by a speed-up', 'another one used its nonce in a final block', () => {
    const chain = replaced()
    return { chain, nodes: seen(chain), params: named(PAYMENT), facts: { nonce_used_by: FASTER.hash } }
  }),
  trap(FAILED, 'replaced, at a node that keeps 128 states', 'Ethereum is final within them', () => {
    const chain = replaced()
    return { chain, nodes: seen(chain, { states: 128 }), params: named(PAYMENT) }
  }),
  trap(FAILED, 'cancelled', 'a transfer of nothing to itself used its nonce', () => {
    const chain = replaced(payment({ to: ALICE, value: 0n }))
    return { chain, nodes: seen(chain), params: { hash: PAYMENT.hash, sender: ALICE, nonce: 7 } }
  }),
  trap(FAILED, 'replaced on a second layer, at an archive', 'the state of the blocks before is there', () => {
    const chain = replaced(FASTER, SECOND_LAYER)
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(FAILED, 'replaced by one that reverted', 'what fails uses its nonce, too', () => {
    const chain = chainOf()
    chain.include(FASTER, START + 50 * SECOND, { status: 0 })
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(FAILED, 'a nonce that was used a day ago', 'no transaction with it can come', () => {
    const chain = chainOf()
    chain.include(payment({ nonce: 7, to: CAROL }), START - 24 * HOUR)
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(FAILED, 'a nonce that was used six hours ago on a second layer', 'that is ten thousand blocks', () => {
    const chain = chainOf(SECOND_LAYER)
    chain.include(payment({ nonce: 7, to: CAROL }), START - 6 * HOUR)
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(FAILED, 'reorganized away, and its nonce used', 'the branch that is final has another one', () => {
    const chain = mined()
    chain.reorganize('other', chain.numberFrom(START + 8 * SECOND), START + 40 * SECOND)
    chain.include(FASTER, START + 32 * SECOND, { branch: 'other' })
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(
    ['never', 'unverifiable', 'failed'],
    'replaced by a speed-up, claimed by its hash alone',
    'the claim does not say whose nonce to look at',
    () => ({
      chain: replaced(),
      params: { hash: PAYMENT.hash },
    }),
  ),
  trap(
    NEVER_TOLD,
    'replaced on a second layer, at a node that keeps few states',
    'the state of the blocks before is gone',
    () => {
      const chain = replaced(FASTER, SECOND_LAYER)
      return { chain, nodes: seen(chain, { states: 128 }), params: named(PAYMENT) }
    },
  ),
  ...PRUNED.map((client) =>
    trap(
      NEVER_TOLD,
      `a nonce that was used a day ago, at ${client} without old states`,
      'nobody can tell by what it was used',
      () => {
        const chain = chainOf()
        chain.include(payment({ nonce: 7, to: CAROL }), START - 24 * HOUR)
        return { chain, nodes: seen(chain, { states: 128, client }), params: named(PAYMENT) }
      },
    ),
  ),
  trap(
    ['never', 'unverifiable', 'failed'],
    'a nonce that an authorization used',
    'no transaction of the sender used it (EIP-7702): somebody else carried the authorization',
    () => {
      const chain = chainOf()
      const carried = sign({
        from: CAROL,
        to: BOB,
        nonce: 3,
        type: 4,
        authorizations: [{ authority: ALICE, nonce: 7 }],
      })
      chain.include(carried, START + 50 * SECOND)
      return { chain, nodes: seen(chain), params: named(PAYMENT), facts: { nonce_used_by: undefined } }
    },
  ),
  trap(NEVER_TOLD, 'a nonce that is the next one', 'it can still come', () => {
    const chain = chainOf()
    chain.include(payment({ nonce: 7, to: CAROL }), START - HOUR)
    const next = payment({ nonce: 8 })
    return { chain, nodes: seen(chain), params: named(next) }
  }),
  trap(NEVER_TOLD, 'made up', 'a node that does not know a hash proves nothing', () => {
    const chain = chainOf()
    return { chain, nodes: seen(chain), params: { hash: digest('made up') } }
  }),
  trap(NEVER_TOLD, 'dropped from the pool, and never mined', 'its nonce is unused, so it can still come', () => {
    const chain = chainOf()
    chain.pend(PAYMENT, { from: START, until: START + 30 * MINUTE })
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(NEVER_TOLD, 'waiting for a better price until the deadline', 'it can still come', () => {
    const chain = chainOf()
    chain.pend(PAYMENT, { from: START, until: START + 24 * HOUR })
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(
    NEVER_TOLD,
    'reorganized away after it was seen',
    'a block that is not final is none, and its nonce is unused',
    () => {
      const chain = mined()
      chain.reorganize('other', chain.numberFrom(START + 8 * SECOND), START + 40 * SECOND)
      return { chain, nodes: seen(chain), params: named(PAYMENT) }
    },
  ),
  trap(
    NEVER_TOLD,
    'reorganized away, and one of two nodes stays on the old branch',
    'what is final at one node is of another branch than the receipt of the other',
    () => {
      const chain = mined()
      chain.reorganize('other', chain.numberFrom(START + 8 * SECOND), START + 40 * SECOND)
      const nodes = [...seen(chain), ...seen(chain, { stuckAt: START + 30 * SECOND })]
      return { chain, nodes, params: { hash: PAYMENT.hash } }
    },
  ),
  trap(
    NEVER_TOLD,
    'reorganized away, and the node beside the right one stays on the old branch',
    'as above, with the nodes in the other order',
    () => {
      const chain = mined()
      chain.reorganize('other', chain.numberFrom(START + 8 * SECOND), START + 40 * SECOND)
      const nodes = [
        ...seen(chain, { stuckAt: START + 30 * SECOND }),
        ...seen(chain),
        ...seen(chain, { stuckAt: START + 30 * SECOND }),
      ]
      return { chain, nodes, params: { hash: PAYMENT.hash } }
    },
  ),

  // It came later.
  trap(LATE, 'mined after the tolerance', 'its block is of the fifteenth minute', () => {
    const chain = mined(PAYMENT, { at: 15 * MINUTE })
    chain.pend(PAYMENT, { from: START, until: START + 15 * MINUTE })
    return { chain, params: named(PAYMENT) }
  }),
  trap(
    LATE,
    'mined after the tolerance, and unknown before',
    'the time of its block tells it without any look',
    () => ({
      chain: mined(PAYMENT, { at: 40 * MINUTE }),
      params: { hash: PAYMENT.hash },
    }),
  ),
  trap(
    ['late', 'late', 'unverifiable'],
    'reorganized, and mined again a quarter of an hour later',
    'the only block that is final is late',
    () => {
      const chain = mined()
      chain.reorganize('other', chain.numberFrom(START + 8 * SECOND), START + 40 * SECOND)
      chain.include(PAYMENT, START + 15 * MINUTE, { branch: 'other' })
      return { chain, params: named(PAYMENT) }
    },
  ),
  trap(
    ['late', 'unverifiable', 'late', 'failed'],
    'mined after the deadline',
    'until then nothing told that it would not come',
    () => ({
      deadlineMs: 2 * HOUR,
      chain: mined(PAYMENT, { at: 2 * HOUR + 10 * MINUTE }),
      params: named(PAYMENT),
    }),
  ),
  trap(
    ['in time', 'unverifiable'],
    'a chain whose clock is ahead by twelve minutes',
    'its block is dated after the tolerance, and was seen before that',
    () => {
      const chain = new EvmChain(ETHEREUM, START, 12 * MINUTE)
      chain.setNonce(ALICE, 7)
      chain.include(PAYMENT, START + 8 * SECOND)
      return { chain, params: named(PAYMENT) }
    },
  ),
  trap(
    ['in time', 'unverifiable'],
    'a chain whose clock is ahead by three hours',
    'the time of its block is later than the answer that shows it',
    () => {
      const chain = new EvmChain(ETHEREUM, START, 3 * HOUR)
      chain.setNonce(ALICE, 7)
      chain.include(PAYMENT, START + 8 * SECOND)
      return { chain, params: named(PAYMENT) }
    },
  ),

  // It is another than claimed.
  trap(OTHER, 'paid to another account', 'it is final, and its recipient is no contract that could pay on', () => ({
    chain: mined(),
    params: { ...named(PAYMENT), recipient: CAROL },
  })),
  trap(
    ['other', 'unverifiable'],
    'paid to another account on a second layer, by a node that keeps few states',
    'whether its recipient had code then, and paid on, is gone',
    () => {
      const chain = chainOf(SECOND_LAYER)
      chain.include(PAYMENT, START + 8 * SECOND)
      return { chain, nodes: seen(chain, { states: 128 }), params: { ...named(PAYMENT), recipient: CAROL } }
    },
  ),
  trap(OTHER, 'paid to another account, by a node that keeps 128 states', 'Ethereum is final within them', () => {
    const chain = mined()
    return {
      submittedMs: SECOND,
      chain,
      nodes: seen(chain, { states: 128 }),
      params: { ...named(PAYMENT), recipient: CAROL },
    }
  }),
  trap(OTHER, 'another value', 'it is final, and carries less', () => ({
    chain: mined(),
    params: { ...named(PAYMENT), value: String(2n * ETHER) },
  })),
  trap(OTHER, 'a value of gwei told as wei', 'a number in another unit is another number', () => ({
    chain: mined(),
    params: { ...named(PAYMENT), value: '1000000000' },
  })),
  trap(OTHER, 'sent by another account', 'it is final, and another key signed it', () => ({
    chain: mined(),
    params: { hash: PAYMENT.hash, sender: CAROL },
  })),
  trap(OTHER, 'another nonce', 'it is final, and has its own', () => ({
    chain: mined(),
    params: { hash: PAYMENT.hash, nonce: 8 },
  })),
  trap(OTHER, 'the right topics from another contract', 'anyone can write them', () => ({
    chain: mined(payment({ to: FAKE_TOKEN }), { logs: [transferOf(ALICE, BOB, FAKE_TOKEN)] }),
    params: {
      hash: payment({ to: FAKE_TOKEN }).hash,
      event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)] },
    },
    facts: { event_found: false },
  })),
  trap(OTHER, 'the right contract, and another recipient', 'the third topic is another', () => ({
    chain: mined(TOKEN_CALL, { logs: [transferOf(ALICE, CAROL)] }),
    params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)] } },
  })),
  trap(OTHER, 'topics in another order', 'from Bob to Alice is not from Alice to Bob', () => ({
    chain: mined(TOKEN_CALL, { logs: [transferOf(BOB, ALICE)] }),
    params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)] } },
  })),
  trap(OTHER, 'topics of two events', 'one event has them all, or none', () => ({
    chain: mined(TOKEN_CALL, { logs: [transferOf(ALICE, CAROL), transferOf(CAROL, BOB)] }),
    params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)] } },
  })),
  trap(OTHER, 'more topics than the event has', 'what the claim names has to be there', () => ({
    chain: mined(TOKEN_CALL, { logs: [{ contract: TOKEN, topics: [TRANSFER] }] }),
    params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE)] } },
  })),
  trap(
    OTHER,
    'a transfer of tokens by a call that wrote nothing',
    'some tokens answer false, and do not revert',
    () => ({
      chain: mined(TOKEN_CALL),
      params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER] } },
    }),
  ),

  // Nothing can tell.
  trap(UNKNOWABLE, 'value that a contract pays on', 'an internal call leaves no trace in the transaction', () => {
    const split = payment({ to: SPLITTER })
    return { chain: mined(split), params: { ...named(split), recipient: BOB } }
  }),
  trap(
    UNKNOWABLE,
    'value that a contract pays on, by a node that keeps few states',
    'what cannot be read decides nothing either',
    () => {
      const split = payment({ to: SPLITTER })
      const chain = chainOf(SECOND_LAYER)
      chain.include(split, START + 8 * SECOND)
      return { chain, nodes: seen(chain, { states: 128 }), params: { ...named(split), recipient: BOB } }
    },
  ),
  trap(
    UNKNOWABLE,
    'value that a delegated account pays on',
    'its key is a plain one, and its code is another’s (EIP-7702)',
    () => {
      const chain = mined()
      chain.setCode(BOB, DELEGATED, START - HOUR)
      return { chain, params: { ...named(PAYMENT), recipient: CAROL } }
    },
  ),
  trap(
    UNKNOWABLE,
    'value that an account paid on which ended its delegation since',
    'it had code in the block of the transaction',
    () => {
      const chain = mined()
      chain.setCode(BOB, DELEGATED, START - HOUR)
      chain.setCode(BOB, '0x', START + MINUTE)
      return { chain, params: { ...named(PAYMENT), recipient: CAROL } }
    },
  ),
  trap(
    UNKNOWABLE,
    'value that an account paid on which delegated by this very transaction',
    'it had no code in the block before',
    () => {
      const upgrade = payment({ type: 4, authorizations: [{ authority: BOB, nonce: 0 }] })
      const chain = mined(upgrade)
      chain.setCode(BOB, DELEGATED, START + 8 * SECOND)
      return { chain, params: { ...named(upgrade), recipient: CAROL } }
    },
  ),
  trap(UNKNOWABLE, 'value that a constructor pays on', 'a creation runs code that is nowhere afterwards', () => {
    const creation = payment({ to: null, input: SOME_CODE })
    return { chain: mined(creation), params: { hash: creation.hash, recipient: BOB } }
  }),
  trap(
    UNKNOWABLE,
    'a Safe as the sender',
    'its owner signed, and a contract signs nothing: the claim means another thing by it',
    () => {
      const executed = sign({ from: CAROL, to: SAFE, nonce: 12, input: '0x6a761202' })
      return { chain: mined(executed), params: { hash: executed.hash, sender: SAFE } }
    },
  ),
  trap(UNKNOWABLE, 'a wallet of EIP-4337 as the sender', 'the bundler signed', () => {
    const entry = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
    const bundle = sign({ from: BUNDLER, to: entry, nonce: 91_234, input: '0x765e827f' })
    const chain = mined(bundle)
    chain.setCode(entry, SOME_CODE)
    return { chain, params: { hash: bundle.hash, sender: SAFE, recipient: BOB, value: String(ETHER) } }
  }),
  trap(
    UNKNOWABLE,
    'a delegated account as the sender, whose bundler signed',
    'it acts by its code without signing a transaction (EIP-7702)',
    () => {
      const entry = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
      const bundle = sign({ from: BUNDLER, to: entry, nonce: 91_234, input: '0x765e827f' })
      const chain = mined(bundle)
      chain.setCode(entry, SOME_CODE)
      chain.setCode(ALICE, DELEGATED, START - HOUR)
      return { chain, params: { hash: bundle.hash, sender: ALICE } }
    },
  ),
  trap(UNKNOWABLE, 'a receipt from before Byzantium', 'it has the root of the state, and no status', () => {
    const old = payment({ type: 0 })
    return { chain: mined(old, { status: 'root' }), params: named(old) }
  }),
  trap(IN_TIME_UNTOLD, 'a node that does not know the tag', 'nothing says what is final', () => {
    const chain = mined()
    return { chain, nodes: seen(chain, { finalized: 'unknown tag' }), params: named(PAYMENT) }
  }),
  trap(IN_TIME_UNTOLD, 'a node that has no final block yet', 'nothing says what is final', () => {
    const chain = mined()
    return { chain, nodes: seen(chain, { finalized: 'not found' }), params: named(PAYMENT) }
  }),
  trap(IN_TIME_UNTOLD, 'a node that answers null for the tag', 'nothing says what is final', () => {
    const chain = mined()
    return { chain, nodes: seen(chain, { finalized: 'null' }), params: named(PAYMENT) }
  }),
  trap(NEVER_TOLD, 'replaced, at a node that answers null for the tag', 'nothing says what is final', () => {
    const chain = replaced()
    return { chain, nodes: seen(chain, { finalized: 'null' }), params: named(PAYMENT) }
  }),
  trap(
    IN_TIME_UNTOLD,
    'finality that stops until after the deadline',
    'a block that may be replaced is none yet',
    () => {
      const chain = mined()
      chain.stall({ from: START })
      return { chain, nodes: seen(chain), params: named(PAYMENT) }
    },
  ),
  trap(NEVER_TOLD, 'replaced while finality stops', 'the other one may still be replaced, too', () => {
    const chain = replaced()
    chain.stall({ from: START })
    return { chain, nodes: seen(chain), params: named(PAYMENT) }
  }),
  trap(IN_TIME_UNTOLD, 'a node that lags by three hours', 'it does not know the block by the deadline', () => {
    const chain = mined()
    return { chain, nodes: seen(chain, { lagMs: 3 * HOUR }), params: named(PAYMENT) }
  }),
  trap(IN_TIME_UNTOLD, 'a node that stopped a minute before', 'it answers, and knows nothing of now', () => {
    const chain = mined()
    return { chain, nodes: seen(chain, { stuckAt: START - MINUTE }), params: named(PAYMENT) }
  }),
  trap(
    IN_TIME_UNTOLD,
    'a node that finds only the transactions of an hour',
    'it forgot the index, and the nonce is used: by this one',
    () => {
      const chain = mined()
      return { chain, nodes: seen(chain, { indexed: 300 }), params: named(PAYMENT), claimedMs: 48 * HOUR }
    },
  ),
  trap(IN_TIME_UNTOLD, 'a node of a test chain', 'its id is not that of the connection', () => {
    const chain = mined()
    return { chain, nodes: seen(new EvmChain({ ...ETHEREUM, chainId: 11155111 }, START)), params: named(PAYMENT) }
  }),
  trap(
    ['never', 'unverifiable'],
    'mined on the test chain alone',
    'a transaction without the id of its chain can be on both',
    () => {
      const legacy = payment({ type: 0 })
      const other = new EvmChain({ ...ETHEREUM, chainId: 11155111 }, START)
      other.setNonce(ALICE, 7)
      other.include(legacy, START + 8 * SECOND)
      return { chain: other, chainId: '1', nodes: seen(other, { isOld: true }), params: named(legacy) }
    },
  ),
  trap(IN_TIME_UNTOLD, 'a chain with the same id and another genesis', 'it does not know the transaction', () => {
    const fork = new EvmChain({ ...ETHEREUM, genesis: digest('another genesis') }, START)
    fork.setNonce(ALICE, 7)
    return { chain: fork, nodes: seen(fork), params: named(PAYMENT) }
  }),
  trap(
    IN_TIME_UNTOLD,
    'an endpoint that goes over to another chain of the same id',
    'the nonce is used there, after the first looks were elsewhere',
    () => {
      const kind = { ...ETHEREUM, chainId: 1337 }
      const chain = new EvmChain({ ...kind, genesis: digest('one genesis') }, START)
      const fork = new EvmChain({ ...kind, genesis: digest('another genesis') }, START)
      for (const each of [chain, fork]) each.setNonce(ALICE, 7)
      chain.include(PAYMENT, START + 8 * SECOND)
      fork.include(FASTER, START + 8 * SECOND)
      return { chain, nodes: seen(chain), after: { at: START + 5 * MINUTE, nodes: seen(fork) }, params: named(PAYMENT) }
    },
  ),
  trap(
    ['never', 'unverifiable', 'failed'],
    'reverted, at a node without the first block',
    'nothing tells which chain it is',
    () => ({
      chain: mined(PAYMENT, { status: 0 }),
      instead: withoutFirst,
      params: named(PAYMENT),
    }),
  ),
  trap(IN_TIME_UNTOLD, 'a proxy that answers with the receipt of another', 'a receipt says whose it is', () => {
    const chain = mined()
    const other = payment({ nonce: 8, to: CAROL })
    chain.include(other, START + 8 * SECOND, { status: 0 })
    return { chain, mistaken: { method: 'eth_getTransactionReceipt', hash: other.hash }, params: named(PAYMENT) }
  }),
  trap(
    ['never', 'unverifiable'],
    'a proxy that answers with another, for a hash that is made up',
    'a transaction says its hash',
    () => {
      const chain = mined()
      return { chain, mistaken: { method: 'both', hash: PAYMENT.hash }, params: { hash: digest('made up') } }
    },
  ),
  trap(IN_TIME_UNTOLD, 'a key that is refused', 'nothing was read', () => ({
    chain: mined(),
    key: 'f1c2d3e4a5b6478899aabbccddeeff00',
    connection: { key: 'wrongwrongwrongwrong' },
    params: named(PAYMENT),
  })),
  trap(IN_TIME_UNTOLD, 'a node without receipts', 'what succeeded is in the receipt alone', () => ({
    chain: mined(),
    instead: refusing('eth_getTransactionReceipt', 4444, 'Pruned history unavailable'),
    params: named(PAYMENT),
  })),
  trap(
    IN_TIME_UNTOLD,
    'a node that has the transaction, and null for its receipt',
    'what succeeded is in the receipt alone',
    () => ({
      chain: mined(),
      mistaken: { method: 'eth_getTransactionReceipt', hash: digest('nothing') },
      params: named(PAYMENT),
    }),
  ),
]
