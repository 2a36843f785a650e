/** `http.url.status`, version 1: for claims that were submitted under it and wait still. New claims are of the newest version. */
import {
  type ActionProfile,
  type Claim,
  DestinationError,
  defineVerifier,
  isLateLook,
  type Observation,
  type Static,
  Type,
} from '@claimcheck/core/plugin'
import { normalAddress } from './address.ts'
import { facts, params, profile } from './profile.ts'
import { isRedirect } from './read.ts'
import { askFor, common, normalParams, observationOf } from './url-status.ts'

const Params = Type.Object(params, { additionalProperties: false })
const Facts = Type.Object(
  {
    ...facts,
    bytes: Type.Integer({ title: 'Bytes', description: 'The size of the content, when it is no longer compressed.' }),
  },
  { additionalProperties: false },
)
type Params = Static<typeof Params>
type Facts = Static<typeof Facts>

const { final_url: _, ...required } = profile.required

const profileV1: ActionProfile<typeof Params, typeof Facts> = {
  ...profile,
  version: '1',
  rulesVersion: 2,
  params: Params,
  facts: Facts,
  required,
  words: {
    ...profile.words,
    facts: { ...profile.words.facts, redirected: { true: 'A redirect within the site led to this answer.' } },
  },
}

export const urlStatusV1 = defineVerifier({
  profile: profileV1,
  ...common,
  normalize: ({ target, params }) => ({ target: normalAddress(target), params: normalParams(params) }),
  async check({ target, params, claimedAt }: Claim<Params>, context) {
    const { previous, now } = context
    if (params.status !== undefined && isRedirect(params.status)) throw new DestinationError('unsupported_target')
    const look = { claimedAt, sentAt: now(), previous }
    const answer = await askFor({ target, params }, context)
    // Its claims say nothing of content that was not read to its end.
    if (answer.bytes === undefined) throw new DestinationError('too_large', { status: answer.status })
    const { facts: seen, ...observed } = observationOf(params, answer, previous)
    const { final_url: _, ...told } = seen
    const observation = { ...observed, facts: { ...told, bytes: answer.bytes } } as Observation<Facts>
    const showsIt = observation.kind === 'present' && observation.differs.length === 0
    // Its rules do not know when a look was late.
    return showsIt || observation.mark || !isLateLook(look) ? observation : { ...observation, mark: 'may_have_been' }
  },
})
