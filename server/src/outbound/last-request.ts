/** Says what a check asked last, and why it failed: for the operator, and neither for a log nor for a workspace. */
import { failureWords } from '@claimcheck/core/hosting'
import type { CheckRequests } from './check-requests.ts'

const LONGEST = 500

/** @returns the same requests, and what to say of an error that came of them; without their secrets */
export function withLastRequest(own: CheckRequests): {
  readonly requests: CheckRequests
  reasonOf(error: unknown): string
} {
  let last = ''
  async function noted<T>(method: string, url: string, send: () => Promise<T>, statusOf?: (answer: T) => number) {
    last = `${method} ${url}: `
    try {
      const answer = await send()
      if (statusOf) last += `answer ${statusOf(answer)}: `
      return answer
    } catch (error) {
      last += failureWords(error)
      throw error
    }
  }
  const requests: CheckRequests = {
    ...own,
    fetch: (url, init = {}) =>
      noted(
        init.method ?? (init.call ? 'POST' : 'GET'),
        url,
        () => own.fetch(url, init),
        ({ status }) => status,
      ),
    digest: (url, init) =>
      noted(
        'GET',
        url,
        () => own.digest(url, init),
        ({ status }) => status,
      ),
    connect: (url, init) => noted('CONNECT', url, () => own.connect(url, init)),
    query: (url, query) => noted('QUERY', url, () => own.query(url, query)),
  }
  return {
    requests,
    reasonOf(error) {
      const text = last.endsWith(': ') || last === '' ? last + failureWords(error) : last
      return own
        .leaks()
        .redact(text)
        .slice(0, LONGEST)
        .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    },
  }
}
