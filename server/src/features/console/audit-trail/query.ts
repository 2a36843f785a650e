/** The query of the audit trail's page: reads it from an address or a form, and writes it into an address. */
import type { AuditFilter } from '../../../storage/audit-trail.ts'
import type { AuditTrailService } from '../../audit-trail/audit-trail.ts'
import { type Days, filterQuery, ofLength, type ReadFilter, spanOf } from '../filter-query.ts'
import type { Fields } from '../request-fields.ts'

export interface TrailFilter extends Days {
  readonly search?: string
  readonly group?: string
  /** The id of a user, or a kind of actor. */
  readonly who?: string
}

export interface TrailQuery extends ReadFilter<TrailFilter> {
  /** The position before which the entries to show stand. */
  readonly before: number | undefined
}

/** Words for the kinds of actors that are no users. */
export const OTHER_ACTORS: Readonly<Record<string, string>> = {
  command: 'The command line',
  application: 'Applications',
  key: 'API keys',
  service: 'The service itself',
  nobody: 'Not signed in',
}

function filters(groups: readonly string[]) {
  return filterQuery<TrailFilter>(
    {
      search: { name: 'q', label: 'text', fits: ofLength(256) },
      group: { name: 'group', label: 'kind of event', fits: (value) => groups.includes(value) },
      who: {
        name: 'who',
        label: 'actor',
        fits: (value) => Object.hasOwn(OTHER_ACTORS, value) || /^usr_\w{1,40}$/.test(value),
      },
    },
    'no entry has',
  )
}

const FILTERS = filters([])

/**
 * Reads the query.
 * @param groups the groups of events that exist
 */
export function readTrailQuery(fields: Fields, groups: readonly string[] = []): TrailQuery {
  const before = /^[1-9]\d{0,14}$/.test(fields.before ?? '') ? Number(fields.before) : undefined
  return { ...filters(groups).read(fields), before }
}

/**
 * Makes the filter of a query.
 * @param people the users who may be meant by a name or an address in the search
 */
export function auditFilterOf(
  workspaceId: string,
  { eventsOf }: Pick<AuditTrailService, 'eventsOf'>,
  { search, group, who, ...days }: TrailFilter,
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
    ...spanOf(days),
  }
}

export const { fieldsOf } = FILTERS

export function trailPath(path: string, filter: TrailFilter, before?: number): string {
  return FILTERS.path(path, filter, { before: before?.toString() })
}
