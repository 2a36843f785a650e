/** The stream of events by which pages of a workspace keep themselves up to date. */
import { ServiceError } from '../../../base/errors.ts'
import { namesEvents } from '../../../http/accept.ts'
import type { App } from '../../../http/instance.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { visitOf } from '../form-page.tsx'
import { sessionTokenOf, viewedWorkspaces } from '../session.ts'

export function eventRoutes(app: App, services: ConsoleDependencies): void {
  if (!services.isActive('event-streams')) return
  const { eventStreams, config } = services

  app.get('/events', { config: { cost: 'page' }, exposeHeadRoute: false }, async (request, reply) => {
    // A person who opens the address would see a page that never comes.
    if (!namesEvents(request.headers.accept)) throw new ServiceError('not_found', 'there is no such page')
    const { workspace, user } = visitOf(request, reply)
    const token = sessionTokenOf((name) => request.cookies[name], config.publicUrl)!
    return eventStreams.open(reply, {
      workspaceId: workspace.id,
      payer: user.payer,
      isCostly: true,
      // A page is loaded again when it begins to listen, so that it needs no event from before.
      after: undefined,
      filter: {},
      credential: `${token} ${workspace.id}`,
      mayListen: questionOf(token, workspace.id, services),
      pay: async () => {},
    })
  })
}

/** Makes the question whether the session still leads into the workspace. A page that only listens does not make the session last longer. */
function questionOf(token: string, workspaceId: string, { sessions, members }: ConsoleDependencies) {
  return async () => {
    const signedIn = await sessions.find(token, false)
    if (!signedIn) return false
    const workspaces = await viewedWorkspaces(members, signedIn)
    return workspaces.some(({ id, isOpen }) => id === workspaceId && isOpen)
  }
}
