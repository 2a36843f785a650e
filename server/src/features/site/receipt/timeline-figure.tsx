/** The time line of a receipt: a band for the tolerance, a mark for every read, and the same in words. */
import type { Instant } from '@claimcheck/core/rules'
import { offsetFrom, utc } from '@claimcheck/core/words/when'
import type { Reads, Seen, Timeline } from '../../../web/receipt-view/timeline.ts'

const WIDTH = 640
const MARGIN = 10
const AXIS_Y = 26

const SEEN_WORDS: Readonly<Record<Seen, string>> = {
  as_claimed: 'it was there as claimed',
  different: 'it was there, but not as claimed',
  absent: 'it was not there',
  unreadable: 'nothing could be read',
}

export function TimelineFigure({ timeline }: { timeline: Timeline }) {
  return (
    <>
      <Strip timeline={timeline} />
      <ol class="moments">
        {momentsOf(timeline).map(({ at, text }) => (
          <li>
            <time>{utc(at)}</time> <span>{text}</span>
          </li>
        ))}
      </ol>
    </>
  )
}

function Strip({ timeline }: { timeline: Timeline }) {
  const { claimedAt, toleranceEnd, deadlineAt, appeared, reads } = timeline
  const times = [claimedAt, deadlineAt, ...reads.flatMap(({ at }) => at)]
  const first = Math.min(...times)
  const last = Math.max(...times)
  const x = (at: Instant) => {
    const share = last === first ? 0 : (Math.min(Math.max(at, first), last) - first) / (last - first)
    return Math.round((MARGIN + share * (WIDTH - 2 * MARGIN)) * 10) / 10
  }
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${WIDTH} 44`}
      role="img"
      aria-label="The time line, which the list below tells in words"
    >
      {toleranceEnd !== undefined && (
        <rect
          class="tolerance"
          x={x(claimedAt)}
          y="14"
          width={Math.max(x(toleranceEnd) - x(claimedAt), 1)}
          height="24"
        />
      )}
      {appeared?.notBefore !== undefined && (
        <rect
          class="appeared"
          x={x(appeared.notBefore)}
          y={AXIS_Y - 3}
          width={Math.max(x(appeared.notAfter) - x(appeared.notBefore), 1)}
          height="6"
        />
      )}
      <path class="axis" d={`M${MARGIN} ${AXIS_Y}H${WIDTH - MARGIN}`} />
      <path class="limit" d={`M${x(claimedAt)} 10V42M${x(deadlineAt)} 10V42`} />
      {reads.flatMap(({ seen, at }) =>
        at.map((moment) => <circle class={`read ${seen}`} cx={x(moment)} cy={AXIS_Y} r="4.5" />),
      )}
    </svg>
  )
}

interface Moment {
  readonly at: Instant
  readonly text: string
}

/** Lists the moments in order of time; at the same time, a cause before its effect. */
function momentsOf({ claimedAt, toleranceEnd, deadlineAt, issuedAt, appeared, reads }: Timeline): Moment[] {
  const since = (at: Instant) => `${offsetFrom(claimedAt, at)} the claim`
  const isRead = (moment: Instant) => reads.some(({ seen, at }) => seen === 'as_claimed' && at.includes(moment))
  const moments: Moment[] = [
    ...(appeared && !isRead(appeared.notAfter)
      ? [{ at: appeared.notAfter, text: `The outcome was there by now, ${since(appeared.notAfter)}` }]
      : []),
    { at: claimedAt, text: 'The agent claims that it did this' },
    ...reads.map(({ seen, at }) => ({ at: at[0]!, text: `${checksInWords(at, since)}: ${SEEN_WORDS[seen]}` })),
    ...(toleranceEnd === undefined || toleranceEnd > issuedAt
      ? []
      : [{ at: toleranceEnd, text: 'End of the tolerance: an outcome that appears later is late' }]),
    ...(deadlineAt > issuedAt ? [] : [{ at: deadlineAt, text: 'Deadline' }]),
    { at: issuedAt, text: 'Claimcheck decides, signs the receipt, and puts it into the log' },
  ]
  return moments.toSorted((one, other) => one.at - other.at)
}

function checksInWords(at: Reads['at'], since: (moment: Instant) => string): string {
  if (at.length === 1) return `Check ${since(at[0]!)}`
  return `${at.length} checks until ${utc(at.at(-1)!)}, ${since(at.at(-1)!)}`
}
