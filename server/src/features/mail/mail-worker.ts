/** The worker that sends waiting mails. Every host runs one; each mail is handed to one host at a time. */

import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { BY_SERVICE } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import { SecretError } from '../../base/secret-keys.ts'
import { createLoop, IDLE, type Worker } from '../../base/worker.ts'
import type { OwnAddress } from '../../config/address.ts'
import type { MailRow } from '../../storage/mails.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AccountService } from '../people/accounts.ts'
import type { MailConfig } from './config.ts'
import { boundedReason, type Message, passwordLink } from './messages.ts'
import type { Outbox } from './outbox.ts'
import { createSmtp, type Delivery, type Smtp } from './smtp.ts'

const PAUSE_MS = 2000
const MAILS_AT_ONCE = 5
/** The time for which a host has its mails, longer than sending so many may take. After it a dead host's mails go to others. */
const LEASE_MS = 5 * 60_000
const FIRST_RETRY_MS = 60_000
const LONGEST_RETRY_MS = 60 * 60_000
const DROP_AFTER_MS = 24 * 60 * 60_000
/** The time within which a further request for a new password changes nothing. */
const RESET_EVERY_MS = 15 * 60_000

/** The outcomes of a try. `refused`: by the server, for good. `dropped`: after a day. */
const OUTCOMES = ['sent', 'postponed', 'refused', 'dropped'] as const

interface MailSenderParts {
  readonly storage: Storage
  /** Says why this host may not sign: its database may be an old one. */
  readonly logGuard: { mayBeRehearsal(): Promise<boolean> }
  readonly outbox: Outbox
  readonly accounts: Pick<AccountService, 'resetToken'>
  readonly ownAddress: OwnAddress
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
}

interface MailWorkerParts extends MailSenderParts {
  readonly config: MailConfig
  readonly meters: Meters
}

/** Makes the worker. It sends at once when a mail was added or a round was full, else after a pause. */
export function createMailWorker(parts: MailWorkerParts): Worker {
  const { config, meters, outbox, logger } = parts
  const help = 'Tries to send a mail, by outcome'
  const deliveries = meters.counterOf('mail_deliveries_total', help, 'outcome', [...OUTCOMES])
  if (!config.mail) return IDLE
  const sendDue = createMailSender(parts, createSmtp(config.mail), deliveries.inc)
  const loop = createLoop(async () => {
    try {
      return (await sendDue()) ? 0 : PAUSE_MS
    } catch (error) {
      logger.error({ err: error }, 'cannot send mails: they wait')
      return PAUSE_MS
    }
  })
  return {
    ...loop,
    start() {
      outbox.onAdded(() => setTimeout(loop.wake, 0))
      loop.start()
    },
  }
}

/** Makes the function that sends due mails. It returns true when there may be more. */
export function createMailSender(
  { storage, logGuard, outbox, accounts, ownAddress, now, logger }: MailSenderParts,
  smtp: Smtp,
  delivered: (outcome: (typeof OUTCOMES)[number]) => void,
) {
  /** Makes the message of a mail; undefined when there is nothing to send. */
  async function messageOf(row: MailRow): Promise<Message | undefined> {
    // A link that ended meanwhile is of no use to the person.
    if (row.about !== null && !(await storage.read.links.isOpen(row.about, now()))) return undefined
    if (row.kind === 'message') return outbox.open(row)
    try {
      const token = await accounts.resetToken(row.recipient, BY_SERVICE, 'confirmed')
      return passwordLink(`${ownAddress.url()}/console/reset/${token}`)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return undefined
      throw error
    }
  }

  async function deliver(row: MailRow): Promise<Delivery> {
    try {
      const message = await messageOf(row)
      return message ? await smtp.deliver({ ...message, id: row.id, to: row.recipient }) : { result: 'sent' }
    } catch (error) {
      // A mail that is sealed under another key must not hold up those that were leased with it.
      if (error instanceof SecretError) return { result: 'failed', reason: error.message }
      throw error
    }
  }

  async function drop(row: MailRow, reason: string): Promise<void> {
    await storage.write(async (tx) => {
      await tx.mails.finish(row, now())
      const shown = boundedReason(reason)
      // The failure is shown to the inviter, on their page and among the events of the account.
      const link = row.about === null ? undefined : await tx.links.setUndelivered(row.about, shown)
      const about = link ? { workspaceId: link.workspaceId, userId: link.createdBy ?? link.userId } : {}
      const details = { recipient: row.recipient, reason: shown }
      tx.audit.record({ event: 'mail.dropped', at: now(), by: BY_SERVICE, ...about, subject: row.id, details })
    })
  }

  async function send(row: MailRow): Promise<void> {
    const delivery = await deliver(row)
    if (delivery.result === 'sent') {
      await storage.write((tx) => tx.mails.finish(row, now()))
      delivered('sent')
      return
    }
    const { result, reason } = delivery
    const retryAt = now() + Math.min(FIRST_RETRY_MS * 2 ** (row.attempts - 1), LONGEST_RETRY_MS)
    if (result === 'failed' && retryAt < row.createdAt + DROP_AFTER_MS) {
      logger.warn({ mailId: row.id, reason }, 'a mail could not be sent: it is tried again')
      delivered('postponed')
      await storage.write((tx) => tx.mails.postpone(row.id, retryAt))
      return
    }
    logger.error({ mailId: row.id, reason }, 'a mail could not be sent: it is dropped')
    delivered(result === 'refused' ? 'refused' : 'dropped')
    await drop(row, reason)
  }

  return async function sendDue(): Promise<boolean> {
    if (!(await storage.read.mails.anyDue(now()))) return false
    // On a database that may be an old one, as in a rehearsal, nothing is sent, so that nobody gets a mail twice.
    if (await logGuard.mayBeRehearsal()) return false
    const at = now()
    const leased = await storage.write(async (tx) => {
      await tx.mails.removeSent(at - RESET_EVERY_MS)
      return tx.mails.lease(at, at + LEASE_MS, MAILS_AT_ONCE)
    })
    for (const row of leased) await send(row)
    return leased.length === MAILS_AT_ONCE
  }
}
