/** Functions that make the services of OAuth, which the host calls on first use. */
import { createApplicationService } from './applications.ts'
import { createKeyExchange } from './key-exchange.ts'
import { createMachineService } from './machines.ts'
import { createOAuth } from './oauth.ts'
import { createOAuthRecords } from './records.ts'
import { createTokenService } from './tokens.ts'

export const services = {
  oauthRecords: createOAuthRecords,
  oauth: createOAuth,
  keyExchange: createKeyExchange,
  applications: createApplicationService,
  machines: createMachineService,
  tokens: createTokenService,
}
