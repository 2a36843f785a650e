/** The routes of the agents: the list of a workspace's agents, and the page of each. */
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { agentOfSegment } from '../../../web/console-paths.ts'
import { showPage } from '../answers.tsx'
import { profilesOf } from '../claims/claim-words.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { queryOf } from '../request-fields.ts'
import { workspaceOf } from '../session.ts'
import { actionTitle } from '../words.ts'
import { AgentListPage } from './agent-list.tsx'
import { AgentPage } from './agent-page.tsx'

export function agentRoutes(app: App, { agents, registry }: ConsoleDependencies): void {
  app.get('/agents', async (request, reply) => {
    const { cursor } = queryOf(request)
    const page = await agents.list(workspaceOf(request).id, cursor).catch(refuseLost)
    return showPage(request, reply, <AgentListPage page={page} isFirst={cursor === undefined} />)
  })

  app.get<{ Params: { agent_id: string } }>('/agents/:agent_id', async (request, reply) => {
    const agentId = agentOfSegment(request.params.agent_id)
    const record = await agents.get(workspaceOf(request).id, agentId)
    if (!record) throw new ServiceError('not_found', 'no claim of this workspace is by such an agent')
    return showPage(
      request,
      reply,
      <AgentPage
        agentId={agentId}
        record={record}
        titleOf={(action) => actionTitle(registry, action)}
        profileOf={profilesOf(registry)}
      />,
    )
  })
}

/** A cursor that is not one of ours. */
function refuseLost(error: unknown): never {
  if (!(error instanceof ServiceError && error.code === 'bad_request')) throw error
  const message = 'this address leads to no page of the list, part of it may be missing: open Agents again'
  throw new ServiceError('bad_request', message, { cause: error })
}
