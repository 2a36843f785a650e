/** A real EVM chain of the tests' own, with the real contracts of the Ethereum Attestation Service on it. It ends when the process that started it does, however that ends. */
import { Wallet } from 'ethers'
import { type Contracts, deployContracts } from './contracts.ts'
import { callRpc } from './json-rpc.ts'
import { startNode } from './node.ts'

export interface ChainOptions {
  /** 31337, when left out. */
  readonly chainId?: number
  /** Puts the contracts where OP-stack chains have them. */
  readonly predeploys?: boolean
  /** How many blocks the `finalized` one is behind the latest; even. 4, when left out. */
  readonly finalityDepth?: number
}

export interface ChainAccount {
  readonly address: string
  readonly key: string
}

export interface Chain extends Contracts {
  readonly rpcUrl: string
  readonly chainId: number
  readonly finalityDepth: number
  /** Funded, and never used by the chain itself. */
  readonly account: ChainAccount
  /** Another account, with this much; 10 ether when left out. */
  createAccount(balanceWei?: bigint): Promise<ChainAccount>
  /** Any method of the node. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  rpc(method: string, ...params: readonly unknown[]): Promise<any>
  mine(blocks?: number): Promise<void>
  /** Every block that there is now becomes final. */
  finalize(): Promise<void>
  /** A block for each transaction at once (as at the start), one every so many seconds, or none by itself. */
  setMining(mode: 'each' | 'none' | { readonly everySeconds: number }): Promise<void>
  /**
   * Replaces the newest blocks by as many others, of later times. They are empty but for the given raw transactions,
   * which go into the first of them; what was in the old ones is forgotten.
   */
  reorg(depth: number, transactions?: readonly string[]): Promise<void>
  setBalance(address: string, wei: bigint): Promise<void>
  setCode(address: string, code: string): Promise<void>
  stop(): Promise<void>
}

const TEN_ETHER = 10n ** 19n
const SLOT_SECONDS = 12

export async function startChain(options: ChainOptions = {}): Promise<Chain> {
  const { chainId = 31337, predeploys = false, finalityDepth = 4 } = options
  const node = await startNode({ chainId, finalityDepth })
  const rpc = (method: string, ...params: readonly unknown[]) => callRpc(node.url, method, params)

  async function createAccount(balanceWei = TEN_ETHER): Promise<ChainAccount> {
    const { address, privateKey } = Wallet.createRandom()
    await setBalance(address, balanceWei)
    return { address, key: privateKey }
  }

  async function setBalance(address: string, wei: bigint): Promise<void> {
    await rpc('anvil_setBalance', address, quantity(wei))
  }

  async function mine(blocks = 1): Promise<void> {
    await rpc('anvil_mine', quantity(blocks))
  }

  try {
    const contracts = await deployContracts(rpc, predeploys)
    const account = await createAccount()
    return {
      ...contracts,
      rpcUrl: node.url,
      chainId,
      finalityDepth,
      account,
      createAccount,
      rpc,
      mine,
      setBalance,
      finalize: () => mine(finalityDepth),
      setMining: async (mode) => {
        await rpc('evm_setIntervalMining', typeof mode === 'object' ? mode.everySeconds : 0)
        await rpc('evm_setAutomine', mode === 'each')
      },
      reorg: async (depth, transactions = []) => {
        const latest = await rpc('eth_getBlockByNumber', 'latest', false)
        const parent = await rpc('eth_getBlockByNumber', quantity(Number(latest.number) - depth), false)
        // The node counts a new branch's times from its first parent.
        await rpc('anvil_setBlockTimestampInterval', Number(latest.timestamp) - Number(parent.timestamp) + SLOT_SECONDS)
        const pairs = transactions.map((raw) => [raw, 0])
        await rpc('anvil_reorg', depth, pairs)
        await rpc('anvil_removeBlockTimestampInterval')
      },
      setCode: async (address, code) => {
        await rpc('anvil_setCode', address, code)
      },
      stop: node.stop,
    }
  } catch (error) {
    await node.stop()
    throw error
  }
}

function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
