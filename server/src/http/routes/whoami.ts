/** What the credential of the request is good for. */
import { CredentialDescription } from '@claimcheck/core/api'
import { credentialOf } from '../credential.ts'
import type { App } from '../instance.ts'
import { errors, NEEDS_KEY } from '../route.ts'

export function whoamiRoutes(app: App): void {
  app.get('/v1/whoami', {
    schema: {
      operationId: 'whoami',
      tags: ['Workspace'],
      summary: 'Whose credential this is, and what it may do',
      security: NEEDS_KEY,
      response: { 200: CredentialDescription, ...errors(401, 429, 503) },
    },
    handler: async (request) => {
      const { workspaceId, kind } = credentialOf(request)
      // A key has full access, and was issued for no audience.
      return { workspace_id: workspaceId, kind, scopes: null, audience: null }
    },
  })
}
