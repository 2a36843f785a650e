/** Sends one mail through the configured server. */
import type { MailSettings } from './config.ts'
import type { Message } from './messages.ts'

export interface OutgoingMail extends Message {
  /** An id that stays the same at each attempt, so that a mail that arrives twice is known as one. */
  readonly id: string
  readonly to: string
}

/** The outcome of a delivery. `refused`: trying again does not help. */
export type Delivery = { readonly result: 'sent' } | { readonly result: 'refused' | 'failed'; readonly reason: string }

const TIMEOUT_MS = 20_000

export type Smtp = ReturnType<typeof createSmtp>

export function createSmtp(settings: MailSettings) {
  const { host, port, isTlsFromStart, requiresTls, login, from } = settings

  async function connect() {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      host,
      port,
      secure: isTlsFromStart,
      requireTLS: requiresTls,
      tls: { minVersion: 'TLSv1.2' },
      ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Library features that take a text for a file or an address to load are off.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  return {
    async deliver({ id, to, subject, text }: OutgoingMail): Promise<Delivery> {
      const transport = await connect()
      try {
        await transport.sendMail({
          from,
          // The recipient is an object: a text would be read as a list.
          to: { name: '', address: to },
          subject,
          text,
          messageId: `<${id}@${from.address.split('@')[1]}>`,
          // This header keeps out-of-office programs from answering (RFC 3834 5).
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        return { result: 'sent' }
      } catch (error) {
        return { result: isRefusal(error) ? 'refused' : 'failed', reason: (error as Error).message }
      } finally {
        transport.close()
      }
    },
  }
}

/** Tells whether the server refused the recipient or the text (RFC 5321 4.2.1: 5xx). A refused login is not about the mail: the operator mends it. */
function isRefusal(error: unknown): boolean {
  const { responseCode = 0, command = '' } = error as { responseCode?: number; command?: string }
  return responseCode >= 500 && responseCode < 600 && /^(RCPT TO|DATA)$/.test(command)
}
