/** The page of an agent: how its claims held over time and by action, and the last that did not. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visible, visibleName } from '@claimcheck/core/words/plain-text'
import { paths } from '../../../web/console-paths.ts'
import { Table } from '../../../web/parts/table.tsx'
import { ActionName, readableUtc, Time, Verdict } from '../../../web/parts/values.tsx'
import { type AgentRecord, MOST_FAILURES } from '../../claims/agents.ts'
import { MOST_EXAMINED } from '../../claims/claim-choice.ts'
import { type Counts, SPANS, type Stretch, sumOf } from '../../claims/claim-statistics.ts'
import type { ListedClaim } from '../../claims/claims.ts'
import { added } from '../../claims/verdict-rate.ts'
import { claimWords, type ProfileOf } from '../claims/claim-words.ts'
import { listPath } from '../claims/list-query.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Rate, RateCell, RateHelp } from '../parts/rate.tsx'

interface AgentPageProps {
  readonly viewer: Viewer
  readonly agentId: string
  readonly record: AgentRecord
  /** What people call an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
  readonly profileOf: ProfileOf
}

export function AgentPage(props: AgentPageProps) {
  const { viewer, agentId, record } = props
  const { id: workspaceId } = viewer.workspace!
  const { counts, counted, lastClaimAt } = record
  const name = visibleName(agentId)
  return (
    <ConsolePage
      title={`Agent ${name}`}
      heading={name}
      viewer={viewer}
      section="agents"
      actions={
        <a class="button quiet" id="claims-of-agent" href={listPath(workspaceId, { filter: { agentId } })}>
          All claims of this agent
        </a>
      }
    >
      <p class="standing" id="rate">
        In the last 30 days: <Rate counts={counts} />.
      </p>
      <p>
        Last claim: <Time at={lastClaimAt} />
      </p>
      {counted.cutShort ? (
        <p class="notice warning">
          Only the {MOST_EXAMINED.toLocaleString('en')} newest claims of this agent are counted here.
        </p>
      ) : null}
      <div class="records">
        <h2>Last failures</h2>
        <Failures {...props} />
        <h2>Verified over time</h2>
        <OverTime stretches={counted.stretches} />
        <h2>By action</h2>
        <ByAction {...props} />
      </div>
      <RateHelp />
    </ConsolePage>
  )
}

const FAILURE_HEAD = ['Verdict', 'Claim', 'Submitted, newest first']

function Failures({ viewer, agentId, record: { failures }, profileOf }: AgentPageProps) {
  const { id: workspaceId } = viewer.workspace!
  if (failures.length === 0) {
    const most = MOST_EXAMINED.toLocaleString('en')
    return <p>None of its claims, up to the newest {most}, is late, mismatch or failed.</p>
  }
  return (
    <>
      <Table label="Last failures" head={FAILURE_HEAD}>
        {failures.map((claim) => (
          <Failure workspaceId={workspaceId} claim={claim} words={claimWords(profileOf, claim)} />
        ))}
      </Table>
      <p>
        {failures.length === MOST_FAILURES ? `The last ${MOST_FAILURES}. ` : ''}All:{' '}
        {(['late', 'mismatch', 'failed'] as const).map((verdict, index) => (
          <>
            {index === 0 ? '' : ', '}
            <a href={listPath(workspaceId, { filter: { agentId, verdict } })}>{verdict}</a>
          </>
        ))}
      </p>
    </>
  )
}

interface FailureProps {
  readonly workspaceId: string
  readonly claim: ListedClaim
  readonly words: string
}

function Failure({ workspaceId, claim: { claimId, verdict, submittedAt }, words }: FailureProps) {
  return (
    <tr id={claimId}>
      <td>
        <Verdict value={verdict} />
      </td>
      <td class="wide">
        <a
          class="clamp"
          href={paths.claim(workspaceId, claimId)}
          aria-label={`${words} ${verdict}, submitted ${readableUtc(submittedAt)}`}
        >
          {words}
        </a>
      </td>
      <td class="when">
        <Time at={submittedAt} />
      </td>
    </tr>
  )
}

/** Days in one row: one alone often has too few claims for a rate. */
const DAYS_TOGETHER = 5

function OverTime({ stretches }: { readonly stretches: readonly Stretch[] }) {
  const starts = stretches.flatMap((_, index) => (index % DAYS_TOGETHER === 0 ? [index] : []))
  const spans = starts.map((start) => stretches.slice(start, start + DAYS_TOGETHER)).toReversed()
  return (
    <Table label="Verified over time" head={['Days (UTC), newest first', 'Verified']}>
      {spans.map((days) => (
        <RateRow name={daysOf(days)} counts={added(days.map(({ counts }) => counts))} />
      ))}
    </Table>
  )
}

function daysOf(days: readonly Stretch[]): string {
  const day = (at: Instant) => formatInstant(at).slice(0, 10)
  return `${day(days[0]!.start)} to ${day(days.at(-1)!.start + SPANS.month.stretchMs - 1)}`
}

function RateRow({ name, counts }: { readonly name: string; readonly counts: Counts }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <RateCell counts={counts} />
    </tr>
  )
}

/** An agent may claim any action: more than these say nothing. */
const MOST_ACTIONS = 20

function ByAction({ viewer, agentId, record: { byAction }, titleOf }: AgentPageProps) {
  const { id: workspaceId } = viewer.workspace!
  const { actions } = byAction
  if (actions.length === 0) return <p>It claimed nothing in the last 30 days.</p>
  const others = actions.length - MOST_ACTIONS
  return (
    <>
      <Table label="By action, in the last 30 days" head={['Action', 'Claims', 'Verified']}>
        {actions.slice(0, MOST_ACTIONS).map(({ action, counts }) => (
          <tr>
            <th scope="row" class="wide">
              <a class="clamp" href={listPath(workspaceId, { filter: { agentId, action } })}>
                <ActionName action={visible(action)} title={titleOf(action)} />
              </a>
            </th>
            <td class="when number" data-label="Claims">
              {sumOf(counts).toLocaleString('en')}
            </td>
            <RateCell counts={counts} />
          </tr>
        ))}
      </Table>
      {others > 0 ? (
        <p class="help">{others.toLocaleString('en')} other actions, with fewer claims, are left out.</p>
      ) : null}
    </>
  )
}
