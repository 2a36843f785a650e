/** Verdicts, times and long identifiers, as people read them. */

import { formatInstant, type Instant, type VerdictValue } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import { utc } from '@claimcheck/core/words/when'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { MARKS } from './icons.tsx'

const MEANINGS: Readonly<Record<VerdictValue | 'queued', string>> = {
  ...VERDICT_WORDS,
  queued: 'Not decided yet. The destination is checked again until the deadline.',
}

/**
 * A verdict, shown with its own shape and colour.
 * @param value null while the claim is not decided
 * @param bare leaves out the meaning on hover, for long tables
 */
export function Verdict({ value, bare = false }: { value: VerdictValue | null; bare?: boolean }) {
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

/**
 * A relative time, with the exact UTC time on hover.
 * @param none the text that stands for a missing time
 */
export function Time({ at, none = '–' }: { at: Instant | null; none?: string }) {
  const now = useNow()
  return at === null ? <span class="none">{none}</span> : <ExactTime at={at} text={relative(at - now)} />
}

/** A time to the second, or in other words, with the exact one on hover. */
export function ExactTime({ at, text = utc(at) }: { at: Instant; text?: string }) {
  return (
    <time dateTime={formatInstant(at)} title={readableUtc(at)}>
      {text}
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

/**
 * A digest that is shortened in the middle, and whole on hover and when copied.
 * @param label the name of the copy button
 * @param ends the number of characters that are shown at each end
 */
export function Hash({ value, label, ends = 8 }: { value: string; label: string; ends?: number }) {
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
export function ShortDigests({ text }: { text: string }) {
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

/**
 * A button that copies a value. It stays hidden until its script shows it.
 * @param label the name of the button for screen readers
 */
export function Copy({ value, label, text = 'Copy' }: { value: string; label: string; text?: string }) {
  return (
    <button type="button" class="copy" data-copy={value} aria-label={`Copy ${label}`} hidden>
      {text}
    </button>
  )
}

/** A text in a box with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
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

/** A name or an id that people or agents chose. Invisible characters are written out, and it reverses no text around it. */
export function Name({ of }: { of: string }) {
  return <bdi>{visibleName(of)}</bdi>
}

/** Puts commas between the parts of a list. */
export function withCommas(parts: readonly ComponentChildren[]): ComponentChildren {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]))
}

export function ActionNames({ actions }: { actions: readonly ActionNameProps[] }) {
  return withCommas(actions.map((action) => <ActionName {...action} />))
}

/** A list of names as code. */
export function Codes({ values }: { values: readonly string[] }) {
  return withCommas(
    values.map((value) => (
      <code>
        <Name of={value} />
      </code>
    )),
  )
}
