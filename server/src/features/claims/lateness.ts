/** The lateness of this host's closing reads: the time from when the first read of a claim after its deadline was planned until it was made. */
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import type { ClaimRow } from '../../storage/claim-row.ts'

/** The time for which the largest lateness counts, by halves: it is forgotten after one to two of these. */
const WINDOW_MS = 5 * 60_000

export type Lateness = ReturnType<typeof createLateness>

export function createLateness({ now }: { readonly now: () => Instant }) {
  let latestMs = 0
  let window = 0
  let [ofThisWindow, ofLastWindow] = [0, 0]

  function turn(): void {
    const current = Math.floor(now() / WINDOW_MS)
    if (current === window) return
    ofLastWindow = current === window + 1 ? ofThisWindow : 0
    ofThisWindow = 0
    window = current
  }

  return {
    note({ deadlineAt, nextCheckAt }: ClaimRow, history: readonly CheckRecord[], record: CheckRecord): void {
      const isClosing = record.sentAt >= deadlineAt && !history.some(({ sentAt }) => sentAt >= deadlineAt)
      // A claim for which nothing can be read has no read to be late.
      if (!isClosing || (!isRead(record) && NEVER_READ.has(record.failure.code))) return
      latestMs = Math.max(0, record.sentAt - Math.max(deadlineAt, nextCheckAt ?? deadlineAt))
      turn()
      ofThisWindow = Math.max(ofThisWindow, latestMs)
    },
    /** Returns the latest and the largest lateness in milliseconds; 0 while there was none. */
    state(): { readonly latestMs: number; readonly largestMs: number } {
      turn()
      return { latestMs, largestMs: Math.max(ofThisWindow, ofLastWindow) }
    },
  }
}

const NEVER_READ: ReadonlySet<string> = new Set(['no_connection', 'ambiguous_claim', 'unsupported_action'])
