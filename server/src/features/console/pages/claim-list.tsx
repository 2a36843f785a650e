/** The claim list of a workspace: a chart, filters, and pages that do not shift while claims arrive. */
import { type Instant, VERDICTS } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type Column, Empty, Table, WHEN, WIDE } from '../../../web/parts/table.tsx'
import { readableUtc, Time, Verdict } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MOST_EXAMINED } from '../../claims/claim-choice.ts'
import type { Counted, Span, Standing } from '../../claims/claim-statistics.ts'
import type { ClaimPage, ListedClaim } from '../../claims/claims.ts'
import { claimWords, type ProfileOf } from '../claims/claim-words.ts'
import { EXPORT_FORMATS, MOST_EXPORTED } from '../claims/export.ts'
import {
  claimChoiceOf,
  defaultSpan,
  fieldsOf,
  type ListQuery,
  listPath,
  type TableFilter,
} from '../claims/list-query.ts'
import { ConsolePage, useViewer, useWorkspace } from '../page.tsx'
import { Field, HiddenFields, PostForm, Select } from '../parts/form.tsx'
import { Live, LiveStatus } from '../parts/live.tsx'
import { Pager } from '../parts/pager.tsx'
import { SearchForm } from '../parts/search-form.tsx'
import { VerdictChart } from '../parts/verdict-chart.tsx'
import { FirstSteps, type FirstStepsState } from './first-steps.tsx'

interface ListProps {
  readonly query: ListQuery
  readonly page: ClaimPage
  /** The cursor of the page before this one; undefined on the first page. */
  readonly newerCursor: string | undefined
  /** Counts of claims by verdict; only the first page has them. */
  readonly counted: Counted | undefined
  /** The actions that plugins check, and those of the workspace's claims, to choose from. The address may name others. */
  readonly actions: readonly string[]
  /** Returns the title of an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
  readonly profileOf: ProfileOf
  /** The first steps to show; set for a workspace without any claim. */
  readonly firstSteps: FirstStepsState | undefined
}

export function ClaimListPage(props: ListProps) {
  const { query, counted, actions, titleOf, firstSteps } = props
  const { now } = useViewer()
  const { at, isOwner } = useWorkspace()
  const { filter, cursor, span, problems } = query
  const isFirst = cursor === undefined
  return (
    <ConsolePage
      title={isFirst ? 'Claims' : 'Older claims'}
      section="claims"
      scripts={isFirst ? ['live'] : []}
      actions={
        isOwner && (
          <a class="button" href={at.newClaim}>
            Submit a claim
          </a>
        )
      }
    >
      {problems.map((problem) => (
        <p class="notice warning" role="status">
          {sentence(problem)}
        </p>
      ))}
      {isFirst && <LiveStatus />}
      {counted && (
        <Live id="chart" on>
          {!firstSteps && (
            <VerdictChart
              counted={counted}
              most={MOST_EXAMINED}
              span={span}
              lastDay={lastDayOf(filter, now)}
              path={(standing) => listPath(at, { filter: filterOf(filter, standing), span })}
            >
              <Spans query={query} />
            </VerdictChart>
          )}
        </Live>
      )}
      {!firstSteps && <Filters query={query} actions={actions} titleOf={titleOf} />}
      <Live id="claims" on={isFirst}>
        {firstSteps ? <FirstSteps {...firstSteps} /> : <Claims {...props} />}
      </Live>
    </ConsolePage>
  )
}

function filterOf({ verdict: _, state: __, ...filter }: TableFilter, standing: Standing): TableFilter {
  return standing === 'queued' ? { ...filter, state: 'queued' } : { ...filter, verdict: standing }
}

/** Finds the last day that the filter asks for; undefined where that is today or later. */
function lastDayOf(filter: TableFilter, now: Instant): string | undefined {
  const { until } = claimChoiceOf(filter)
  return until === undefined || until > now ? undefined : filter.to
}

/** Answers a cursor that is not one of ours. */
export function LostPlace({ query }: Pick<ListProps, 'query'>) {
  const { at } = useWorkspace()
  const problem = 'this address leads to no page of the list: part of it may be missing'
  return (
    <ConsolePage title="Claims" section="claims" problem={problem}>
      <p>
        <a href={listPath(at, { filter: query.filter })}>Go to the newest claims</a>
      </p>
    </ConsolePage>
  )
}

const SPAN_NAMES: readonly (readonly [Span, string])[] = [
  ['day', '24 hours'],
  ['month', '30 days'],
]

function Spans({ query }: Pick<ListProps, 'query'>) {
  const { at } = useWorkspace()
  return (
    <nav class="choices" aria-label="Time shown">
      {SPAN_NAMES.map(([span, name]) => (
        <a
          id={`span-${span}`}
          href={listPath(at, { filter: query.filter, span })}
          aria-current={span === query.span ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}

function Filters({ query: { filter, span }, actions, titleOf }: Pick<ListProps, 'query' | 'actions' | 'titleOf'>) {
  const { at } = useWorkspace()
  const { search, ...folded } = filter
  const { verdict, state, action, agentId, target, from, to } = folded
  const listed = action === undefined || actions.includes(action) ? actions : [...actions, action]
  const named = (name: string) => {
    const title = titleOf(name)
    return [name, title === undefined ? name : `${title} (${name})`] as const
  }
  return (
    <SearchForm
      action={at.claims}
      label="Search claims by target, agent, params or ID"
      placeholder="Search target, agent, params, ID"
      value={search}
      count={Object.keys(folded).length}
      from={from}
      to={to}
      clear={Object.keys(filter).length > 0 ? listPath(at, { span }) : undefined}
    >
      {span !== defaultSpan(filter) && <input type="hidden" name="span" value={span} />}
      <Select name="verdict" label="Verdict" options={choices(VERDICTS)} value={verdict} />
      <Select name="state" label="State" options={choices(['queued', 'decided'])} value={state} />
      <Select name="action" label="Action" options={[['', 'Any'], ...listed.map(named)]} value={action} />
      <Field name="agent_id" label="Agent" value={agentId} autocomplete="off" spellcheck={false} />
      {target !== undefined && (
        <Field name="target" label="Exact target" value={target} autocomplete="off" spellcheck={false} />
      )}
    </SearchForm>
  )
}

function choices(values: readonly string[]): (readonly [string, string])[] {
  return [['', 'Any'], ...values.map((value) => [value, value] as const)]
}

function Claims(props: ListProps) {
  const { query, page, newerCursor, profileOf } = props
  const { at } = useWorkspace()
  const { filter, cursor, span } = query
  const isFirst = cursor === undefined
  const most = MOST_EXAMINED.toLocaleString('en')
  return (
    <>
      {page.claims.length > 0 ? (
        <div class="records">
          <Table
            label="Claims"
            columns={[
              ['Verdict', ({ verdict }) => <Verdict value={verdict} bare />],
              ['Claim', (claim) => <ClaimLink claim={claim} profileOf={profileOf} />, WIDE],
              ['Agent', ({ agentId }) => <AgentLink agentId={agentId} />],
              ['Submitted, newest first', ({ submittedAt }) => <Time at={submittedAt} />, WHEN],
              ...(page.claims.some(isQueued) ? OF_QUEUED : []),
            ]}
            rows={page.claims}
            idOf={({ claimId }) => claimId}
          />
        </div>
      ) : (
        <NoMatch {...props} />
      )}
      {page.cutShort && (
        <p class="help">
          These filters were applied to {isFirst ? `the ${most} newest` : `${most} older`} claims only.
        </p>
      )}
      <Pager
        label="Pages of claims"
        newest={isFirst ? undefined : listPath(at, { filter, span })}
        newer={isFirst ? undefined : listPath(at, { filter, span, cursor: newerCursor })}
        older={page.nextCursor === null ? undefined : listPath(at, { filter, span, cursor: page.nextCursor })}
        olderText={page.cutShort ? 'Search older claims' : 'Older'}
      />
      <Export filter={filter} />
    </>
  )
}

function Export({ filter }: { filter: TableFilter }) {
  return (
    <>
      <PostForm action={useWorkspace().at.claimsExport} class="inline">
        <HiddenFields fields={fieldsOf(filter)} />
        {EXPORT_FORMATS.map((format) => (
          <button type="submit" id={`export-${format}`} name="format" value={format} class="quiet">
            Export {Object.keys(filter).length > 0 ? 'what the filters show' : 'these claims'} as {format.toUpperCase()}
          </button>
        ))}
      </PostForm>
      <p class="help">
        The {MOST_EXPORTED.toLocaleString('en')} newest at most. The export is recorded in the audit trail.
      </p>
    </>
  )
}

/** The columns that are shown while claims of the page are queued. */
const OF_QUEUED: readonly Column<ListedClaim>[] = [
  ['Checks', (claim) => (isQueued(claim) ? claim.attempts : null), { isLabelled: isQueued }],
  ['Next check', (claim) => (isQueued(claim) ? <Time at={claim.nextCheckAt} /> : null), { isLabelled: isQueued }],
]

function isQueued({ state }: ListedClaim): boolean {
  return state === 'queued'
}

/** A link to a claim, which says it in words. */
export function ClaimLink({ claim, profileOf }: { claim: ListedClaim; profileOf: ProfileOf }) {
  const { claimId, verdict, submittedAt } = claim
  const words = claimWords(profileOf, claim)
  return (
    <a
      class="clamp"
      href={useWorkspace().at.claim(claimId)}
      aria-label={`${words} ${verdict ?? 'queued'}, submitted ${readableUtc(submittedAt)}`}
    >
      {words}
    </a>
  )
}

function AgentLink({ agentId }: { agentId: string }) {
  if (agentId === '') return <span class="none">–</span>
  const agent = visibleName(agentId)
  return (
    <a class="clip" href={useWorkspace().at.agent(agentId)} title={agent}>
      {agent}
    </a>
  )
}

function NoMatch({ query: { cursor, span, filter }, page }: ListProps) {
  const { at } = useWorkspace()
  if (Object.keys(filter).length === 0) return <p>There are no older claims.</p>
  return (
    <Empty heading="No claim matches">
      <p>
        {cursor === undefined && !page.cutShort
          ? 'No claim in this workspace matches these filters.'
          : 'None of the claims that were searched matches these filters.'}
      </p>
      <p>
        <a id="clear" href={listPath(at, { span })}>
          Clear the filters
        </a>
      </p>
    </Empty>
  )
}
