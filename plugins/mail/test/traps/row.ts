/** A row of the trap table: what happens in a mail account, what is claimed of it, and the verdict that is right. */
import { createHmac } from 'node:crypto'
import { type Kind, nearDeadline, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { Account, AGENT, CLIENT, letter } from './account.ts'
import { type Dialect, DOVECOT } from './dialects.ts'
import type { Instead, Troubles } from './imap-server.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface Scene {
  readonly account: Account
  readonly params: Readonly<Record<string, unknown>>
  /** The agent's mailbox, when left out. */
  readonly target?: string
  readonly dialect?: Dialect
  /** What the connection says beside its user and password; that the server files what is sent, when left out. */
  readonly connection?: Readonly<Record<string, unknown>>
  /** The password that the server wants at a moment. */
  readonly password?: (at: number) => string
  readonly troubles?: Troubles
  /** When the agent says that it sent the message; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** After the claim. */
  readonly deadlineMs?: number
}

export interface Row extends TrapRow<Scene> {
  readonly isLong?: boolean
}

export const TRUE: Kind = ['in time', 'verified']
/** It was done, and to look so far that this is seen is more than can be asked. */
export const TRUE_HARD: Kind = ['in time', 'verified', 'unverifiable']
export const TRUE_UNTOLD: Kind = ['in time', 'unverifiable', 'refused']
export const FAILED: Kind = ['never', 'failed']
export const OTHER: Kind = ['other', 'mismatch', 'failed']
export const LATE: Kind = ['late', 'late']
/** It was late, and the place does not say so for certain. */
export const LATE_UNTOLD: Kind = ['late', 'unverifiable', 'late']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: Kind = ['never', 'unverifiable', 'failed', 'refused']
export const UNKNOWABLE: Kind = ['unknowable', 'unverifiable', 'refused']

export const USER = 'agent@acme.example'
export const PASSWORD = 'k7-app-password-of-the-mailbox'
export const KEY = 'f1ngerprint-key-of-the-workspace-0123456789'
export const ID = '20260311093000.7f3a@acme.example'
export const ARCHIVE = 'Archive'
export const params = { message_id: ID }

export function rowOf(kind: Kind, title: string, why: string, scene: () => Scene): Row {
  const near = nearDeadline(kind, { late: 30 * MINUTE, other: 12 * MINUTE })
  return row(kind, title, why, () => ({ ...near, ...scene() }))
}

/** The fingerprint of an address, its domain in lower case. */
export function fingerprint(address: string, key = KEY): string {
  const at = address.lastIndexOf('@')
  const text = address.slice(0, at) + address.slice(at).toLowerCase()
  return `hmac-sha256:${createHmac('sha256', key).update(`claimcheck.fingerprint:${text}`).digest('hex')}`
}

/** The id, and recipients. */
export function to(...addresses: readonly string[]) {
  return { message_id: ID, to_fingerprint: addresses.map((address) => fingerprint(address)) }
}

/** An account that has sent before. */
export function home({ sent, delimiter }: Dialect = DOVECOT, { attributes = ['\\Sent'] } = {}): Account {
  const account = new Account(START)
    .create(-90 * DAY, 'INBOX', { uidNext: 300 })
    .create(-90 * DAY, 'Drafts', { attributes: ['\\Drafts'] })
    .create(-90 * DAY, 'Trash', { attributes: ['\\Trash'] })
    .create(-90 * DAY, ARCHIVE)
    .create(-90 * DAY, `${ARCHIVE}${delimiter}2025`)
    .create(-90 * DAY, sent, { attributes, uidNext: 40 })
  for (const [index, days] of [60, 21, 9].entries())
    account.file(
      -days * DAY,
      sent,
      letter({ id: `2026.offer-${index}@acme.example`, date: 'Mon, 2 Mar 2026 10:00:00 +0000' }),
    )
  return account.file(
    -2 * DAY,
    'INBOX',
    letter({ id: 'CAK7=question@mail.customer.example', more: [`To: ${AGENT}`], to: '' }),
  )
}

type LetterGiven = Partial<Parameters<typeof letter>[0]>

/** The message of the claim. */
export const offer = (given: LetterGiven = {}) => letter({ id: ID, ...given })

/** An account in whose mailbox of sent messages the message is. */
export function sent({
  at = 0,
  dialect = DOVECOT,
  ...given
}: LetterGiven & { readonly at?: number; readonly dialect?: Dialect } = {}): Account {
  return home(dialect).file(at, dialect.sent, offer(given))
}

/** The scene of a message at a server, in each dialect alike. */
export const at = (dialect: Dialect, given: LetterGiven = {}) => ({
  account: sent({ dialect, ...given }),
  dialect,
  params,
})

/** Answers commands of a name in place of the server, between two moments. */
export function instead(name: string, answer: Instead, { fromMs = -DAY, untilMs = 400 * DAY } = {}): Troubles {
  return {
    instead: (command, now) =>
      command.name === name && now >= START + fromMs && now < START + untilMs ? answer : undefined,
  }
}

/** Answers each command after the login in place of the server. */
export function insteadOfAll(answer: Instead, { fromMs = -DAY, untilMs = 400 * DAY } = {}): Troubles {
  const before = new Set(['GREETING', 'CAPABILITY', 'LOGIN', 'AUTHENTICATE', 'LOGOUT'])
  return {
    instead: ({ name }, now) =>
      !before.has(name) && now >= START + fromMs && now < START + untilMs ? answer : undefined,
  }
}

/** The options of the connection; those that the row has as undefined are left out. */
export function connected({ connection = {}, dialect = DOVECOT, params: claimed }: Scene): Record<string, unknown> {
  const options = {
    mailbox: AGENT,
    address: dialect.address,
    user: USER,
    password: PASSWORD,
    server_files_sent: true,
    ...('to_fingerprint' in claimed && { fingerprint_key: KEY }),
    ...connection,
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

export { AGENT, CLIENT, START }
