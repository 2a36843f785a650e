/** The rules of anchoring: pure functions that choose the next step from the stored anchor and the state of the chain. */

import type { AnchorSighting } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import type { AnchoringProblem, AnchorRow } from '../../storage/anchor-row.ts'

/** The size of the log, and its newest anchors. No anchor of the log is open. */
export interface Anchored {
  readonly treeSize: number
  /** The newest anchor that was planned, final or dropped. */
  readonly newest: Pick<AnchorRow, 'plannedAt'> | undefined
  readonly newestFinal: Pick<AnchorRow, 'treeSize'> | undefined
}

/** Tells whether the log has entries that no anchor covers. The empty tree is never anchored: every log begins with it. */
export function hasUnanchoredEntries({ treeSize, newestFinal }: Anchored): boolean {
  return treeSize > (newestFinal?.treeSize ?? 0)
}

/** Tells whether the interval is over. It also starts at a dropped anchor, which may have cost as much as one that landed. */
export function isIntervalOver({ newest }: Anchored, now: Instant, intervalMs: number): boolean {
  return newest === undefined || now - newest.plannedAt >= intervalMs
}

/** Finds the reason to drop a planned anchor before it costs anything; undefined when there is none. */
export function outdatedBy(anchor: AnchorOrigin, current: AnchorOrigin): AnchoringProblem | undefined {
  if (anchor.logId !== current.logId) return 'log_ended'
  const isSame = (['chain', 'scheme', 'attester'] as const).every((name) => anchor[name] === current[name])
  return isSame ? undefined : 'anchorer_changed'
}

type AnchorOrigin = Pick<AnchorRow, 'logId' | 'chain' | 'scheme' | 'attester'>

/** The steps after a look at the chain, in this order. Without any, the anchor waits for the chain. */
export interface Reaction {
  /** True to send the newest transaction, for the first time or again. */
  readonly send?: true
  /** True to sign the first transaction, or one with higher fees that replaces the last. */
  readonly sign?: true
  readonly change?: Change
}

export type Change = Partial<Pick<AnchorRow, 'state' | 'signed' | 'problem' | 'sentAt' | 'landing'>>

interface Timing {
  readonly now: Instant
  readonly stuckAfterMs: number
}

/** Chooses the steps, by the chain first and by the stored state second, because a crash may have lost the state. */
export function reactionTo(
  sighting: AnchorSighting,
  anchor: Pick<AnchorRow, 'state' | 'signed' | 'sentAt'>,
  timing: Timing,
): Reaction {
  // A host may have sent the transaction and crashed before it stored that.
  const sentAt = anchor.sentAt ?? timing.now
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
      return reactionToWaiting(sighting.isKnown, anchor, timing)
  }
}

function reactionToWaiting(
  isKnown: boolean,
  { state, signed, sentAt }: Pick<AnchorRow, 'state' | 'signed' | 'sentAt'>,
  { now, stuckAfterMs }: Timing,
): Reaction {
  const send = isKnown ? {} : ({ send: true } as const)
  if (state === 'planned') return { sign: true }
  if (state === 'signed') return { ...send, change: { state: 'sent', sentAt: now, problem: null } }
  if (state === 'mined') {
    // A reorganization removed the anchor's block. A signed transaction waits for another block; an anchor that was only found on the chain is
    // planned again.
    return { change: signed.length > 0 ? { state: 'sent', sentAt: now } : { state: 'planned', sentAt: null } }
  }
  const isStuck = sentAt !== null && now - sentAt >= stuckAfterMs
  return isStuck ? { ...send, sign: true } : send
}
