/** Reads JSON for one check, and remembers what its answers say of caches and of the platform's clock. */
import { type CheckContext, DestinationError, isOldCopy, type JsonInit, type TSchema } from '@claimcheck/core/plugin'

/** Seconds for which a cache may have kept an answer that does not show the message as claimed. */
const MOST_AGE_S = 60

export type Reads = ReturnType<typeof openReads>

export function openReads({ http }: Pick<CheckContext, 'http'>) {
  let isOld = false
  let headers = new Headers()
  return {
    /** Reads JSON of a known shape. Its `value` is undefined for a status in `also`. */
    async json<T extends TSchema>(url: string, init: JsonInit<T>) {
      const answer = await http.json(url, init)
      headers = answer.headers
      isOld ||= isOldCopy(headers, MOST_AGE_S)
      return answer
    },
    /** The headers of the last answer. */
    headers: () => headers,
    /** Refuses to deny an outcome by a copy of a cache. @throws DestinationError */
    refuseOldCopy() {
      if (isOld) throw new DestinationError('unexpected_response')
    },
  }
}
