/** Finds an attestation by what it says, whichever transaction made it. */
import { type AnchorSubject } from '@claimcheck/core'
import { attestedTopics, attestedUids, getAttestationCall, isAttestationOf } from './eas.ts'
import type { Log, Node, Receipt } from './node.ts'
import { Refusal } from './refusal.ts'

export interface BlockRange {
  readonly from: number
  readonly to: number
}

interface SearchOptions {
  readonly node: Node
  readonly eas: string
  readonly attester: string
}

const WIDEST = 2000

/** The receipt of the transaction that attested the subject, if one did in these blocks. @throws AnchorerError */
export async function findAttestation(
  subject: AnchorSubject,
  { from, to }: BlockRange,
  { node, eas, attester }: SearchOptions,
): Promise<Receipt | null> {
  for (let start = from; start <= to; start += WIDEST) {
    const range = { from: start, to: Math.min(to, start + WIDEST - 1) }
    for (const log of await logsIn(range, { node, eas, attester })) {
      for (const uid of attestedUids([log], eas, attester)) {
        const answer = await node.call({ to: eas, data: getAttestationCall(uid) })
        if (isAttestationOf(answer, uid, subject)) return node.receipt(log.txHash)
      }
    }
  }
  return null
}

/** Services differ in how many blocks they search at once: a refused range is asked for in halves. */
async function logsIn({ from, to }: BlockRange, options: SearchOptions): Promise<readonly Log[]> {
  const { node, eas, attester } = options
  try {
    return await node.logs({ address: eas, topics: attestedTopics(attester), fromBlock: from, toBlock: to })
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'rate_limited' || from === to) throw error
    const middle = Math.floor((from + to) / 2)
    return [...(await logsIn({ from, to: middle }, options)), ...(await logsIn({ from: middle + 1, to }, options))]
  }
}
