/** The backend inside the service: the same services, readers and refusals as behind the REST API. */

import { actionRules, type Backend, BackendError } from '@claimcheck/cli/mcp/backend'
import { type ClaimRequest, claimRequest, type ProfileList } from '@claimcheck/core/api'
import { checkBundle } from '@claimcheck/core/checker'
import type { ActionProfile } from '@claimcheck/core/plugin'
import type { Receipt } from '@claimcheck/core/receipts'
import type { JsonObject } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { defined } from '../../base/pick.ts'
import type { Credential } from '../../http/credential.ts'
import { inOneLine, refusalOf } from '../../http/errors.ts'
import { isId } from '../../http/route.ts'
import type { ClaimService } from '../claims/claims.ts'
import { submitterOf } from '../claims/intake.ts'
import { claimReader, fromClaimQuery, toClaimStatus, toSubmittedClaim } from '../claims/wire.ts'
import type { EventFeed } from '../events/feed.ts'
import type { LogService } from '../log/log.ts'
import type { ReceiptService } from '../receipts/receipts.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import { toConnectionList } from '../workspaces/wire.ts'

export interface BackendParts {
  readonly claims: ClaimService
  readonly receipts: ReceiptService
  readonly log: Pick<LogService, 'headAbove'>
  readonly eventFeed: Pick<EventFeed, 'subscribe'>
  readonly connections: Pick<ConnectionService, 'list'>
  /** The profiles of the known actions. */
  readonly profiles: readonly ActionProfile[]
  /** Makes the answer of `GET /v1/profiles`. */
  readonly published: () => Promise<ProfileList>
  readonly publicActions: readonly string[]
  readonly keyDocument: () => Promise<object | string>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/**
 * Makes backends inside the service.
 * @returns a function that makes the backend of a credential
 */
export function serviceBackends(parts: BackendParts): (credential: Credential) => Backend {
  const { claims, receipts, log, eventFeed, connections, profiles, published, publicActions, keyDocument, logger } =
    parts
  const readClaim = claimReader(profiles)
  const rules = actionRules(claimRequest(profiles))

  /** Does work, and words its refusals as the REST API does. An error of the service's own reveals nothing. */
  async function refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const { status, detail, retryAfterSeconds, logMessage } = refusalOf(error as Error)
      if (logMessage !== undefined) logger.error({ err: error }, logMessage)
      const isInvalid = error instanceof ServiceError && error.code === 'invalid'
      throw new BackendError(status, isInvalid ? inOneLine(error) : detail, retryAfterSeconds)
    }
  }

  async function receipt(receiptId: string): Promise<string> {
    const text = isId(receiptId) ? await receipts.get(receiptId) : undefined
    if (text === undefined) throw new ServiceError('not_found', 'there is no such receipt')
    return text
  }

  async function verify(receiptId: string) {
    const [text, evidence, keys, profiles] = await Promise.all([
      receipt(receiptId),
      isId(receiptId) ? receipts.evidence(receiptId) : undefined,
      keyDocument(),
      published(),
    ])
    const { treeHead, consistency } = await log.headAbove((JSON.parse(text) as Receipt).proof)
    const bundle = {
      receipt: text,
      keys: typeof keys === 'string' ? keys : JSON.stringify(keys),
      profiles: JSON.stringify(profiles),
      tree_head: treeHead,
      ...defined({ consistency: consistency && JSON.stringify(consistency), evidence }),
    }
    return checkBundle(bundle, { fromIssuer: true })
  }

  return (credential) => {
    const { workspaceId } = credential
    const submitter = submitterOf(credential)
    return {
      checkedBy: 'service',
      agentId: onlyAgentOf(credential),
      actions: async () => rules,
      now: async () => Date.now(),
      profiles: published,
      connections: () => refusing(async () => toConnectionList(await connections.list(workspaceId), publicActions)),
      submit: (request: ClaimRequest) =>
        refusing(async () => {
          const { claim, created } = await claims.submit(submitter, readClaim(request as unknown as JsonObject))
          return toSubmittedClaim(claim, created)
        }),
      claim: (claimId) =>
        refusing(async () => {
          const claim = isId(claimId) ? await claims.get(workspaceId, claimId) : undefined
          if (!claim) throw new ServiceError('not_found', 'there is no such claim')
          return toClaimStatus(claim)
        }),
      onDecision: (wake) => eventFeed.subscribe(workspaceId, wake),
      claims: (query) =>
        refusing(async () => {
          const page = await claims.list(workspaceId, fromClaimQuery(query))
          return { claims: page.claims.map(toClaimStatus), next_cursor: page.nextCursor }
        }),
      receipt: (receiptId) => refusing(() => receipt(receiptId)),
      verify: (receiptId) => refusing(() => verify(receiptId)),
    }
  }
}

function onlyAgentOf(credential: Credential): string | undefined {
  const agents = credential.kind === 'key' ? credential.agentIds : null
  return agents?.length === 1 ? agents[0] : undefined
}
