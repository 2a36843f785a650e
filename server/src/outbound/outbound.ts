/**
 * Guards all outgoing requests: https to public addresses only, with limits on time and size. Private and plain http
 * destinations are reached only when the operator names them in ALLOW_PRIVATE. Plugins get read-only requests.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import {
  type ClientCertificate,
  createCredentialMemories,
  MOST_MODULUS_BITS,
  refusal,
  type SendInit,
  socketAddress,
  toDestinationError,
  USUAL_ANSWER_BYTES,
} from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import { Agent, fetch as undiciFetch } from 'undici'
import { sha256Text } from '../base/sha256.ts'
import { VERSION } from '../base/version.ts'
import type { HostConfig } from '../config/config.ts'
import { limitBody } from './body.ts'
import { type CheckGuard, type CheckRequests, createCheckRequests, type GivenConnection } from './check-requests.ts'
import { createDigestLimit } from './digest-limit.ts'
import { type Admitted, type AdmittedUrl, createGate } from './gate.ts'
import { type Lookup, queryTexts } from './lookup.ts'
import { askPlainly } from './plain-request.ts'
import { type AnswerHead, type Post, post } from './post.ts'

export type { CheckGuard, CheckRequests, GivenConnection, Reach } from './check-requests.ts'

export type Outbound = ReturnType<typeof createOutbound>

export interface ServiceRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** The signal that ends the request; by default it ends after ten seconds. */
  readonly signal?: AbortSignal | undefined
}

const OWN_HEADERS = { 'user-agent': `claimcheck/${VERSION}` }
const MAX_HEADER_BYTES = 32 * 1024
const CONNECT_TIMEOUT_MS = 5000
const READ_TIMEOUT_MS = 10_000
/** The most connections to one origin: as many as checks of one destination run at a time, so that none waits for another one's. */
const CONNECTIONS_PER_ORIGIN = 128

export function createOutbound(
  { allowPrivate }: Pick<HostConfig, 'allowPrivate'>,
  {
    resolver,
    nameServers,
    ca,
  }: {
    readonly resolver?: Lookup
    /** The name servers to ask for TXT records, as `address:port`, in place of the system's. */
    readonly nameServers?: readonly string[]
    /** PEM certificates to trust, in place of the system's. */
    readonly ca?: string
  } = {},
) {
  const gate = createGate(allowPrivate, resolver)
  const limitDigests = createDigestLimit()
  const memories = createCredentialMemories(Date.now)
  // The key has the credentials, so that tokens of earlier ones are never used again, and the origin, so that no other one gets its token.
  const memoryOf = ({ id, options }: GivenConnection, origin: string) =>
    memories(sha256Text(JSON.stringify([id, options, origin])))
  // Connections to private addresses, which the operator allows, serve no other requests.
  const publicOnly = createAgent({ mayBePrivate: false })
  const allowed = createAgent({ mayBePrivate: true })

  function createAgent(admitted: Admitted, certificate?: ClientCertificate): Agent {
    return new Agent({
      connect: {
        lookup: gate.lookupFunction(admitted),
        timeout: CONNECT_TIMEOUT_MS,
        ...(ca === undefined ? {} : { ca }),
        ...tlsOf(certificate),
      },
      headersTimeout: READ_TIMEOUT_MS,
      bodyTimeout: READ_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connections: CONNECTIONS_PER_ORIGIN,
    })
  }

  /** The agents of checks with a client certificate. A connection that was made with one serves its check alone, and closes with it. */
  const ofChecks = new WeakMap<AbortSignal, Agent>()

  function ownAgent(admitted: Admitted, certificate: ClientCertificate, signal: AbortSignal): Agent {
    const known = ofChecks.get(signal)
    if (known) return known
    requireUsable(certificate)
    const agent = createAgent(admitted, certificate)
    ofChecks.set(signal, agent)
    signal.addEventListener('abort', () => void agent.destroy(), { once: true })
    return agent
  }

  /**
   * Sends a request that passed the gate.
   * @throws DestinationError
   */
  async function send({ url, mayBePrivate }: AdmittedUrl, init: SendInit, maxBytes: number): Promise<Response> {
    const { method, headers, body = null, signal, sentAgain, clientCertificate, outlives } = init
    const shared = mayBePrivate ? allowed : publicOnly
    const lasting = outlives ? createAgent({ mayBePrivate }) : undefined
    const dispatcher = lasting ?? (clientCertificate ? ownAgent({ mayBePrivate }, clientCertificate, signal) : shared)
    const sent = { method, headers: Object.fromEntries(headers), body, redirect: 'manual', signal, dispatcher } as const
    const response = await undiciFetch(url.href, sent)
      .catch((error: unknown) => {
        if (!isInterim(error) || body !== null) throw error
        sentAgain?.()
        const lookup = gate.lookupFunction({ mayBePrivate })
        const limits = { timeoutMs: READ_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES }
        return askPlainly(url, init, { lookup, ca, ...limits, ...tlsOf(clientCertificate) })
      })
      .catch((error: unknown) => {
        throw toDestinationError(error, signal)
      })
      // The agent of a lasting request closes once the answer is read.
      .finally(() => void lasting?.close().catch(() => {}))
    return limitBody(response as unknown as Response, init, maxBytes)
  }

  return {
    /**
     * Sends a request of the service's own, such as to its OpenID provider. It may have any method, has the same limits, and follows no
     * redirect. @throws DestinationError
     */
    async request(
      text: string,
      { signal = AbortSignal.timeout(READ_TIMEOUT_MS), headers, ...init }: ServiceRequest,
    ): Promise<Response> {
      return send(gate.checkUrl(text), { ...init, headers: ownHeaders(headers), signal }, USUAL_ANSWER_BYTES)
    },
    /**
     * Posts a text of the service's own, by the rules of `request`, where only the head of the answer counts.
     * @throws DestinationError
     */
    async post(text: string, { headers, ...init }: Post): Promise<AnswerHead> {
      const { url, mayBePrivate } = gate.checkUrl(text)
      return post(mayBePrivate ? allowed : publicOnly, url, { ...init, headers: { ...OWN_HEADERS, ...headers } })
    },
    /**
     * Makes the read-only requests of one check: they share a limit on their number, and note what their answers tell of clocks and ages.
     * @throws TypeError for a text that is no origin
     */
    forCheck: (guard: CheckGuard): CheckRequests =>
      createCheckRequests(guard, { gate, send, ca, limitDigests, memoryOf }),
    /** Finds the addresses behind an origin's name. Rejects when it has none that may be reached. */
    async addressesOf(origin: string): Promise<readonly string[]> {
      const socket = socketAddress(origin)
      const { hostname } = socket ?? new URL(origin)
      const found = await gate.lookUp(hostname, socket ? gate.checkSocket(socket) : gate.checkUrl(origin))
      return found.map(({ address }) => address)
    },
    /** Reads the texts of a name's TXT records; none where DNS says that there are none. Rejects without an answer. */
    textRecords: (name: string): Promise<readonly string[]> => queryTexts(name, nameServers),
    async close(): Promise<void> {
      await Promise.all([publicOnly.destroy(), allowed.destroy()])
    },
  }
}

/**
 * Refuses certificates that are malformed, or do not fit their key. The error of TLS would repeat parts of them.
 * @throws DestinationError `misconfigured`
 */
function requireUsable(certificate: ClientCertificate): void {
  try {
    const { key, authority } = certificate
    // A key with a passphrase is refused: TLS would try the empty one, with as many rounds of computing as the key says.
    const { asymmetricKeyDetails: { modulusLength = 0 } = {} } = key === undefined ? {} : createPrivateKey(key)
    if (modulusLength > MOST_MODULUS_BITS) throw new Error('the key is too long')
    // TLS takes a text without a certificate for no authority at all.
    if (authority !== undefined) new X509Certificate(authority)
    createSecureContext(tlsOf(certificate))
  } catch {
    throw new DestinationError('misconfigured')
  }
}

function tlsOf({ certificate, key, authority }: ClientCertificate = {}) {
  return {
    ...(certificate !== undefined && key !== undefined && { cert: certificate, key }),
    ...(authority !== undefined && { ca: authority }),
  }
}

/**
 * Makes the headers of a request.
 * @throws DestinationError `unavailable`: the error of fetch would repeat the value, which may be a credential
 */
function ownHeaders(headers: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers({ ...OWN_HEADERS, ...headers })
  } catch {
    throw refusal('a header is not valid')
  }
}

/** Recognizes an interim 100 that nobody asked for: undici has no error of its own for it, and a few other faults look the same. */
function isInterim(error: unknown): boolean {
  const { code, message } = ((error as { cause?: unknown }).cause ?? {}) as {
    readonly code?: unknown
    readonly message?: unknown
  }
  return code === 'UND_ERR_SOCKET' && message === 'bad response'
}
