/** OAuth: applications act for people, and machines for workspaces, with tokens. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { requireCredential, requireKey } from '../../http/auth.ts'
import { machines } from '../../storage/machines.ts'
import { users } from '../../storage/people.ts'
import { workspaces } from '../../storage/workspaces.ts'
import type { KeyService } from '../workspaces/keys.ts'
import { addMachineCommands } from './commands/machine.ts'
import { oauthConfig } from './config.ts'
import type { KeyExchange } from './key-exchange.ts'
import { oauthMigrations } from './migrations.ts'
import type { OAuth } from './oauth.ts'
import { OAUTH_PATHS } from './paths.ts'
import { SCOPES, scopeWords } from './scopes.ts'
import type { TokenService } from './tokens.ts'

export interface Services extends Pick<HostServices, 'config'> {
  readonly oauth: OAuth
  readonly tokens: TokenService
  readonly keyExchange: KeyExchange
  readonly keys: KeyService
}

export const oauthFeature = {
  name: 'oauth',
  needs: ['workspaces', 'people', 'console'],
  isOptional: true,
  stored: {
    tables: [{ table: machines, owners: { workspace_id: workspaces }, refersTo: [users] }],
    migrations: oauthMigrations,
  },
  auditWords: {
    'application.allowed': 'allowed an application to act for them',
    'application.refresh_repeated': 'repeated a refresh from another address, and got the same tokens',
    'application.registered': 'registered as an application',
    'application.returned': 'gave back what it was allowed',
    'application.stopped': 'stopped an application',
    'application.token_reused': 'sent a code or token again that was used before, and lost all that it was allowed',
    'machine.created': 'made an OAuth client for a machine',
    'machine.revoked': 'revoked the OAuth client of a machine',
  },
  config: oauthConfig,
  services: async () => (await import('./services.ts')).services,
  access: ({ tokens, oauth, config }) => ({
    securitySchemes: { oauth: securityScheme(config.publicUrl) },
    tokens: (text) => tokens.authenticate(text),
    challenge: () => `Bearer resource_metadata="${oauth.metadataUrl()}"`,
  }),
  routes: async ({ oauth, tokens, keyExchange, keys }) => {
    const [{ metadataRoutes }, { issuedKeyRoutes, ownKeyRoutes }] = await Promise.all([
      import('./routes/metadata.ts'),
      import('./routes/issued-keys.ts'),
    ])
    return [
      { scope: 'api', cost: 'small', add: (app) => metadataRoutes(app, oauth) },
      {
        scope: 'own',
        cost: 'read',
        add(app, gate) {
          requireCredential(app, { authenticate: (text) => tokens.authenticate(text), gate })
          issuedKeyRoutes(app, keyExchange)
        },
      },
      {
        scope: 'own',
        cost: 'read',
        add(app, gate) {
          requireKey(app, keys, gate)
          ownKeyRoutes(app, keys)
        },
      },
    ]
  },
  commands: addMachineCommands,
} satisfies Feature<Services>

/** Makes the security scheme in the form of OpenAPI. */
export function securityScheme(publicUrl = ''): object {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, scopeWords(scope)]))
  const tokenUrl = publicUrl + OAUTH_PATHS.token
  return {
    type: 'oauth2',
    description: 'A token of an application that a member of the workspace allowed, or of a machine.',
    flows: {
      authorizationCode: {
        authorizationUrl: publicUrl + OAUTH_PATHS.authorize,
        tokenUrl,
        refreshUrl: tokenUrl,
        scopes,
      },
      clientCredentials: { tokenUrl, scopes },
    },
  }
}
