/** The rule of anchoring: what comes next, from what is stored and what was seen. It reads no clock, no chain and no database. */
import type { AnchorSighting, Instant } from '@claimcheck/core'
import type { AnchorRow, AnchorState } from '../../storage/anchor-row.ts'

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

/** What is done next with an open anchor. Whoever takes one up, after whatever crash, goes by its state alone. */
export type Step = 'sign' | 'send' | 'look'

export function nextStep(state: Exclude<AnchorState, 'final' | 'dropped'>): Step {
  return NEXT_STEPS[state]
}

const NEXT_STEPS = {
  planned: 'sign',
  // It may have been sent already. Sent again, it is the same transaction.
  signed: 'send',
  sent: 'look',
  mined: 'look',
} as const

/** What follows from a look. */
export type Reaction =
  | { readonly do: 'store'; readonly change: Change }
  /** `send`: the newest transaction once more. `sign`: another in its place, with higher fees. */
  | { readonly do: 'wait'; readonly send: boolean; readonly sign: boolean }

export type Change = Partial<Pick<AnchorRow, 'state' | 'signed' | 'problem' | 'sentAt' | 'landing'>>

const NOTHING: Reaction = { do: 'wait', send: false, sign: false }

export function reactionTo(
  sighting: AnchorSighting,
  { state, sentAt }: Pick<AnchorRow, 'state' | 'sentAt'>,
  { now, stuckAfterMs }: { readonly now: Instant; readonly stuckAfterMs: number },
): Reaction {
  switch (sighting.state) {
    case 'final': {
      const { uid, txHash, blockNumber, blockTime } = sighting.anchor
      const { cost, gasUsed } = sighting
      const landing = { uid, txHash, blockNumber, blockTime, cost, gasUsed }
      return { do: 'store', change: { state: 'final', problem: null, landing } }
    }
    case 'dropped':
      return { do: 'store', change: { state: 'dropped', problem: sighting.problem } }
    case 'mined':
      return state === 'mined' ? NOTHING : { do: 'store', change: { state: 'mined', problem: null } }
    case 'waiting': {
      // The block that it was in is gone: it waits for another from now on.
      if (state === 'mined') return { do: 'store', change: { state: 'sent', sentAt: now } }
      const isStuck = sentAt !== null && now - sentAt >= stuckAfterMs
      return { do: 'wait', send: !sighting.isKnown, sign: isStuck }
    }
  }
}
