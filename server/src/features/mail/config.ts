/** SMTP_URL, SMTP_PLAINTEXT and MAIL_FROM: the server through which mail is sent. */
import { parseUrl } from '@claimcheck/core/plugin'
import { isReservedAddress } from '../../base/reserved-addresses.ts'
import { configSection, type Env, type MembersOf, type Report } from '../../config/section.ts'

const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }
const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const ADDRESS = /^[^\s@<>(),;:"[\]\\\p{C}]{1,64}@[^\s@<>(),;:"[\]\\\p{C}]{1,190}$/u

/** Tells whether mail can be sent to an address: not if a mail server could read it as several, or it is reserved. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text) && !isReservedAddress(text)
}

/** Reads the mail server; undefined when there is none. The problems never repeat SMTP_URL, which may hold a password. */
export function readMail({ SMTP_URL, SMTP_PLAINTEXT, MAIL_FROM }: Env, report: Report) {
  if (!SMTP_URL) {
    if (MAIL_FROM) report('MAIL_FROM: needs SMTP_URL, the server through which mail is sent')
    return undefined
  }
  const url = parseUrl(SMTP_URL)
  if (!url || !(url.protocol in PORTS) || !url.hostname || url.pathname.length > 1 || url.search + url.hash) {
    report('SMTP_URL: must be smtp://user:password@host:587 or smtps://user:password@host:465')
    return undefined
  }
  if ((url.username === '') !== (url.password === ''))
    report('SMTP_URL: must have both a user and a password, or neither')
  if (SMTP_PLAINTEXT && SMTP_PLAINTEXT !== 'on') report('SMTP_PLAINTEXT: must be on, or not set')
  const from = readFrom(MAIL_FROM)
  if (!from)
    report('MAIL_FROM: must be an address such as claimcheck@example.com, or Claimcheck <claimcheck@example.com>')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? PORTS[url.protocol]! : Number(url.port),
    /** True for TLS from the first byte, and not by STARTTLS. */
    isTlsFromStart: url.protocol === 'smtps:',
    /** True if a server without STARTTLS gets no mail. */
    requiresTls: SMTP_PLAINTEXT !== 'on' && !LOOPBACK.test(url.hostname),
    login:
      url.username === ''
        ? undefined
        : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
    from: from ?? { name: '', address: '' },
  }
}

function readFrom(text = '') {
  const [, name = '', inBrackets] = /^([^<>"\p{C}]{0,100}?)\s*<([^<>]+)>$/u.exec(text.trim()) ?? []
  const address = inBrackets ?? text.trim()
  return isMailAddress(address) ? { name, address } : undefined
}

export const mailConfig = configSection({}, (_file, { env, report }) => ({
  /** The mail server; undefined when no mail is sent. */
  mail: readMail(env, report),
}))

export type MailConfig = MembersOf<typeof mailConfig>
export type MailSettings = NonNullable<MailConfig['mail']>
