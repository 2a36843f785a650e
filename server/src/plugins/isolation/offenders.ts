/** Keeps the claims of one workspace from ending a plugin's process for all others again and again. */
import { LRUCache } from 'lru-cache'

export interface Offenders {
  /** A check of this workspace ended the process. */
  note(share: string): void
  /** Its checks are not given to the process for now. */
  areHeld(share: string): boolean
}

/** Each claim may end it twice before it waits for a moment that decides. */
const MOST_ENDS = 4
const WINDOW_MS = 60_000
const MOST_SHARES = 1000

export function createOffenders(): Offenders {
  const ends = new LRUCache<string, readonly number[]>({ max: MOST_SHARES })
  const recent = (share: string) => (ends.get(share) ?? []).filter((at) => performance.now() - at < WINDOW_MS)

  return {
    note: (share) => void ends.set(share, [...recent(share), performance.now()]),
    areHeld: (share) => recent(share).length >= MOST_ENDS,
  }
}
