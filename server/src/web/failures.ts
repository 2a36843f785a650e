/** Words for the reasons that a destination could not be read. */
import type { FailureCode } from '@claimcheck/core/rules'

const WORDS: Readonly<Record<FailureCode | 'refused' | 'unexpected_error', string>> = {
  refused: 'the destination refused the connection',
  unauthorized: 'the destination refused the credentials',
  forbidden: 'what was asked for is not there, or these credentials may not see it',
  no_connection: 'no connection of the workspace can read it',
  rate_limited: 'the destination limited the number of requests',
  unavailable: 'the destination could not be reached',
  timeout: 'the destination did not answer in time',
  unexpected_response: 'the destination gave an answer that the plugin does not understand',
  too_large: 'the destination sent more than a check may read',
  misconfigured: 'the options of the connection cannot work as they are',
  unsupported_target: 'the plugin cannot read targets of this kind',
  ambiguous_claim: 'several connections fit the claim, or another destination answered than the one that was tried',
  unsupported_action: 'no plugin checks this action now',
  verifier_error: 'the plugin that reads it failed',
  unexpected_error: 'the plugin that reads it failed',
}

/** Words a failure as a phrase without a full stop. An unknown code is returned as it is. */
export function failureInWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code as keyof typeof WORDS] : code
}

const TEST_AGAIN = 'Check that the destination is up and that its address is right, then test the connection again.'
const ASK_OPERATOR = 'Test it again. If it fails again, ask the operator of this service.'

const ADVICE: Readonly<Record<string, string>> = {
  refused: 'Test it again: what it says then tells what to do.',
  unauthorized: 'Replace the credentials.',
  forbidden:
    'Look whether what was tried is there, and give the credentials read access to it, or replace them, then test it.',
  rate_limited: 'Wait some minutes, then test it again.',
  unavailable: TEST_AGAIN,
  timeout: TEST_AGAIN,
  unexpected_response: TEST_AGAIN,
  ambiguous_claim:
    'If its destination was restored or replaced, and is the right one, test the connection: it is held to what answers then.',
  misconfigured: 'Disconnect it, and connect the destination again with options that fit.',
}

/** Advises an owner of the workspace what to do about a failure. */
export function failureAdvice(code: string): string {
  return Object.hasOwn(ADVICE, code) ? ADVICE[code]! : ASK_OPERATOR
}
