/** The services of people. */

import { construct } from '../../base/construct.ts'
import { createAccountDeletion } from './account-deletion.ts'
import { AccountService } from './accounts.ts'
import { createAddressConfirmation } from './address-confirmation.ts'
import { createAllowances } from './allowances.ts'
import { createIdentityService } from './identities.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { createLoginThrottle } from './login-throttle.ts'
import { MemberService } from './members.ts'
import { createOidcSignIn } from './oidc-sign-in.ts'
import { PasskeyService } from './passkeys.ts'
import { SecondStepService } from './second-steps.ts'
import { createSessionService } from './sessions.ts'
import { createTicketService } from './tickets.ts'

export const services = {
  allowances: createAllowances,
  accounts: construct(AccountService),
  addressConfirmation: createAddressConfirmation,
  sessions: createSessionService,
  members: construct(MemberService),
  tickets: createTicketService,
  loginThrottle: createLoginThrottle,
  knownBrowsers: createKnownBrowsers,
  passkeys: construct(PasskeyService),
  identities: createIdentityService,
  secondSteps: construct(SecondStepService),
  accountDeletion: createAccountDeletion,
  /** Undefined when no OpenID provider is configured. */
  oidcSignIn: createOidcSignIn,
}
