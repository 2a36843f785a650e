/** The verifier of `chain.transaction.confirm`: reads a transaction, its receipt and its block, and whether that block is final. */
import {
  type CheckCache,
  type CheckContext,
  type Claim,
  DestinationError,
  defineVerifier,
  isDestinationError,
  isLongBefore,
  type Observation,
} from '@claimcheck/core/plugin'
import { connectionType, type Options } from './connection.ts'
import { type BlockHead, type Node, nodeOf } from './node.ts'
import { confirmProfile, type Facts, type Params } from './profile.ts'

/** Errors of reads that only add certainty. */
const NO_ANSWER: ReadonlySet<string> = new Set(['unexpected_response', 'too_large', 'forbidden'])

/** The steps back from the final block, in blocks, in which the use of a nonce is looked for. Nodes that are no archive know the newest 128 states. */
const STEPS_BACK = [32, 120, 500, 2000, 8000, 32_000, 128_000]

/** The size of a block with all its transactions, or of a receipt with some thousand events. */
const MOST_BYTES = 5 * 1024 * 1024

export const confirm = defineVerifier({
  profile: confirmProfile,
  providers: [connectionType.provider],
  limits: { requests: 40, bodyBytes: MOST_BYTES, timeMs: 30_000 },
  normalize: ({ target, params }) => ({ target, params: normalizeParams(params) }),
  async check(claim, context): Promise<Observation<Facts>> {
    const { connection, previous } = context
    const node = nodeOf(context, connection!.options as Options)
    // The final block is read first, so that what is read later is judged by one that is older.
    const finalized = await node.finalized()
    const waiting = stillWaiting(previous.at(-1)?.observation, finalized)
    if (waiting) return waiting
    const identity = await node.identity()
    return { ...(await readTransaction(node, claim, finalized, context)), identity }
  },
})

async function readTransaction(
  node: Node,
  { target, params, claimedAt }: Claim<Params>,
  finalized: BlockHead,
  { now, previous, cache }: Pick<CheckContext, 'now' | 'previous' | 'cache'>,
): Promise<Observation<Facts>> {
  const place = { chain: target, finalized_block: finalized.number }
  const receipt = await node.receipt(params.hash)
  if (receipt === undefined) return unknownTransaction(node, params, { finalized, place, cache })
  const { blockNumber, isReverted } = receipt
  const facts = { ...place, transaction: params.hash, block: blockNumber, ...(isReverted && { reverted: true }) }
  if (blockNumber > finalized.number) return { kind: 'absent', facts: { ...facts, pending: true }, mark: 'unsettled' }

  // A load balancer asks several nodes, and one of them may be on a fork.
  const block = await node.block(blockNumber)
  if (block?.hash !== receipt.blockHash || block.time > now()) throw new DestinationError('unexpected_response')
  const dated = { ...facts, block_time: new Date(block.time).toISOString() }
  if (isReverted) return { kind: 'absent', facts: dated, mark: 'final' }

  const found = await node.transaction(params.hash)
  if (found?.blockHash !== block.hash) throw new DestinationError('unexpected_response')
  const { sender, nonce, recipient, value } = found
  const { event } = params
  const isFound = event && receipt.logs.some((log) => isEvent(log, event))
  const seen = { sender, nonce, recipient, value }
  const differs = [
    ...(['sender', 'nonce', 'recipient', 'value'] as const).filter(
      (name) => params[name] !== undefined && params[name] !== seen[name],
    ),
    ...(isFound === false ? ['event'] : []),
  ]
  await requirePlain(node, differs, params, recipient, block)
  const appeared = { notBefore: block.time, notAfter: block.time + 999 }
  const inTimeUntil = claimedAt + confirmProfile.toleranceMs
  const wasSeenBefore = previous.some(
    ({ sentAt, observation }) => observation.facts.block === blockNumber && sentAt < block.time,
  )
  // A chain whose clock is ahead dates what came in time after the tolerance.
  if (wasSeenBefore && block.time > inTimeUntil) throw new DestinationError('ambiguous_claim')
  return {
    kind: 'present',
    differs,
    facts: {
      ...dated,
      ...seen,
      ...(isFound !== undefined && { event_found: isFound }),
      // The time is the chain's, which no clock of the node changes.
      ...(isLongBefore(appeared, { clockBehindMs: 0 }, { claimedAt, inTimeUntil }) && { preexisting: true }),
    },
    ...(differs.length === 0 ? { stays: [{ appeared }] } : { mark: 'final' as const }),
  }
}

function normalizeParams({ hash, sender, recipient, value, event, ...rest }: Params): Params {
  return {
    ...rest,
    hash: hash.toLowerCase(),
    ...(sender !== undefined && { sender: sender.toLowerCase() }),
    ...(recipient !== undefined && { recipient: recipient.toLowerCase() }),
    ...(value !== undefined && { value: String(BigInt(value)) }),
    ...(event && {
      event: { contract: event.contract.toLowerCase(), topics: event.topics.map((topic) => topic.toLowerCase()) },
    }),
  }
}

/**
 * Reports again what the last check saw, if its block is not final yet: nothing else about it counts until then.
 */
function stillWaiting(last: Observation | undefined, finalized: BlockHead): Observation<Facts> | undefined {
  const { block } = last?.facts ?? {}
  if (last?.mark !== 'unsettled' || typeof block !== 'number' || block <= finalized.number) return undefined
  return {
    ...last,
    facts: { ...(last.facts as Facts), finalized_block: finalized.number },
  }
}

/**
 * Reports a transaction of which the node has no receipt. Nodes forget and lag, so that alone says nothing: it can never be in a block only
 * where another transaction has used its sender's nonce in a final one.
 */
async function unknownTransaction(
  node: Node,
  params: Params,
  { finalized, place, cache }: { readonly finalized: BlockHead; readonly place: Facts; readonly cache: CheckCache },
): Promise<Observation<Facts>> {
  const usedBy = await transactionWith(node, params, finalized, cache).catch((error: unknown) => {
    // A node that is no archive has no older state, or its provider does not let these credentials read it.
    if (isDestinationError(error) && NO_ANSWER.has(error.code)) return undefined
    throw error
  })
  if (usedBy !== undefined) return { kind: 'absent', facts: { ...place, nonce_used_by: usedBy }, mark: 'final' }
  const isWaiting = (await node.transaction(params.hash)) !== null
  // A node that lags does not contradict the block that it shows later.
  return { kind: 'absent', facts: isWaiting ? { ...place, pending: true } : place, mark: 'unsettled' }
}

/** Finds the hash of another transaction that used the sender's nonce up to the final block; undefined where none is found. */
async function transactionWith(
  node: Node,
  { hash, sender, nonce }: Params,
  finalized: BlockHead,
  cache: CheckCache,
): Promise<string | undefined> {
  // Remembers only what blames nobody: the transaction that used the nonce in a final block stays the one.
  const usedByNone = `no other used ${sender} ${nonce} ${hash}`
  if (sender === undefined || nonce === undefined || cache.get(usedByNone) === true) return undefined
  const isUsedAt = async (number: number) => (await node.count(sender, number)) > nonce
  if (!(await isUsedAt(finalized.number))) return undefined
  let used = finalized.number
  let unused: number | undefined
  for (const step of STEPS_BACK) {
    const number = finalized.number - step
    if (number < 0 || !(await isUsedAt(number))) {
      unused = Math.max(number, -1)
      break
    }
    used = number
  }
  if (unused === undefined) return undefined
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2)
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  const all = await node.transactionsOf(used)
  const user = all.find((one) => one.from === sender && one.nonce === nonce)
  if (user !== undefined && user.hash !== hash) return user.hash
  cache.set(usedByNone, true)
  return undefined
}

/**
 * Requires that what differs can be seen in the transaction itself: a contract sends for its owners, and pays others than the recipient of the
 * transaction.
 * @throws DestinationError `ambiguous_claim`
 */
async function requirePlain(
  node: Node,
  differs: readonly string[],
  params: Params,
  recipient: string | undefined,
  { number }: BlockHead,
): Promise<void> {
  // Accounts get code and lose it (EIP-7702), also by the transaction itself: what had none before its block and after it ran none.
  const hasCode = async (account: string) =>
    (await node.hasCode(account, number)) || (await node.hasCode(account, Math.max(number - 1, 0)))
  const isByContract = differs.includes('sender') && (await hasCode(params.sender!))
  const differsInPayment = differs.includes('recipient') || differs.includes('value')
  const paysByContract = differsInPayment && (recipient === undefined || (await hasCode(recipient)))
  if (isByContract || paysByContract) throw new DestinationError('ambiguous_claim')
}

function isEvent(
  { contract, topics }: { readonly contract: string; readonly topics: readonly string[] },
  claimed: NonNullable<Params['event']>,
): boolean {
  return contract === claimed.contract && claimed.topics.every((topic, index) => topics[index] === topic)
}
