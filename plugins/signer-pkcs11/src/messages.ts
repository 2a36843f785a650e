/**
 * The messages between the service and the process that holds the token open. A message carries many requests or replies, because its fixed
 * cost is as high as that of a signature.
 */
import type { BackendKey } from '@claimcheck/core/plugin'

/** Settings that name the token and open it. */
export interface TokenSettings {
  /** The path of the PKCS#11 module, a shared library. */
  readonly module: string
  /** The label of the token. */
  readonly token: string
  /** The label of the token's keys that sign this log. */
  readonly label: string
  readonly pin: string
}

/** The calls to the token's process by name, each with its request and its answer. */
export interface TokenCalls {
  keys: { readonly request: object; readonly answer: readonly BackendKey[] }
  generate: { readonly request: object; readonly answer: BackendKey }
  sign: { readonly request: { readonly keyId: string; readonly message: Uint8Array }; readonly answer: Uint8Array }
}

export type TokenCall = keyof TokenCalls

export type TokenRequest = {
  [Call in TokenCall]: { readonly id: number; readonly call: Call } & TokenCalls[Call]['request']
}[TokenCall]

/** Messages to the token's process. The first has the settings. */
export type ToTokenProcess = { readonly settings: TokenSettings } | readonly TokenRequest[]

export interface TokenFailure {
  /** Tells that nothing tries again, because the token refused the PIN: it locks itself after a few. */
  readonly isFinal: boolean
  readonly message: string
}

export type TokenReply =
  | { readonly id: number; readonly answer: TokenCalls[TokenCall]['answer'] }
  | { readonly id: number; readonly failure: TokenFailure }
