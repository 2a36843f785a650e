/** Who a request speaks for, once its key has been accepted. */
import type { FastifyRequest } from 'fastify'
import type { Credential } from '../services/keys.ts'
import type { App } from './instance.ts'

const DECORATOR = 'credential'

export function carryCredentials(app: App): void {
  app.decorateRequest(DECORATOR)
}

export function setCredential(request: FastifyRequest, credential: Credential): void {
  request.setDecorator(DECORATOR, credential)
}

/** For routes that need a key. */
export function credentialOf(request: FastifyRequest): Credential {
  return request.getDecorator<Credential>(DECORATOR)
}
