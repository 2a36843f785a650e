/** The filters of a list: read from an address or a form, and written into an address. */
import { contentIssues } from '../../http/text.ts'
import type { Fields } from './request-fields.ts'

/** The first and the last day of a list, written as `2026-09-25`, in UTC. */
export interface Days {
  readonly from?: string
  readonly to?: string
}

export interface FilterField {
  readonly name: string
  readonly label: string
  readonly fits: (value: string) => boolean
  /** True if blanks around the value are part of it. */
  readonly isExact?: true
}

export interface ReadFilter<F> {
  readonly filter: F
  /** Words for the filters that nothing can match, which are ignored. */
  readonly problems: readonly string[]
}

const LONGEST_SHOWN = 64
const DAYS = {
  from: { name: 'from', label: 'first day', fits: isDay },
  to: { name: 'to', label: 'last day', fits: isDay },
} as const satisfies Readonly<Record<keyof Days, FilterField>>

/**
 * Makes the functions for a list's filters.
 * @param nothing the beginning of a problem: "no claim can have"
 */
export function filterQuery<F extends Days>(
  fields: Readonly<Record<Exclude<keyof F, keyof Days>, FilterField>>,
  nothing: string,
) {
  const entries = Object.entries({ ...fields, ...DAYS }) as [keyof F & string, FilterField][]

  /** Lists the filters that are set, by the names of their fields. */
  function fieldsOf(filter: F): [name: string, value: string][] {
    return entries.flatMap(([key, { name }]) => (filter[key] === undefined ? [] : [[name, String(filter[key])]]))
  }

  return {
    read(given: Fields): ReadFilter<F> {
      const filter: Record<string, string> = {}
      const problems: string[] = []
      for (const [key, { name, label, fits, isExact }] of entries) {
        const value = (isExact ? given[name] : given[name]?.trim()) ?? ''
        if (value === '') continue
        if (fits(value)) filter[key] = value
        else problems.push(`${nothing} the ${label} “${shown(value)}”: this filter is ignored`)
      }
      const { from, to, ...others } = filter
      if (from === undefined || to === undefined || from <= to) return { filter: filter as unknown as F, problems }
      problems.push(`the first day, ${from}, is after the last, ${to}: both are ignored`)
      return { filter: others as unknown as F, problems }
    },
    fieldsOf,
    /**
     * Makes a path with the filters.
     * @param more other fields. Undefined ones are left out
     */
    path(path: string, filter: F, more: Fields): string {
      const others = Object.entries(more).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const text = new URLSearchParams([...fieldsOf(filter), ...others]).toString()
      return path + (text && `?${text}`)
    },
  }
}

/** Returns a test for texts of at most so many code points. */
export function ofLength(most: number) {
  return (value: string) => [...value].length <= most && contentIssues(value, []).length === 0
}

/** Returns the instants that the days span. Without days it has no members, because a choice without members is all. */
export function spanOf({ from, to }: Days): { readonly since?: number; readonly until?: number } {
  return {
    ...(from === undefined ? {} : { since: startOf(from) }),
    ...(to === undefined ? {} : { until: startOf(to) + DAY_MS }),
  }
}

function shown(value: string): string {
  return value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value
}

const DAY_MS = 24 * 60 * 60_000

/** Tells whether a text is a day, as a date field of a form sends it: `2026-09-25`. The 30th of February is none. */
export function isDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const at = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value)
}

function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}
