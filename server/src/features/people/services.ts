/** Functions that make the services of people, which the host calls on first use. */

import { createAccountDeletion } from './account-deletion.ts'
import { createAccountService } from './accounts.ts'
import { createAddressConfirmation } from './address-confirmation.ts'
import { createAllowances } from './allowances.ts'
import { createIdentityService } from './identities.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { createLoginThrottle } from './login-throttle.ts'
import { createMemberService } from './members.ts'
import { createOidcSignIn } from './oidc-sign-in.ts'
import { createPasskeyService } from './passkeys.ts'
import { createSecondStepService } from './second-steps.ts'
import { createSessionService } from './sessions.ts'
import { createTicketService } from './tickets.ts'

export const services = {
  allowances: createAllowances,
  accounts: createAccountService,
  addressConfirmation: createAddressConfirmation,
  sessions: createSessionService,
  members: createMemberService,
  tickets: createTicketService,
  loginThrottle: createLoginThrottle,
  knownBrowsers: createKnownBrowsers,
  passkeys: createPasskeyService,
  identities: createIdentityService,
  secondSteps: createSecondStepService,
  accountDeletion: createAccountDeletion,
  oidcSignIn: createOidcSignIn,
}
