/** A kind of destination that a workspace can connect to. */
import type { Static, TObject } from 'typebox'
import type { CheckContext, Claim } from './verifier.ts'

/** The console, the command line and the API get their forms from it. Its secret options are handles wherever a plugin gets them. */
export interface ConnectionType<O extends TObject = TObject> {
  /** The name in the API: `github`. */
  readonly provider: string
  /** The name that people see: `GitHub`. */
  readonly title: string
  /** The options of a connection. Secrets are marked with `secret()`. */
  readonly options: O
  /** How to make credentials that can only read, for the person who connects. */
  readonly help: string
  /** The base address of the destination, from the options or by default. The host refuses requests of a check to other origins. */
  baseUrl(options: Static<O>): string
  /** Whether this claim can be read through a connection with these options. */
  fits(options: Static<O>, claim: Claim): boolean
  /** Sends a request with these options to see whether they work. @throws DestinationError */
  probe(options: Static<O>, context: ProbeContext): Promise<ProbeResult>
}

export type ProbeContext = Pick<
  CheckContext,
  'fetch' | 'http' | 'connect' | 'resolve' | 'reveal' | 'signal' | 'now' | 'logger'
>

export interface ProbeResult {
  /** The permissions that the credentials have, in the destination's own names. */
  readonly scopes: readonly string[]
  /** What the owner should know, above all that the credentials can do more than read. */
  readonly warnings: readonly string[]
}

/** Drops the type parameter, which a host cannot know. */
export function defineConnectionType<O extends TObject>(type: ConnectionType<O>): ConnectionType {
  return type as unknown as ConnectionType
}
