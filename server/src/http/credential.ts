/** Who a request speaks for, once its credential has been accepted. */
import type { FastifyRequest } from 'fastify'
import type { KeyCredential } from '../services/keys.ts'
import type { App } from './instance.ts'

/** A token of an application, which speaks for one member of a workspace. */
export interface TokenCredential {
  readonly kind: 'oauth'
  readonly grantId: string
  readonly workspaceId: string
  /** What it is good for now. */
  readonly scopes: readonly string[]
  readonly audience: string
}

export type Credential = KeyCredential | TokenCredential

const DECORATOR = 'credential'

export function carryCredentials(app: App): void {
  app.decorateRequest(DECORATOR)
}

export function setCredential(request: FastifyRequest, credential: Credential): void {
  request.setDecorator(DECORATOR, credential)
}

/** For routes that need a credential. */
export function credentialOf(request: FastifyRequest): Credential {
  return request.getDecorator<Credential>(DECORATOR)
}
