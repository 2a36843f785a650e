/** The verifier of `http.url.status`: it asks the address, and reports how the answer compares with the claim. */
import {
  type CheckContext,
  type Claim,
  DestinationError,
  defineVerifier,
  type Mark,
  type Observation,
  type PreviousRead,
} from '@claimcheck/core/plugin'
import { isSameAddress, normalAddress, publicOrigin } from './address.ts'
import { formOf } from './fingerprint.ts'
import { type Facts, isAddress, type Params, profile, USUAL_STATUS } from './profile.ts'
import {
  type Answer,
  canBeAnswered,
  isError,
  isMissing,
  isSuccess,
  MAX_REDIRECTS,
  type Question,
  type Reading,
  readUrl,
  unexpected,
} from './read.ts'
import { site } from './site.ts'

export const urlStatus = defineVerifier({
  profile,
  providers: [site.provider],
  // Each of two readings may ask once more whether a redirect chose a language.
  limits: { requests: 2 * (MAX_REDIRECTS + 2) },
  anonymousSource({ target }) {
    const baseUrl = publicOrigin(target)
    return baseUrl === undefined ? undefined : { provider: site.provider, baseUrl }
  },
  normalize: ({ target, params }) => ({ target: normalAddress(target), params: normalParams(params) }),
  async check(claim: Claim<Params>, context) {
    return observationOf(claim.params, await askFor(claim, context), context.previous)
  },
})

/**
 * Servers give one `ETag` to two contents of the same size and date, such as of files that a build dates. So what is remembered only tells that
 * nothing has come yet: what verifies is read anew, and so is what blames, at the first look and from the deadline on.
 *
 * @throws DestinationError `unsupported_target` for a status that no answer shows
 */
async function askFor(
  { target, params, deadlineAt }: Pick<Claim<Params>, 'target' | 'params' | 'deadlineAt'>,
  context: Reading & Pick<CheckContext, 'previous'>,
): Promise<Answer> {
  const { status = USUAL_STATUS, content_fingerprint: claimed } = params
  if (!canBeAnswered(status)) throw new DestinationError('unsupported_target')
  const form = claimed === undefined ? undefined : formOf(claimed)
  const ask = (recalls: boolean) => {
    const question: Question = { target, status, form, recalls }
    return context.cache.share(JSON.stringify(question), () => readUrl(question, context))
  }
  const answer = await ask(context.previous.length > 0 && context.now() < deadlineAt)
  return answer.isRemembered && answer.fingerprint === claimed ? ask(false) : answer
}

function normalParams(params: Params): Params {
  const { content_fingerprint: claimed, final_url: finalUrl } = params
  return {
    ...params,
    ...(claimed !== undefined && formOf(claimed) === 'bytes' && { content_fingerprint: claimed.toLowerCase() }),
    ...(finalUrl !== undefined && { final_url: normalAddress(finalUrl) }),
  }
}

/** @throws DestinationError for an answer that shows neither that the claim holds nor that it does not */
function observationOf(params: Params, answer: Answer, previous: readonly PreviousRead[]): Observation<Facts> {
  const { status = USUAL_STATUS, content_fingerprint: claimed, final_url: finalUrl } = params
  const isStatus = answer.status === status
  const isContent = claimed === undefined || answer.fingerprint === claimed
  const isThere = finalUrl === undefined || isSameAddress(answer.finalUrl, finalUrl)
  const facts = factsOf(answer, finalUrl)
  // A page of sign-in answers 200, too. The claimed content, and the claimed address, are so wherever they are.
  const isElsewhere = answer.isElsewhere && finalUrl === undefined
  if (isStatus && isContent && isThere) {
    if (isElsewhere && claimed === undefined) throw unexpected(answer)
    // An error that a cache has kept says nothing of how the site answers since.
    if (answer.isOld && isError(status)) throw unexpected(answer)
    return { kind: 'present', differs: [], facts }
  }
  const isAnotherPage = isElsewhere || (answer.isElsewhere && !isThere)
  if (isAnotherPage || answer.isOld || (isStatus && !isContent && !answer.isExact)) throw unexpected(answer)
  const mark = markOf(answer, { isStatus, isContent }, previous)
  const observed = { facts, ...(mark === undefined ? {} : { mark }) }
  if (isSuccess(status) && isMissing(answer.status)) return { kind: 'absent', ...observed }
  const differs = [
    ...(isStatus ? [] : ['status']),
    ...(isContent ? [] : ['content_fingerprint']),
    ...(isThere ? [] : ['final_url']),
  ]
  return { kind: 'present', differs, ...observed }
}

/**
 * An address keeps no record, and may answer others otherwise: blame needs an answer that is the same for everybody. A missing page has no
 * validator; what differs needs one, because walls, maintenance and trials of new pages answer 200, too.
 */
function markOf(
  answer: Answer,
  { isStatus, isContent }: { readonly isStatus: boolean; readonly isContent: boolean },
  previous: readonly PreviousRead[],
): Mark | undefined {
  const saysThatItWas = answer.status === 410
  const isTheSameForAll = answer.isShared && (isMissing(answer.status) || answer.hasValidator)
  const isUnstable = isStatus && !isContent && previous.some((read) => showsOtherContent(read, answer))
  return saysThatItWas || !isTheSameForAll || isUnstable ? 'may_have_been' : undefined
}

/** With the same status: the page changes by itself, or was changed, and what was between the reads nobody knows. */
function showsOtherContent({ observation: { facts } }: PreviousRead, { status, fingerprint }: Answer): boolean {
  return facts.answered_status === status && facts.fingerprint !== undefined && facts.fingerprint !== fingerprint
}

function factsOf({ status, redirected, finalUrl, bytes, fingerprint }: Answer, claimed: string | undefined): Facts {
  // The claimed one may be a slash shorter, and as long as an address may be.
  const shown = claimed !== undefined && isSameAddress(finalUrl, claimed) && !isAddress(finalUrl) ? claimed : finalUrl
  return {
    answered_status: status,
    redirected,
    ...((redirected || claimed !== undefined) && isAddress(shown) && { final_url: shown }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  }
}
