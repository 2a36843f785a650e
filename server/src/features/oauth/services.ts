/** The services of OAuth. */
import { construct } from '../../base/construct.ts'
import { createApplicationService } from './applications.ts'
import { createKeyExchange } from './key-exchange.ts'
import { createMachineService } from './machines.ts'
import { OAuth } from './oauth.ts'
import { OAuthRecords } from './records.ts'
import { createTokenService } from './tokens.ts'

export const services = {
  oauthRecords: construct(OAuthRecords),
  oauth: construct(OAuth),
  keyExchange: createKeyExchange,
  applications: createApplicationService,
  machines: createMachineService,
  tokens: createTokenService,
}
