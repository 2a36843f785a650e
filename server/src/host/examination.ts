/** What a feature brings to `claimcheck doctor`: a look at what it stores. */
import type { Reads } from '../storage/storage.ts'

/** @param add takes one sentence for each problem, which names the row */
export type Examine = (reads: Reads, add: (problem: string) => void) => Promise<void>
