/** Claims that are true, as people and agents make them: each has to be verified. */
import { getAddress } from 'ethers'
import { START } from '../../../../test/traps/verifier-table.ts'
import {
  digest,
  ETHEREUM,
  EvmChain,
  FAST_LAYER,
  HOUR,
  MINUTE,
  SECOND,
  SECOND_LAYER,
  sign,
  type Transaction,
} from './evm-chain.ts'
import {
  ALICE,
  APPROVAL,
  BOB,
  BUNDLER,
  CAROL,
  DELEGATED,
  ETHER,
  FAKE_TOKEN,
  named,
  payment,
  type Row,
  type Scene,
  SOME_CODE,
  TOKEN,
  TRANSFER,
  tokenCall,
  topicOf,
  transferOf,
} from './row.ts'
import { ARCHIVE, limitedBetween, limitedInBody, refusing, withoutFirst } from './rpc-node.ts'

const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`

/** A chain on which Alice's transaction came into a block within some seconds. */
function mined(transaction: Transaction, { kind = ETHEREUM, at = 8 * SECOND, ...placed }: MinedOptions = {}): EvmChain {
  const chain = new EvmChain(kind, START)
  chain.setNonce(ALICE, 7)
  chain.setCode(TOKEN, SOME_CODE)
  chain.include(transaction, START + at, placed)
  return chain
}

type MinedOptions = { kind?: typeof ETHEREUM; at?: number } & Parameters<EvmChain['include']>[2]

function honest(title: string, why: string, scene: () => Scene): Row {
  return { title, why, truth: 'in time', right: 'verified', scene }
}

/** A claim whose block is final when it comes: the row is about its form. */
function formed(title: string, why: string, scene: () => Scene): Row {
  return honest(title, why, () => ({ submittedMs: 25 * MINUTE, ...scene() }))
}

const PAYMENT = payment()
const TOKEN_CALL = tokenCall()
const usual = (chain: EvmChain) => ({ chain, states: 128 })

export const HONEST: readonly Row[] = [
  honest('a transfer, named fully', 'it is in a final block, with status 1 and all that was claimed', () => ({
    chain: mined(PAYMENT),
    params: named(PAYMENT),
    claimedMs: 30 * SECOND,
    facts: { chain: 'eip155:1', transaction: PAYMENT.hash, value: String(ETHER), nonce: 7, pending: undefined },
  })),
  honest('a transfer, by its hash alone', 'the hash commits to all the rest', () => ({
    chain: mined(PAYMENT),
    params: { hash: PAYMENT.hash },
    claimedMs: 20 * SECOND,
  })),
  honest('a token transfer, named by its event', 'the token itself wrote the event, among others', () => ({
    chain: mined(TOKEN_CALL, {
      logs: [
        { contract: TOKEN, topics: [APPROVAL, topicOf(ALICE), topicOf(CAROL)] },
        transferOf(CAROL, ALICE),
        transferOf(ALICE, BOB),
      ],
    }),
    params: { ...named(TOKEN_CALL), event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)] } },
    facts: { event_found: true },
  })),
  formed('a token transfer, by the first topic alone', 'what a claim leaves out may be anything', () => ({
    chain: mined(TOKEN_CALL, { logs: [transferOf(ALICE, BOB)] }),
    params: { hash: TOKEN_CALL.hash, event: { contract: TOKEN, topics: [TRANSFER] } },
  })),
  formed(
    'a token bought through a router',
    'the event names the contract that wrote it, and the recipient the one that was called',
    () => {
      const swap = payment({ to: FAKE_TOKEN, input: '0x12aa3caf' })
      const chain = mined(swap, { logs: [transferOf(BOB, ALICE)] })
      chain.setCode(FAKE_TOKEN, SOME_CODE)
      return {
        chain,
        params: { ...named(swap), event: { contract: TOKEN, topics: [TRANSFER, topicOf(BOB), topicOf(ALICE)] } },
      }
    },
  ),
  formed('a contract that was created', 'a creation has no recipient, and the claim names none', () => {
    const creation = payment({ to: null, value: 0n, input: SOME_CODE })
    return { chain: mined(creation), params: named(creation), facts: { recipient: undefined } }
  }),
  honest('claimed while it waits', 'a claim of now is early by as long as its block takes', () => {
    const chain = mined(PAYMENT, { at: 3 * MINUTE })
    chain.pend(PAYMENT, { from: START, until: START + HOUR })
    return { chain, params: named(PAYMENT) }
  }),
  honest('sent past the public pool', 'nobody knows it until its block does, and null is no absence', () => ({
    chain: mined(PAYMENT, { at: 5 * MINUTE }),
    params: named(PAYMENT),
  })),
  honest('at the end of the tolerance', 'the time of its block is in time, whenever it is final', () => ({
    chain: mined(PAYMENT, { at: 9 * MINUTE + 40 * SECOND }),
    params: named(PAYMENT),
  })),
  honest('claimed ten minutes after', 'it was there before', () => ({
    chain: mined(PAYMENT),
    params: named(PAYMENT),
    claimedMs: 10 * MINUTE,
  })),
  honest('submitted three hours after', 'the time of the block outlives the deadline', () => ({
    chain: mined(PAYMENT),
    params: named(PAYMENT),
    submittedMs: 3 * HOUR,
  })),
  honest('mined a day before the claim', 'it was there, and the receipt says that it was there before', () => ({
    chain: mined(PAYMENT),
    params: named(PAYMENT),
    claimedMs: 24 * HOUR,
    facts: { preexisting: true },
  })),
  honest('claimed by another, too, an hour later', 'two claims can be about one transaction', () => ({
    chain: mined(PAYMENT),
    params: { hash: PAYMENT.hash },
    claimedMs: HOUR,
    facts: { preexisting: true },
  })),
  honest('the speed-up, claimed by its own hash', 'of two with one nonce, this one is in a block', () => {
    const faster = payment({ input: '0x00' })
    const chain = mined(faster, { at: 2 * MINUTE })
    chain.pend(PAYMENT, { from: START, until: START + MINUTE })
    return { chain, params: named(faster) }
  }),
  honest(
    'on a second layer with blocks of two seconds',
    'final is when the first layer has it, within the deadline',
    () => ({
      chain: mined(PAYMENT, { kind: SECOND_LAYER }),
      params: named(PAYMENT),
    }),
  ),
  honest('on a layer with four blocks a second', 'several blocks have one time', () => ({
    chain: mined(PAYMENT, { kind: FAST_LAYER }),
    params: named(PAYMENT),
  })),
  honest('on a second layer, by a node that keeps few states', 'no state is needed for what is there', () => {
    const chain = mined(PAYMENT, { kind: SECOND_LAYER })
    return { chain, nodes: [usual(chain)], params: named(PAYMENT) }
  }),
  formed('a deposit of the first layer', 'nobody signed it there, and it has a status all the same', () => {
    const deposit = payment({ type: 0x7e })
    return { chain: mined(deposit, { kind: SECOND_LAYER }), params: { hash: deposit.hash, recipient: BOB } }
  }),
  formed('with checksums and capitals in the claim', 'hexadecimal has no case', () => ({
    chain: mined(TOKEN_CALL, { logs: [transferOf(ALICE, BOB)] }),
    params: {
      hash: upper(TOKEN_CALL.hash),
      sender: getAddress(ALICE),
      recipient: upper(TOKEN),
      event: { contract: getAddress(TOKEN), topics: [TRANSFER, topicOf(ALICE), topicOf(BOB)].map(upper) },
    },
  })),
  formed('with checksums in the answers', 'nor has it there', () => {
    const chain = mined(TOKEN_CALL, { logs: [transferOf(ALICE, BOB)] })
    return {
      chain,
      nodes: [{ chain, spell: getAddress }],
      params: { ...named(TOKEN_CALL), event: { contract: TOKEN, topics: [TRANSFER, topicOf(ALICE)] } },
    }
  }),
  formed('with capitals in the answers', 'nor has it there', () => {
    const chain = mined(PAYMENT)
    return { chain, nodes: [{ chain, spell: upper }], params: named(PAYMENT) }
  }),
  formed('a value beyond what a double holds', 'wei are compared as they are', () => {
    const exact = payment({ value: 123_456_789_012_345_678_901n })
    return { chain: mined(exact), params: named(exact), facts: { value: '123456789012345678901' } }
  }),
  formed('a value with zeros before it', 'it is the same number of wei', () => ({
    chain: mined(PAYMENT),
    params: { ...named(PAYMENT), value: `00${ETHER}` },
  })),
  formed('no value', 'a call that carries nothing carries 0', () => ({
    chain: mined(TOKEN_CALL),
    params: { ...named(TOKEN_CALL), value: '0' },
  })),
  formed('a legacy transaction at an old client', 'its form has neither a type nor the id of the chain', () => {
    const legacy = payment({ type: 0 })
    const chain = mined(legacy)
    return { chain, nodes: [{ chain, isOld: true }], params: named(legacy) }
  }),
  formed(
    'an account that authorizes itself',
    'its transaction takes one nonce, and its authorization the next (EIP-7702)',
    () => {
      const upgrade = payment({ type: 4, authorizations: [{ authority: ALICE, nonce: 8 }] })
      const chain = mined(upgrade)
      chain.setCode(ALICE, DELEGATED, START + 8 * SECOND)
      return { chain, params: named(upgrade) }
    },
  ),
  formed('the first of an account', 'nonce 0 is one', () => {
    const first = payment({ nonce: 0 })
    const chain = mined(first)
    chain.setNonce(ALICE, 0)
    return { chain, params: named(first) }
  }),
  formed('two of one account in a block', 'the other one is not this one', () => {
    const second = payment({ nonce: 8, to: CAROL })
    const chain = mined(PAYMENT)
    chain.include(second, START + 8 * SECOND)
    return { chain, params: named(second) }
  }),
  honest('nodes in turn, of which one lags by forty seconds', 'what one does not know yet is not absent', () => {
    const chain = mined(PAYMENT)
    return { chain, nodes: [usual(chain), { ...usual(chain), lagMs: 40 * SECOND }], params: named(PAYMENT) }
  }),
  honest(
    'nodes in turn, of which one lags by half an hour',
    'the nonce is used at one before the other knows by what: by this one',
    () => {
      const chain = mined(PAYMENT)
      return {
        chain,
        nodes: [
          { chain, states: ARCHIVE },
          { chain, states: ARCHIVE, lagMs: 30 * MINUTE },
        ],
        params: named(PAYMENT),
      }
    },
  ),
  honest('three nodes in turn, of which one lags by half an hour', 'as with two, whichever call each gets', () => {
    const chain = mined(PAYMENT)
    const nodes = [0, 30 * MINUTE, 0].map((lagMs) => ({ chain, states: ARCHIVE, lagMs }))
    return { chain, nodes, params: named(PAYMENT) }
  }),
  honest('a node that lags by an hour', 'it knows the block late, and the block its own time', () => {
    const chain = mined(PAYMENT)
    return { chain, nodes: [{ ...usual(chain), lagMs: HOUR }], params: named(PAYMENT) }
  }),
  honest('the key in the path', 'providers know who asks by it', () => ({
    chain: mined(PAYMENT),
    key: 'f1c2d3e4a5b6478899aabbccddeeff00',
    params: named(PAYMENT),
  })),
  formed('an address with a slash at its end', 'people copy it so', () => ({
    chain: mined(PAYMENT),
    key: 'f1c2d3e4a5b6478899aabbccddeeff00',
    connection: { base_url: 'https://mainnet.infura.io/v3/' },
    params: named(PAYMENT),
  })),
  honest('a provider that refuses for two minutes, by 429', 'a limit says nothing', () => ({
    chain: mined(PAYMENT),
    key: 'f1c2d3e4a5b6478899aabbccddeeff00',
    instead: limitedBetween(START, START + 2 * MINUTE),
    params: named(PAYMENT),
  })),
  honest('a provider that refuses for two minutes, by -32005', 'a limit says nothing, with status 200 either', () => ({
    chain: mined(PAYMENT),
    instead: limitedInBody(START + 15 * MINUTE, START + 17 * MINUTE),
    params: named(PAYMENT),
  })),
  honest('a node that makes its index first', 'what is not indexed yet is not absent', () => ({
    chain: mined(PAYMENT),
    instead: (call, at) =>
      at < START + 20 * MINUTE
        ? refusing('eth_getTransactionReceipt', -32000, 'transaction indexing is in progress')!(call, at)
        : undefined,
    params: named(PAYMENT),
  })),
  formed('a node without the first block', 'some keep no history', () => ({
    chain: mined(PAYMENT),
    instead: withoutFirst,
    params: named(PAYMENT),
  })),
  honest('finality that stops for an hour', 'it goes on before the deadline', () => {
    const chain = mined(PAYMENT)
    chain.stall({ from: START, until: START + HOUR })
    return { chain, params: named(PAYMENT) }
  }),
  honest('reorganized, and mined again two blocks later', 'the block that is final is in time', () => {
    const chain = mined(PAYMENT)
    const number = chain.numberFrom(START + 8 * SECOND)
    chain.reorganize('other', number, START + 40 * SECOND)
    chain.include(PAYMENT, START + 32 * SECOND, { branch: 'other' })
    return { chain, params: named(PAYMENT) }
  }),
  honest('a chain whose clock is ahead by half a minute', 'what is dated ahead of us is not from later', () => {
    const chain = new EvmChain(ETHEREUM, START, 30 * SECOND)
    chain.setNonce(ALICE, 7)
    chain.include(PAYMENT, START + 8 * SECOND)
    return { chain, params: named(PAYMENT) }
  }),
  honest('a node whose HTTP clock is wrong by two minutes', 'times are those of the chain', () => ({
    chain: mined(PAYMENT),
    clockMs: -2 * MINUTE,
    params: named(PAYMENT),
  })),
  formed('sent for a wallet, which the event names', 'the bundler signed, and the wallet is in the event', () => {
    const entry = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
    const bundle = sign({ from: BUNDLER, to: entry, nonce: 91_234, input: '0x765e827f' })
    const operation = digest('UserOperationEvent')
    const chain = mined(bundle, {
      logs: [{ contract: entry, topics: [operation, digest('operation'), topicOf(ALICE)] }],
    })
    chain.setCode(entry, SOME_CODE)
    return {
      chain,
      params: {
        hash: bundle.hash,
        event: { contract: entry, topics: [operation, digest('operation'), topicOf(ALICE)] },
      },
    }
  }),
]
