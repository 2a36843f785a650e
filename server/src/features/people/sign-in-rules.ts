/** What a workspace can ask of the sign-in of its members, and which sign-ins are enough. */
import type { SignedInBy } from '../../storage/sign-in.ts'
import type { SignInRule } from '../../storage/workspaces.ts'

export type { SignedInBy, SignInRule }

/** Each asks for more than the one before it. */
export const SIGN_IN_RULES = ['any', 'second_step', 'passkey'] as const satisfies readonly SignInRule[]

/** Whether an OpenID provider asks for a second step is its operator's matter, and cannot be seen from here. */
const ENOUGH: Readonly<Record<SignInRule, readonly SignedInBy[]>> = {
  any: ['password', 'password_and_code', 'passkey', 'outside'],
  second_step: ['password_and_code', 'passkey', 'outside'],
  passkey: ['passkey'],
}

export function meetsRule(rule: SignInRule, method: SignedInBy): boolean {
  return ENOUGH[rule].includes(method)
}

export function isStricter(rule: SignInRule, than: SignInRule): boolean {
  return SIGN_IN_RULES.indexOf(rule) > SIGN_IN_RULES.indexOf(than)
}

export function isSignInRule(text: string | undefined): text is SignInRule {
  return (SIGN_IN_RULES as readonly (string | undefined)[]).includes(text)
}
