/** What a request may do: the accepted credential, attached to it. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { App } from './instance.ts'

/** An accepted API key, which gives full access to its workspace. */
export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  readonly workspaceId: string
  /** The agents that it is bound to; null: it claims for all that are not bound. */
  readonly agentIds: readonly string[] | null
  /** Whether its workspace has bound agents. */
  readonly bindsAgents: boolean
}

/** An accepted access token: of an application, which acts for one member of a workspace, or of a machine. */
export interface TokenCredential {
  readonly kind: 'oauth'
  /** Of a machine the client id: its tokens have no grant. */
  readonly grantId: string
  readonly workspaceId: string
  /** The scopes that the member's current role still permits. */
  readonly scopes: readonly string[]
  readonly audience: string
}

export type Credential = KeyCredential | TokenCredential

/** Why a key that is not revoked is refused. */
export type KeyRefusal = { readonly kind: 'expired'; readonly at: Instant } | { readonly kind: 'elsewhere' }

const DECORATOR = 'credential'
const CONFIRMATION = 'confirmation'

/** Looks up the credential of a request. @throws HttpError for one that is refused */
type Confirmation = () => Promise<Credential>

export function carryCredentials(app: App): void {
  app.decorateRequest(DECORATOR)
  app.decorateRequest(CONFIRMATION)
}

/** @param confirmation of a credential that was remembered, and not looked up */
export function setCredential(request: FastifyRequest, credential: Credential, confirmation?: Confirmation): void {
  request.setDecorator(DECORATOR, credential)
  request.setDecorator(CONFIRMATION, confirmation)
}

function confirmationOf(request: FastifyRequest): Confirmation | undefined {
  return request.getDecorator<Confirmation | undefined>(CONFIRMATION)
}

/** Looks up a credential that was only remembered, once. @throws HttpError for one that is refused */
export async function confirmCredential(request: FastifyRequest): Promise<void> {
  const confirmation = confirmationOf(request)
  request.setDecorator(CONFIRMATION, undefined)
  if (confirmation) setCredential(request, await confirmation())
}

/**
 * Does the work with the request's credential. One that was only remembered is looked up before anything is answered that does not confirm it;
 * where it turns out to be good, but the work was refused because it changed, the work is done again.
 * @param work is given what looks the credential up, unless that was done
 */
export async function withConfirmed<T>(
  request: FastifyRequest,
  work: (credential: Credential, confirm?: () => Promise<void>) => Promise<T>,
  isConfirmed: (result: T) => boolean,
): Promise<T> {
  if (!confirmationOf(request)) return work(credentialOf(request))
  const confirm = () => confirmCredential(request)
  let done: T
  try {
    done = await work(credentialOf(request), confirm)
  } catch (error) {
    await confirm()
    if (!isRefusal(error)) throw error
    return work(credentialOf(request))
  }
  if (!isConfirmed(done)) await confirm()
  return done
}

/** Whether the work may succeed with the credential as it is now: it was refused for its agent, or by the statement that stores. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'forbidden' || error.code === 'unavailable')
}

/** Only for routes that require a credential. */
export function credentialOf(request: FastifyRequest): Credential {
  return request.getDecorator<Credential>(DECORATOR)
}

/** Whose requests and claims a credential's are. A token stands for its grant, so that a client gains nothing by asking for new tokens. */
export function spenderOf(credential: Credential): string {
  return credential.kind === 'key' ? credential.keyId : credential.grantId
}
