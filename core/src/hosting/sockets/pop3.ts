/** POP3 (RFC 1939, RFC 2449, RFC 2595, RFC 5034): the way to a login, and the commands that leave the maildrop as it is. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Conversation } from './conversation.ts'
import { logInBySasl, noTls, notOffered, type Protocol, type Reply, unexpected } from './login.ts'
import { type SecretLogin, saslOf } from './sasl.ts'

const OK = /^\+OK\b/

async function begin(talk: Conversation, login: SecretLogin | undefined): Promise<string> {
  const greeting = await talk.line()
  if (!OK.test(greeting))
    throw greeting.startsWith('-ERR') ? new DestinationError('unavailable') : unexpected('the connection')
  if (talk.mustGoSecure) {
    if (!OK.test(await runCommand(talk, 'STLS'))) throw noTls()
    await talk.goSecure()
  }
  if (login) await logIn(talk, login)
  return greeting
}

async function logIn(talk: Conversation, login: SecretLogin): Promise<void> {
  if (login.mechanism === 'login') {
    await requireDone(await runCommand(talk, `USER ${login.user}`))
    await requireDone(await runCommand(talk, `PASS ${login.secret}`))
    return
  }
  const sasl = saslOf(login)
  const offered = (await capabilities(talk)).find((line) => /^SASL /i.test(line)) ?? ''
  if (!offered.toUpperCase().split(' ').slice(1).includes(sasl.name)) throw notOffered(`AUTH ${sasl.name}`)
  await logInBySasl(sasl, `AUTH ${sasl.name}`, async (line) => toReply(await runCommand(talk, line)))
}

function requireDone(line: string): void {
  const reply = toReply(line)
  if (reply.kind === 'refused') throw reply.error
  if (reply.kind !== 'done') throw unexpected('the login')
}

function toReply(line: string): Reply {
  if (/^\+ ?/.test(line) && !OK.test(line)) return { kind: 'challenge', base64: line.slice(1).trim() }
  if (OK.test(line)) return { kind: 'done' }
  if (!line.startsWith('-ERR')) return { kind: 'refused', error: unexpected('the login') }
  if (/\[LOGIN-DELAY\]/i.test(line)) return { kind: 'refused', error: new DestinationError('rate_limited') }
  const isLater = /\[(?:SYS\/TEMP|IN-USE)\]/i.test(line)
  return { kind: 'refused', error: new DestinationError(isLater ? 'unavailable' : 'unauthorized') }
}

async function capabilities(talk: Conversation): Promise<readonly string[]> {
  if (!OK.test(await runCommand(talk, 'CAPA'))) return []
  const lines: string[] = []
  for (let line = await talk.line(); line !== '.'; line = await talk.line()) lines.push(line)
  return lines
}

async function runCommand(talk: Conversation, line: string): Promise<string> {
  await talk.say(line)
  return talk.line()
}

const none = (text: string) => text === ''
const numbers = (text: string) => /^[0-9]*(?: [0-9]+)?$/.test(text)

export const pop3: Protocol = {
  begin,
  // RETR is missing here, because many servers remove or file the message that it got. TOP reads as much.
  commands: { CAPA: none, NOOP: none, QUIT: none, STAT: none, LIST: numbers, UIDL: numbers, TOP: numbers },
  readLine(line) {
    const [, name, rest = ''] = /^([A-Za-z]{3,4})(?: (.*))?$/.exec(line) ?? []
    return name === undefined ? undefined : { name: name.toUpperCase(), rest }
  },
}
