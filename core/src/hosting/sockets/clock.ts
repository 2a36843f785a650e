/** Reads the destination's clock from a line that tells the time. */
import type { Instant } from '../../evidence.ts'

const FORMS: readonly (readonly [form: RegExp, resolutionMs: number, toText: (match: RegExpExecArray) => string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)/, 1000, ([text]) => text],
  [
    /(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:[+-]\d{4}|GMT|UT)/,
    1000,
    ([text]) => text,
  ],
  // The answer to `DATE` of NNTP.
  [/\b(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\b/, 1000, ([, ...p]) => `${p[0]}-${p[1]}-${p[2]}T${p[3]}:${p[4]}:${p[5]}Z`],
]

export interface ToldTime {
  readonly at: Instant
  /** Milliseconds by which the true time may be later. */
  readonly resolutionMs: number
}

/** The time in a line; undefined for a line without a time in one of the forms. */
export function timeIn(line: string): ToldTime | undefined {
  for (const [form, resolutionMs, toText] of FORMS) {
    const match = form.exec(line)
    const at = match ? Date.parse(toText(match)) : Number.NaN
    if (!Number.isNaN(at)) return { at: Math.trunc(at), resolutionMs }
  }
  return undefined
}
