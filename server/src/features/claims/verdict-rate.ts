/** The rate at which the claims of an agent hold, with the counts behind it. */
import type { Counts } from './claim-statistics.ts'

export interface VerdictRate {
  readonly verified: number
  /** The number of claims that the rate is of: verified, late, mismatch or failed. An unverifiable claim says nothing for or against the agent. */
  readonly judged: number
  /** The share of verified claims from 0 to 100; undefined where no claim is judged. 100 and 0 only where that is exact. */
  readonly percent: number | undefined
  readonly unverifiable: number
  /** The share of unverifiable claims among all decided ones, in percent, rounded as `percent` is. */
  readonly unverifiablePercent: number | undefined
  readonly queued: number
}

export function rateOf(counts: Counts): VerdictRate {
  const { verified = 0, late = 0, mismatch = 0, failed = 0, unverifiable = 0, queued = 0 } = counts
  const judged = verified + late + mismatch + failed
  return {
    verified,
    judged,
    percent: percentOf(verified, judged),
    unverifiable,
    unverifiablePercent: percentOf(unverifiable, judged + unverifiable),
    queued,
  }
}

/** Sums the counts of several stretches or actions. */
export function added(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {}
  for (const counts of all)
    for (const [standing, count] of Object.entries(counts)) sums[standing] = (sums[standing] ?? 0) + count
  return sums
}

/** Writes the rate in words: `92 % verified, 46 of 50 decided; 3 unverifiable (6 %)`. */
export function rateWords(rate: VerdictRate): string {
  const { verified, judged, percent, unverifiable, unverifiablePercent } = rate
  const share = unverifiablePercent === undefined ? '' : ` (${unverifiablePercent} %)`
  const aside = `${number(unverifiable)} unverifiable${share}`
  if (percent === undefined) return `no rate yet: none decided for or against; ${aside}`
  return `${percent} % verified, ${number(verified)} of ${number(judged)} decided; ${aside}`
}

function number(count: number): string {
  return count.toLocaleString('en')
}

function percentOf(part: number, whole: number): number | undefined {
  if (whole === 0) return undefined
  if (part === 0 || part === whole) return part === 0 ? 0 : 100
  return Math.min(99, Math.max(1, Math.round((100 * part) / whole)))
}
