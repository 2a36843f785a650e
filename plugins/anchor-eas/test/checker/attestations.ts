/** Makes valid and invalid attestations on a test chain, with a library that the code under test does not use. */
import { setTimeout as delay } from 'node:timers/promises'
import type { ProofAnchor } from '@claimcheck/core/receipts'
import { AbiCoder, Interface, solidityPackedKeccak256, ZeroAddress, ZeroHash } from 'ethers'
import { LOG_ID, rootAt } from '../../../../core/test/anchor-log.ts'
import type { Chain } from '../../../../test/chain/chain.ts'

const SCHEMA_TYPES = ['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string']
const SCHEMA =
  'bytes32 logId,uint64 treeSize,bytes32 rootHash,uint64 prevTreeSize,bytes32 prevRootHash,string specVersion'

const CONTRACTS = new Interface([
  'function register(string schema, address resolver, bool revocable)',
  'function attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value) data))',
  'function multiAttest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value)[] data)[])',
  'function revoke((bytes32 schema, (bytes32 uid, uint256 value) data))',
])

export interface Wanted {
  readonly treeSize?: number
  readonly rootHash?: Uint8Array
  readonly logId?: Uint8Array
  /** The attestation's data, instead of the data made from the members above. */
  readonly data?: string
  /** Attest under the revocable schema. */
  readonly revocable?: boolean
  readonly from?: string
}

export interface Attestations {
  readonly attester: string
  readonly schema: string
  /** The uid of the same schema, registered as revocable. */
  readonly revocableSchema: string
  attest(wanted?: Wanted): Promise<ProofAnchor>
  /** Makes this many equal attestations in one transaction. */
  attestAlike(count: number): Promise<ProofAnchor[]>
  revoke(anchor: ProofAnchor): Promise<void>
}

export async function openAttestations(chain: Chain): Promise<Attestations> {
  const [attester] = (await chain.rpc('eth_accounts')) as [string]
  const uidOf = (revocable: boolean) =>
    solidityPackedKeccak256(['string', 'address', 'bool'], [SCHEMA, ZeroAddress, revocable])
  const [schema, revocableSchema] = [uidOf(false), uidOf(true)]

  async function send(from: string, to: string, method: string, ...args: readonly unknown[]) {
    const data = CONTRACTS.encodeFunctionData(method, args)
    const hash: string = await chain.rpc('eth_sendTransaction', { from, to, data })
    // The node makes a block a moment after it gets the transaction.
    for (;;) {
      const receipt = await chain.rpc('eth_getTransactionReceipt', hash)
      if (receipt) return receipt
      await delay(5)
    }
  }

  function requestOf({ treeSize = 7, rootHash = rootAt(treeSize), logId = LOG_ID, data, revocable = false }: Wanted) {
    return {
      recipient: ZeroAddress,
      expirationTime: 0,
      revocable,
      refUID: ZeroHash,
      data: data ?? anchorData(logId, treeSize, rootHash),
      value: 0,
    }
  }

  function anchorsOf(receipt: { transactionHash: string; logs: { data: string }[] }, treeSize = 7): ProofAnchor[] {
    const where = { chain: `eip155:${chain.chainId}`, scheme: 'eas', tx_hash: receipt.transactionHash } as const
    return receipt.logs.map(({ data: uid }) => ({ ...where, uid, tree_size: treeSize }))
  }

  for (const revocable of [false, true]) {
    await send(attester, chain.schemaRegistry, 'register', SCHEMA, ZeroAddress, revocable)
  }

  return {
    attester,
    schema,
    revocableSchema,
    async attest(wanted = {}) {
      const request = { schema: wanted.revocable ? revocableSchema : schema, data: requestOf(wanted) }
      const receipt = await send(wanted.from ?? attester, chain.eas, 'attest', request)
      return anchorsOf(receipt, wanted.treeSize)[0]!
    },
    async attestAlike(count) {
      const data = Array.from({ length: count }, () => requestOf({}))
      return anchorsOf(await send(attester, chain.eas, 'multiAttest', [{ schema, data }]))
    },
    async revoke({ uid }) {
      await send(attester, chain.eas, 'revoke', { schema: revocableSchema, data: { uid, value: 0 } })
    },
  }
}

export function anchorData(logId: Uint8Array, treeSize: number, rootHash: Uint8Array): string {
  return AbiCoder.defaultAbiCoder().encode(SCHEMA_TYPES, [logId, treeSize, rootHash, 0, ZeroHash, 'poaw/0.1'])
}
