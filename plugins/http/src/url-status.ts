/** The verifier of `http.url.status`: asks the address, and reports how the answer compares with the claim. */
import {
  type Claim,
  DestinationError,
  defineVerifier,
  isLateLook,
  type Mark,
  type Observation,
  type PreviousRead,
} from '@claimcheck/core/plugin'
import { normalAddress, publicOrigin } from './address.ts'
import { formOf } from './fingerprint.ts'
import { type Facts, type Params, profile, USUAL_STATUS } from './profile.ts'
import { type Answer, canBeAnswered, isMissing, isSuccess, type Question, readUrl, unexpected } from './read.ts'
import { site } from './site.ts'

export const urlStatus = defineVerifier({
  profile,
  providers: [site.provider],
  // Three redirects, and the page.
  limits: { requests: 4 },
  anonymousSource({ target }: Claim<Params>) {
    const baseUrl = publicOrigin(target)
    return baseUrl === undefined ? undefined : { provider: site.provider, baseUrl }
  },
  normalize: ({ target, params }) => ({ target: normalAddress(target), params: normalParams(params) }),
  async check({ target, params, claimedAt }: Claim<Params>, context) {
    const question = questionOf(target, params)
    if (!canBeAnswered(question.status)) throw new DestinationError('unsupported_target')
    const { cache, previous, now } = context
    const isLate = isLateLook({ claimedAt, sentAt: now(), previous })
    const answer = await cache.share(JSON.stringify(question), () => readUrl(question, context))
    return observationOf(params, answer, { isLate, previous })
  },
})

function questionOf(target: string, { status = USUAL_STATUS, content_fingerprint: claimed }: Params): Question {
  return { target, status, form: claimed === undefined ? undefined : formOf(claimed) }
}

function normalParams(params: Params): Params {
  const { content_fingerprint: claimed } = params
  if (claimed === undefined || formOf(claimed) !== 'bytes') return params
  return { ...params, content_fingerprint: claimed.toLowerCase() }
}

export interface Circumstances {
  /** The first read did not come right after the claim. */
  readonly isLate: boolean
  readonly previous: readonly PreviousRead[]
}

/** @throws DestinationError for an answer that shows neither that the claim holds nor that it does not */
export function observationOf(params: Params, answer: Answer, circumstances: Circumstances): Observation<Facts> {
  const { status = USUAL_STATUS, content_fingerprint: claimed } = params
  const isStatus = answer.status === status
  const isContent = claimed === undefined || answer.fingerprint === claimed
  const facts = factsOf(answer)
  if (isStatus && isContent) {
    // A page of sign-in answers 200, too. The claimed content is the claimed page wherever it is.
    if (answer.isElsewhere && claimed === undefined) throw unexpected(answer)
    return { kind: 'present', differs: [], facts }
  }
  if (answer.isElsewhere || answer.isOld || (isStatus && !answer.isExact)) throw unexpected(answer)
  const mark = markOf(answer, isStatus, circumstances)
  const observed = { facts, ...(mark === undefined ? {} : { mark }) }
  if (isSuccess(status) && isMissing(answer.status)) return { kind: 'absent', ...observed }
  const differs = [...(isStatus ? [] : ['status']), ...(isContent ? [] : ['content_fingerprint'])]
  return { kind: 'present', differs, ...observed }
}

/** An address keeps no record: what it answers now says of an earlier answer only what the circumstances do. */
function markOf(answer: Answer, isStatus: boolean, { isLate, previous }: Circumstances): Mark | undefined {
  const saysThatItWas = answer.status === 410
  const isUnstable = isStatus && (answer.varies || previous.some((read) => showsOtherContent(read, answer)))
  return isLate || saysThatItWas || isUnstable ? 'may_have_been' : undefined
}

/** With the same status: the page changes by itself, or was changed, and what was between the reads nobody knows. */
function showsOtherContent({ observation: { facts } }: PreviousRead, { status, fingerprint }: Answer): boolean {
  return facts.answered_status === status && facts.fingerprint !== undefined && facts.fingerprint !== fingerprint
}

function factsOf({ status, redirected, bytes, fingerprint }: Answer): Facts {
  return { answered_status: status, redirected, bytes, ...(fingerprint === undefined ? {} : { fingerprint }) }
}
