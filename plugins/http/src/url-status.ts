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
  canBeAnswered,
  isError,
  isMissing,
  isSuccess,
  MAX_REDIRECTS,
  type Question,
  type ReadingContext,
  readUrl,
  type UrlAnswer,
  unexpected,
} from './read.ts'
import { site } from './site.ts'

export const urlStatus = defineVerifier({
  profile,
  providers: [site.provider],
  // The limit is for two reads, each of which may ask once more whether a redirect chose a language.
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
 * Reads the address. Servers give one `ETag` to two contents of the same size and date, such as of files that a build dates. So remembered
 * content only tells that nothing has come yet: content that verifies is read anew, and so is content that blames, at the first look and from
 * the deadline on.
 *
 * @throws DestinationError `unsupported_target` for a status that no answer shows
 */
async function askFor(
  { target, params, deadlineAt }: Pick<Claim<Params>, 'target' | 'params' | 'deadlineAt'>,
  context: ReadingContext & Pick<CheckContext, 'previous'>,
): Promise<UrlAnswer> {
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

/** Compares an answer with the claim. @throws DestinationError for an answer that shows neither that the claim holds nor that it does not */
function observationOf(params: Params, answer: UrlAnswer, previous: readonly PreviousRead[]): Observation<Facts> {
  const { status = USUAL_STATUS, content_fingerprint: claimed, final_url: finalUrl } = params
  const differs = [
    answer.status === status ? [] : ['status'],
    claimed === undefined || answer.fingerprint === claimed ? [] : ['content_fingerprint'],
    finalUrl === undefined || isSameAddress(answer.finalUrl, finalUrl) ? [] : ['final_url'],
  ].flat()
  if (isInconclusive(params, answer, differs)) throw unexpected(answer)
  const facts = factsOf(answer, finalUrl)
  if (differs.length === 0) return { kind: 'present', differs, facts }
  const mark = markOf(answer, differs, previous)
  const observed = { facts, ...(mark === undefined ? {} : { mark }) }
  if (isSuccess(status) && isMissing(answer.status)) return { kind: 'absent', ...observed }
  return { kind: 'present', differs, ...observed }
}

/** Tells whether an answer shows neither that the claim holds nor that it does not. @param differs params that the answer does not fit */
function isInconclusive(params: Params, answer: UrlAnswer, differs: readonly string[]): boolean {
  const { status = USUAL_STATUS, content_fingerprint: claimed, final_url: finalUrl } = params
  const { isElsewhere, isOld, isExact } = answer
  if (differs.length === 0) {
    // A sign-in page answers 200, too. The claimed content and the claimed address are what they are wherever they are found.
    const isAnyPage = isElsewhere && finalUrl === undefined && claimed === undefined
    // An error that a cache has kept says nothing of how the site answers since.
    return isAnyPage || (isOld && isError(status))
  }
  const isAnotherPage = isElsewhere && (finalUrl === undefined || differs.includes('final_url'))
  const mayBeContent = !differs.includes('status') && differs.includes('content_fingerprint') && !isExact
  return isAnotherPage || isOld || mayBeContent
}

/**
 * Decides whether an answer against the claim can blame. An address keeps no record, and may answer others otherwise: blame needs an answer that
 * is the same for everybody. A missing page has no validator; an answer that differs needs one, because walls, maintenance and trials of new
 * pages answer 200, too.
 */
function markOf(answer: UrlAnswer, differs: readonly string[], previous: readonly PreviousRead[]): Mark | undefined {
  const saysThatItWas = answer.status === 410
  const isTheSameForAll = answer.isShared && (isMissing(answer.status) || answer.hasValidator)
  const isOtherContent = !differs.includes('status') && differs.includes('content_fingerprint')
  const isUnstable = isOtherContent && previous.some((read) => showsOtherContent(read, answer))
  return saysThatItWas || !isTheSameForAll || isUnstable ? 'may_have_been' : undefined
}

/** Tells whether a read with the same status saw other content: then nobody knows what the page was between the reads. */
function showsOtherContent({ observation: { facts } }: PreviousRead, { status, fingerprint }: UrlAnswer): boolean {
  return facts.answered_status === status && facts.fingerprint !== undefined && facts.fingerprint !== fingerprint
}

function factsOf({ status, redirected, finalUrl, bytes, fingerprint }: UrlAnswer, claimed: string | undefined): Facts {
  // The claimed address may be a slash shorter, and as long as an address may be.
  const shown = claimed !== undefined && isSameAddress(finalUrl, claimed) && !isAddress(finalUrl) ? claimed : finalUrl
  return {
    answered_status: status,
    redirected,
    ...((redirected || claimed !== undefined) && isAddress(shown) && { final_url: shown }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  }
}
