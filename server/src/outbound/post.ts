/** Posts a text where only the head of the answer counts, at a fraction of what fetch costs: that makes streams and signals for each request. */
import { refusal, toDestinationError } from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import { type Dispatcher, util } from 'undici'

export interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The time for everything, in milliseconds. */
  readonly timeoutMs: number
  /** Ends the request early. */
  readonly ended?: AbortSignal | undefined
}

export interface AnswerHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** The most bytes of an answer's body that are read, so that its connection can be used again. */
const MOST_BODY_BYTES = 4096

/** Ports of protocols that can be made to take a request for theirs. Source: "port blocking" of the Fetch standard, which fetch does itself. */
const BAD_PORTS: ReadonlySet<string> = new Set(
  `1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427
   465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566
   6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
)

/**
 * Follows no redirect. An answer whose body is long or does not end counts by its head.
 * @throws DestinationError
 */
export function post(dispatcher: Dispatcher, url: URL, init: Post): Promise<AnswerHead> {
  const { headers, body, timeoutMs, ended } = init
  return new Promise((resolve, reject) => {
    if (BAD_PORTS.has(url.port)) throw refusal('the port is of another protocol')
    let head: AnswerHead | undefined
    let left = MOST_BODY_BYTES
    let abort: ((error: Error) => void) | undefined
    let stopped: DestinationError | undefined
    const settle = (error: unknown) => {
      clearTimeout(timer)
      ended?.removeEventListener('abort', onEnded)
      if (head) resolve(head)
      else reject(toDestinationError(error, NEVER))
    }
    const stop = (code: 'timeout' | 'unavailable') => {
      stopped = new DestinationError(code)
      abort?.(stopped)
      settle(stopped)
    }
    const onEnded = () => stop('unavailable')
    const timer = setTimeout(stop, timeoutMs, 'timeout')
    ended?.addEventListener('abort', onEnded)
    if (ended?.aborted) onEnded()
    const sent = { origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body } as const
    dispatcher.dispatch(sent, {
      onConnect(abortRequest) {
        abort = abortRequest
        if (stopped) abort(stopped)
      },
      onHeaders(status, raw) {
        if (status > 599) abort?.(new DestinationError('unexpected_response', { status }))
        else if (status >= 200) head = { status, headers: util.parseHeaders(raw as Buffer[]) }
        return true
      },
      onData(chunk) {
        left -= chunk.length
        if (left < 0) abort?.(new DestinationError('too_large'))
        return true
      },
      onComplete: settle,
      onError: settle,
    })
  })
}

const NEVER = new AbortController().signal
