/** The rules that a workspace can set for the sign-in of its members, and the sign-ins that are enough. */
import type { SignedInBy } from '../../storage/sign-in.ts'
import type { SignInRule } from '../../storage/workspaces.ts'

export type { SignedInBy, SignInRule }

/** The rules, each stricter than the one before it. */
export const SIGN_IN_RULES = ['any', 'second_step', 'passkey'] as const satisfies readonly SignInRule[]

/** The sign-ins that meet each rule. The service cannot see whether an OpenID provider asks for a second step: its operator decides that. */
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
