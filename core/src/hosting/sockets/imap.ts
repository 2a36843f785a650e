/** IMAP (RFC 3501, RFC 9051): the way to a login, and the commands that only read. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Conversation } from './conversation.ts'
import { logInBySasl, noTls, notOffered, type Protocol, type Reply, unexpected } from './login.ts'
import { type SecretLogin, saslOf } from './sasl.ts'

const OK = /^\S+ OK\b/i
const TAG = 'claimcheck'

async function begin(talk: Conversation, login: SecretLogin | undefined): Promise<string> {
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
  return greeting
}

async function logIn(talk: Conversation, login: SecretLogin): Promise<void> {
  const offered = await capabilities(talk)
  if (login.mechanism === 'login') {
    if (offered.has('LOGINDISABLED')) throw notOffered('LOGIN')
    const reply = toReply(await runCommand(talk, `LOGIN ${quote(login.user)} ${quote(login.secret)}`))
    if (reply.kind === 'refused') throw reply.error
    return
  }
  const sasl = saslOf(login)
  if (!offered.has(`AUTH=${sasl.name}`)) throw notOffered(`AUTHENTICATE ${sasl.name}`)
  await logInBySasl(sasl, `${TAG} AUTHENTICATE ${sasl.name}`, async (line) => {
    await talk.say(line)
    return toReply(await readAnswer(talk))
  })
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

export const imap: Protocol = {
  begin,
  // SELECT is missing here: reading a mailbox that EXAMINE opened changes nothing there.
  commands: {
    CAPABILITY: none,
    NOOP: none,
    LOGOUT: none,
    UNSELECT: none,
    NAMESPACE: none,
    EXAMINE: isPlain,
    LIST: isPlain,
    LSUB: isPlain,
    STATUS: isPlain,
    GETQUOTA: isPlain,
    GETQUOTAROOT: isPlain,
    MYRIGHTS: isPlain,
    SEARCH: isPlain,
    'UID SEARCH': isPlain,
    SORT: isPlain,
    'UID SORT': isPlain,
    THREAD: isPlain,
    'UID THREAD': isPlain,
    FETCH: isUnseeing,
    'UID FETCH': isUnseeing,
  },
  readLine(line) {
    const [, name, rest = ''] = /^[A-Za-z0-9]{1,16} ((?:UID )?[A-Za-z]+)(?: (.*))?$/i.exec(line) ?? []
    return name === undefined ? undefined : { name: name.toUpperCase(), rest }
  },
}
