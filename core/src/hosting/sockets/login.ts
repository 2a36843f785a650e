/** The shape of a protocol that core speaks itself, the exchange of SASL that all share, and their errors. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Conversation } from './conversation.ts'
import { fromBase64, type Sasl, type SecretLogin, toBase64 } from './sasl.ts'

export interface Protocol {
  /**
   * Goes from the first byte to where commands can be written: the greeting, TLS where the conversation asks for it, and the login.
   * @returns the greeting
   * @throws DestinationError
   */
  begin(talk: Conversation, login: SecretLogin | undefined): Promise<string>
  /** The commands that only read, each with a test of arguments that keep it from more. */
  readonly commands: Readonly<Record<string, (rest: string) => boolean>>
  /** Parses a command; undefined for a line that is not of this protocol. */
  readLine(line: string): { readonly name: string; readonly rest: string } | undefined
}

export type Reply =
  | { readonly kind: 'challenge'; readonly base64: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly error: DestinationError }

/**
 * Logs in by SASL.
 *
 * @param send sends a line, and reads its answer
 * @param begin the command that names the mechanism
 * @throws DestinationError if the login does not succeed
 */
export async function logInBySasl(sasl: Sasl, begin: string, send: (line: string) => Promise<Reply>): Promise<void> {
  let reply = await send(begin)
  while (reply.kind === 'challenge') {
    const answer = await sasl.answer(fromBase64(reply.base64))
    reply = await send(answer === undefined ? '*' : toBase64(answer))
  }
  if (reply.kind === 'refused') throw reply.error
  // A server that does not prove that it knows the password may be an impostor.
  if (!sasl.isComplete()) throw new DestinationError('unexpected_response')
}

export function notOffered(what: string): DestinationError {
  return new DestinationError('misconfigured', { cause: new Error(`the server does not offer ${what}`) })
}

/** The error of a connection that would stay in plain: somebody on the way may have removed the offer of TLS. */
export function noTls(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the server does not go over to TLS') })
}

export function unexpected(what: string): DestinationError {
  return new DestinationError('unexpected_response', { cause: new Error(`the server answered ${what} otherwise`) })
}
