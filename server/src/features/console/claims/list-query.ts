/** The query of the claim list: reads it from an address, and writes it into one. */
import { VERDICTS } from '@claimcheck/core/rules'
import { contentIssues } from '../../../http/text.ts'
import { paths } from '../../../web/console-paths.ts'
import type { ClaimChoice } from '../../claims/claim-choice.ts'
import { SPANS, type Span } from '../../claims/claim-statistics.ts'
import { DAY_MS, isDay, startOf } from '../days.ts'

/** The first and the last day are written as `2026-09-25`, in UTC. */
export type TableFilter = Pick<ClaimChoice, 'verdict' | 'state' | 'action' | 'agentId' | 'target' | 'search'> & {
  readonly from?: string
  readonly to?: string
}

export interface ListQuery {
  readonly filter: TableFilter
  readonly cursor: string | undefined
  readonly span: Span
  /** Filters that no claim can match, in words. They are ignored. */
  readonly problems: readonly string[]
}

interface FilterField {
  readonly name: string
  readonly label: string
  readonly fits: (value: string) => boolean
}

/** Lengths are in code points. A value that is longer than a claim allows fits no claim. */
const FIELDS: Readonly<Record<keyof TableFilter, FilterField>> = {
  search: { name: 'q', label: 'text', fits: ofLength(512) },
  verdict: { name: 'verdict', label: 'verdict', fits: (value) => VERDICTS.some((one) => one === value) },
  state: { name: 'state', label: 'state', fits: (value) => value === 'queued' || value === 'decided' },
  action: { name: 'action', label: 'action', fits: ofLength(128) },
  agentId: { name: 'agent_id', label: 'agent', fits: ofLength(256) },
  target: { name: 'target', label: 'target', fits: ofLength(512) },
  from: { name: 'from', label: 'first day', fits: isDay },
  to: { name: 'to', label: 'last day', fits: isDay },
}

const ENTRIES = Object.entries(FIELDS) as [keyof TableFilter, FilterField][]

const LONGEST_SHOWN = 64

function ofLength(most: number) {
  return (value: string) => [...value].length <= most && contentIssues(value, []).length === 0
}

export function readListQuery(query: Readonly<Record<string, string | undefined>>): ListQuery {
  const given = ENTRIES.map(([key, field]) => ({ key, field, value: query[field.name]?.trim() ?? '' }))
  const set = given.filter(({ value }) => value !== '')
  const fitting: TableFilter = Object.fromEntries(
    set.filter(({ field, value }) => field.fits(value)).map((one) => [one.key, one.value]),
  )
  const problems = set
    .filter(({ field, value }) => !field.fits(value))
    .map(({ field, value }) => `no claim can have the ${field.label} “${shown(value)}”: this filter is ignored`)
  const { from, to, ...others } = fitting
  const isBackwards = from !== undefined && to !== undefined && from > to
  if (isBackwards) problems.push(`the first day, ${from}, is after the last, ${to}: both are ignored`)
  const filter = isBackwards ? others : fitting
  const span = Object.hasOwn(SPANS, query.span ?? '') ? (query.span as Span) : defaultSpan(filter)
  return { filter, cursor: query.cursor, span, problems }
}

/** Days that somebody chose are seldom one day. */
export function defaultSpan({ from, to }: TableFilter): Span {
  return from === undefined && to === undefined ? 'day' : 'month'
}

export function claimChoiceOf({ from, to, ...choice }: TableFilter): ClaimChoice {
  return {
    ...choice,
    ...(from === undefined ? {} : { since: startOf(from) }),
    ...(to === undefined ? {} : { until: startOf(to) + DAY_MS }),
  }
}

/** False where every claim that an index finds is shown, so that nothing else is read. */
export function isSifted({ from: _, to: __, agentId: ___, ...others }: TableFilter): boolean {
  return Object.keys(others).length > 0
}

function shown(value: string): string {
  return value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value
}

export interface ListPlace {
  readonly filter?: TableFilter
  readonly cursor?: string | undefined
  readonly span?: Span
}

/** The address of a view of the list. Defaults are left out. */
export function listPath(workspaceId: string, { filter = {}, cursor, span }: ListPlace = {}): string {
  const query = queryOf(filter)
  if (span !== undefined && span !== defaultSpan(filter)) query.set('span', span)
  if (cursor !== undefined) query.set('cursor', cursor)
  return withQuery(paths.claims(workspaceId), query)
}

export type ExportFormat = 'csv' | 'json'

/** The address of a file of what the filters show. */
export function exportPath(workspaceId: string, format: ExportFormat, filter: TableFilter): string {
  return withQuery(paths.claimsExport(workspaceId, format), queryOf(filter))
}

function queryOf(filter: TableFilter): URLSearchParams {
  const query = new URLSearchParams()
  for (const [key, { name }] of ENTRIES) if (filter[key] !== undefined) query.set(name, filter[key])
  return query
}

function withQuery(path: string, query: URLSearchParams): string {
  const text = query.toString()
  return path + (text && `?${text}`)
}
