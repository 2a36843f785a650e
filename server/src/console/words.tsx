/** Codes, roles and texts of plugins as people read them. */
import type { FailureCode, ReasonCode } from '@claimcheck/core'
import type { Role } from '../people/members.ts'

/** Phrases as sentences: the services speak in small letters, and end without a full stop. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
}

/** Texts of plugins as people read them: what stands between backticks is code. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>
}

/** What somebody is, or is invited as. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', member: 'a member' }

export const REASON_WORDS: Readonly<Record<ReasonCode, string>> = {
  observed_after_tolerance: 'It appeared after the tolerance, and before the deadline.',
  content_mismatch: 'The target has an outcome, and it is not the one that was claimed.',
  target_mismatch: 'The outcome is there, and not where it was claimed to be.',
  not_found: 'It was not there by the deadline.',
  no_connection: 'No connection of the workspace can read this destination.',
  permission_denied: 'The destination does not let us read this.',
  rate_limited: 'The destination had no more requests left for us.',
  destination_unavailable: 'The destination could not be reached, or gave no usable answer.',
  unsupported_action: 'Nothing here can check this action.',
  claim_ambiguous: 'What was claimed, or what was seen, can be taken in more than one way.',
  verifier_error: 'The check itself went wrong.',
}

export const FAILURE_WORDS: Readonly<Record<FailureCode, string>> = {
  unauthorized: 'the destination did not take our credentials',
  forbidden: 'the destination does not let us read this',
  no_connection: 'no connection of the workspace can read it',
  rate_limited: 'the destination had no more requests left for us',
  unavailable: 'the destination could not be reached',
  timeout: 'the destination did not answer in time',
  unexpected_response: 'the destination gave an answer that means nothing to us',
  ambiguous_claim: 'more than one connection fits the claim',
  unsupported_action: 'nothing here can check this action',
  verifier_error: 'the check itself went wrong',
}
