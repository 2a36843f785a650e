/** Reads JSON for one check, and remembers what its answers say of caches and of the tracker's clock. */
import { type CheckContext, DestinationError, isOldCopy, type JsonInit, type TSchema } from '@claimcheck/core/plugin'

/** Seconds for which a cache may have kept an answer that does not show the issue as claimed. */
const MOST_AGE_S = 60

export type Reads = ReturnType<typeof openReads>

export function openReads({ http }: Pick<CheckContext, 'http'>) {
  let isOld = false
  let headers = new Headers()
  return {
    /** Reads JSON of a known shape. */
    async json<T extends TSchema>(url: string, init: Omit<JsonInit<T>, 'also'>) {
      const answer = await http.json(url, init)
      this.note(answer.headers)
      return answer.value
    },
    /** Remembers the headers of an answer that was read otherwise. */
    note(answered: Headers) {
      headers = answered
      isOld ||= isOldCopy(answered, MOST_AGE_S)
    },
    /** The headers of the last answer. */
    headers: () => headers,
    /** Refuses to deny an outcome by a copy of a cache. @throws DestinationError */
    refuseOldCopy() {
      if (isOld) throw new DestinationError('unexpected_response')
    },
  }
}
