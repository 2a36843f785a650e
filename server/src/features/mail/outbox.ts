/** The waiting mails. They are stored with the change that they tell of, so that none is lost when the mail server or this host is away. */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { MailRow } from '../../storage/mails.ts'
import { mailContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { countDaily, mailboxSubject } from '../people/daily-limits.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { isMailAddress, type MailConfig } from './config.ts'
import { type Message, withLastNote } from './messages.ts'

export interface NewMail {
  /** The kind by which mails are counted. */
  readonly kind: string
  readonly recipient: string
  readonly message: Message
}

interface OutboxParts {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly now: () => Instant
  readonly config: MailConfig & Partial<LimitsConfig>
}

export type Outbox = ReturnType<typeof createOutbox>

export function createOutbox(parts: OutboxParts) {
  const { storage, now, config } = parts
  const isOn = config.mail !== undefined
  const { mailsPerRecipient: most } = config.limits ?? DEFAULT_LIMITS
  let added: () => void = () => {}

  function newRow(recipient: string): Omit<MailRow, 'kind' | 'content' | 'once' | 'about'> {
    return { id: newId('mail_', now()), recipient, createdAt: now(), dueAt: now(), attempts: 0, sentAt: null }
  }

  function messageRow(recipient: string, message: Message, about: string | null = null): MailRow {
    const row = newRow(recipient)
    // Reads `parts.secrets` here and not above, because opening the secrets creates the key file.
    const content = parts.secrets.seal(JSON.stringify(message), mailContext(row.id))
    return { ...row, kind: 'message', content, once: null, about }
  }

  async function insert(tx: Writes, rows: readonly MailRow[]): Promise<void> {
    await tx.mails.insert(rows)
    added()
  }

  /** Adds mails in the transaction of the change that they tell of. An address gets only so many of each kind a day. */
  async function add(tx: Writes, mails: readonly NewMail[]): Promise<void> {
    const reachable = mails.filter(({ recipient }) => isOn && isMailAddress(recipient))
    const subjects = reachable.map(({ kind, recipient }) => mailboxSubject(kind, recipient))
    const limits = subjects.map((subject) => ({ subject, most }))
    const counted = await countDaily(tx, limits, now())
    const rows = reachable.flatMap(({ recipient, message }, index) => {
      const { isWithin = true, count = 0, expiresAt = 0 } = counted.get(subjects[index]!) ?? {}
      if (!isWithin) return []
      return [messageRow(recipient, most > 0 && count === most ? withLastNote(message, most, expiresAt) : message)]
    })
    if (rows.length > 0) await insert(tx, rows)
  }

  return {
    /** False if mails are dropped, because no server is configured. */
    isOn,
    add,
    /** Adds a link's mail in the transaction that makes the link, which counts it. */
    async addLink(tx: Writes, mail: Omit<NewMail, 'kind'> & { readonly about: string }): Promise<void> {
      const { recipient, message, about } = mail
      if (isOn && isMailAddress(recipient)) await insert(tx, [messageRow(recipient, message, about)])
    },
    /**
     * Asks for a link to a new password. It takes the same for an address without an account: only the host that sends the mail finds out.
     * Asking again soon changes nothing.
     */
    async askReset(recipient: string): Promise<void> {
      const address = recipient.trim().toLowerCase()
      if (!isOn || !isMailAddress(address)) return
      const hashed = hash('sha256', address)
      const once = `reset ${hashed}`
      await storage.write(async (tx) => {
        if (await tx.mails.isKept(once)) return
        // The count is by the exact address: nothing is sent to others of its mailbox, and asking for those must not use up its mails.
        const subject = `mail reset to ${hashed}`
        const { isWithin = true } = (await countDaily(tx, [{ subject, most }], now())).get(subject) ?? {}
        if (isWithin) await insert(tx, [{ ...newRow(address), kind: 'reset', content: null, once, about: null }])
      })
    },
    /**
     * Opens the message of a stored mail.
     * @throws SecretError
     */
    open: ({ id, content }: MailRow): Message => JSON.parse(parts.secrets.open(content!, mailContext(id))),
    /**
     * Registers a listener.
     * @param listener called after a mail was added on this host
     */
    onAdded(listener: () => void): void {
      added = listener
    },
  }
}
