/** Destinations that repeat the credential of a request, each as a fault. */
import { isJsonObject } from '../json.ts'
import { jsonOf, withHeaders } from './exchange.ts'
import type { Struck } from './fault-proxy.ts'

/** The destination repeats the credential that it got, in each answer, as debugging aids do. */
export async function echo({ asked, real, send }: Struck): Promise<void> {
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

/** The destination refuses, and its message repeats the credential. */
export function echoingFailure(code: number) {
  return ({ asked, send }: Struck): void => {
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

/** The destination answers with a text that is no JSON and repeats the credential. */
export function echoingText({ asked, send }: Struck): void {
  send({
    status: 200,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(credentialOf(asked)),
  })
}

function credentialOf({ headers }: Struck['asked']): string {
  const others = Object.entries(headers).filter(([name]) => /token|key|secret|auth/.test(name))
  return others.map(([, value]) => value).join(' ')
}
