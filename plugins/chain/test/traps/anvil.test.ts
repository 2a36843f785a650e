// Test run: end-to-end
/** Rows of the trap table at a real node, whose time is set to the table's. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-chain'
import { Interface, type TransactionLike, Wallet } from 'ethers'
import t from 'tap'
import { type Chain, startChain } from '../../../../test/chain/chain.ts'
import type { Verdict } from '../../../../test/traps/verifier-table.ts'
import { HOUR, MINUTE, SECOND } from './evm-chain.ts'

/** In the future of the machine, because a node's blocks have to be after its first. */
const FIRST_START = Math.ceil(Date.now() / HOUR) * HOUR + HOUR
/** Time between two rows. */
const APART = 4 * HOUR

interface Happening {
  readonly at: number
  readonly act: () => Promise<unknown>
}

interface Scene {
  readonly params: Readonly<Record<string, unknown>>
  readonly happens: readonly Happening[]
}

interface Row {
  readonly title: string
  readonly right: readonly Verdict[]
  /** The node that answers, where it is not the chain's. */
  readonly at?: () => string
  readonly scene: (world: World) => Promise<Scene>
}

interface World {
  readonly chain: Chain
  readonly wallet: Wallet
  /** Signs, and counts the nonces of the wallet from 0. */
  sign(given: TransactionLike): Promise<{ readonly raw: string; readonly hash: string; readonly nonce: number }>
  send(raw: string): Promise<string>
  /** Mines a block whose time is so long after the start. */
  mineAt(ms: number, blocks?: number): Promise<void>
}

const BOB = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
const REGISTRY = new Interface([
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'event Registered(bytes32 indexed uid, address indexed registerer, tuple(bytes32 uid, address resolver, bool revocable, string schema) schema)',
])

/** What is in a block five seconds after the start, and final a quarter of an hour later. */
const confirmed = ({ send, mineAt }: World, ...raws: readonly string[]): readonly Happening[] => [
  { at: 4 * SECOND, act: async () => Promise.all(raws.map(send)) },
  { at: 5 * SECOND, act: () => mineAt(5 * SECOND) },
  { at: 15 * MINUTE, act: () => mineAt(15 * MINUTE, 6) },
]

const ROWS: readonly Row[] = [
  {
    title: 'a transfer, named fully',
    right: ['verified'],
    async scene(world) {
      const { raw, hash, nonce } = await world.sign({ to: BOB, value: 5n })
      const params = { hash, sender: world.wallet.address, nonce, recipient: BOB, value: '5' }
      return { params, happens: confirmed(world, raw) }
    },
  },
  {
    title: 'a call, named by its event',
    right: ['verified'],
    async scene(world) {
      const { schemaRegistry } = world.chain
      const nobody = `0x${'0'.repeat(40)}`
      const data = REGISTRY.encodeFunctionData('register', [`uint256 row${Date.now()}`, nobody, true])
      const { raw, hash } = await world.sign({ to: schemaRegistry, data })
      const topics = [REGISTRY.getEvent('Registered')!.topicHash]
      return { params: { hash, event: { contract: schemaRegistry, topics } }, happens: confirmed(world, raw) }
    },
  },
  {
    title: 'a contract that was created',
    right: ['verified'],
    async scene(world) {
      const { raw, hash, nonce } = await world.sign({ data: '0x6001600c60003960016000f300' })
      return { params: { hash, sender: world.wallet.address, nonce, value: '0' }, happens: confirmed(world, raw) }
    },
  },
  {
    title: 'reverted',
    right: ['failed'],
    async scene(world) {
      const { raw, hash } = await world.sign({ to: world.chain.eas, data: '0xdeadbeef' })
      return { params: { hash }, happens: confirmed(world, raw) }
    },
  },
  {
    title: 'the right topics, and another contract claimed',
    right: ['mismatch'],
    async scene(world) {
      const { schemaRegistry, eas } = world.chain
      const data = REGISTRY.encodeFunctionData('register', [`uint256 other${Date.now()}`, `0x${'0'.repeat(40)}`, true])
      const { raw, hash } = await world.sign({ to: schemaRegistry, data })
      const topics = [REGISTRY.getEvent('Registered')!.topicHash]
      return { params: { hash, event: { contract: eas, topics } }, happens: confirmed(world, raw) }
    },
  },
  {
    title: 'replaced by a speed-up',
    right: ['failed'],
    async scene(world) {
      const { send, mineAt, sign, wallet } = world
      const slow = await sign({ to: BOB, value: 1n })
      const fast = await sign({
        to: BOB,
        value: 1n,
        nonce: slow.nonce,
        maxFeePerGas: 90n * GWEI,
        maxPriorityFeePerGas: 9n * GWEI,
      })
      const happens = [
        { at: SECOND, act: () => send(slow.raw) },
        { at: 20 * SECOND, act: () => send(fast.raw) },
        { at: 25 * SECOND, act: () => mineAt(25 * SECOND) },
        { at: 15 * MINUTE, act: () => mineAt(15 * MINUTE, 6) },
      ]
      return { params: { hash: slow.hash, sender: wallet.address, nonce: slow.nonce }, happens }
    },
  },
  {
    title: 'a nonce that an authorization used',
    right: ['unverifiable', 'failed'],
    async scene(world) {
      const { chain, wallet, sign } = world
      const never = await sign({ to: BOB, value: 1n })
      const authorization = await wallet.authorize({ address: chain.eas, nonce: never.nonce, chainId: chain.chainId })
      const carrier = new Wallet((await chain.createAccount()).key)
      const carried = await carrier.signTransaction({
        ...USUAL,
        type: 4,
        chainId: chain.chainId,
        nonce: 0,
        to: BOB,
        authorizationList: [authorization],
      })
      return {
        params: { hash: never.hash, sender: wallet.address, nonce: never.nonce },
        happens: confirmed(world, carried),
      }
    },
  },
  {
    title: 'reorganized away after it was seen',
    right: ['unverifiable'],
    async scene(world) {
      const { raw, hash, nonce } = await world.sign({ to: BOB, value: 5n })
      const [sent, mined, final] = confirmed(world, raw) as [Happening, Happening, Happening]
      const gone = { at: 40 * SECOND, act: () => world.chain.reorg(1) }
      return { params: { hash, sender: world.wallet.address, nonce }, happens: [sent, mined, gone, final] }
    },
  },
  {
    title: 'a node of another chain',
    right: ['unverifiable'],
    at: () => other.rpcUrl,
    async scene(world) {
      const { raw, hash } = await world.sign({ to: BOB, value: 5n })
      return { params: { hash }, happens: confirmed(world, raw) }
    },
  },
]

const GWEI = 10n ** 9n
const USUAL = { gasLimit: 900_000n, maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI }

let chain: Chain
let other: Chain

async function worldAt(start: number): Promise<World> {
  const { key } = await chain.createAccount()
  const wallet = new Wallet(key)
  let next = 0
  return {
    chain,
    wallet,
    async sign(given) {
      const nonce = given.nonce ?? next++
      const signed = await wallet.signTransaction({ ...USUAL, type: 2, chainId: chain.chainId, ...given, nonce })
      const { keccak256 } = await import('ethers')
      return { raw: signed, hash: keccak256(signed), nonce }
    },
    send: (raw) => chain.rpc('eth_sendRawTransaction', raw),
    async mineAt(ms, blocks = 1) {
      for (let block = 0; block < blocks; block++) {
        await chain.rpc('evm_setNextBlockTimestamp', Math.floor((start + ms) / SECOND) + block)
        await chain.rpc('evm_mine')
      }
    },
  }
}

/** Passes calls on, and tells the time by a clock. */
async function startFront(nodeUrl: string, now: () => number) {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const answer = await fetch(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json', date: new Date(now()).toUTCString() })
    response.end(await answer.text())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

t.setTimeout(300_000)
t.before(async () => {
  ;[chain, other] = await Promise.all([startChain(), startChain({ chainId: 31338 })])
  await chain.setMining('none')
})
t.teardown(() => Promise.all([chain.stop(), other.stop()]))

for (const [index, row] of ROWS.entries()) {
  t.test(row.title, async (t) => {
    const start = FIRST_START + index * APART
    const clock = createVirtualClock(start + SECOND)
    const front = await startFront(row.at?.() ?? chain.rpcUrl, clock.now)
    t.teardown(() => {
      front.server.closeAllConnections()
      front.server.close()
    })
    const { params, happens } = await row.scene(await worldAt(start))
    const left = [...happens]
    let reaching = Promise.resolve()
    const { decision, requests, records, log } = await liveClaim({
      plugin,
      connection: { provider: 'evm', options: { base_url: 'https://node.example', chain_id: String(chain.chainId) } },
      destination: front.url,
      claim: {
        action: 'chain.transaction.confirm',
        target: `eip155:${chain.chainId}`,
        params: params as never,
        claimedAt: start,
      },
      submittedAt: start + SECOND,
      clock,
      // Requests come side by side, and what happens happens once, in order.
      reach: (until) => {
        reaching = reaching.then(async () => {
          for (let next = left[0]; next && start + next.at <= until; next = left[0]) {
            left.shift()
            await next.act()
          }
        })
        return reaching
      },
    })
    const verdict = decision?.verdict.value ?? 'none'
    const isRight = row.right.some((one) => one === verdict)
    const seen = records.map((record) => ('observation' in record ? record.observation : record.failure)).slice(-3)
    t.ok(isRight, `${verdict} by ${requests.length} requests`, isRight ? {} : { seen, log: log.slice(-3) })
  })
}
