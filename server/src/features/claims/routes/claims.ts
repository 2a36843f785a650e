/** The routes that submit and read claims. */

import { ClaimList, ClaimQuery, ClaimStatus, claimRequest, SubmittedClaim } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { ServiceError } from '../../../base/errors.ts'
import { traceparentIn } from '../../../base/tracing.ts'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { errors, isId, NEEDS_KEY } from '../../../http/route.ts'
import type { ClaimService } from '../claims.ts'
import { submitterOf } from '../intake.ts'
import { fromClaimQuery, fromClaimRequest, toClaimStatus, toSubmittedClaim } from '../wire.ts'

interface ClaimRoutesOptions {
  readonly claims: ClaimService
  readonly profiles: readonly ActionProfile[]
}

export function claimRoutes(app: App, { claims, profiles }: ClaimRoutesOptions): void {
  const tags = ['Claims']

  app.post('/v1/claims', {
    config: { cost: 'claim' },
    schema: {
      operationId: 'submitClaim',
      tags,
      summary: 'Submit a claim',
      description:
        'The claim is durable when the answer arrives. A claim that can be decided at once is decided in the answer; the service checks any other claim again until its deadline.',
      security: NEEDS_KEY,
      body: claimRequest(profiles),
      response: { 202: SubmittedClaim, ...errors(401, 403, 413, 415, 422, 429, 503) },
    },
    handler: async (request, reply) => {
      const input = fromClaimRequest(request.body)
      const traceparent = traceparentIn(request.headers.traceparent)
      const { claim, created } = await claims.submit({ ...submitterOf(credentialOf(request)), traceparent }, input)
      reply.code(202)
      return toSubmittedClaim(claim, created)
    },
  })

  app.get('/v1/claims', {
    config: { cost: 'claim_list' },
    schema: {
      operationId: 'listClaims',
      tags,
      summary: "List the workspace's claims, newest first",
      security: NEEDS_KEY,
      querystring: ClaimQuery,
      response: { 200: ClaimList, ...errors(400, 401, 403, 422, 429, 503) },
    },
    handler: async (request) => {
      const { workspaceId } = credentialOf(request)
      const page = await claims.list(workspaceId, fromClaimQuery(request.query))
      return { claims: page.claims.map(toClaimStatus), next_cursor: page.nextCursor }
    },
  })

  app.get<{ Params: { claim_id: string } }>('/v1/claims/:claim_id', {
    schema: {
      operationId: 'getClaim',
      tags,
      summary: 'Read the status of a claim',
      security: NEEDS_KEY,
      response: { 200: ClaimStatus, ...errors(401, 403, 404, 429, 503) },
    },
    handler: async (request) => {
      const { claim_id } = request.params
      const claim = isId(claim_id) ? await claims.get(credentialOf(request).workspaceId, claim_id) : undefined
      if (!claim) throw new ServiceError('not_found', 'there is no such claim')
      return toClaimStatus(claim)
    },
  })
}
