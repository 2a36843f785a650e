/** Attaches the accepted credential to a request. */
import type { FastifyRequest } from 'fastify'
import type { SpeaksFor } from '../claims/intake.ts'
import type { TokenCredential } from '../oauth/tokens.ts'
import type { KeyCredential } from '../workspaces/keys.ts'
import type { App } from './instance.ts'

export type Credential = KeyCredential | TokenCredential

const DECORATOR = 'credential'

export function carryCredentials(app: App): void {
  app.decorateRequest(DECORATOR)
}

export function setCredential(request: FastifyRequest, credential: Credential): void {
  request.setDecorator(DECORATOR, credential)
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
