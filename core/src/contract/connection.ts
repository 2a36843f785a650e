/** The contract of a connection type: a kind of destination that a workspace can connect to. */
import type { Static, TObject } from 'typebox'
import type { Instant } from '../evidence.ts'
import type { Credential } from '../hosting/schemes/schemes.ts'
import { isDestinationError } from './destination-error.ts'
import type { CheckContext, Claim } from './verifier.ts'

/** A kind of destination. The console, the command line and the API get their forms from it. A plugin gets handles for its secret options. */
export interface ConnectionType<O extends TObject = TObject> {
  /** The name in the API: `github`. */
  readonly provider: string
  /** The name that people see: `GitHub`. */
  readonly title: string
  /** The options of a connection. Secrets are marked with `secret()`. */
  readonly options: O
  /**
   * Uses of the connection's secrets by the host, by the names that `credential()` takes. A secret that none names goes into a header, by another
   * `Auth`.
   */
  readonly credentials?: Readonly<Record<string, Credential>>
  /** Help for the person who connects, which says how to make credentials that can only read. */
  readonly help: string
  /** The base address of the destination, from the options or by default. The host refuses requests of a check to other origins. */
  baseUrl(options: Static<O>): string
  /** Tells whether this claim can be read through a connection with these options. */
  fits(options: Static<O>, claim: Claim): boolean
  /**
   * Promises that other credentials show the same at the same address, except for what they may not see. A check answers that with
   * `forbidden` or `unauthorized`, and never takes it for absent. Of several such connections that a claim fits, the oldest that reads its
   * target is used. Left out, as for mailboxes, each has a view of its own, and a claim that fits two is ambiguous unless their options are the same.
   */
  readonly refusesHidden?: true
  /**
   * Promises that a probe tells an `identity`, and each check the one of the destination that it read. A read of another destination is
   * `ambiguous_claim`; while no identity is known, no absence or difference blames.
   */
  readonly identified?: true
  /** The thing that a probe can try, and the form asks for. Left out where the credentials alone say what they can read. */
  readonly trial?: Trial
  /** Those who tell the service of changes at the destination, as its webhooks do. */
  readonly hints?: readonly HintSender[]
  /**
   * Tries a connection with these options, and tells what the reads proved.
   * @throws DestinationError `unauthorized` or `forbidden` where the destination refuses the credentials, or does not show what is to be tried
   */
  probe(options: Static<O>, context: ProbeContext): Promise<ProbeResult>
}

/**
 * A sender of hints: requests to the service which say that something changed at the destination. As plain data, because the host takes them without
 * the plugin. A hint is no evidence: it makes the host look at waiting claims at once, and a hint of nothing costs a look in vain.
 *
 * A part of a message is named by the members that lead to it, such as `repository.full_name`.
 */
export interface HintSender {
  /** The name that people see, such as `GitHub`. */
  readonly title: string
  /** Help for the person who sets it up at the destination, which says where, and which events to send. */
  readonly help: string
  readonly proof: HintProof
  /** The list of messages in the body. Left out where the body is one message. */
  readonly each?: string
  /** The targets of a message, as claims name them in any case, with parts in braces: `{repository.full_name}`. One without all its parts is none. */
  readonly targets: readonly string[]
  /** Parts that name what changed at the target, by the params of claims that name it. A message with any of them concerns no other claims. */
  readonly params?: Readonly<Record<string, readonly string[]>>
  /** Values of parts which say that nothing changed, or has ended yet: messages with one of them are no hints. */
  readonly skips?: Readonly<Record<string, readonly string[]>>
}

/** Proof that the sender knows the secret of its address: a header with the secret, or with the HMAC-SHA-256 of the body in hexadecimal digits. */
export interface HintProof {
  /** The name of the header in lower case. Its value may begin with `sha256=` or `Bearer `. */
  readonly header: string
  readonly by: 'hmac' | 'secret'
}

/** One thing at the destination: a repository, a package, a page. */
export interface Trial {
  /** The title of the form's field for the thing, such as `Repository`. */
  readonly title: string
  /** The form in which a person writes the thing. */
  readonly description: string
  readonly example?: string
}

export type ProbeContext = Pick<
  CheckContext,
  'fetch' | 'http' | 'fingerprint' | 'connect' | 'query' | 'resolve' | 'reveal' | 'signal' | 'now' | 'logger'
> & {
  /** The thing that `trial` asks for, if a person named one. Throw `unsupported_target` for a text that names none. */
  readonly target?: string
}

/**
 * Proof of a probe. `works`: the destination accepted the credentials, and showed with them what was to be tried. A public thing proves that
 * only where the destination says who asks, or refuses wrong credentials. `reached`: it answered, and nothing more is proven.
 */
export type Proven = 'works' | 'reached'

export interface ProbeResult {
  readonly proves: Proven
  /** The permissions that the credentials have, in the destination's own names. */
  readonly scopes: readonly string[]
  /** Warnings to the owner, above all that the credentials can do more than read. */
  readonly warnings: readonly string[]
  /** The end of the credentials, if the destination says it. */
  readonly expiresAt?: Instant
  /**
   * The name that tells this destination from another at the same address, for an `identified` type: database system and timeline, account and
   * mode, chain and genesis block. It has 1 to 200 printable ASCII characters without spaces, and is never a secret: the owner sees it.
   */
  readonly identity?: string
}

/** Tells whether a read is refused. One that is refused without credentials, and works with them, proves that they were accepted. */
export async function isRefused(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read()
    return false
  } catch (error) {
    if (isDestinationError(error) && (error.code === 'unauthorized' || error.code === 'forbidden')) return true
    throw error
  }
}

/** Defines a connection type, without its type parameter, which a host cannot know. */
export function defineConnectionType<O extends TObject>(type: ConnectionType<O>): ConnectionType {
  return type as unknown as ConnectionType
}
