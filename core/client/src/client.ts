/** The client: what a program asks of the service. */
import type { Bundle, BundleReport } from '@claimcheck/core/checker'
import { CLAIM_LIST, CONNECTION_LIST, CREDENTIAL, claimAnswer, PROFILE_LIST, SUBMITTED } from './answers.ts'
import { claimRequest, measured, type NewClaim } from './claim-request.ts'
import { NotFoundError, UnexpectedAnswerError } from './errors.ts'
import { createListen, type EventFilters, type GapEvent } from './events.ts'
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts'
import { fetchBundle, receiptPath, type VerifyOptions, verifyReceipt } from './verify.ts'
import { type ClaimRef, idOf, type WaitOptions, waitForClaim, watchClaims } from './watch.ts'
import type {
  ClaimFilters,
  ClaimList,
  ClaimRequest,
  ClaimStatus,
  ConnectionList,
  CredentialDescription,
  DecidedClaim,
  Event,
  ProfileList,
  SubmittedClaim,
} from './wire.ts'

export interface ClientOptions extends TransportOptions {
  /** The claiming agent, if a claim names none. */
  readonly agentId?: string
}

/** Pages in a row without a claim: a service that reads 10,000 claims for a page has looked through ten million. */
const MOST_EMPTY_PAGES = 1000

/** The calls to the service. Every one throws a ClaimcheckError, or the reason of its signal. */
export type Client = ReturnType<typeof createClient>

/** Creates a client. @throws TypeError for an address that is none, or that others could listen to */
export function createClient(options: ClientOptions) {
  const { agentId } = options
  const { text, json, parse, stream, retryForMs } = createTransport(options)
  const listen = createListen(stream, retryForMs)
  const read = (claimId: string, options?: CallOptions) =>
    json(claimAnswer(claimId), `/v1/claims/${encodeURIComponent(claimId)}`, options)
  const fetchBy = (options: CallOptions | undefined) => (path: string) => text(path, options)

  return {
    /** Makes the claim as `submit` sends it: with an id, a time and an agent. Submitting it twice makes one claim. */
    prepare: (claim: NewClaim): ClaimRequest => claimRequest(claim, agentId),
    /** Makes one claim with one call, however often that has to be sent. */
    submit(claim: NewClaim, options?: CallOptions): Promise<SubmittedClaim> {
      const request = claimRequest(claim, agentId)
      return json(SUBMITTED, '/v1/claims', options, () => measured(request))
    },
    claim: (claim: ClaimRef, options?: CallOptions): Promise<ClaimStatus> => read(idOf(claim), options),
    /** Waits until the claim is decided: at once after it, where the service has a stream of events. */
    wait: (claim: ClaimRef, options?: WaitOptions): Promise<DecidedClaim> => waitForClaim(read, claim, options, listen),
    /** Yields one claim or many, each as it is now and again whenever it changed, until all are decided. */
    watch: (
      claims: ClaimRef | readonly ClaimRef[],
      options?: CallOptions,
    ): AsyncGenerator<ClaimStatus, void, undefined> => watchClaims(read, claims, options, listen),
    /** Yields what happens in the workspace, in its order, until the signal ends it. Goes on where a connection broke off. */
    async *events(filters?: EventFilters, options?: CallOptions): AsyncGenerator<Event | GapEvent, void, undefined> {
      for await (const event of listen(filters, options)) if (event.type !== 'opened') yield event
    },
    /** Lists all claims that fit, newest first, and fetches pages as they are needed. */
    async *list(filters?: ClaimFilters, options?: CallOptions): AsyncGenerator<ClaimStatus, void, undefined> {
      for await (const { claims } of pages(filters, options)) yield* claims
    },
    pages,
    /** Fetches a receipt as text. Keep it unchanged: checkers read the text itself. */
    receipt: (receiptId: string, options?: CallOptions) => text(receiptPath(receiptId), options),
    /** Fetches the checks that the verdict follows from, as text; undefined for a receipt that names none. */
    async evidence(receiptId: string, options?: CallOptions): Promise<string | undefined> {
      try {
        return await text(`${receiptPath(receiptId)}/evidence`, options)
      } catch (error) {
        if (error instanceof NotFoundError) return undefined
        throw error
      }
    },
    /** Fetches the issuer's key document, as text. */
    keys: (options?: CallOptions) => text('/.well-known/poaw-keys.json', options),
    /** Fetches the receipt and all that it is checked with, as one document that checkers read without a network. */
    bundle: (receiptId: string, options?: CallOptions): Promise<Bundle> => fetchBundle(fetchBy(options), receiptId),
    /** Fetches a receipt with its keys, evidence, rules and log head, and checks all of it here. */
    verify: (receiptId: string, options?: VerifyOptions): Promise<BundleReport> =>
      verifyReceipt(fetchBy(options), receiptId, options),
    /** Lists the connections of the workspace, and the actions that can be claimed there. */
    connections: (options?: CallOptions): Promise<ConnectionList> => json(CONNECTION_LIST, '/v1/connections', options),
    /** Lists the rules by which claims are judged. */
    profiles: async (options?: CallOptions): Promise<ProfileList> =>
      parse(PROFILE_LIST, await text('/v1/profiles', options)),
    /** Describes the workspace and the rights of the key. */
    whoami: (options?: CallOptions): Promise<CredentialDescription> => json(CREDENTIAL, '/v1/whoami', options),
  }

  /** Lists the claims in pages, of `limit` claims each. */
  async function* pages(filters: ClaimFilters = {}, options?: CallOptions): AsyncGenerator<ClaimList, void, undefined> {
    let { cursor }: { cursor?: string | null } = filters
    let emptyPages = 0
    do {
      const page: ClaimList = await json(CLAIM_LIST, `/v1/claims${query({ ...filters, cursor })}`, options)
      if (page.next_cursor !== null && page.next_cursor === cursor) {
        throw new UnexpectedAnswerError('the list of claims leads from a page to the same page')
      }
      emptyPages = page.claims.length > 0 ? 0 : emptyPages + 1
      if (emptyPages > MOST_EMPTY_PAGES) throw new UnexpectedAnswerError('the list of claims leads on without end')
      yield page
      cursor = page.next_cursor
    } while (cursor !== null)
  }
}

function query(values: Readonly<Record<string, string | number | undefined | null>>): string {
  const given = Object.entries(values).filter((entry) => entry[1] !== undefined && entry[1] !== null)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
