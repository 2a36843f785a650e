/** Anchors of each kind, signed as they would be for a real chain. */
import type { SignedAnchor } from '@claimcheck/core/plugin'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import type { AnchorPlan, AnchorRow } from '@claimcheck/server/storage/anchor-row'
import { AbiCoder, hexlify, Interface, solidityPackedKeccak256, Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { NOON } from './installation.ts'

const WALLET = new Wallet(`0x${'1f'.repeat(32)}`)
const SCHEMA = '0x8c2390b3ccbad40acc0b8bd80ddcaff120854e94b881fc226924c51cde0a28ec'
const CHAIN_ID = 84532
const BLOCK_TIME = NOON / 1000
const GWEI = 10n ** 9n
const EAS = new Interface([
  'function attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value) data) request) payable returns (bytes32)',
])

/** One that landed at the second attempt, one that was dropped, one that refers to the first, and one that is under way. */
export async function fillAnchors({ storage }: Claimcheck): Promise<void> {
  const log = (await storage.read.log.state())!
  const head = { treeSize: log.treeSize, rootHash: log.rootHash }
  const heads = [...(await storage.read.log.headsAfter(log.logId, -1, 500)), head].filter(
    ({ treeSize }) => treeSize > 0,
  )
  const sizes = [...new Map(heads.map(({ treeSize, rootHash }) => [treeSize, rootHash]))]
  let previous: AnchorRow | undefined
  let nonce = 0

  async function add(
    index: number,
    signatures: number,
    change: (signed: SignedAnchor[], plan: AnchorPlan) => Partial<AnchorRow>,
  ) {
    const [treeSize, rootHash] = sizes[index]!
    const plan: AnchorPlan = {
      logId: log.logId,
      treeSize,
      rootHash,
      previousId: previous?.id ?? null,
      chain: `eip155:${CHAIN_ID}`,
      scheme: 'eas',
      attester: WALLET.address,
      schema: SCHEMA,
      plannedAt: NOON + index,
    }
    const signed: SignedAnchor[] = []
    for (let attempt = 1; attempt <= signatures; attempt++) signed.push(await sign(plan, previous, nonce, attempt))
    nonce++
    await storage.write(async (tx) => {
      const planned = await tx.anchors.insert(plan)
      const after = { ...planned, signed, sentAt: NOON + 1000, ...change(signed, plan) }
      await tx.anchors.replace(planned, after)
      if (after.state === 'final') previous = after
    })
  }

  const land = (signed: SignedAnchor[], plan: AnchorPlan): Partial<AnchorRow> => {
    const uid = uidOf(plan, previous)
    const at = { blockNumber: 1000 + plan.treeSize, blockTime: BLOCK_TIME }
    return { state: 'final', landing: { uid, txHash: signed[0]!.txHash, ...at, cost: '123456', gasUsed: 250_000 } }
  }
  await add(0, 2, land)
  await add(1, 1, () => ({ state: 'dropped', problem: 'nonce_taken' }))
  await add(1, 1, land)
  await add(2, 1, () => ({ state: 'mined', problem: 'rpc_unavailable' }))
}

async function sign(
  plan: AnchorPlan,
  previous: AnchorRow | undefined,
  nonce: number,
  attempt: number,
): Promise<SignedAnchor> {
  const maxFee = BigInt(attempt) * GWEI
  const attestation = {
    recipient: ZeroAddress,
    expirationTime: 0,
    revocable: false,
    refUID: refUidOf(previous),
    data: dataOf(plan, previous),
    value: 0,
  }
  const raw = await WALLET.signTransaction({
    type: 2,
    chainId: CHAIN_ID,
    nonce,
    to: '0x4200000000000000000000000000000000000021',
    gasLimit: 300_000,
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: maxFee,
    data: EAS.encodeFunctionData('attest', [{ schema: SCHEMA, data: attestation }]),
  })
  const txHash = solidityPackedKeccak256(['bytes'], [raw])
  return { txHash, nonce, raw, maxFee: String(maxFee), priorityFee: String(maxFee) }
}

function dataOf({ logId, treeSize, rootHash }: AnchorPlan, previous: AnchorRow | undefined): string {
  return AbiCoder.defaultAbiCoder().encode(
    ['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'],
    [
      hexlify(Buffer.from(logId, 'base64url')),
      treeSize,
      hexlify(rootHash),
      previous?.treeSize ?? 0,
      previous ? hexlify(previous.rootHash) : ZeroHash,
      'poaw/0.1',
    ],
  )
}

/** As the contract makes it, of the block's time among others. */
function uidOf(plan: AnchorPlan, previous: AnchorRow | undefined): string {
  return solidityPackedKeccak256(
    ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'],
    [SCHEMA, ZeroAddress, WALLET.address, BLOCK_TIME, 0, false, refUidOf(previous), dataOf(plan, previous), 0],
  )
}

function refUidOf(previous: AnchorRow | undefined): string {
  return previous?.landing?.uid ?? ZeroHash
}
