/** The claim list of a workspace: a chart, filters, and pages that do not shift while claims arrive. */
import { type Instant, VERDICTS } from '@claimcheck/core'
import type { Span, Standing, Stretch } from '../../claims/claim-counts.ts'
import type { ClaimPage, ClaimStatus } from '../../claims/claims.ts'
import { Empty, Table } from '../../web/parts/table.tsx'
import { readableUtc, Time, Verdict } from '../../web/parts/values.tsx'
import { sentence } from '../../web/words.tsx'
import { type ListQuery, listPath } from '../claims/list-query.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Field, Select } from '../parts/form.tsx'
import { Live, LiveStatus } from '../parts/live.tsx'
import { VerdictChart } from '../parts/verdict-chart.tsx'
import { paths } from '../paths.ts'
import { FirstSteps, type FirstStepsState } from './first-steps.tsx'

interface ListProps {
  readonly viewer: Viewer
  readonly query: ListQuery
  readonly page: ClaimPage
  /** The cursor of the page before this one; undefined: that is the first page. */
  readonly newerCursor: string | undefined
  /** None on later pages. */
  readonly stretches: readonly Stretch[]
  /** Those that plugins check, and those of the workspace's claims. Others may be in the address. */
  readonly actions: readonly string[]
  /** What people call an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
  /** Of a workspace without any claim. */
  readonly firstSteps: FirstStepsState | undefined
  readonly mostExamined: number
  readonly now: Instant
  readonly isOwner: boolean
  readonly done: string | undefined
}

export function ClaimListPage(props: ListProps) {
  const { viewer, query, stretches, actions, titleOf, firstSteps, isOwner, done } = props
  const { id: workspaceId } = viewer.workspace!
  const { cursor, span, problems } = query
  const isFirst = cursor === undefined
  const hasNone = firstSteps !== undefined
  return (
    <ConsolePage
      title={isFirst ? 'Claims' : 'Older claims'}
      viewer={viewer}
      section="claims"
      scripts={isFirst ? ['live'] : []}
      done={done}
      actions={
        isOwner ? (
          <a class="button" href={paths.newClaim(workspaceId)}>
            Submit a claim
          </a>
        ) : undefined
      }
    >
      {problems.map((problem) => (
        <p class="notice warning" role="status">
          {sentence(problem)}
        </p>
      ))}
      {isFirst ? <LiveStatus /> : null}
      {isFirst ? (
        <Live id="chart" on>
          {hasNone ? null : (
            <VerdictChart
              stretches={stretches}
              span={span}
              path={(standing) => listPath(workspaceId, { filter: filterOf(standing), span })}
            >
              <Spans workspaceId={workspaceId} query={query} />
            </VerdictChart>
          )}
        </Live>
      ) : null}
      {hasNone ? null : <Filters workspaceId={workspaceId} query={query} actions={actions} titleOf={titleOf} />}
      <Live id="claims" on={isFirst}>
        {firstSteps ? <FirstSteps viewer={viewer} isOwner={isOwner} {...firstSteps} /> : <Claims {...props} />}
      </Live>
    </ConsolePage>
  )
}

function filterOf(standing: Standing): ListQuery['filter'] {
  return standing === 'queued' ? { state: 'queued' } : { verdict: standing }
}

/** For a cursor that is not one of ours. */
export function LostPlace({ viewer, query }: Pick<ListProps, 'viewer' | 'query'>) {
  const problem = 'this address leads to no page of the list: part of it may be missing'
  return (
    <ConsolePage title="Claims" viewer={viewer} section="claims" problem={problem}>
      <p>
        <a href={listPath(viewer.workspace!.id, { filter: query.filter })}>Go to the newest claims</a>
      </p>
    </ConsolePage>
  )
}

const SPAN_NAMES: readonly (readonly [Span, string])[] = [
  ['day', '24 hours'],
  ['month', '30 days'],
]

function Spans({ workspaceId, query }: { readonly workspaceId: string; readonly query: ListQuery }) {
  return (
    <nav class="choices" aria-label="Time shown">
      {SPAN_NAMES.map(([span, name]) => (
        <a
          id={`span-${span}`}
          href={listPath(workspaceId, { filter: query.filter, span })}
          aria-current={span === query.span ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}

interface FiltersProps extends Pick<ListProps, 'titleOf'> {
  readonly workspaceId: string
  readonly query: ListQuery
  readonly actions: readonly string[]
}

function Filters({ workspaceId, query: { filter, span }, actions, titleOf }: FiltersProps) {
  const { verdict, state, action, agentId, target } = filter
  const listed = action === undefined || actions.includes(action) ? actions : [...actions, action]
  const named = (name: string) => {
    const title = titleOf(name)
    return [name, title === undefined ? name : `${title} (${name})`] as const
  }
  return (
    <search>
      <form method="get" action={paths.claims(workspaceId)} class="inline filters">
        {span === 'day' ? null : <input type="hidden" name="span" value={span} />}
        <Select name="verdict" label="Verdict" options={choices('Any', VERDICTS)} value={verdict} />
        <Select name="state" label="State" options={choices('Any', ['queued', 'decided'])} value={state} />
        <Select name="action" label="Action" options={[['', 'Any'], ...listed.map(named)]} value={action} />
        <Field name="agent_id" label="Agent" value={agentId} autocomplete="off" spellcheck={false} />
        <Field name="target" label="Target" value={target} autocomplete="off" spellcheck={false} />
        <button type="submit" class="quiet">
          Filter
        </button>
        {Object.keys(filter).length > 0 ? <a href={listPath(workspaceId, { span })}>Clear the filters</a> : null}
      </form>
    </search>
  )
}

function choices(any: string, values: readonly string[]): (readonly [string, string])[] {
  return [['', any], ...values.map((value) => [value, value] as const)]
}

const HEAD = ['Verdict', 'Target', 'Action', 'Agent', 'Claimed', 'Checks', 'Next check']

function Claims(props: ListProps) {
  const { viewer, query, page, newerCursor, mostExamined, titleOf, now } = props
  const { id: workspaceId } = viewer.workspace!
  const { filter, cursor, span } = query
  const isFirst = cursor === undefined
  const newest = isFirst
    ? `the ${mostExamined.toLocaleString('en')} newest`
    : `${mostExamined.toLocaleString('en')} older`
  return (
    <>
      {page.claims.length > 0 ? (
        <Table label="Claims" head={HEAD}>
          {page.claims.map((claim) => (
            <ClaimRow workspaceId={workspaceId} claim={claim} title={titleOf(claim.action)} now={now} />
          ))}
        </Table>
      ) : (
        <NoMatch {...props} />
      )}
      {page.cutShort ? <p class="help">These filters were applied to {newest} claims only.</p> : null}
      <nav class="pager" aria-label="Pages of claims">
        {isFirst ? null : (
          <>
            <a id="newest" href={listPath(workspaceId, { filter, span })}>
              Newest
            </a>
            <a id="newer" href={listPath(workspaceId, { filter, span, cursor: newerCursor })} rel="prev">
              Newer
            </a>
          </>
        )}
        {page.nextCursor === null ? null : (
          <a id="older" href={listPath(workspaceId, { filter, span, cursor: page.nextCursor })} rel="next">
            {page.cutShort ? 'Search older claims' : 'Older'}
          </a>
        )}
      </nav>
    </>
  )
}

interface RowProps {
  readonly workspaceId: string
  readonly claim: ClaimStatus
  /** Of its action. */
  readonly title: string | undefined
  readonly now: Instant
}

function ClaimRow({ workspaceId, claim, title, now }: RowProps) {
  const { claimId, verdict, target, action, agentId, claimedAt, attempts, nextCheckAt } = claim
  const name = `${target}: ${verdict ?? 'queued'}, claimed ${readableUtc(claimedAt)}`
  return (
    <tr id={claimId}>
      <td>
        <Verdict value={verdict} />
      </td>
      <td class="wide">
        <a class="clamp" href={paths.claim(workspaceId, claimId)} aria-label={name}>
          {target}
        </a>
      </td>
      <td>
        <span class="clip" title={action}>
          {title ?? action}
        </span>
      </td>
      <td>
        <span class="clip" title={agentId}>
          {agentId}
        </span>
      </td>
      <td>
        <Time at={claimedAt} now={now} />
      </td>
      <td>{attempts}</td>
      <td>
        <Time at={nextCheckAt} now={now} />
      </td>
    </tr>
  )
}

function NoMatch({ viewer, query: { cursor, span, filter }, page }: ListProps) {
  const { id: workspaceId } = viewer.workspace!
  if (Object.keys(filter).length === 0) return <p>There are no older claims.</p>
  return (
    <Empty heading="No claim matches">
      <p>
        {cursor === undefined && !page.cutShort
          ? 'No claim in this workspace matches these filters.'
          : 'None of the claims that were searched matches these filters.'}
      </p>
      <p>
        <a id="clear" href={listPath(workspaceId, { span })}>
          Clear the filters
        </a>
      </p>
    </Empty>
  )
}
