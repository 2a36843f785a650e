/** The accepted credential of a request, attached to it. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyRequest } from 'fastify'
import type { Payer } from '../base/payers.ts'
import type { App } from './instance.ts'

/** An accepted API key, which gives full access to its workspace. */
export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  readonly workspaceId: string
  /** The payer of the key's workspace. */
  readonly payer: Payer
  /** The agents that the key is bound to; null for a key that claims for all agents that are not bound. */
  readonly agentIds: readonly string[] | null
  /** True if the key's workspace has bound agents. */
  readonly bindsAgents: boolean
}

/** An accepted access token: of an application, which acts for one member of a workspace, or of a machine. */
export interface TokenCredential {
  readonly kind: 'oauth'
  /** The id of the token's grant. The tokens of a machine have none; there it is the client's id. */
  readonly grantId: string
  readonly workspaceId: string
  /** The payer of the token's workspace. */
  readonly payer: Payer
  /** The scopes of the token that the member's current role still permits. */
  readonly scopes: readonly string[]
  readonly audience: string
}

export type Credential = KeyCredential | TokenCredential

/** The reason to refuse a key that is not revoked. */
export type KeyRefusal = { readonly kind: 'expired'; readonly at: Instant } | { readonly kind: 'elsewhere' }

const DECORATOR = 'credential'

export function carryCredentials(app: App): void {
  app.decorateRequest(DECORATOR)
}

export function setCredential(request: FastifyRequest, credential: Credential): void {
  request.setDecorator(DECORATOR, credential)
}

export function hasCredential(request: FastifyRequest): boolean {
  return request.getDecorator<Credential | undefined>(DECORATOR) !== undefined
}

/** Returns the credential of a request. Call it only on routes that require one. */
export function credentialOf(request: FastifyRequest): Credential {
  return request.getDecorator<Credential>(DECORATOR)
}

/** The ids that pay for a request: a key or grant, its workspace, and the account behind that (`Payer`); for a session the account alone. */
export type Payers = Readonly<Partial<Record<'key' | 'workspace' | 'account', string>>>

export function payersOf(credential: Credential): Payers {
  return { key: spenderOf(credential), workspace: credential.workspaceId, account: credential.payer }
}

/**
 * Returns the id to which a credential's requests and claims belong. A token stands for its grant, so that a client gains nothing by asking for new
 * tokens.
 */
export function spenderOf(credential: Credential): string {
  return credential.kind === 'key' ? credential.keyId : credential.grantId
}
