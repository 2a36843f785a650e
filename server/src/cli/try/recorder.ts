/** Keeps the answers that a check gets, as a recording that the kit replays. No credential comes this far, but for one that an answer repeats. */
import type { Exchange, Recording } from '@claimcheck/core/testkit'
import type { CheckGuard, CheckRequests, Outbound } from '../../outbound/outbound.ts'

export interface Recorder {
  wrap(outbound: Outbound): Outbound
  /** Undefined: the check made no request. */
  recording(): Recording | undefined
}

/** They belong to one connection or one moment, or say who asked. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['age', 'alt-svc', 'connection', 'content-encoding', 'content-length', 'date', 'expires', 'keep-alive', 'nel'],
  ...['report-to', 'set-cookie', 'transfer-encoding'],
])
const CREDENTIAL_HEADER = /auth|token|key|secret|cookie|password/
const REDACTED = '[credential]'

/** @param earlier a recording to go on with */
export function createRecorder(earlier?: Recording): Recorder {
  const exchanges: Exchange[] = [...(earlier?.exchanges ?? [])]
  let origin = earlier?.origin
  return {
    wrap: (outbound) => ({
      ...outbound,
      forCheck(guard) {
        origin = guard.origin
        return recordedRequests(outbound.forCheck(guard), guard, exchanges)
      },
    }),
    recording: () => (origin === undefined || exchanges.length === 0 ? undefined : { version: 1, origin, exchanges }),
  }
}

function recordedRequests(own: CheckRequests, { secrets }: CheckGuard, exchanges: Exchange[]): CheckRequests {
  const clean = (text: string) => [...secrets.values()].reduce((rest, one) => redact(rest, one), text)
  return {
    ...own,
    async fetch(text, init = {}) {
      const response = await own.fetch(text, init)
      const { status, statusText, headers, url } = response
      const body = Buffer.from(await response.arrayBuffer())
      const isText = body.equals(Buffer.from(body.toString('utf8')))
      const { call, method = call ? 'POST' : 'GET' } = init
      const { pathname, search } = new URL(text)
      exchanges.push({
        method,
        path: clean(pathname + search),
        ...(call ? { requestCall: call } : {}),
        status,
        headers: keptHeaders(headers, clean),
        ...(isText
          ? { body: clean(body.toString('utf8')) }
          : { body: body.toString('base64'), encoding: 'base64' as const }),
      })
      const hasBody = body.length > 0
      const copy = new Response(hasBody ? body : null, { status, statusText, headers })
      // The constructor of Response cannot set the URL.
      return Object.defineProperty(copy, 'url', { value: url })
    },
  }
}

function keptHeaders(headers: Headers, clean: (text: string) => string): Record<string, string> {
  const kept = [...headers].filter(([name]) => !LEFT_OUT.has(name) && !CREDENTIAL_HEADER.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, clean(value)]))
}

/** In the forms in which an answer repeats what it was sent. */
function redact(text: string, secret: string): string {
  const base64 = Buffer.from(secret).toString('base64')
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
  ]
  return forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
}
