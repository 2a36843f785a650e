/** Words of the tools for claims, receipts and refusals: fixed sentences, without foreign texts. */
import type { ClaimStatus, Receipt } from '@claimcheck/core/api'
import type { BundleReport } from '@claimcheck/core/checker'
import { firstFailure, HEAD_PROBLEMS } from '@claimcheck/core/words/checks'
import { REASON_WORDS, VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import type { BackendError } from './backend.ts'

export function claimWords({ claim_id: id, state, verdict, reason_code: reason, ...claim }: ClaimStatus): string {
  const erased = claim.erased ? ' Its content was erased.' : ''
  if (state === 'decided' && verdict !== null) {
    const why = reason === null ? '' : ` ${REASON_WORDS[reason]}`
    return `Claim ${id} is decided: ${verdict}. ${VERDICT_WORDS[verdict]}${why} Receipt: ${claim.receipt_id}.${erased}`
  }
  const next = claim.next_check_at === null ? '' : ` The next check is due at ${claim.next_check_at}.`
  return `Claim ${id} is queued after ${claim.attempts} checks.${next} It is decided by ${claim.expected_by ?? claim.deadline_at} at the latest: call wait_for_claim.${erased}`
}

export function receiptWords({ body }: Receipt): string {
  const { value, reason_code: reason } = body.verdict
  const why = reason !== undefined && Object.hasOwn(REASON_WORDS, reason) ? ` ${REASON_WORDS[reason as never]}` : ''
  return `The receipt says: ${value}. ${VERDICT_WORDS[value]}${why} It was issued at ${body.issued_at}. Nothing of it was checked here: call verify_receipt for that.`
}

/** Words for the check of a receipt. @param checkedBy the side that checked: a service that issued the receipt vouches for itself alone */
export function reportWords(report: BundleReport, checkedBy: 'service' | 'client'): string {
  const by =
    checkedBy === 'client'
      ? 'It was checked on this computer, with the keys that the service publishes.'
      : 'The service that answers here checked it itself: whoever does not trust it runs `claimcheck verify`.'
  if (!report.valid) return `The receipt is NOT valid: ${firstFailure(report)}. Do not rely on it. ${by}`
  return [
    `The receipt is valid, and its verdict is ${report.verdict}.`,
    'Its signature holds.',
    report.checks.inclusion === true ? 'It is in the log.' : 'It carries no proof that it is in the log.',
    EVIDENCE[report.evidence?.evidence ?? 'not_checked'],
    report.tree_head && report.tree_head.tree_head !== 'holds'
      ? `But: ${HEAD_PROBLEMS[report.tree_head.tree_head]}.`
      : undefined,
    by,
  ]
    .filter((sentence) => sentence !== undefined)
    .join(' ')
}

const EVIDENCE = {
  absent: 'It names no evidence.',
  not_checked: 'Its evidence was not checked.',
  digest_differs: 'But the evidence is NOT the one that it names.',
  does_not_follow: 'But its verdict does NOT follow from its evidence.',
  follows: 'Its verdict follows from its evidence.',
} as const

/** Words for a refusal, without the service's own, which may repeat texts of the claim: those go into the data. */
export function refusalWords({ status, retryAfterSeconds }: BackendError): string {
  const again = retryAfterSeconds === undefined ? 'in a minute' : `in ${retryAfterSeconds} seconds`
  return REFUSALS[status] ?? `The service could not do this now. Try again ${again}; nothing is lost or done twice.`
}

const REFUSALS: Readonly<Record<number, string>> = {
  0: 'The service could not be reached. Check its address, and call the tool again: a claim with the same client_claim_id is not made twice.',
  400: 'The request is not valid. Change what the data below names, and call the tool again.',
  401: 'The key or token is not valid any more. Ask the person who runs you for another one; calling again does not help.',
  403: 'This key or token may not do that. Ask an owner of the workspace; calling again does not help.',
  404: 'There is nothing of that id or name for this workspace. Check the id; list_claims shows the claims that there are.',
  409: 'It cannot be done in the present state. The data below says why.',
  410: 'The content was erased, and will not come back. Its entry in the public log stays.',
  413: 'The claim is too large. Send shorter params.',
  422: 'The input is not valid. Correct the fields that the data below names, and call the tool again; list_actions shows what an action takes.',
}
