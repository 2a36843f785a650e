/** The services of OAuth. */
import { createOAuthPages } from '../../console/oauth/pages.ts'
import { createApplicationService } from '../../oauth/applications.ts'
import { createKeyExchange } from '../../oauth/key-exchange.ts'
import { createMachineService } from '../../oauth/machines.ts'
import { createOAuth } from '../../oauth/oauth.ts'
import { createOAuthRecords } from '../../oauth/records.ts'
import { createTokenService } from '../../oauth/tokens.ts'

export const services = {
  oauthRecords: createOAuthRecords,
  oauthPages: createOAuthPages,
  oauth: createOAuth,
  keyExchange: createKeyExchange,
  applications: createApplicationService,
  machines: createMachineService,
  tokens: createTokenService,
}
