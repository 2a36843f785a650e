/** Where mails wait to be sent. They are stored with what they tell of, so that none is lost when the mail server or this host is away. */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '../../base/ids.ts'
import { mailContext } from '../../base/sealed-contexts.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { MailRow } from '../../storage/mails.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { MailConfig } from './config.ts'
import { isMailAddress } from './config.ts'
import type { Message } from './messages.ts'

export interface Outbox {
  /** False: mails are dropped, because no server is configured. */
  readonly isOn: boolean
  /** In a transaction, together with what the mail tells of. */
  add(tx: Writes, recipients: readonly string[], message: Message): Promise<void>
  /** The same in a new transaction. */
  send(recipient: string, message: Message): Promise<void>
  /**
   * Asks for a link to a new password. It takes the same for an address without an account: only the host that sends the mail finds out.
   * Asking again soon changes nothing.
   */
  askReset(recipient: string): Promise<void>
  /** The message of a stored mail. @throws SecretError */
  open(row: MailRow): Message
  /** Called after something was added on this host. */
  onAdded(listener: () => void): void
}

interface OutboxOptions {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly now: () => Instant
  readonly config: MailConfig
}

export function createOutbox(parts: OutboxOptions): Outbox {
  const { storage, now } = parts
  const isOn = parts.config.mail !== undefined
  let added: () => void = () => {}

  function newRow(recipient: string): Omit<MailRow, 'kind' | 'content' | 'once'> {
    return { id: newId('mail_', now()), recipient, createdAt: now(), dueAt: now(), attempts: 0, sentAt: null }
  }

  function messageRow(recipient: string, message: Message): MailRow {
    const row = newRow(recipient)
    // Reads `parts.secrets` here and not above, because opening the secrets creates the key file.
    const content = parts.secrets.seal(JSON.stringify(message), mailContext(row.id))
    return { ...row, kind: 'message', content, once: null }
  }

  async function insert(tx: Writes, rows: readonly MailRow[]): Promise<void> {
    await tx.mails.insert(rows)
    added()
  }

  async function add(tx: Writes, recipients: readonly string[], message: Message): Promise<void> {
    const reachable = [...new Set(recipients)].filter(isMailAddress)
    if (isOn && reachable.length > 0)
      await insert(
        tx,
        reachable.map((recipient) => messageRow(recipient, message)),
      )
  }

  return {
    isOn,
    add,
    send: (recipient, message) => storage.write((tx) => add(tx, [recipient], message)),
    async askReset(recipient) {
      const address = recipient.trim().toLowerCase()
      if (!isOn || !isMailAddress(address)) return
      const once = `reset ${hash('sha256', address)}`
      await storage.write((tx) => insert(tx, [{ ...newRow(address), kind: 'reset', content: null, once }]))
    },
    open({ id, content }) {
      return JSON.parse(parts.secrets.open(content!, mailContext(id)))
    },
    onAdded(listener) {
      added = listener
    },
  }
}
