/** A kind of destination that a workspace can connect to. */
import type { Static, TObject } from 'typebox'
import type { Instant } from '../evidence.ts'
import type { Credential } from './credentials.ts'
import { isDestinationError } from './destination-error.ts'
import type { CheckContext, Claim } from './verifier.ts'

/** The console, the command line and the API get their forms from it. Its secret options are handles wherever a plugin gets them. */
export interface ConnectionType<O extends TObject = TObject> {
  /** The name in the API: `github`. */
  readonly provider: string
  /** The name that people see: `GitHub`. */
  readonly title: string
  /** The options of a connection. Secrets are marked with `secret()`. */
  readonly options: O
  /** How the host spends its secrets, by the names that `credential()` takes. A secret that none names is spent in a header, by the other `Auth`. */
  readonly credentials?: Readonly<Record<string, Credential>>
  /** How to make credentials that can only read, for the person who connects. */
  readonly help: string
  /** The base address of the destination, from the options or by default. The host refuses requests of a check to other origins. */
  baseUrl(options: Static<O>): string
  /** Whether this claim can be read through a connection with these options. */
  fits(options: Static<O>, claim: Claim): boolean
  /**
   * Promises that other credentials show the same at the same address, except for what they may not see. A check answers that with
   * `forbidden` or `unauthorized`, and never takes it for absent. Of several such connections that a claim fits, the oldest that reads its
   * target is used. Left out, as for mailboxes, each has a view of its own, and a claim that fits two is ambiguous unless their options are the same.
   */
  readonly refusesHidden?: true
  /** What a probe can try: the form asks for one. Left out: the credentials alone say what they can read. */
  readonly trial?: Trial
  /**
   * Reads with these options, and says what that proved.
   * @throws DestinationError `unauthorized` or `forbidden` where the destination refuses the credentials, or does not show what is to be tried
   */
  probe(options: Static<O>, context: ProbeContext): Promise<ProbeResult>
}

/** One thing at the destination: a repository, a package, a page. */
export interface Trial {
  /** `Repository` */
  readonly title: string
  /** How it is written. */
  readonly description: string
  readonly example?: string
}

export type ProbeContext = Pick<
  CheckContext,
  'fetch' | 'http' | 'connect' | 'query' | 'resolve' | 'reveal' | 'signal' | 'now' | 'logger'
> & {
  /** What `trial` asks for. Absent: nothing was named. A person wrote it: throw `unsupported_target` for what is none. */
  readonly target?: string
}

/**
 * `works`: the destination accepted the credentials, and showed with them what was to be tried. What is public proves that only where
 * the destination says who asks, or refuses wrong credentials. `reached`: it answered, and more is not shown.
 */
export type Proven = 'works' | 'reached'

export interface ProbeResult {
  readonly proves: Proven
  /** The permissions that the credentials have, in the destination's own names. */
  readonly scopes: readonly string[]
  /** What the owner should know, above all that the credentials can do more than read. */
  readonly warnings: readonly string[]
  /** When the credentials end, where the destination says so. */
  readonly expiresAt?: Instant
}

/** Whether a read is refused. One that is refused without credentials, and works with them, proves that they were accepted. */
export async function isRefused(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read()
    return false
  } catch (error) {
    if (isDestinationError(error) && (error.code === 'unauthorized' || error.code === 'forbidden')) return true
    throw error
  }
}

/** Drops the type parameter, which a host cannot know. */
export function defineConnectionType<O extends TObject>(type: ConnectionType<O>): ConnectionType {
  return type as unknown as ConnectionType
}
