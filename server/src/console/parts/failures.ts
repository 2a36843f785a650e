/** Why a destination could not be read, in words. */

const IN_WORDS: Readonly<Record<string, string>> = {
  unauthorized: 'the token was refused',
  forbidden: 'the token may not read this',
  no_connection: 'the connection was gone',
  rate_limited: 'the destination asked to be read less often',
  unavailable: 'the destination could not be reached',
  timeout: 'the destination did not answer in time',
  unexpected_response: 'the destination answered with something that is not understood',
  ambiguous_claim: 'several connections fit the claim',
  unsupported_action: 'nothing here reads this action now',
  verifier_error: 'the plugin that reads it failed',
  unexpected_error: 'the plugin that reads it failed',
}

/** A phrase without a full stop; of codes that are not known, the code. */
export function failureInWords(code: string): string {
  return Object.hasOwn(IN_WORDS, code) ? IN_WORDS[code]! : code
}
