/** Values as people read them: verdicts, times, and identifiers that are too long to be read. */
import { formatInstant, type Instant, type VerdictValue } from '@claimcheck/core'
import { MARKS } from './icons.tsx'

const VERDICTS: Readonly<Record<VerdictValue | 'queued', string>> = {
  verified: 'It is there as claimed, and was in time.',
  late: 'It is there as claimed, and came after the tolerance.',
  mismatch: 'Something else is there than was claimed.',
  failed: 'It was not there by the deadline.',
  unverifiable: 'It could not be told. This says nothing for or against the agent.',
  queued: 'Not decided yet: the destination is looked at again until the deadline.',
}

/** The verdict's word with its own shape and colour; null while there is none. */
export function Verdict({ value }: { readonly value: VerdictValue | null }) {
  const name = value ?? 'queued'
  const Mark = MARKS[name]
  return (
    <span class={`verdict ${name}`} title={VERDICTS[name]}>
      <Mark />
      {name}
    </span>
  )
}

export function verdictMeaning(value: VerdictValue | null): string {
  return VERDICTS[value ?? 'queued']
}

interface TimeProps {
  readonly at: Instant | null
  readonly now: Instant
  /** In place of no time. */
  readonly none?: string
}

/** How long ago or from now, with the exact UTC time on hover. */
export function Time({ at, now, none = '–' }: TimeProps) {
  if (at === null) return <span class="none">{none}</span>
  const exact = formatInstant(at)
  return (
    <time dateTime={exact} title={readableUtc(at)}>
      {relative(at - now)}
    </time>
  )
}

/** The exact UTC time. */
export function ExactTime({ at }: { readonly at: Instant }) {
  return <time dateTime={formatInstant(at)}>{readableUtc(at)}</time>
}

export function readableUtc(at: Instant): string {
  return formatInstant(at).replace('T', ' ').replace('Z', ' UTC')
}

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' })

/** Rounded to the nearest count of the largest unit that it reaches when it is rounded to the next smaller one. */
export function relative(ms: number): string {
  const reached = UNITS.findLast(([, size], index) => {
    const [, smaller] = UNITS[index - 1] ?? UNITS[0]!
    return Math.round(Math.abs(ms) / smaller) * smaller >= size
  })
  if (!reached) return 'now'
  const [unit, size] = reached
  return RELATIVE.format(Math.sign(ms) * Math.round(Math.abs(ms) / size), unit)
}

interface HashProps {
  readonly value: string
  /** What it is, for the copy button's name. */
  readonly label: string
  /** How much stands at each end. */
  readonly ends?: number
}

/** Shortened in the middle, whole on hover, and to be copied whole. */
export function Hash({ value, label, ends = 8 }: HashProps) {
  const short = value.length > ends * 2 + 1 ? `${value.slice(0, ends)}…${value.slice(-ends)}` : value
  return (
    <span class="hash">
      <code title={value}>{short}</code>
      <Copy value={value} label={label} />
    </span>
  )
}

/** Without scripts it does nothing, and is not shown. */
export function Copy({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <button type="button" class="copy" data-copy={value} aria-label={`Copy ${label}`} hidden>
      Copy
    </button>
  )
}

/** Something to paste elsewhere, whole. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled to, by keyboard too */}
      <section aria-label={label} tabIndex={0}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <Copy value={text} label={label} />
    </div>
  )
}
