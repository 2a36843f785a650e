/** Notes the requests of a check as they leave: what the author of a verifier wants to see of them. */
import type { TrialRequest } from '@claimcheck/core/testkit'
import type { CheckRequests, Outbound } from '../../outbound/outbound.ts'

/** @param requests gets each request when it is sent */
export function traced(outbound: Outbound, requests: TrialRequest[]): Outbound {
  return { ...outbound, forCheck: (guard) => tracedRequests(outbound.forCheck(guard), requests) }
}

function tracedRequests(own: CheckRequests, requests: TrialRequest[]): CheckRequests {
  return {
    ...own,
    async fetch(url, init = {}) {
      const { auth, call, method = call ? 'POST' : 'GET' } = init
      const request: TrialRequest = { method, url, ms: 0, bytes: 0, ...(auth ? { auth: auth.scheme } : {}) }
      requests.push(request)
      const done = stopwatch(request)
      try {
        const response = await own.fetch(url, init)
        request.status = response.status
        return counted(response, request)
      } catch (error) {
        request.problem = problemOf(error)
        throw error
      } finally {
        done()
      }
    },
    async connect(url) {
      const request: TrialRequest = { method: 'CONNECT', url, ms: 0, bytes: 0 }
      requests.push(request)
      const done = stopwatch(request)
      return own
        .connect(url)
        .catch((error) => {
          request.problem = problemOf(error)
          throw error
        })
        .finally(done)
    },
  }
}

function stopwatch(request: TrialRequest): () => void {
  const startedAt = performance.now()
  return () => {
    request.ms = Math.round(performance.now() - startedAt)
  }
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

/** The code, and what is behind it: for the author, not for a log. */
function problemOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  const reason = cause instanceof Error ? cause.message : ''
  return [String(code ?? (error as Error).message), reason].filter(Boolean).join(': ')
}
