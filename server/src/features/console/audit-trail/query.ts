/** The query of the audit trail's page: reads it from an address or a form, and writes it into an address. */
import { contentIssues } from '../../../http/text.ts'
import type { AuditFilter } from '../../../storage/audit-trail.ts'
import type { AuditTrailService } from '../../audit-trail/audit-trail.ts'
import { DAY_MS, isDay, startOf } from '../days.ts'
import type { Fields } from '../request-fields.ts'

/** The first and the last day are written as `2026-09-25`, in UTC. */
export interface TrailFilter {
  readonly search?: string
  readonly group?: string
  /** The id of a user, or a kind of actor. */
  readonly who?: string
  readonly from?: string
  readonly to?: string
}

export interface TrailQuery {
  readonly filter: TrailFilter
  /** Only entries before this position. */
  readonly before: number | undefined
  /** Filters that mean nothing, in words. They are ignored. */
  readonly problems: readonly string[]
}

/** Actors who are no users. */
export const OTHER_ACTORS: Readonly<Record<string, string>> = {
  command: 'The command line',
  application: 'Applications',
  key: 'API keys',
  service: 'The service itself',
  nobody: 'Not signed in',
}

interface FilterField {
  readonly name: string
  readonly label: string
  readonly fits: (value: string, groups: readonly string[]) => boolean
}

const FIELDS: Readonly<Record<keyof TrailFilter, FilterField>> = {
  search: {
    name: 'q',
    label: 'text',
    fits: (value) => [...value].length <= 256 && contentIssues(value, []).length === 0,
  },
  group: { name: 'group', label: 'kind of event', fits: (value, groups) => groups.includes(value) },
  who: {
    name: 'who',
    label: 'actor',
    fits: (value) => Object.hasOwn(OTHER_ACTORS, value) || /^usr_\w{1,40}$/.test(value),
  },
  from: { name: 'from', label: 'first day', fits: isDay },
  to: { name: 'to', label: 'last day', fits: isDay },
}

const ENTRIES = Object.entries(FIELDS) as [keyof TrailFilter, FilterField][]
const LONGEST_SHOWN = 64

/** @param groups of events that there are */
export function readTrailQuery(fields: Fields, groups: readonly string[] = []): TrailQuery {
  const given = ENTRIES.map(([key, field]) => ({ key, field, value: fields[field.name]?.trim() ?? '' }))
  const set = given.filter(({ value }) => value !== '')
  const fitting: TrailFilter = Object.fromEntries(
    set.filter(({ field, value }) => field.fits(value, groups)).map(({ key, value }) => [key, value]),
  )
  const problems = set
    .filter(({ field, value }) => !field.fits(value, groups))
    .map(
      ({ field, value }) =>
        `no entry has the ${field.label} “${value.slice(0, LONGEST_SHOWN)}”: this filter is ignored`,
    )
  const { from, to, ...others } = fitting
  const isBackwards = from !== undefined && to !== undefined && from > to
  if (isBackwards) problems.push(`the first day, ${from}, is after the last, ${to}: both are ignored`)
  const before = /^[1-9]\d{0,14}$/.test(fields.before ?? '') ? Number(fields.before) : undefined
  return { filter: isBackwards ? others : fitting, before, problems }
}

/** @param people who may be meant by a name or an address in the search */
export function auditFilterOf(
  workspaceId: string,
  { eventsOf }: Pick<AuditTrailService, 'eventsOf'>,
  { search, group, who, from, to }: TrailFilter,
  people: readonly { readonly userId: string; readonly name: string; readonly email: string }[],
): AuditFilter {
  const isMeant = (text: string) => text.toLowerCase().includes(search!.toLowerCase())
  const meant = search === undefined ? [] : people.filter(({ name, email }) => isMeant(name) || isMeant(email))
  return {
    scope: { workspaceId },
    ...(search === undefined ? {} : { search, searchedUsers: meant.map(({ userId }) => userId) }),
    ...(group === undefined ? {} : { events: eventsOf(group) }),
    ...(who === undefined
      ? {}
      : { actor: Object.hasOwn(OTHER_ACTORS, who) ? { kind: who } : { kind: 'user', id: who } }),
    ...(from === undefined ? {} : { since: startOf(from) }),
    ...(to === undefined ? {} : { until: startOf(to) + DAY_MS }),
  }
}

/** The filters that are set, by the names of their fields. */
export function fieldsOf(filter: TrailFilter): readonly (readonly [name: string, value: string])[] {
  return ENTRIES.flatMap(([key, { name }]) => (filter[key] === undefined ? [] : [[name, filter[key]] as const]))
}

export function trailPath(path: string, filter: TrailFilter, before?: number): string {
  const query = new URLSearchParams(fieldsOf(filter).map(([name, value]) => [name, value]))
  if (before !== undefined) query.set('before', String(before))
  const text = query.toString()
  return path + (text && `?${text}`)
}
