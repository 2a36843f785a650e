/** Why a destination could not be read, in words. */
import type { FailureCode } from '@claimcheck/core'

const WORDS: Readonly<Record<FailureCode | 'unexpected_error', string>> = {
  unauthorized: 'the destination refused the credentials',
  forbidden: 'the credentials may not read this',
  no_connection: 'no connection of the workspace can read it',
  rate_limited: 'the destination limited the number of requests',
  unavailable: 'the destination could not be reached',
  timeout: 'the destination did not answer in time',
  unexpected_response: 'the destination gave an answer that the plugin does not understand',
  too_large: 'the destination sent more than a check may read',
  misconfigured: 'the options of the connection cannot work as they are',
  unsupported_target: 'the plugin cannot read targets of this kind',
  ambiguous_claim: 'several connections fit the claim',
  unsupported_action: 'no plugin checks this action now',
  verifier_error: 'the plugin that reads it failed',
  unexpected_error: 'the plugin that reads it failed',
}

/** A phrase without a full stop. An unknown code is returned as it is. */
export function failureInWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code as keyof typeof WORDS] : code
}
