/** The page of an agent: how its claims held over time and by action, and the last ones that did not. */
import { visible, visibleName } from '@claimcheck/core/words/plain-text'
import { type Column, ROW_HEAD, Table, WHEN, WIDE } from '../../../web/parts/table.tsx'
import { ActionName, dayOf, Time, Verdict, withCommas } from '../../../web/parts/values.tsx'
import { type AgentRecord, MOST_FAILURES } from '../../claims/agents.ts'
import { MOST_EXAMINED } from '../../claims/claim-choice.ts'
import { SPANS, type Stretch, sumOf } from '../../claims/claim-statistics.ts'
import type { ListedClaim } from '../../claims/claims.ts'
import { added } from '../../claims/verdict-rate.ts'
import type { ProfileOf } from '../claims/claim-words.ts'
import { listPath } from '../claims/list-query.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Rate, RateCell, RateHelp } from '../parts/rate.tsx'
import { ClaimLink } from './claim-list.tsx'

interface AgentPageProps {
  readonly agentId: string
  readonly record: AgentRecord
  /** Returns the title of an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
  readonly profileOf: ProfileOf
}

export function AgentPage(props: AgentPageProps) {
  const { agentId, record } = props
  const { at } = useWorkspace()
  const { counts, counted, lastClaimAt } = record
  const name = visibleName(agentId)
  return (
    <ConsolePage
      title={`Agent ${name}`}
      heading={name}
      section="agents"
      actions={
        <a class="button quiet" id="claims-of-agent" href={listPath(at, { filter: { agentId } })}>
          All claims of this agent
        </a>
      }
    >
      <p class="standing" id="rate">
        In the last 30 days: <Rate counts={counts} />.
      </p>
      <Removed count={counted.removed} />
      <p>
        Last claim: <Time at={lastClaimAt} />
      </p>
      {counted.cutShort && (
        <p class="notice warning">
          Only the {MOST_EXAMINED.toLocaleString('en')} newest claims of this agent are counted here.
        </p>
      )}
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

/** Warns of claims whose connection was removed while they waited: a person can keep claims from being judged so. */
function Removed({ count }: { count: number }) {
  if (count === 0) return null
  const claims = count === 1 ? '1 claim was' : `${count.toLocaleString('en')} claims were`
  return (
    <p class="notice warning" id="removed">
      {claims} not judged: the connection under which {count === 1 ? 'it was' : 'they were'} submitted was removed while{' '}
      {count === 1 ? 'it' : 'they'} waited.
    </p>
  )
}

function Failures({ agentId, record: { failures }, profileOf }: AgentPageProps) {
  const { at } = useWorkspace()
  if (failures.length === 0) {
    const most = MOST_EXAMINED.toLocaleString('en')
    return <p>None of its claims, up to the newest {most}, is late, mismatch or failed.</p>
  }
  const columns: readonly Column<ListedClaim>[] = [
    ['Verdict', ({ verdict }) => <Verdict value={verdict} />],
    ['Claim', (claim) => <ClaimLink claim={claim} profileOf={profileOf} />, WIDE],
    ['Submitted, newest first', ({ submittedAt }) => <Time at={submittedAt} />, WHEN],
  ]
  return (
    <>
      <Table label="Last failures" columns={columns} rows={failures} idOf={({ claimId }) => claimId} />
      <p>
        {failures.length === MOST_FAILURES ? `The last ${MOST_FAILURES}. ` : ''}All:{' '}
        {withCommas(
          (['late', 'mismatch', 'failed'] as const).map((verdict) => (
            <a href={listPath(at, { filter: { agentId, verdict } })}>{verdict}</a>
          )),
        )}
      </p>
    </>
  )
}

/** The number of days in one row: a day alone often has too few claims for a rate. */
const DAYS_TOGETHER = 5

function OverTime({ stretches }: { stretches: readonly Stretch[] }) {
  const starts = stretches.flatMap((_, index) => (index % DAYS_TOGETHER === 0 ? [index] : []))
  const spans = starts.map((start) => stretches.slice(start, start + DAYS_TOGETHER)).toReversed()
  return (
    <Table
      label="Verified over time"
      columns={[
        ['Days (UTC), newest first', daysOf, { isRowHead: true }],
        ['Verified', (days) => <RateCell counts={added(days.map(({ counts }) => counts))} />],
      ]}
      rows={spans}
    />
  )
}

function daysOf(days: readonly Stretch[]): string {
  return `${dayOf(days[0]!.start)} to ${dayOf(days.at(-1)!.start + SPANS.month.stretchMs - 1)}`
}

/** The most actions that are listed: an agent may claim any action, and more of them say nothing. */
const MOST_ACTIONS = 20

function ByAction({ agentId, record: { byAction }, titleOf }: AgentPageProps) {
  const { at } = useWorkspace()
  const { actions } = byAction
  if (actions.length === 0) return <p>It claimed nothing in the last 30 days.</p>
  const others = actions.length - MOST_ACTIONS
  const columns: readonly Column<(typeof actions)[number]>[] = [
    [
      'Action',
      ({ action }) => (
        <a class="clamp" href={listPath(at, { filter: { agentId, action } })}>
          <ActionName action={visible(action)} title={titleOf(action)} />
        </a>
      ),
      ROW_HEAD,
    ],
    ['Claims', ({ counts }) => sumOf(counts).toLocaleString('en'), { class: 'when number', isLabelled: () => true }],
    ['Verified', ({ counts }) => <RateCell counts={counts} />],
  ]
  return (
    <>
      <Table label="By action, in the last 30 days" columns={columns} rows={actions.slice(0, MOST_ACTIONS)} />
      {others > 0 && <p class="help">{others.toLocaleString('en')} other actions, with fewer claims, are left out.</p>}
    </>
  )
}
