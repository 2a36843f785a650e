/** The worker that sends the mails that wait. Every host runs one; each mail is handed to one host at a time. */

import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { BY_SERVICE } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import type { OwnAddress } from '../../base/own-address.ts'
import { pick } from '../../base/pick.ts'
import { SecretError } from '../../base/secret-keys.ts'
import { createLoop, IDLE, type Worker } from '../../base/worker.ts'
import type { MailRow } from '../../storage/mails.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AccountService } from '../people/accounts.ts'
import type { MailConfig } from './config.ts'
import { boundedReason, type Message, passwordLink } from './messages.ts'
import type { Outbox } from './outbox.ts'
import { createSmtp, type Delivery, type Smtp } from './smtp.ts'

interface MailWorkerOptions {
  readonly storage: Storage
  /** Says why this host may not sign: its database may be an old one. */
  readonly logGuard: { problem(): string | undefined }
  readonly outbox: Outbox
  readonly accounts: Pick<AccountService, 'resetToken'>
  readonly ownAddress: OwnAddress
  readonly config: MailConfig
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
  readonly meters: Meters
}

const PAUSE_MS = 2000
const MAILS_AT_ONCE = 5
/** Longer than sending so many may take. A host that dies leaves its mails to others after this time. */
const LEASE_MS = 5 * 60_000
const FIRST_RETRY_MS = 60_000
const LONGEST_RETRY_MS = 60 * 60_000
const DROP_AFTER_MS = 24 * 60 * 60_000
/** A further request for a new password within this time changes nothing. */
const RESET_EVERY_MS = 15 * 60_000

/** `refused`: by the server, for good. `dropped`: after a day. */
const OUTCOMES = ['sent', 'postponed', 'refused', 'dropped'] as const
type Outcome = (typeof OUTCOMES)[number]

interface SendOptions extends Omit<MailWorkerOptions, 'meters'> {
  readonly delivered: (outcome: Outcome) => void
}

export function createMailWorker(options: MailWorkerOptions): Worker {
  const { config, meters } = options
  const { inc: delivered } = meters.counterOf('mail_deliveries_total', 'Tries to send a mail, by outcome', 'outcome', [
    ...OUTCOMES,
  ])
  const parts = {
    ...pick(options, 'storage', 'logGuard', 'outbox', 'accounts', 'ownAddress', 'config', 'now', 'logger'),
    delivered,
  }
  return config.mail ? createMailLoop(parts, createSmtp(config.mail)) : IDLE
}

/** Sends at once when a mail was added or a round was full, else after a pause. */
function createMailLoop(options: SendOptions, smtp: Smtp): Worker {
  const { outbox, logger } = options
  const loop = createLoop(async () => {
    try {
      return (await sendDue(options, smtp)) ? 0 : PAUSE_MS
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

/** Sends those that are due. True: there may be more. */
export async function sendDue(options: SendOptions, smtp: Smtp): Promise<boolean> {
  const { storage, logGuard, now } = options
  if (!(await storage.read.mails.anyDue(now()))) return false
  // Where the database may be an old one, as in a rehearsal, nobody hears twice what was sent before.
  if (logGuard.problem() !== undefined) return false
  const at = now()
  const leased = await storage.write(async (tx) => {
    await tx.mails.removeSent(at - RESET_EVERY_MS)
    return tx.mails.lease(at, at + LEASE_MS, MAILS_AT_ONCE)
  })
  for (const row of leased) await sendOne(options, smtp, row)
  return leased.length === MAILS_AT_ONCE
}

async function sendOne(options: SendOptions, smtp: Smtp, row: MailRow): Promise<void> {
  const { storage, now, logger, delivered } = options
  const delivery = await deliver(options, smtp, row)
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
  await storage.write(async (tx) => {
    await tx.mails.finish(row, now())
    const shown = boundedReason(reason)
    // Shown to those who invited, on their page and among the events of the account.
    const link = row.about === null ? undefined : await tx.links.setUndelivered(row.about, shown)
    const about = link ? { workspaceId: link.workspaceId, userId: link.createdBy ?? link.userId } : {}
    const details = { recipient: row.recipient, reason: shown }
    tx.audit.record({ event: 'mail.dropped', at: now(), by: BY_SERVICE, ...about, subject: row.id, details })
  })
}

async function deliver(options: Omit<SendOptions, 'delivered'>, smtp: Smtp, row: MailRow): Promise<Delivery> {
  try {
    // A link that ended meanwhile is of no use to the person.
    const { storage, now } = options
    const isOver = row.about !== null && !(await storage.read.links.isOpen(row.about, now()))
    const message = isOver ? undefined : await messageOf(options, row)
    return message ? await smtp.deliver({ ...message, id: row.id, to: row.recipient }) : { result: 'sent' }
  } catch (error) {
    // It is sealed under another key. Those that were leased with it must not wait for it.
    if (error instanceof SecretError) return { result: 'failed', reason: error.message }
    throw error
  }
}

/** Undefined: there is nothing to send. */
async function messageOf(
  { outbox, accounts, ownAddress }: Pick<MailWorkerOptions, 'outbox' | 'accounts' | 'ownAddress'>,
  row: MailRow,
): Promise<Message | undefined> {
  if (row.kind === 'message') return outbox.open(row)
  try {
    return passwordLink(
      `${ownAddress.url()}/console/reset/${await accounts.resetToken(row.recipient, BY_SERVICE, 'confirmed')}`,
    )
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return undefined
    throw error
  }
}
