/** Describes the last request of a check, and why it failed: for the operator, and neither for a log nor for a workspace. */
import { failureWords } from '@claimcheck/core/hosting'
import type { TrialRequest } from '@claimcheck/core/testkit'
import type { CheckRequests } from './check-requests.ts'
import { tracedRequests } from './trace.ts'

const LONGEST = 500

/**
 * Watches a check's requests.
 * @returns the same requests, and a function that describes, without secrets, the request behind an error
 */
export function withLastRequest(own: CheckRequests): {
  readonly requests: CheckRequests
  reasonOf(error: unknown): string
} {
  const asked: TrialRequest[] = []
  return {
    requests: tracedRequests(own, asked),
    reasonOf(error) {
      const last = asked.at(-1)
      const answer = last?.status === undefined ? [] : [`answer ${last.status}`]
      const request = last ? [`${last.method} ${last.url}`, ...answer] : []
      const text = [...request, last?.problem ?? failureWords(error)].join(': ')
      return own
        .leaks()
        .redact(text)
        .slice(0, LONGEST)
        .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    },
  }
}
