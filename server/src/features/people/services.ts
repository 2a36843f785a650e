/** The services of people. */
import { createAccountService } from '../../people/accounts.ts'
import { createClosingService } from '../../people/closing.ts'
import { createGuesses } from '../../people/guesses.ts'
import { createIdentityService } from '../../people/identities.ts'
import { createKnownBrowsers } from '../../people/known-browsers.ts'
import { createMemberService } from '../../people/members.ts'
import { createOidcSignIn } from '../../people/oidc-sign-in.ts'
import { createPasskeyService } from '../../people/passkeys.ts'
import { createSecondStepService } from '../../people/second-steps.ts'
import { createSessionService } from '../../people/sessions.ts'
import { createTicketService } from '../../people/tickets.ts'

export const services = {
  accounts: createAccountService,
  sessions: createSessionService,
  members: createMemberService,
  tickets: createTicketService,
  guesses: createGuesses,
  knownBrowsers: createKnownBrowsers,
  passkeys: createPasskeyService,
  identities: createIdentityService,
  secondSteps: createSecondStepService,
  closing: createClosingService,
  /** Undefined when no OpenID provider is configured. */
  oidcSignIn: createOidcSignIn,
}
