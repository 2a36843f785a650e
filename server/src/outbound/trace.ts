/** Notes the requests of a check as they leave: for authors and operators, and neither for a log nor for a workspace. */
import { failureWords } from '@claimcheck/core/hosting'
import type { Auth } from '@claimcheck/core/plugin'
import type { TrialRequest } from '@claimcheck/core/testkit'
import type { CheckRequests } from './check-requests.ts'
import type { Outbound } from './outbound.ts'

/**
 * Notes the requests of all checks.
 * @param requests gets each request when it is sent
 */
export function traced(outbound: Outbound, requests: TrialRequest[]): Outbound {
  return { ...outbound, forCheck: (guard) => tracedRequests(outbound.forCheck(guard), requests) }
}

/**
 * Notes the requests of one check.
 * @param requests gets each request when it is sent
 */
export function tracedRequests(own: CheckRequests, requests: TrialRequest[]): CheckRequests {
  async function noted<T>(
    asked: Pick<TrialRequest, 'method' | 'url' | 'auth'>,
    send: (request: TrialRequest) => Promise<T>,
  ): Promise<T> {
    const request: TrialRequest = { ...asked, ms: 0, bytes: 0 }
    requests.push(request)
    const startedAt = performance.now()
    try {
      return await send(request)
    } catch (error) {
      request.problem = failureWords(error)
      throw error
    } finally {
      request.ms = Math.round(performance.now() - startedAt)
    }
  }

  return {
    ...own,
    async fetch(url, init = {}) {
      const { auth, call, method = call ? 'POST' : 'GET' } = init
      return noted({ method, url, ...authOf(auth) }, async (request) => {
        const response = await own.fetch(url, init)
        request.status = response.status
        return counted(response, request)
      })
    },
    digest: (url, init) =>
      noted({ method: 'GET', url, ...authOf(init.auth) }, async (request) => {
        const answer = await own.digest(url, init)
        request.status = answer.status
        request.bytes = answer.bytes
        return answer
      }),
    connect: (url, init) => noted({ method: 'CONNECT', url }, () => own.connect(url, init)),
    query: (url, query) => noted({ method: 'QUERY', url }, () => own.query(url, query)),
  }
}

function authOf(auth: Auth | undefined): Pick<TrialRequest, 'auth'> {
  return auth ? { auth: auth.scheme } : {}
}

function counted(response: Response, request: TrialRequest): Response {
  const { body, status, statusText, headers, url } = response
  if (!body) return response
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      request.bytes += chunk.length
      controller.enqueue(chunk)
    },
  })
  const copy = new Response(body.pipeThrough(counting), { status, statusText, headers })
  // The constructor of Response cannot set the URL.
  return Object.defineProperty(copy, 'url', { value: url })
}
