/** OAuth: applications act for people, and machines for workspaces, with tokens. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { requireCredential, requireKey } from '../../http/auth.ts'
import type { KeyExchange } from '../../oauth/key-exchange.ts'
import type { OAuth } from '../../oauth/oauth.ts'
import type { TokenService } from '../../oauth/tokens.ts'
import type { KeyService } from '../../workspaces/keys.ts'
import { addMachineCommands } from './commands/machine.ts'

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
  services: async () => {
    const { services } = await import('./services.ts')
    return services
  },
  access: ({ tokens, oauth }) => ({
    tokens: (text) => tokens.authenticate(text),
    challenge: () => `Bearer resource_metadata="${oauth.metadataUrl()}"`,
  }),
  routes: async ({ oauth, tokens, keyExchange, keys, config }) => {
    const [{ metadataRoutes }, { oauthEndpoints }, { issuedKeyRoutes, ownKeyRoutes }] = await Promise.all([
      import('./routes/metadata.ts'),
      import('./routes/endpoints.ts'),
      import('./routes/issued-keys.ts'),
    ])
    const { publicUrl } = config
    return [
      { scope: 'service', add: (app) => metadataRoutes(app, oauth) },
      { scope: 'own', add: (app, limiters) => oauthEndpoints(app, { oauth, limit: limiters.oauth, publicUrl }) },
      {
        scope: 'own',
        add(app, limiters) {
          requireCredential(app, { authenticate: (text) => tokens.authenticate(text), limiters })
          issuedKeyRoutes(app, keyExchange)
        },
      },
      {
        scope: 'own',
        add(app, limiters) {
          requireKey(app, keys, limiters)
          ownKeyRoutes(app, keys.revoke)
        },
      },
    ]
  },
  commands: addMachineCommands,
} satisfies Feature<Services>
