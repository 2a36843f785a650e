/** The words for what became of a verified outcome since. They blame nobody: others may change a destination. */
import { utc } from '@claimcheck/core/words/when'
import type { ShownRevisit } from '../../storage/revisits.ts'

const RIGHT = 'The claim was right when it was checked. Others may change a destination later: this blames nobody.'

/** Writes what one revisit found; undefined for one without a result that tells something. */
export function sinceWords({ result, change, seenAt }: ShownRevisit): string | undefined {
  if (seenAt === null) return undefined
  if (result === 'still_so') return `Looked at again ${utc(seenAt)}: it was still there as claimed.`
  if (result !== 'changed') return undefined
  const what =
    change === 'absent' ? 'it was no longer there' : 'it was no longer there as claimed, and something else was'
  return `Looked at again ${utc(seenAt)}: ${what}. ${RIGHT}`
}

/** Tells whether the last revisit that tells something found a change. */
export function hasChangedSince(revisits: readonly ShownRevisit[]): boolean {
  return revisits.findLast(({ result }) => result === 'changed' || result === 'still_so')?.result === 'changed'
}
