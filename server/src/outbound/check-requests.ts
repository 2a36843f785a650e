/** The requests of one check: core's rules, with the gate, budgets and limits of this host. */
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import {
  type BreachError,
  type Connected,
  type CredentialMemory,
  credentialHeader,
  type GuardedRequests,
  guardRequests,
  type Manifest,
  type RequestGuard,
  requireOrigin,
  type SendInit,
  toDestinationError,
  unboundSecrets,
} from '@claimcheck/core/hosting'
import { type CheckContext, MAX_DIGEST_BYTES } from '@claimcheck/core/plugin'
import type { Payer } from '../base/payers.ts'
import { VERSION } from '../base/version.ts'
import { queryDatabase } from './databases.ts'
import type { DigestLimit } from './digest-limit.ts'
import type { Admitted, AdmittedUrl, Gate } from './gate.ts'
import { type LeakFinder, leakFinder } from './leaks.ts'
import type { Spending } from './rate-limit-budget.ts'
import { dial, secure, tlsOptions } from './sockets.ts'

/** The hosts and methods that a plugin may use, by its manifest, which never change. */
export interface Reach extends Pick<Manifest, 'hosts' | 'tokenHosts' | 'methods' | 'sockets'> {
  /** True for a plugin that starts programs, to which it may reveal credentials for requests of their own. */
  readonly mayReveal: boolean
}

/** The limits and the source of one check. */
export interface CheckGuard extends Pick<RequestGuard, 'timer' | 'now' | 'origin' | 'secrets' | 'limits' | 'pace'> {
  /** The connection that the check reads through, if any. */
  readonly connected?: GivenConnection | undefined
  /** The base address at the check's origin; without a path, when left out. */
  readonly baseUrl?: string
  readonly reach: Reach
  /** The account that pays for the check. All checks that name none pay together. */
  readonly payer?: Payer
  /** The budget that the check's requests count against, if any. */
  readonly spending?: Spending
}

/** A connection, and what its type declares. */
export interface GivenConnection extends Omit<Connected, 'memory'> {
  /** The id of the connection, empty for a destination that is read without one. */
  readonly id: string
}

export interface CheckRequests extends GuardedRequests, Pick<CheckContext, 'reveal'> {
  /** Tells whether the check's own limits ended its requests: its time is over, or it may send no more. */
  isSpent(): boolean
  /** Returns the first forbidden request of the plugin. What the plugin reports after it is no evidence. */
  breach(): BreachError | undefined
  /** Finds the check's secrets in what its plugin says. */
  leaks(): LeakFinder
}

/** Sends requests and opens connections that passed the gate. */
export interface Sender {
  readonly gate: Gate
  send(admitted: AdmittedUrl, init: SendInit, maxBytes: number): Promise<Response>
  /** PEM certificates to trust, in place of the system's. */
  readonly ca: string | undefined
  readonly limitDigests: DigestLimit
  /** Finds the tokens kept for a connection with its current credentials, at an origin. */
  readonly memoryOf: (connection: GivenConnection, origin: string) => CredentialMemory
}

export function createCheckRequests(
  guard: CheckGuard,
  { gate, send, ca, limitDigests, memoryOf }: Sender,
): CheckRequests {
  const { timer, secrets, reach, spending, payer = '' } = guard
  const origin = requireOrigin(guard.origin)
  const connected = guard.connected && { ...guard.connected, memory: memoryOf(guard.connected, origin) }
  let breach: BreachError | undefined
  const rules: RequestGuard = {
    ...guard,
    timer,
    origin,
    connected,
    baseUrl: guard.baseUrl ?? origin,
    manifest: reach,
    userAgent: `claimcheck/${VERSION}`,
    maxDigestBytes: MAX_DIGEST_BYTES,
    limitDigests: (read) => limitDigests(payer, read),
    spend: spending?.count,
    refused(_rule, _problem, found) {
      breach ??= found
    },
  }
  async function lookUp(hostname: string, admitted: Admitted): Promise<string> {
    const [first] = await gate.lookUp(hostname, admitted).catch((error: unknown) => {
      throw toDestinationError(error, timer.signal)
    })
    return first!.address
  }
  const requests = guardRequests<Admitted>(rules, {
    admitUrl: gate.checkUrl,
    admitContent: gate.checkUrl,
    admitSocket: gate.checkSocket,
    send,
    dial: (address, admitted) => dial(address, { lookup: gate.lookupFunction(admitted), ca }),
    secure: (plain, address) => secure(plain as Socket, address, ca),
    async query({ hostname, port, isTls }, admitted, asked) {
      const address = await lookUp(hostname, admitted)
      return queryDatabase({ address, port, tls: isTls ? tlsOptions(hostname, ca) : undefined }, asked)
    },
    lookUp,
    createHash,
  })
  return {
    ...requests,
    async ask(url, run) {
      requirePrograms(reach)
      return requests.ask(url, run)
    },
    reveal(auth) {
      requirePrograms(reach)
      return credentialHeader(auth, unboundSecrets(secrets, connected))
    },
    isSpent: () => timer.signal.aborted || spending?.isRefused() === true,
    breach: () => breach,
    leaks: () => leakFinder([...secrets.values(), ...requests.readings().tokens]),
  }
}

function requirePrograms({ mayReveal }: Reach): void {
  if (!mayReveal)
    throw new TypeError('the manifest of this plugin names no programs, or the operator does not trust it')
}
