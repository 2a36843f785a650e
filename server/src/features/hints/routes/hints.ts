/** The routes of hints: the addresses at which destinations give them, and a submitter's own. */
import { ClaimStatus } from '@claimcheck/core/api'
import { Type } from '@claimcheck/core/plugin'
import { ServiceError } from '../../../base/errors.ts'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { errors, isId, NEEDS_KEY } from '../../../http/route.ts'
import { toClaimStatus } from '../../claims/wire.ts'
import { HINTS_PATH } from '../hint-addresses.ts'
import type { Hints } from '../hints.ts'

/** The largest message. Most have some tens of kilobytes. */
const LARGEST_BYTES = 1024 * 1024

/** Adds the route that takes hints. It needs a scope of its own, because the bytes of the body are what a sender proves. */
export function hintRoutes(app: App, hints: Hints): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: LARGEST_BYTES },
    async (_: unknown, body: Buffer) => body,
  )

  app.post<{ Params: { address: string } }>(`${HINTS_PATH}/:address`, {
    bodyLimit: LARGEST_BYTES,
    schema: {
      operationId: 'giveHint',
      tags: ['Hints'],
      summary: 'Say that something changed at a destination',
      description:
        "For the webhooks of destinations, at the address that a connection's owner gave them. The answer is the same for every address and every body: it tells neither whether the address exists nor whether the sender proved itself. A hint is no evidence: it makes the service look at the claims that wait for its target.",
      security: [],
      response: { 202: Type.Object({}, { additionalProperties: false }), ...errors(413, 429, 503) },
    },
    handler: async ({ params, headers, body }, reply) => {
      await hints.receive(params.address, headers, Buffer.isBuffer(body) ? body : Buffer.alloc(0))
      reply.code(202)
      return {}
    },
  })
}

export function lookRoutes(app: App, hints: Hints): void {
  app.post<{ Params: { claim_id: string } }>('/v1/claims/:claim_id/look', {
    config: { cost: 'claim' },
    schema: {
      operationId: 'lookAtClaim',
      tags: ['Claims'],
      summary: 'Ask for a look at a waiting claim',
      description:
        'For the key that submitted the claim. The look is one more beside those of its schedule, within seconds if the budget for such looks permits: at most one in 10 seconds.',
      security: NEEDS_KEY,
      response: { 202: ClaimStatus, ...errors(401, 403, 404, 409, 429, 503) },
    },
    handler: async (request, reply) => {
      const { claim_id } = request.params
      if (!isId(claim_id)) throw new ServiceError('not_found', 'there is no such claim')
      const claim = await hints.askFor(credentialOf(request), claim_id)
      reply.code(202)
      return toClaimStatus(claim)
    },
  })
}
