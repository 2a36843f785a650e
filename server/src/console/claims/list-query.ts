/** The query of the claim list: reads it from an address, and writes it into one. */
import { VERDICTS } from '@claimcheck/core'
import { SPANS, type Span } from '../../claims/claim-counts.ts'
import type { ClaimFilter } from '../../claims/claims.ts'
import { contentIssues } from '../../http/text.ts'
import { paths } from '../paths.ts'

export type TableFilter = Pick<ClaimFilter, 'verdict' | 'state' | 'action' | 'agentId' | 'target'>

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
  verdict: { name: 'verdict', label: 'verdict', fits: (value) => VERDICTS.some((one) => one === value) },
  state: { name: 'state', label: 'state', fits: (value) => value === 'queued' || value === 'decided' },
  action: { name: 'action', label: 'action', fits: ofLength(128) },
  agentId: { name: 'agent_id', label: 'agent', fits: ofLength(256) },
  target: { name: 'target', label: 'target', fits: ofLength(512) },
}

const ENTRIES = Object.entries(FIELDS) as [keyof TableFilter, FilterField][]

const LONGEST_SHOWN = 64

function ofLength(most: number) {
  return (value: string) => [...value].length <= most && contentIssues(value, []).length === 0
}

export function readListQuery(query: Readonly<Record<string, string | undefined>>): ListQuery {
  const given = ENTRIES.map(([key, field]) => ({ key, field, value: query[field.name]?.trim() ?? '' }))
  const set = given.filter(({ value }) => value !== '')
  const filter = Object.fromEntries(
    set.filter(({ field, value }) => field.fits(value)).map((one) => [one.key, one.value]),
  )
  const problems = set
    .filter(({ field, value }) => !field.fits(value))
    .map(({ field, value }) => `no claim can have the ${field.label} “${shown(value)}”: this filter is ignored`)
  const span = Object.hasOwn(SPANS, query.span ?? '') ? (query.span as Span) : 'day'
  return { filter, cursor: query.cursor, span, problems }
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
export function listPath(workspaceId: string, { filter = {}, cursor, span = 'day' }: ListPlace = {}): string {
  const query = new URLSearchParams()
  for (const [key, { name }] of ENTRIES) if (filter[key] !== undefined) query.set(name, filter[key])
  if (span !== 'day') query.set('span', span)
  if (cursor !== undefined) query.set('cursor', cursor)
  const text = query.toString()
  return paths.claims(workspaceId) + (text && `?${text}`)
}
