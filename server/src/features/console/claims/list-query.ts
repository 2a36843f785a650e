/** The query of the claim list: reads it from an address, and writes it into one. */
import { VERDICTS } from '@claimcheck/core/rules'
import type { WorkspacePaths } from '../../../web/console-paths.ts'
import type { ClaimChoice } from '../../claims/claim-choice.ts'
import { SPANS, type Span } from '../../claims/claim-statistics.ts'
import { type Days, filterQuery, ofLength, type ReadFilter, spanOf } from '../filter-query.ts'
import type { Fields } from '../request-fields.ts'

export type TableFilter = Pick<ClaimChoice, 'verdict' | 'state' | 'action' | 'agentId' | 'target' | 'search'> & Days

export interface ListQuery extends ReadFilter<TableFilter> {
  readonly cursor: string | undefined
  readonly span: Span
}

/** The filters of the list. A value that is longer than a claim allows fits no claim. */
const FILTERS = filterQuery<TableFilter>(
  {
    search: { name: 'q', label: 'text', fits: ofLength(512) },
    verdict: { name: 'verdict', label: 'verdict', fits: (value) => VERDICTS.some((one) => one === value) },
    state: { name: 'state', label: 'state', fits: (value) => value === 'queued' || value === 'decided' },
    action: { name: 'action', label: 'action', fits: ofLength(128) },
    agentId: { name: 'agent_id', label: 'agent', fits: ofLength(256), isExact: true },
    target: { name: 'target', label: 'target', fits: ofLength(512) },
  },
  'no claim can have',
)

export function readListQuery(query: Fields): ListQuery {
  const { filter, problems } = FILTERS.read(query)
  const span = Object.hasOwn(SPANS, query.span ?? '') ? (query.span as Span) : defaultSpan(filter)
  return { filter, cursor: query.cursor, span, problems }
}

/** Chooses the span of the chart: chosen days are seldom one day. */
export function defaultSpan({ from, to }: TableFilter): Span {
  return from === undefined && to === undefined ? 'day' : 'month'
}

export function claimChoiceOf(filter: TableFilter): ClaimChoice {
  const { from: _, to: __, ...choice } = filter
  return { ...choice, ...spanOf(filter) }
}

/** Tells whether filters are set that need more than an index; false where all claims of an agent or of some days are shown. */
export function isSifted({ from: _, to: __, agentId: ___, ...others }: TableFilter): boolean {
  return Object.keys(others).length > 0
}

/** Makes the path of a view of the list, without defaults. */
export function listPath(
  { claims }: Pick<WorkspacePaths, 'claims'>,
  { filter = {}, cursor, span }: { filter?: TableFilter; cursor?: string; span?: Span },
): string {
  return FILTERS.path(claims, filter, {
    span: span === defaultSpan(filter) ? undefined : span,
    cursor,
  })
}

/** Lists the fields that a form must send for the same filter. */
export const { fieldsOf } = FILTERS
