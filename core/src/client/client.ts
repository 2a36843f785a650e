/** A client of the service's API, for agents that submit claims and for readers of receipts. */
import type {
  ClaimList,
  ClaimQuery,
  ClaimRequest,
  ClaimStatus,
  SubmittedClaim,
  ValidationErrorItem,
} from '../api/index.ts'
import { retryAfterMs } from '../retry-after.ts'

export interface ClientOptions {
  /** `https://claimcheck.example.com` */
  readonly baseUrl: string
  /** An API key, `svc_sk_...`. Receipts and the issuer's keys are read without one. */
  readonly key?: string
  /** Sends the requests. The global `fetch` when left out. */
  readonly fetch?: typeof fetch
}

export interface Client {
  /** Submitting the same `client_claim_id` again returns the same claim, so that a submission can be repeated. @throws ApiError */
  submit(claim: ClaimRequest): Promise<SubmittedClaim>
  /** @throws ApiError */
  claim(claimId: string): Promise<ClaimStatus>
  /** Newest first. @throws ApiError */
  claims(query?: Partial<ClaimQuery>): Promise<ClaimList>
  /** Asks again and again until the claim is decided. @throws ApiError, and the signal's reason when it is aborted */
  decided(claimId: string, options?: { readonly signal?: AbortSignal }): Promise<ClaimStatus>
  /** The receipt's text. Store it unchanged: `checkReceipt` checks the text itself. @throws ApiError */
  receipt(receiptId: string): Promise<string>
  /** The checks that its verdict follows from, as text, for `checkEvidence`; undefined for a receipt that names none. @throws ApiError */
  evidence(receiptId: string): Promise<string | undefined>
  /** The issuer's key document as text, for `parseKeySet`. @throws ApiError */
  keys(): Promise<string>
}

/** The service answered with a status other than success. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** With status 422: each mistake in the input. */
  readonly issues: readonly ValidationErrorItem[]
  /** How long the service asks to wait. Milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, detail: unknown, retryAfterMs: number | undefined) {
    const issues: ValidationErrorItem[] = Array.isArray(detail) ? detail : []
    const words = issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
    super(`the service answered ${status}: ${words || String(detail)}`)
    this.status = status
    this.issues = issues
    this.retryAfterMs = retryAfterMs
  }
}

const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 2000
/** Statuses after which the same request may succeed later. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function createClient({ baseUrl, key, fetch = globalThis.fetch }: ClientOptions): Client {
  const root = baseUrl.replace(/\/+$/, '')
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }

  async function request(path: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(root + path, { ...init, headers: { ...authorization, ...init.headers } })
    const text = await response.text()
    if (!response.ok) throw new ApiError(response.status, detailOf(text), retryAfterMs(response.headers))
    return text
  }

  const claim = async (claimId: string, init?: RequestInit): Promise<ClaimStatus> =>
    JSON.parse(await request(`/v1/claims/${encodeURIComponent(claimId)}`, init))

  return {
    async submit(body) {
      const headers = { 'content-type': 'application/json' }
      return JSON.parse(await request('/v1/claims', { method: 'POST', headers, body: JSON.stringify(body) }))
    },
    claim: (claimId) => claim(claimId),
    async claims(query = {}) {
      const given = Object.entries(query).map(([name, value]) => [name, String(value)])
      return JSON.parse(await request(`/v1/claims?${new URLSearchParams(given)}`))
    },
    async decided(claimId, { signal } = {}) {
      for (let waitMs = MIN_PAUSE_MS; ; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
        let askedMs = 0
        try {
          const status = await claim(claimId, signal ? { signal } : {})
          if (status.state === 'decided') return status
        } catch (error) {
          if (!(error instanceof ApiError) || !TEMPORARY.has(error.status)) throw error
          askedMs = error.retryAfterMs ?? MAX_PAUSE_MS
        }
        await pause(Math.max(waitMs, askedMs), signal)
      }
    },
    receipt: (receiptId) => request(`/v1/receipts/${encodeURIComponent(receiptId)}`),
    async evidence(receiptId) {
      try {
        return await request(`/v1/receipts/${encodeURIComponent(receiptId)}/evidence`)
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined
        throw error
      }
    },
    keys: () => request('/.well-known/poaw-keys.json'),
  }
}

function detailOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { detail?: unknown }).detail ?? text
  } catch {
    return text
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
