/** Verdicts, times and long identifiers, as people read them. */

import { formatInstant, type Instant, type VerdictValue } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import { utc } from '@claimcheck/core/words/when'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { MARKS } from './icons.tsx'

const MEANINGS: Readonly<Record<VerdictValue | 'queued', string>> = {
  ...VERDICT_WORDS,
  queued: 'Not decided yet. The destination is checked again until the deadline.',
}

interface VerdictProps {
  /** The verdict; null while the claim is not decided. */
  readonly value: VerdictValue | null
  /** Leaves out the meaning on hover, for long tables. */
  readonly bare?: boolean
}

/** A verdict, shown with its own shape and colour. */
export function Verdict({ value, bare = false }: VerdictProps) {
  const name = value ?? 'queued'
  const Mark = MARKS[name]
  return (
    <span class={`verdict ${name}`} title={bare ? undefined : MEANINGS[name]}>
      <Mark />
      {name}
    </span>
  )
}

/** The moment at which a page is read. */
export const Now = createContext<Instant>(0)

export const useNow = () => useContext(Now)

interface TimeProps {
  readonly at: Instant | null
  /** The text that stands for a missing time. */
  readonly none?: string
}

/** A relative time, with the exact UTC time on hover. */
export function Time({ at, none = '–' }: TimeProps) {
  const now = useNow()
  if (at === null) return <span class="none">{none}</span>
  const exact = formatInstant(at)
  return (
    <time dateTime={exact} title={readableUtc(at)}>
      {relative(at - now)}
    </time>
  )
}

/** A time to the second, with the exact one on hover. */
export function ExactTime({ at }: { readonly at: Instant }) {
  return (
    <time dateTime={formatInstant(at)} title={readableUtc(at)}>
      {utc(at)}
    </time>
  )
}

/** Writes the day of a time in UTC: `2026-09-25`. */
export function dayOf(at: Instant): string {
  return formatInstant(at).slice(0, 10)
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

/** Writes a relative time in the largest unit that fits after rounding: 23.9 hours are 1 day. */
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
  /** The name of the copy button. */
  readonly label: string
  /** The number of characters that are shown at each end. */
  readonly ends?: number
}

/** A digest that is shortened in the middle, and whole on hover and when copied. */
export function Hash({ value, label, ends = 8 }: HashProps) {
  const short = value.length > ends * 2 + 1 ? `${value.slice(0, ends)}…${value.slice(-ends)}` : value
  return (
    <span class="hash">
      <code title={value}>{short}</code>
      <Copy value={value} label={label} />
    </span>
  )
}

const DIGEST = /(sha256:[\w-]{43})/

/** A text with shortened digests, which are whole on hover. */
export function ShortDigests({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(DIGEST).map((part) =>
        DIGEST.test(part) ? (
          <code title={part}>
            {part.slice(0, 15)}…{part.slice(-8)}
          </code>
        ) : (
          part
        ),
      )}
    </>
  )
}

interface CopyProps {
  readonly value: string
  /** The name of the button for screen readers. */
  readonly label: string
  readonly text?: string
}

/** A button that copies a value. It stays hidden until its script shows it. */
export function Copy({ value, label, text = 'Copy' }: CopyProps) {
  return (
    <button type="button" class="copy" data-copy={value} aria-label={`Copy ${label}`} hidden>
      {text}
    </button>
  )
}

/** A text in a box with a button that copies it. */
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

interface ActionNameProps {
  readonly action: string
  /** The action's title; undefined where no loaded plugin checks it. */
  readonly title: string | undefined
}

/** An action's title as people call it, with its name. */
export function ActionName({ action, title }: ActionNameProps) {
  return title === undefined ? (
    <code>{action}</code>
  ) : (
    <>
      {title} <code>{action}</code>
    </>
  )
}

/** A list of actions with commas between them. */
export function ActionNames({ actions }: { readonly actions: readonly ActionNameProps[] }) {
  return (
    <>
      {actions.map((action, index) => (
        <>
          {index === 0 ? null : ', '}
          <ActionName {...action} />
        </>
      ))}
    </>
  )
}

/** A name or an id that people or agents chose. Invisible characters are written out, and it reverses no text around it. */
export function Name({ of }: { readonly of: string }) {
  return <bdi>{visibleName(of)}</bdi>
}

/** A list of names with commas between them. */
export function Codes({ values }: { readonly values: readonly string[] }) {
  return (
    <>
      {values.map((value, index) => (
        <>
          {index === 0 ? null : ', '}
          <code>
            <Name of={value} />
          </code>
        </>
      ))}
    </>
  )
}
