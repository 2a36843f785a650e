/** One trap: what happens, what is true of the claim, and the verdict that it must get. */
import type { Client } from '../support/installation.ts'
import type { World } from './world.ts'

/** Whether the claimed outcome came about: in time, late, never, or at another place. `unknowable`: nothing that the destination shows can tell. */
export type Truth = 'in_time' | 'late' | 'never' | 'elsewhere' | 'unknowable'

export interface Trap {
  readonly name: string
  readonly truth: Truth
  /** `value` or `value/reason_code`; `422`: the claim is refused. */
  readonly verdict: string
  /** The place does not show what came about: `unverifiable` is the most that can be said. */
  readonly forgets?: boolean
  /** Sets it up, and gives the claim. */
  play(world: World): Promise<Play>
}

export interface Play {
  readonly client: Client
  /** `codehost.commit.push`, when left out. */
  readonly action?: string
  readonly target: string
  readonly params: Readonly<Record<string, unknown>>
  readonly claimed_at: string
  readonly deadline_at?: string
  /** What happens after the claim was submitted. */
  readonly meanwhile?: () => Promise<void>
  /** How long after. */
  readonly afterMs?: number
  /** What the receipt's facts must have; `undefined`: must not. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Where the receipt must say that it was read. */
  readonly source?: Readonly<Record<string, unknown>>
  /** Claims that are submitted together with this one, and share its reads. */
  readonly beside?: number
  /** What the answer that refuses it says. */
  readonly refusal?: RegExp
}

/** Verdicts that are right, given the truth. What cannot be told is never wrong. */
const RIGHT: Readonly<Record<Truth, readonly string[]>> = {
  in_time: ['verified', 'unverifiable'],
  // After the deadline it is no longer late: it was not there by it.
  late: ['late', 'failed', 'unverifiable'],
  never: ['failed', 'unverifiable'],
  elsewhere: ['mismatch', 'unverifiable'],
  unknowable: ['unverifiable'],
}

export function isFalseVerified(truth: Truth, verdict: string): boolean {
  return verdict === 'verified' && !RIGHT[truth].includes(verdict)
}

export function isFalseBlame(truth: Truth, verdict: string): boolean {
  return ['late', 'mismatch', 'failed'].includes(verdict) && !RIGHT[truth].includes(verdict)
}
