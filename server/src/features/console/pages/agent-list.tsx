/** The list of a workspace's agents, by their last claim. */
import { paths } from '../../../web/console-paths.ts'
import { type Column, Empty, Table, WHEN, WIDE } from '../../../web/parts/table.tsx'
import { Name, Time } from '../../../web/parts/values.tsx'
import { type AgentPage, type AgentSummary, MOST_COUNTED_EACH } from '../../claims/agents.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Pager } from '../parts/pager.tsx'
import { RateCell, RateHelp } from '../parts/rate.tsx'

interface AgentListProps {
  readonly page: AgentPage
  readonly isFirst: boolean
}

export function AgentListPage({ page, isFirst }: AgentListProps) {
  const { id: workspaceId } = useWorkspace()
  const { agents, nextCursor } = page
  const list = paths.agents(workspaceId)
  const isCut = agents.some(({ cutShort }) => cutShort)
  return (
    <ConsolePage title={isFirst ? 'Agents' : 'Agents that claimed earlier'} section="agents">
      <p>Who submitted claims in this workspace, and how their claims of the last 30 days held.</p>
      {agents.length > 0 ? (
        <>
          <div class="records">
            <Table label="Agents" columns={columnsIn(workspaceId)} rows={agents} />
          </div>
          {isCut ? (
            <p class="help">
              Of each agent at most the {MOST_COUNTED_EACH.toLocaleString('en')} newest claims count here.
            </p>
          ) : null}
          <RateHelp />
        </>
      ) : (
        <NoAgents workspaceId={workspaceId} isFirst={isFirst && nextCursor === null} />
      )}
      <Pager
        label="Pages of agents"
        newest={isFirst ? undefined : list}
        older={nextCursor === null ? undefined : `${list}?${new URLSearchParams({ cursor: nextCursor })}`}
        olderText="Agents that claimed earlier"
      />
    </ConsolePage>
  )
}

function columnsIn(workspaceId: string): readonly Column<AgentSummary>[] {
  return [
    [
      'Agent',
      ({ agentId }) => (
        <a class="clamp" href={paths.agent(workspaceId, agentId)}>
          <Name of={agentId} />
        </a>
      ),
      WIDE,
    ],
    ['Last claim, newest first', ({ lastClaimAt }) => <Time at={lastClaimAt} />, WHEN],
    ['Verified in the last 30 days', ({ counts }) => <RateCell counts={counts} />],
    [
      'Connection removed',
      ({ removed }) => (removed > 0 ? removed.toLocaleString('en') : ''),
      { class: 'when number' },
    ],
  ]
}

function NoAgents({ workspaceId, isFirst }: { readonly workspaceId: string; readonly isFirst: boolean }) {
  if (!isFirst) return <p>No other agent claimed earlier, among the claims that were searched.</p>
  return (
    <Empty heading="No agents yet">
      <p>
        An agent is listed here from its first claim on. Go to <a href={paths.claims(workspaceId)}>Claims</a> to see how
        agents submit them.
      </p>
    </Empty>
  )
}
