/** Checks anchors of the Ethereum Attestation Service: what an attestation says of a log, according to a node that the checker's user has chosen. */
import type { AnchorChecker, AnchorReading } from '@claimcheck/core/plugin'
import { bytesEqual, type KeySet, type ProofAnchor } from '@claimcheck/core/receipts'
import {
  type Attestation,
  easAddressOn,
  getAttestationCall,
  hasItsUid,
  isEventOf,
  readAnchoredRoot,
  readAttestation,
} from './eas.ts'
import { fromHex, toHex } from './hex.ts'
import { createNode, type Node } from './node.ts'
import { createRpc, RpcError } from './rpc.ts'
import { withTimeout } from './timeout.ts'
import { unexpectedValue } from './values.ts'

export interface EasCheckerOptions {
  /** A node of the anchor's chain. The result can be trusted as far as this node. */
  readonly rpcUrl: string
  readonly fetch?: typeof fetch
  /** Limits all requests for one anchor together, in milliseconds. */
  readonly timeoutMs?: number
  /** The address of the Ethereum Attestation Service, for chains other than Sepolia and those of the OP stack. */
  readonly easAddress?: string
  /** Number of later blocks that make a block final, for nodes that do not name a final one. Without it, an anchor at such a node is `unreadable`. */
  readonly confirmations?: number
}

const DEFAULT_TIMEOUT_MS = 20_000
/** The latest time of an anchor, 9999-12-31T23:59:59Z in Unix seconds: a receipt's timestamps end there. */
const LATEST_TIME = 253_402_300_799

/** Creates a checker, which asks the node anew for each anchor. */
export function createEasChecker(options: EasCheckerOptions): AnchorChecker {
  const { rpcUrl, fetch = globalThis.fetch, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  return {
    knows: ({ scheme, chain }) => scheme === 'eas' && chain.startsWith('eip155:'),
    async read(anchor, keys) {
      const rpc = createRpc({ url: rpcUrl, fetch })
      const read = (signal: AbortSignal) => readAnchor(anchor, keys, createNode(rpc, signal), options)
      try {
        return await withTimeout(undefined, timeoutMs, read)
      } catch (cause) {
        if (cause instanceof RpcError) return { problem: 'unreadable', cause }
        throw cause
      }
    },
  }
}

async function readAnchor(
  { chain, uid, tx_hash }: ProofAnchor,
  keys: Pick<KeySet, 'anchorAddresses' | 'anchorSchemas'>,
  node: Node,
  { easAddress, confirmations }: EasCheckerOptions,
): Promise<AnchorReading> {
  const chainId = await node.chainId()
  if (chain !== `eip155:${chainId}`) return { problem: 'rpc_chain_mismatch' }

  const eas = (easAddress ?? easAddressOn(chainId)).toLowerCase()
  const attestation = await findAttestation(uid, eas, node)
  if (!attestation) return { problem: 'attestation_not_found' }
  if (attestation.revocationTime !== 0n) return { problem: 'attestation_revoked' }
  if (!lists(keys.anchorAddresses, attestation.attester)) return { problem: 'attester_not_published' }
  if (!lists(keys.anchorSchemas, attestation.schema)) return { problem: 'schema_not_published' }

  const anchored = readAnchoredRoot(attestation.data)
  if (!anchored) return { problem: 'data_undecodable' }
  // An attestation counts only in a final block, and only from the transaction that the receipt names.
  const final = await finalNumber(node, confirmations)
  if (!(await isFinal(attestation, { txHash: tx_hash.toLowerCase(), eas, final, node })))
    return { problem: 'attestation_not_found' }
  const { logId, treeSize, rootHash } = anchored
  return { logId, treeSize: Number(treeSize), rootHash, provenBy: Number(attestation.time) * 1000 }
}

async function findAttestation(uid: string, eas: string, node: Node): Promise<Attestation | undefined> {
  const asked = fromHex(uid)!
  const attestation = readAttestation(await node.call(eas, getAttestationCall(asked)))
  if (!attestation) throw unexpectedValue('an attestation')
  if (!bytesEqual(attestation.uid, asked)) return undefined
  if (!hasItsUid(attestation)) throw unexpectedValue('the attestation of that uid')
  return attestation
}

async function finalNumber(node: Node, confirmations: number | undefined): Promise<number> {
  const finalized = await node.finalizedBlock()
  if (finalized) return finalized.number
  if (confirmations === undefined) throw unexpectedValue('the finalized block: give a number of confirmations')
  return (await node.latestBlock()).number - confirmations
}

/** Tells whether the transaction made the attestation, in a block up to the final one. */
async function isFinal(
  attestation: Attestation,
  { txHash, eas, final, node }: { txHash: string; eas: string; final: number; node: Node },
): Promise<boolean> {
  const receipt = await node.receipt(txHash)
  if (!receipt?.logs.some((log) => isEventOf(attestation, log, eas))) return false
  if (receipt.blockNumber > final) return false
  const block = await node.block(receipt.blockNumber)
  // A node may still have the transaction's receipt from a block that was replaced.
  if (block.hash !== receipt.blockHash) return false
  if (BigInt(block.time) !== attestation.time || block.time > LATEST_TIME)
    throw unexpectedValue('the time of the block')
  return true
}

/** Tells whether an address is among the published ones, in whatever case: addresses have a checksum in it (EIP-55). */
function lists(published: readonly string[], bytes: Uint8Array): boolean {
  const wanted = toHex(bytes)
  return published.some((text) => text.toLowerCase() === wanted)
}
