/** The page on which a signed-in person signs in again, and goes on where they were. */
import type { App } from '../../../http/instance.ts'
import { paths, returnPath } from '../../../web/console-paths.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { queryOf } from '../request-fields.ts'
import { sessionOf } from '../session.ts'
import { sendSignIn } from '../sign-in-page.tsx'

export function confirmRoutes(app: App, services: ConsoleDependencies): void {
  app.get(paths.confirm, async (request, reply) =>
    sendSignIn(reply, services, { next: returnPath(queryOf(request).next), session: sessionOf(request) }),
  )
}
