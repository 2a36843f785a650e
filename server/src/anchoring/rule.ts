/** The rule of anchoring: what comes next, from what is stored and what was seen. It reads no clock, no chain and no database. */
import type { AnchorSighting, Instant } from '@claimcheck/core'
import type { AnchoringProblem, AnchorRow } from '../storage/anchor-row.ts'

/** The log as it stands, and what was anchored of it. */
export interface Anchored {
  readonly treeSize: number
  /** The last that was planned, whatever became of it. None of this log is open. */
  readonly newest: Pick<AnchorRow, 'plannedAt'> | undefined
  readonly newestFinal: Pick<AnchorRow, 'treeSize'> | undefined
}

/** There is something that is not anchored. The empty tree is every log's beginning, and says nothing of one. */
export function hasNews({ treeSize, newestFinal }: Anchored): boolean {
  return treeSize > (newestFinal?.treeSize ?? 0)
}

/** The interval counts from a dropped one, too: what is dropped may have cost as much as what lands. */
export function isIntervalOver({ newest }: Anchored, now: Instant, intervalMs: number): boolean {
  return newest === undefined || now - newest.plannedAt >= intervalMs
}

/** Why an anchor that nothing is signed for is not made any more; undefined while it is. It is dropped before anything is paid. */
export function outdatedBy(
  { logId, chain, scheme, attester }: Pick<AnchorRow, 'logId' | AnchorerColumn>,
  current: Pick<AnchorRow, 'logId' | AnchorerColumn>,
): AnchoringProblem | undefined {
  if (logId !== current.logId) return 'log_ended'
  const isSame = chain === current.chain && scheme === current.scheme && attester === current.attester
  return isSame ? undefined : 'anchorer_changed'
}

type AnchorerColumn = 'chain' | 'scheme' | 'attester'

/** What follows from a look, in this order. Nothing of it: the chain is waited for. */
export interface Reaction {
  /** The newest transaction, for the first time or once more. */
  readonly send?: true
  /** A transaction: the first, or another in the place of the last, with higher fees. */
  readonly sign?: true
  readonly change?: Change
}

export type Change = Partial<Pick<AnchorRow, 'state' | 'signed' | 'problem' | 'sentAt' | 'landing'>>

interface Moment {
  readonly now: Instant
  readonly stuckAfterMs: number
}

/** Whoever takes an anchor up, after whatever crash, goes by what the chain has of it, and only then by its state. */
export function reactionTo(
  sighting: AnchorSighting,
  anchor: Pick<AnchorRow, 'state' | 'signed' | 'sentAt'>,
  moment: Moment,
): Reaction {
  // It may have been sent by who did not live to store that.
  const sentAt = anchor.sentAt ?? moment.now
  switch (sighting.state) {
    case 'final': {
      const { uid, txHash, blockNumber, blockTime } = sighting.anchor
      const { cost, gasUsed } = sighting
      const landing = { uid, txHash, blockNumber, blockTime, cost, gasUsed }
      return { change: { state: 'final', problem: null, sentAt, landing } }
    }
    case 'dropped':
      return { change: { state: 'dropped', problem: sighting.problem } }
    case 'mined':
      return anchor.state === 'mined' ? {} : { change: { state: 'mined', problem: null, sentAt } }
    case 'waiting':
      return reactionToWaiting(sighting.isKnown, anchor, moment)
  }
}

function reactionToWaiting(
  isKnown: boolean,
  { state, signed, sentAt }: Pick<AnchorRow, 'state' | 'signed' | 'sentAt'>,
  { now, stuckAfterMs }: Moment,
): Reaction {
  const send = isKnown ? {} : ({ send: true } as const)
  if (state === 'planned') return { sign: true }
  if (state === 'signed') return { ...send, change: { state: 'sent', sentAt: now, problem: null } }
  if (state === 'mined') {
    // The block that it was in is gone. What was signed waits for another from now on; what was found there is made anew.
    return { change: signed.length > 0 ? { state: 'sent', sentAt: now } : { state: 'planned', sentAt: null } }
  }
  const isStuck = sentAt !== null && now - sentAt >= stuckAfterMs
  return isStuck ? { ...send, sign: true } : send
}
