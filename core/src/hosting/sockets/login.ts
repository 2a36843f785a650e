/** What the logins of all protocols share: the dialogue of SASL, and what a refusal means. */
import { DestinationError } from '../../contract/destination-error.ts'
import { fromBase64, type Sasl, toBase64 } from './sasl.ts'

export type Reply =
  | { readonly kind: 'challenge'; readonly base64: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly error: DestinationError }

/**
 * @param send sends a line, and reads what answers it
 * @param begin the command that names the mechanism
 * @throws DestinationError where the login does not succeed
 */
export async function logInBySasl(sasl: Sasl, begin: string, send: (line: string) => Promise<Reply>): Promise<void> {
  let reply = await send(begin)
  while (reply.kind === 'challenge') {
    const answer = await sasl.answer(fromBase64(reply.base64))
    reply = await send(answer === undefined ? '*' : toBase64(answer))
  }
  if (reply.kind === 'refused') throw reply.error
  // A server that does not prove that it knows the password may be another one.
  if (!sasl.isComplete()) throw new DestinationError('unexpected_response')
}

export function notOffered(what: string): DestinationError {
  return new DestinationError('misconfigured', { cause: new Error(`the server does not offer ${what}`) })
}

/** The connection would stay in plain: what offers TLS may have been taken out on the way. */
export function noTls(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the server does not go over to TLS') })
}

export function unexpected(what: string): DestinationError {
  return new DestinationError('unexpected_response', { cause: new Error(`the server answered ${what} otherwise`) })
}
