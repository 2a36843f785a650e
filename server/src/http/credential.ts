/** Attaches the accepted credential to a request. */
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { SpeaksFor } from '../claims/intake.ts'
import type { TokenCredential } from '../oauth/tokens.ts'
import type { KeyCredential } from '../workspaces/keys.ts'
import type { App } from './instance.ts'

export type Credential = KeyCredential | TokenCredential

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

/** For which agents a credential may claim. */
export function speaksFor(credential: Credential): SpeaksFor {
  if (credential.kind !== 'key') return 'unbound'
  return credential.agentIds ?? (credential.bindsAgents ? 'unbound' : 'any')
}

/** Whose requests and claims a credential's are. A token stands for its grant, so that a client gains nothing by asking for new tokens. */
export function spenderOf(credential: Credential): string {
  return credential.kind === 'key' ? credential.keyId : credential.grantId
}
