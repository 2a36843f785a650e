/** Speaks IMAP on a connection on which the host has logged in: writes commands, and reads their answers to the end. */
import {
  type CheckContext,
  credential,
  DestinationError,
  type DestinationErrorCode,
  isDestinationError,
  type Login,
  type Socket,
} from '@claimcheck/core/plugin'
import type { Options } from './connection.ts'

/** The commands that the plugin writes, for its manifest. */
export const COMMANDS = ['CAPABILITY', 'NAMESPACE', 'LIST', 'MYRIGHTS', 'EXAMINE', 'UID SEARCH', 'FETCH', 'UID FETCH']

const LONGEST_LINE = 256 * 1024

export type Session = Awaited<ReturnType<typeof openSession>>

/** Logs in at the mailbox. @throws DestinationError */
export async function openSession(options: Options, { connect }: Pick<CheckContext, 'connect'>) {
  const socket = await logIn(options, connect)
  const writer = socket.writable.getWriter()
  const read = responseReader(socket)
  let count = 0

  /**
   * Runs a command.
   * @param refusedAs the meaning of a refusal that does not say why
   * @returns the untagged responses, without their asterisk, with literals written as quoted strings
   * @throws DestinationError
   */
  async function ask(command: string, refusedAs: DestinationErrorCode = 'unavailable'): Promise<readonly string[]> {
    const tag = `c${++count}`
    await writer.write(new TextEncoder().encode(`${tag} ${command}\r\n`))
    const lines: string[] = []
    let line = await read()
    for (; !line.startsWith(`${tag} `); line = await read()) {
      if (/^\* BYE\b/i.test(line)) throw new DestinationError('unavailable')
      if (!line.startsWith('* ') || /^\* BAD\b/i.test(line)) throw unexpected(command)
      lines.push(line.slice(2))
    }
    const [, status = '', text = ''] = /^\S+ ([A-Za-z]+) ?(.*)$/s.exec(line) ?? []
    if (/^OK$/i.test(status)) return lines
    throw /^NO$/i.test(status) ? refusalOf(text, refusedAs) : unexpected(command)
  }

  return { ask, close: () => socket.close() }
}

function unexpected(command: string): DestinationError {
  return new DestinationError('unexpected_response', { cause: new Error(`the server answered otherwise: ${command}`) })
}

/** The mechanisms for a password, in the order in which they are tried: servers that lack one say so before the password is sent. */
const MECHANISMS = ['login', 'plain', 'scram-sha-256'] as const

async function logIn(
  { address, user, password, refresh_token }: Options,
  connect: CheckContext['connect'],
): Promise<Socket> {
  const logins: Login[] =
    password === undefined
      ? [{ mechanism: 'xoauth2', user, secret: credential(refresh_token === undefined ? 'machine' : 'person') }]
      : MECHANISMS.map((mechanism) => ({ mechanism, user, secret: password }))
  let lacking: unknown
  for (const login of logins) {
    try {
      return await connect(address, { login })
    } catch (error) {
      if (!isDestinationError(error) || error.code !== 'misconfigured') throw error
      lacking = error
    }
  }
  throw lacking
}

/** The error of a command that the server refused, by its response code (RFC 5530) and that of Gmail. */
function refusalOf(text: string, otherwise: DestinationErrorCode): DestinationError {
  const [, code = ''] = /^\[([A-Z]+)/i.exec(text) ?? []
  return new DestinationError(REFUSALS[code.toUpperCase()] ?? otherwise, {
    cause: new Error('the server refused a command'),
  })
}

const REFUSALS: Readonly<Record<string, DestinationErrorCode>> = {
  LIMIT: 'rate_limited',
  THROTTLED: 'rate_limited',
  UNAVAILABLE: 'unavailable',
  SERVERBUG: 'unavailable',
  INUSE: 'unavailable',
  CONTACTADMIN: 'unavailable',
  NONEXISTENT: 'forbidden',
  NOPERM: 'forbidden',
}

/**
 * Makes the reader of responses, each with all of its lines.
 * @returns a function that gives the next response as one text in which each character is a byte, with literals written as quoted strings
 */
function responseReader({ readable }: Socket): () => Promise<string> {
  const reader = readable.getReader()
  let rest = ''

  async function more(): Promise<void> {
    const { done, value } = await reader.read()
    if (done) throw new DestinationError('unavailable', { cause: new Error('the connection was closed') })
    rest += bytesToText(value)
  }

  async function take(length: number): Promise<string> {
    while (rest.length < length) await more()
    const taken = rest.slice(0, length)
    rest = rest.slice(length)
    return taken
  }

  async function line(): Promise<string> {
    let searched = 0
    for (;;) {
      const end = rest.indexOf('\r\n', searched)
      if (end >= 0) return (await take(end + 2)).slice(0, -2)
      if (rest.length > LONGEST_LINE) throw new DestinationError('too_large')
      searched = Math.max(0, rest.length - 1)
      await more()
    }
  }

  return async () => {
    let text = ''
    for (;;) {
      const part = await line()
      const literal = /~?\{([0-9]{1,8})\}$/.exec(part)
      if (!literal) return text + part
      text += `${part.slice(0, literal.index)}"${(await take(Number(literal[1]))).replaceAll(/["\\]/g, '\\$&')}"`
    }
  }
}

const CHUNK = 4096

function bytesToText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return text
}
