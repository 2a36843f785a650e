/** Faults in which the destination repeats the credential of a request. */
import { isJsonObject } from '../json.ts'
import { jsonOf, withHeaders } from './exchange.ts'
import type { StruckRequest } from './fault-proxy.ts'

/** Repeats the request's credential in the true answer, as debugging aids do. */
export async function echo({ asked, real, send }: StruckRequest): Promise<void> {
  const answer = await real()
  const value = jsonOf(answer)
  const repeated = {
    request: { headers: asked.headers },
    authorization: credentialOf(asked),
    debug: credentialOf(asked),
  }
  const mixed = Array.isArray(value)
    ? value.map((item) => (isJsonObject(item) ? { ...item, ...repeated } : item))
    : isJsonObject(value) && { ...value, ...repeated }
  send(
    withHeaders(mixed ? { ...answer, body: Buffer.from(JSON.stringify(mixed)) } : answer, {
      'x-request-authorization': credentialOf(asked),
      'x-debug': credentialOf(asked),
      etag: undefined,
    }),
  )
}

/** Refuses with a message that repeats the credential. */
export function echoingFailure(code: number) {
  return ({ asked, send }: StruckRequest): void => {
    const text = `the credential ${credentialOf(asked)} was not accepted`
    send({
      status: code,
      headers: [
        ['content-type', 'application/json'],
        ['www-authenticate', `Bearer error_description="${credentialOf(asked)}"`],
      ],
      body: Buffer.from(
        JSON.stringify({ message: text, error: text, errors: [{ message: text }], authorization: credentialOf(asked) }),
      ),
    })
  }
}

/** Answers with a text that is not JSON and repeats the credential. */
export function echoingText({ asked, send }: StruckRequest): void {
  send({
    status: 200,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(credentialOf(asked)),
  })
}

function credentialOf({ headers }: StruckRequest['asked']): string {
  const others = Object.entries(headers).filter(([name]) => /token|key|secret|auth/.test(name))
  return others.map(([, value]) => value).join(' ')
}
