/** The rate at which claims were verified, never without its counts. */
import { type Counts, sumOf } from '../../claims/claim-statistics.ts'
import { rateOf, rateWords } from '../../claims/verdict-rate.ts'

export function Rate({ counts }: { counts: Counts }) {
  if (sumOf(counts) === 0) return <span class="none">no claims</span>
  const rate = rateOf(counts)
  const waiting = rate.queued === 0 ? '' : `; ${rate.queued.toLocaleString('en')} queued`
  return <>{rateWords(rate) + waiting}</>
}

const WIDTH = 100

/** The rate in a cell of a table, with a bar. */
export function RateCell({ counts }: { counts: Counts }) {
  return (
    <div class="rate">
      <span>
        <Rate counts={counts} />
      </span>
      <RateBar counts={counts} />
    </div>
  )
}

/** The share of verified claims as a bar; the text next to it says the same. */
function RateBar({ counts }: { counts: Counts }) {
  const { percent } = rateOf(counts)
  return (
    <svg class="rate-bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class={percent === undefined ? 'rate-none' : 'rate-rest'} width={WIDTH} height="8" />
      {percent !== undefined && <rect class="rate-verified" width={percent} height="8" />}
    </svg>
  )
}

/** The explanation that stands under every list of rates. */
export function RateHelp() {
  return (
    <p class="help">
      The rate is verified claims of those that were decided verified, late, mismatch or failed. Unverifiable claims
      could not be checked: they count neither for nor against an agent, and their share is shown next to the rate.
    </p>
  )
}
