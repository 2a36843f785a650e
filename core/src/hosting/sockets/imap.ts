/** IMAP (RFC 3501, RFC 9051): the way to a login, and the commands that only read. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Conversation } from './conversation.ts'
import { fromBase64, type Sasl, type SecretLogin, saslOf, toBase64 } from './sasl.ts'

const OK = /^\S+ OK\b/i
const TAG = 'claimcheck'

type Reply =
  | { readonly kind: 'challenge'; readonly base64: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly error: DestinationError }

/**
 * Goes from the first byte to where commands can be written: the greeting, TLS where the conversation asks for it, and the login.
 * @throws DestinationError
 */
export async function beginImap(talk: Conversation, login: SecretLogin | undefined): Promise<void> {
  const greeting = await talk.line()
  if (/^\* BYE\b/i.test(greeting)) throw new DestinationError('unavailable')
  // A greeting that claims a login would keep the client from TLS.
  const isReady = /^\* OK\b/i.test(greeting) || (/^\* PREAUTH\b/i.test(greeting) && !login && !talk.mustGoSecure)
  if (!isReady) throw unexpected('the connection')
  if (talk.mustGoSecure) {
    if (!OK.test(await runCommand(talk, 'STARTTLS'))) throw noTls()
    await talk.goSecure()
  }
  if (login) await logIn(talk, login)
}

async function logIn(talk: Conversation, login: SecretLogin): Promise<void> {
  const offered = await capabilities(talk)
  if (login.mechanism === 'login') {
    if (offered.has('LOGINDISABLED')) throw notOffered('LOGIN')
    const reply = toReply(await runCommand(talk, `LOGIN ${quote(login.user)} ${quote(login.secret)}`))
    if (reply.kind === 'refused') throw reply.error
    return
  }
  const sasl = saslOf(login.mechanism, login)
  if (!offered.has(`AUTH=${sasl.name}`)) throw notOffered(`AUTHENTICATE ${sasl.name}`)
  await authenticate(talk, sasl)
}

async function authenticate(talk: Conversation, sasl: Sasl): Promise<void> {
  let reply = toReply(await runCommand(talk, `AUTHENTICATE ${sasl.name}`))
  while (reply.kind === 'challenge') {
    const answer = await sasl.answer(fromBase64(reply.base64))
    await talk.say(answer === undefined ? '*' : toBase64(answer))
    reply = toReply(await readAnswer(talk))
  }
  if (reply.kind === 'refused') throw reply.error
  // A server that does not prove that it knows the password may be an impostor.
  if (!sasl.isComplete()) throw new DestinationError('unexpected_response')
}

async function capabilities(talk: Conversation): Promise<ReadonlySet<string>> {
  const lines: string[] = []
  if (!OK.test(await runCommand(talk, 'CAPABILITY', lines))) throw unexpected('CAPABILITY')
  const listed = lines.filter((line) => /^\* CAPABILITY /i.test(line))
  return new Set(listed.flatMap((line) => line.toUpperCase().split(' ').slice(2)))
}

async function runCommand(talk: Conversation, command: string, untagged: string[] = []): Promise<string> {
  await talk.say(`${TAG} ${command}`)
  return readAnswer(talk, untagged)
}

/** Reads the next line that is not untagged: the end of a command, or a challenge. */
async function readAnswer(talk: Conversation, untagged: string[] = []): Promise<string> {
  for (;;) {
    const line = await talk.line()
    if (line.startsWith(`${TAG} `) || line.startsWith('+')) return line
    if (!line.startsWith('* ')) throw unexpected('a command')
    if (/^\* BYE\b/i.test(line)) throw new DestinationError('unavailable')
    untagged.push(line)
  }
}

function toReply(line: string): Reply {
  if (line.startsWith('+')) return { kind: 'challenge', base64: line.slice(1).trim() }
  if (OK.test(line)) return { kind: 'done' }
  return { kind: 'refused', error: refusalOf(line) }
}

function refusalOf(line: string): DestinationError {
  if (!/^\S+ NO\b/i.test(line)) return unexpected('the login')
  if (/\[(?:UNAVAILABLE|SERVERBUG|INUSE|CONTACTADMIN)\]/i.test(line)) return new DestinationError('unavailable')
  if (/\[LIMIT\]/i.test(line)) return new DestinationError('rate_limited')
  return new DestinationError('unauthorized')
}

function notOffered(what: string): DestinationError {
  return new DestinationError('misconfigured', { cause: new Error(`the server does not offer ${what}`) })
}

/** The error of a connection that would stay in plain: somebody on the way may have removed the offer of TLS. */
function noTls(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the server does not go over to TLS') })
}

function unexpected(what: string): DestinationError {
  return new DestinationError('unexpected_response', { cause: new Error(`the server answered ${what} otherwise`) })
}

/** Writes a text as a quoted string of IMAP. @throws DestinationError `misconfigured` for a text that needs a literal */
function quote(text: string): string {
  if (!/^[ -~]*$/.test(text)) throw new DestinationError('misconfigured')
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

/** Refuses a literal, which would carry another line, and a text that is still open at the line's end. */
const isPlain = (text: string) => /^(?:[^"\\{}]|"(?:[^"\\]|\\["\\])*")*$/.test(text)

const SECTION = String.raw`\[[A-Z0-9. ()":_-]*\](?:<\d+(?:\.\d+)?>)?`
/** Items that leave a message unseen, even if the server does not keep to EXAMINE. */
const ITEM = new RegExp(
  String.raw`^(?:ALL|FAST|FULL|BODY|BODYSTRUCTURE|ENVELOPE|FLAGS|INTERNALDATE|UID|MODSEQ|EMAILID|THREADID|SAVEDATE|PREVIEW|X-GM-(?:MSGID|THRID|LABELS)|RFC822\.(?:SIZE|HEADER)|(?:BODY|BINARY)\.PEEK${SECTION}|BINARY\.SIZE${SECTION})$`,
)
const MESSAGES = /^[0-9*:,$]+ /

/** Tells whether a FETCH leaves messages unseen: `1:* (UID BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])` */
function isUnseeing(text: string): boolean {
  const messages = MESSAGES.exec(text)?.[0]
  if (messages === undefined) return false
  const asked = text.slice(messages.length).toUpperCase()
  const listed = asked.startsWith('(') && asked.endsWith(')') ? asked.slice(1, -1) : asked
  // A section may have spaces in it. Each bracket ends the search for its end: a line of them would cost the square of its length.
  const items = listed.match(/(?:[^\s[]|\[[^[\]]*\])+/g) ?? []
  const isWhole = items.join(' ') === listed && (listed !== asked || items.length === 1)
  return isWhole && items.every((item) => ITEM.test(item))
}

const none = (text: string) => text === ''

/**
 * The commands that only read, each with a test of arguments that keep it from more. SELECT is missing: reading a mailbox that EXAMINE opened changes
 * nothing there.
 */
export const IMAP_COMMANDS: Readonly<Record<string, (rest: string) => boolean>> = {
  CAPABILITY: none,
  NOOP: none,
  LOGOUT: none,
  NAMESPACE: none,
  EXAMINE: isPlain,
  LIST: isPlain,
  MYRIGHTS: isPlain,
  SEARCH: isPlain,
  'UID SEARCH': isPlain,
  FETCH: isUnseeing,
  'UID FETCH': isUnseeing,
}

/** Parses a command; undefined for a line that is not IMAP. */
export function readImapLine(line: string): { readonly name: string; readonly rest: string } | undefined {
  const [, name, rest = ''] = /^[A-Za-z0-9]{1,16} ((?:UID )?[A-Za-z]+)(?: (.*))?$/i.exec(line) ?? []
  return name === undefined ? undefined : { name: name.toUpperCase(), rest }
}
