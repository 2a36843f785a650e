/** The list of a workspace's agents by their last claim, and the address of each agent. */
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { agentOfSegment, type WorkspacePaths } from '../../../web/console-paths.ts'
import { type Column, Empty, Table, WHEN, WIDE } from '../../../web/parts/table.tsx'
import { Name, Time } from '../../../web/parts/values.tsx'
import { type AgentSummary, type AgentPage as AgentsPage, MOST_COUNTED_EACH } from '../../claims/agents.ts'
import { profilesOf } from '../claims/claim-words.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, requireFound } from '../form-page.tsx'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Pager } from '../parts/pager.tsx'
import { RateCell, RateHelp } from '../parts/rate.tsx'
import { actionTitle } from '../words.ts'
import { AgentPage } from './agent-page.tsx'

export function agentRoutes(app: App, services: ConsoleDependencies): void {
  const { agents, registry } = services

  addPage(app, services, '/agents', {
    show: async ({ workspace, query: { cursor } }) => {
      const page = await agents.list(workspace.id, cursor).catch(refuseLost)
      return <AgentList page={page} isFirst={cursor === undefined} />
    },
  })

  addPage(app, services, '/agents/:agent_id', {
    show: async ({ workspace, params }) => {
      const agentId = agentOfSegment(params.agent_id)
      const found = await agents.get(workspace.id, agentId)
      const record = requireFound(found, 'no claim of this workspace is by such an agent')
      return (
        <AgentPage
          agentId={agentId}
          record={record}
          titleOf={(action) => actionTitle(registry, action)}
          profileOf={profilesOf(registry)}
        />
      )
    },
  })
}

/** Tells of a cursor that is not one of ours. */
function refuseLost(error: unknown): never {
  if (!(error instanceof ServiceError && error.code === 'bad_request')) throw error
  const message = 'this address leads to no page of the list, part of it may be missing: open Agents again'
  throw new ServiceError('bad_request', message, { cause: error })
}

function AgentList({ page, isFirst }: { page: AgentsPage; isFirst: boolean }) {
  const { at } = useWorkspace()
  const { agents, nextCursor } = page
  const isCut = agents.some(({ cutShort }) => cutShort)
  return (
    <ConsolePage title={isFirst ? 'Agents' : 'Agents that claimed earlier'} section="agents">
      <p>
        Who submitted claims in this workspace, and how their claims of the last 30 days held.{' '}
        <a href={at.silence}>Silent agents</a>: whether the workspace is told when one stops.
      </p>
      {agents.length > 0 ? (
        <>
          <div class="records">
            <Table label="Agents" columns={columnsIn(at)} rows={agents} />
          </div>
          {isCut && (
            <p class="help">
              Of each agent at most the {MOST_COUNTED_EACH.toLocaleString('en')} newest claims count here.
            </p>
          )}
          <RateHelp />
        </>
      ) : (
        <NoAgents isFirst={isFirst && nextCursor === null} />
      )}
      <Pager
        label="Pages of agents"
        newest={isFirst ? undefined : at.agents}
        older={nextCursor === null ? undefined : `${at.agents}?${new URLSearchParams({ cursor: nextCursor })}`}
        olderText="Agents that claimed earlier"
      />
    </ConsolePage>
  )
}

function columnsIn(at: WorkspacePaths): readonly Column<AgentSummary>[] {
  return [
    [
      'Agent',
      ({ agentId }) => (
        <a class="clamp" href={at.agent(agentId)}>
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

function NoAgents({ isFirst }: { isFirst: boolean }) {
  if (!isFirst) return <p>No other agent claimed earlier, among the claims that were searched.</p>
  return (
    <Empty heading="No agents yet">
      <p>
        An agent is listed here from its first claim on. Go to <a href={useWorkspace().at.claims}>Claims</a> to see how
        agents submit them.
      </p>
    </Empty>
  )
}
