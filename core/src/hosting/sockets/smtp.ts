/** SMTP (RFC 5321, RFC 3207, RFC 4954): the way to a login, and the commands that send nothing. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Conversation } from './conversation.ts'
import { logInBySasl, noTls, notOffered, type Protocol, type Reply, unexpected } from './login.ts'
import { type SecretLogin, saslOf } from './sasl.ts'

interface SmtpAnswer {
  readonly code: number
  /** The reply's lines without their codes. */
  readonly lines: readonly string[]
}

async function begin(talk: Conversation, login: SecretLogin | undefined): Promise<string> {
  const { code, lines } = await readAnswer(talk)
  if (code !== 220) throw refusalOf(code, 'unavailable')
  let offered = await hello(talk)
  if (talk.mustGoSecure) {
    if (!offered.has('STARTTLS')) throw noTls()
    if ((await runCommand(talk, 'STARTTLS')).code !== 220) throw noTls()
    await talk.goSecure()
    // An offer in plain counts for nothing after TLS.
    offered = await hello(talk)
  }
  if (login) await logIn(talk, login, offered)
  return lines.join(' ')
}

async function logIn(talk: Conversation, login: SecretLogin, offered: ReadonlyMap<string, string>): Promise<void> {
  const sasl = saslOf(login)
  if (!offered.get('AUTH')?.split(' ').includes(sasl.name)) throw notOffered(`AUTH ${sasl.name}`)
  await logInBySasl(sasl, `AUTH ${sasl.name}`, async (line): Promise<Reply> => {
    const { code, lines } = await runCommand(talk, line)
    if (code === 334) return { kind: 'challenge', base64: lines[0]!.trim() }
    return code === 235 ? { kind: 'done' } : { kind: 'refused', error: refusalOf(code, 'unauthorized') }
  })
}

/** Greets the server, and returns its extensions with their parameters, in upper case. */
async function hello(talk: Conversation): Promise<ReadonlyMap<string, string>> {
  const { code, lines } = await runCommand(talk, 'EHLO [127.0.0.1]')
  if (code !== 250) throw refusalOf(code, 'unexpected_response')
  return new Map(
    lines.slice(1).map((line) => {
      const [, name = '', parameters = ''] = /^(\S*)\s*(.*)$/.exec(line.toUpperCase()) ?? []
      return [name, parameters]
    }),
  )
}

async function runCommand(talk: Conversation, line: string): Promise<SmtpAnswer> {
  await talk.say(line)
  return readAnswer(talk)
}

async function readAnswer(talk: Conversation): Promise<SmtpAnswer> {
  const lines: string[] = []
  for (;;) {
    const [, code, more, text] = /^([2-5][0-9]{2})([ -]?)(.*)$/.exec(await talk.line()) ?? []
    if (code === undefined) throw unexpected('a command')
    lines.push(text!)
    if (more !== '-') return { code: Number(code), lines }
  }
}

function refusalOf(code: number, lasting: 'unauthorized' | 'unavailable' | 'unexpected_response'): DestinationError {
  return new DestinationError(code >= 500 ? lasting : 'unavailable')
}

const none = (text: string) => text === ''
const any = () => true

export const smtp: Protocol = {
  begin,
  // MAIL and RCPT are missing here, because a server may greylist, call back and count what begins a mail.
  commands: { EHLO: any, NOOP: none, HELP: any, VRFY: any, EXPN: any, QUIT: none },
  readLine(line) {
    const [, name, rest = ''] = /^([A-Za-z]{4})(?: (.*))?$/.exec(line) ?? []
    return name === undefined ? undefined : { name: name.toUpperCase(), rest }
  },
}
