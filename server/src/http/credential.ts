/** Attaches the accepted credential to a request. */
import type { FastifyRequest } from 'fastify'
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

function isUnconfirmed(request: FastifyRequest): boolean {
  return request.getDecorator<Confirmation | undefined>(CONFIRMATION) !== undefined
}

/** Looks up the credential, if it was only remembered: before anything is answered that did not confirm it. @throws HttpError for one that is refused */
export async function confirmCredential(request: FastifyRequest): Promise<void> {
  const confirmation = request.getDecorator<Confirmation | undefined>(CONFIRMATION)
  if (confirmation) setCredential(request, await confirmation())
}

/**
 * Does the work, and does it again with the credential as it is looked up, where it was only remembered and the result does not say that the
 * work confirmed it.
 */
export async function withConfirmed<T>(
  request: FastifyRequest,
  work: (credential: Credential, unconfirmed: boolean) => Promise<T>,
  isConfirmed: (result: T) => boolean,
): Promise<T> {
  if (isUnconfirmed(request)) {
    const done = await work(credentialOf(request), true).catch(() => undefined)
    if (done !== undefined && isConfirmed(done)) return done
    await confirmCredential(request)
  }
  return work(credentialOf(request), false)
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
