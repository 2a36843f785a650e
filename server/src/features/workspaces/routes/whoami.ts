/** The route that describes the credential of the request. */
import { CredentialDescription } from '@claimcheck/core/api'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { errors, NEEDS_CREDENTIAL } from '../../../http/route.ts'

export function whoamiRoutes(app: App): void {
  app.get('/v1/whoami', {
    schema: {
      operationId: 'whoami',
      tags: ['Workspace'],
      summary: 'Read which workspace the credential belongs to, and what it permits',
      security: NEEDS_CREDENTIAL,
      response: { 200: CredentialDescription, ...errors(401, 403, 429, 503) },
    },
    handler: async (request) => {
      const credential = credentialOf(request)
      const { workspaceId: workspace_id, kind } = credential
      // A key has full access and no audience.
      if (credential.kind === 'key') return { workspace_id, kind, scopes: null, audience: null }
      return { workspace_id, kind, scopes: [...credential.scopes], audience: credential.audience }
    },
  })
}
