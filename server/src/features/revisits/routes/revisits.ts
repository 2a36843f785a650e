/** The routes of revisits: an owner's, and those that serve findings to everybody. */
import { Evidence, Finding, Revisit } from '@claimcheck/core/api'
import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import { type Credential, credentialOf, type TokenCredential } from '../../../http/credential.ts'
import { HttpError } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { errors, isId, JSON_TYPE, jsonText } from '../../../http/route.ts'
import { toRevisit } from '../../claims/wire.ts'
import type { Scope } from '../../oauth/scopes.ts'
import type { FindingService } from '../findings.ts'
import type { Revisits } from '../revisits.ts'

const SCOPE: Scope = 'claims:revisit'

/** @param audience returns the audience of tokens for the REST API */
export function revisitRoutes(app: App, revisits: Revisits, audience: () => string): void {
  app.post<{ Params: { claim_id: string } }>('/v1/claims/:claim_id/revisit', {
    config: { cost: 'claim' },
    schema: {
      operationId: 'revisitClaim',
      tags: ['Claims'],
      summary: 'Look at a decided claim again',
      description:
        'Tells whether what was verified is still there. For owners, by an application or machine with a token of the scope `claims:revisit`: an API key, which agents have, may not ask. The result comes later, in `revisits` of the claim. A claim is looked at again three times at most; one that waits already is joined. The receipt and its verdict stay as they are.',
      security: [{ oauth: [SCOPE] }],
      response: { 202: Revisit, ...errors(401, 403, 404, 409, 429, 503) },
    },
    handler: async (request, reply) => {
      const { workspaceId, grantId } = requireOwner(credentialOf(request), reply)
      const { claim_id } = request.params
      if (!isId(claim_id)) throw new ServiceError('not_found', 'there is no such claim')
      const by = { actor: { kind: 'application', id: grantId }, address: request.ip } as const
      const revisit = await revisits.ask(workspaceId, claim_id, by)
      reply.code(202)
      return toRevisit(revisit)
    },
  })

  /** @throws HttpError 403 for a key, and for a token that does not permit this; 401 for a token that is meant for another server */
  function requireOwner(credential: Credential, reply: FastifyReply): TokenCredential {
    if (credential.kind === 'key')
      throw new HttpError(
        403,
        `an API key may not ask for this: an owner asks in the console, or by a token with ${SCOPE}`,
      )
    const isForUs = credential.audience === audience()
    if (isForUs && credential.scopes.includes(SCOPE)) return credential
    const problem = isForUs ? `insufficient_scope", scope="${SCOPE}` : 'invalid_token'
    reply.header('www-authenticate', `Bearer error="${problem}"`)
    throw isForUs
      ? new HttpError(403, `the token has not the scope ${SCOPE}`)
      : new HttpError(401, 'invalid or missing API key')
  }
}

export function findingRoutes(app: App, findings: FindingService): void {
  const tags = ['Receipts']

  app.get<{ Params: { finding_id: string } }>('/v1/findings/:finding_id', {
    schema: {
      operationId: 'getFinding',
      tags,
      summary: 'Read a signed finding with the proof that it is in the log',
      description:
        'A finding says that what a receipt verified has changed since. It is no receipt, and names no agent. That of an erased claim is not found.',
      response: { 200: jsonText(Finding), ...errors(404, 429, 503) },
    },
    handler: async (request, reply) => {
      const { finding_id } = request.params
      const finding = isId(finding_id) ? await findings.get(finding_id) : undefined
      if (finding === undefined) throw new ServiceError('not_found', 'there is no such finding')
      reply.type(JSON_TYPE)
      return finding
    },
  })

  app.get<{ Params: { finding_id: string } }>('/v1/findings/:finding_id/evidence', {
    schema: {
      operationId: 'getFindingEvidence',
      tags,
      summary: 'Read the evidence of a finding',
      description:
        'The looks that the finding follows from, byte for byte as it signs their digest. They are judged by the rules of the claim, as if somebody had claimed at the first look that the outcome is there.',
      response: { 200: jsonText(Evidence), ...errors(404, 429, 503) },
    },
    handler: async (request, reply) => {
      const { finding_id } = request.params
      const evidence = isId(finding_id) ? await findings.evidence(finding_id) : undefined
      if (evidence === undefined) throw new ServiceError('not_found', 'there is no evidence of such a finding')
      reply.type(JSON_TYPE)
      return evidence
    },
  })
}
