/** Every answer that the service has given, and each contradiction between two of them. */

import type { ClaimStatus, LogHead, SubmittedClaim } from '@claimcheck/core/api'
import type { VerdictValue } from '@claimcheck/core/rules'
import type { PlannedClaim } from './claims.ts'
import type { Answer } from './fleet.ts'

export interface KnownClaim extends PlannedClaim {
  /** From the first answer on. */
  claimId?: string
  /** From the first answer on that named it. */
  receiptId?: string
  created?: boolean
}

export interface ServedHead {
  readonly treeSize: number
  readonly rootHash: string
  /** With its signature. */
  readonly text: string
}

export class Ledger {
  /** A sentence each. */
  readonly problems = new Set<string>()
  /** By client_claim_id: everything that was submitted, answered or not. */
  readonly claims = new Map<string, KnownClaim>()
  readonly #heads = new Map<string, ServedHead>()
  #largestHead = 0

  get acknowledged(): KnownClaim[] {
    return [...this.claims.values()].filter(({ claimId }) => claimId !== undefined)
  }

  get heads(): ServedHead[] {
    return [...this.#heads.values()]
  }

  plan(claim: PlannedClaim): KnownClaim {
    const known = { ...claim }
    this.claims.set(claim.claim.client_claim_id, known)
    return known
  }

  /** The answer's text when it is a good one. Down, and 503 with Retry-After, are no contradiction; everything else is. */
  accept(expected: number, question: string, answer: Answer | undefined): string | undefined {
    if (!answer) return undefined
    const { status, text, headers } = answer
    if (status === expected) return text
    const isPassing = status === 503 && headers.get('retry-after') !== null
    if (!isPassing) this.problems.add(`${question}: ${status} ${text}`)
    return undefined
  }

  /** Whether the claim was acknowledged. */
  async submission(known: KnownClaim, sent: Promise<Answer | undefined>): Promise<boolean> {
    const record = this.status(known)
    const text = this.accept(202, 'POST /v1/claims', await sent)
    if (text !== undefined) record(JSON.parse(text))
    return text !== undefined
  }

  /** To be called when a question is asked: what is answered to it must not fall behind what was known by then. */
  status(known: KnownClaim): (answer: ClaimStatus | SubmittedClaim) => void {
    const name = known.claim.client_claim_id
    const { receiptId } = known
    return (answer) => {
      if (answer.client_claim_id !== name) this.problems.add(`${name}: the answer is about ${answer.client_claim_id}`)
      known.claimId ??= answer.claim_id
      if (known.claimId !== answer.claim_id) this.problems.add(`${name}: it is two claims`)
      if ('created' in answer && answer.created) {
        if (known.created) this.problems.add(`${name}: created twice`)
        known.created = true
      }
      if (answer.receipt_id === null) {
        if (receiptId) this.problems.add(`${name}: decided, and queued again`)
        return
      }
      known.receiptId ??= answer.receipt_id
      if (known.receiptId !== answer.receipt_id) this.problems.add(`${name}: it has two receipts`)
      this.verdict(known, answer.verdict)
    }
  }

  verdict({ claim, truths }: KnownClaim, verdict: VerdictValue | null): void {
    if (verdict !== null && truths.includes(verdict)) return
    this.problems.add(`${claim.client_claim_id}: ${verdict}, which is not true of ${JSON.stringify(claim)}`)
  }

  /** To be called when a head is asked for. */
  head(): (answer: LogHead) => void {
    const largest = this.#largestHead
    return ({ tree_head }) => {
      const { tree_size: treeSize, root_hash: rootHash } = tree_head.body
      if (treeSize < largest) this.problems.add(`a head of ${treeSize} leaves was served after one of ${largest}`)
      this.#largestHead = Math.max(this.#largestHead, treeSize)
      const text = JSON.stringify(tree_head)
      this.#heads.set(text, { treeSize, rootHash, text })
    }
  }
}
