/** Finds what the account attested of a log, by the service's events. An event only names a transaction: what it signed counts. */
import type { AttestedRange, AttestedRoot, AttestedSearch } from '@claimcheck/core/plugin'
import type { AttestationOptions } from './attestations.ts'
import { attestedTopics, readAttested } from './eas.ts'
import { Refusal, unexpectedResponse } from './errors.ts'
import type { Event } from './node.ts'
import { latestBlock } from './transaction.ts'

export interface AttestedOptions extends AttestationOptions {
  readonly chainId: number
}

/** Number of blocks in one request. A service that allows fewer refuses, and is asked for a tenth. */
const BLOCKS = 10_000
const FEWEST_BLOCKS = 10
/** Limit of the requests of a search, which reaches eleven days back, with `BLOCKS` a request and a block in two seconds. */
const MAX_REQUESTS = 50
/** Time limit of a search. One that takes longer is cut short, so that what it has searched is kept. */
const LONGEST_MS = 4000
/** Limit of the transactions that one search reads, of all logs that the account anchors. */
const MAX_TRANSACTIONS = 100

/** Implements `Anchorer.attested`. The search ends with the range of blocks in which it finds a root. @throws AnchorerError as the node fails */
export async function findAttested(
  logId: string,
  { limit, from, to }: AttestedRange,
  options: AttestedOptions,
): Promise<AttestedSearch> {
  const { node, attester } = options
  const { number: latest } = await latestBlock(node)
  if ((await node.nonce(attester, 'latest')) === 0) return { roots: [], next: null }
  const roots: AttestedRoot[] = []
  let next = from ?? latest
  let looked = 0
  for await (const { events, fromBlock } of newestFirst(next, to, options)) {
    for (const event of events) {
      if (looked++ === MAX_TRANSACTIONS && roots.length === 0) return { roots, next: event.blockNumber }
      roots.push(...(await rootsOf(event, logId, options)))
      if (roots.length === limit) return { roots, next: null }
    }
    if (roots.length > 0) return { roots, next: null }
    next = fromBlock - 1
  }
  return { roots, next: next < to ? null : next }
}

/** Yields the events of each range of blocks. @throws AnchorerError before the first range only, so that a search is not lost */
async function* newestFirst(
  latest: number,
  oldest: number,
  { node, eas, attester }: AttestedOptions,
): AsyncGenerator<{ readonly events: readonly Event[]; readonly fromBlock: number }> {
  const filter = { address: eas, topics: attestedTopics(attester) }
  let blocks = BLOCKS
  let toBlock = latest
  const end = performance.now() + LONGEST_MS
  for (let asked = 0; asked < MAX_REQUESTS && toBlock >= oldest && performance.now() < end; asked++) {
    const fromBlock = Math.max(oldest, toBlock - blocks + 1)
    try {
      const events = await node.events({ ...filter, fromBlock, toBlock })
      yield { events: events.toReversed(), fromBlock }
      toBlock = fromBlock - 1
    } catch (error) {
      // Services word the refusal of a range in many ways, and some say of ranges that are too large that there were too many requests.
      if (error instanceof Refusal && blocks > FEWEST_BLOCKS) blocks /= 10
      else if (toBlock === latest) throw error
      else return
    }
  }
}

/** The root of this log that the event's transaction attests, if it does. Anything may be in an event of another contract or account. */
async function rootsOf(
  { txHash, blockNumber }: Event,
  logId: string,
  { node, chainId, eas, attester }: AttestedOptions,
): Promise<readonly AttestedRoot[]> {
  const call = await node.signed(txHash)
  const isOurs = call?.from === attester.toLowerCase() && call.to === eas.toLowerCase() && call.chainId === chainId
  const attested = isOurs ? readAttested(call.data) : undefined
  if (!attested) return []
  const block = await node.block(blockNumber)
  if (!block) throw unexpectedResponse('the block of an event')
  return attested.logId === logId ? [{ ...attested, txHash, time: block.time }] : []
}
