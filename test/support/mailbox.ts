/** A mail server on loopback that keeps what it is sent. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Mail {
  readonly to: readonly string[]
  readonly from: string
  readonly headers: ReadonlyMap<string, string>
  /** Decoded. */
  readonly text: string
  readonly raw: string
}

export class Mailbox {
  readonly mails: Mail[] = []
  /** What the next recipients are answered with, in place of being accepted. */
  readonly refusals: number[] = []
  readonly #server: SMTPServer
  #waiting: () => void = () => {}

  constructor(options: SMTPServerOptions = {}) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      onRcptTo: (_address, _session, done) => {
        const responseCode = this.refusals.shift()
        done(responseCode === undefined ? null : Object.assign(new Error('not now'), { responseCode }))
      },
      onData: (stream, { envelope }, done) => {
        const parts: Buffer[] = []
        stream.on('data', (part) => parts.push(part))
        stream.on('end', () => {
          const to = envelope.rcptTo.map(({ address }) => address)
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
          this.mails.push({ to, from, ...parse(Buffer.concat(parts).toString('utf8')) })
          done()
          this.#waiting()
        })
      },
      ...options,
    })
    this.#server.on('error', () => {})
  }

  static async open(options?: SMTPServerOptions): Promise<Mailbox> {
    const mailbox = new Mailbox(options)
    mailbox.#server.listen(0, '127.0.0.1')
    await once(mailbox.#server.server, 'listening')
    return mailbox
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  get env(): Readonly<Record<string, string>> {
    return { SMTP_URL: `smtp://127.0.0.1:${this.port}`, MAIL_FROM: 'Claimcheck <claimcheck@example.com>' }
  }

  /** The mail to this address with this in its subject, when it is there. */
  async mailTo(to: string, subject: RegExp | string, withinMs = 10_000): Promise<Mail> {
    const end = Date.now() + withinMs
    for (;;) {
      const found = this.mails.find(
        (mail) => mail.to.includes(to) && (mail.headers.get('subject') ?? '').match(subject),
      )
      if (found) return found
      if (Date.now() > end) throw new Error(`no mail to ${to} about ${subject}: ${JSON.stringify(this.mails)}`)
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
        setTimeout(resolve, 100)
      })
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

function parse(raw: string): Pick<Mail, 'headers' | 'text' | 'raw'> {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { headers, text: decode(raw.slice(end + 4), headers.get('content-transfer-encoding')), raw }
}

function decode(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return body
  const bytes = body.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex) => `%${hex}`)
  return Buffer.from(
    bytes.replaceAll(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
}
