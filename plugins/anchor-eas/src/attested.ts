/** Finds what the account attested of a log, by the service's events in recent blocks. An event only names a transaction: what it signed counts. */
import type { AttestedRoot } from '@claimcheck/core/plugin'
import { attestedTopics, readAttestCall } from './eas.ts'
import { Refusal, unexpectedResponse } from './errors.ts'
import type { Event, Node } from './node.ts'
import { latestBlock } from './transaction.ts'

export interface AttestedOptions {
  readonly node: Node
  readonly chainId: number
  readonly eas: string
  readonly attester: string
  readonly limit: number
}

/** How many blocks a request is about. A service that allows fewer refuses, and is asked about a tenth. */
const BLOCKS = 10_000
const FEWEST_BLOCKS = 10
/** With `BLOCKS` and a block in two seconds: eleven days. */
const MAX_REQUESTS = 50
/** Of all logs that the account anchors. */
const MAX_TRANSACTIONS = 100

/** See `Anchorer.attested`. It ends with the range of blocks in which it finds one. @throws AnchorerError */
export async function findAttested(logId: string, options: AttestedOptions): Promise<readonly AttestedRoot[]> {
  const { node, attester, limit } = options
  const { number: latest } = await latestBlock(node)
  if ((await node.nonce(attester, 'latest')) === 0) return []
  const found: AttestedRoot[] = []
  let looked = 0
  for await (const events of newestFirst(latest, options)) {
    for (const event of events) {
      // "None" would be a claim about what was not looked at.
      if (looked++ === MAX_TRANSACTIONS && found.length === 0)
        throw unexpectedResponse('anchors of this log among others')
      const root = await rootOf(event, options)
      if (root?.logId === logId) found.push(root)
      if (found.length === limit) return found
    }
    if (found.length > 0) return found
  }
  return found
}

/** The events of each range. @throws what the node refused for its rate, where that cut the search short */
async function* newestFirst(
  latest: number,
  { node, eas, attester }: AttestedOptions,
): AsyncGenerator<readonly Event[]> {
  const filter = { address: eas, topics: attestedTopics(attester) }
  let blocks = BLOCKS
  let toBlock = latest
  let limited: Refusal | undefined
  for (let asked = 0; asked < MAX_REQUESTS && toBlock >= 0; asked++) {
    const fromBlock = Math.max(0, toBlock - blocks + 1)
    try {
      const events = await node.events({ ...filter, fromBlock, toBlock })
      yield events.toReversed()
      toBlock = fromBlock - 1
    } catch (error) {
      // Services word this in many ways.
      if (!(error instanceof Refusal) || blocks === FEWEST_BLOCKS) throw error
      // Some say this of ranges that are too large.
      if (error.code === 'rate_limited') limited = error
      blocks /= 10
    }
  }
  if (limited && toBlock >= 0) throw limited
}

/** `undefined` for what others made: by another contract, or an account that the event does not name. */
async function rootOf(
  { txHash, blockNumber }: Event,
  { node, chainId, eas, attester }: AttestedOptions,
): Promise<AttestedRoot | undefined> {
  const call = await node.signed(txHash)
  const isOurs = call?.from === attester.toLowerCase() && call.to === eas.toLowerCase() && call.chainId === chainId
  const attested = isOurs ? readAttestCall(call.data) : undefined
  if (!attested) return undefined
  const block = await node.block(blockNumber)
  if (!block) throw unexpectedResponse('the block of an event')
  return { ...attested, txHash, time: block.time }
}
