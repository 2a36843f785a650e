/** What a request may do: the accepted credential, attached to it. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyRequest } from 'fastify'
import type { Payer } from '../base/payers.ts'
import type { App } from './instance.ts'

/** An accepted API key, which gives full access to its workspace. */
export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  readonly workspaceId: string
  /** Who pays for what the workspace uses. */
  readonly payer: Payer
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
  /** Who pays for what the workspace uses. */
  readonly payer: Payer
  /** The scopes that the member's current role still permits. */
  readonly scopes: readonly string[]
  readonly audience: string
}

export type Credential = KeyCredential | TokenCredential

/** Why a key that is not revoked is refused. */
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

/** Only for routes that require a credential. */
export function credentialOf(request: FastifyRequest): Credential {
  return request.getDecorator<Credential>(DECORATOR)
}

/** Who pays for a request. A key or grant, its workspace and the account behind that, a `Payer`; of a session the account alone. */
export type Payers = Readonly<Partial<Record<'key' | 'workspace' | 'account', string>>>

export function payersOf(credential: Credential): Payers {
  return { key: spenderOf(credential), workspace: credential.workspaceId, account: credential.payer }
}

/** Whose requests and claims a credential's are. A token stands for its grant, so that a client gains nothing by asking for new tokens. */
export function spenderOf(credential: Credential): string {
  return credential.kind === 'key' ? credential.keyId : credential.grantId
}
