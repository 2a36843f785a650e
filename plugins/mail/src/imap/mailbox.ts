/** Reads the mailbox of sent messages: finds it by its special use, and lists the copies in it. */
import { DestinationError, type LogTime } from '@claimcheck/core/plugin'
import { addressesIn, type Header, parseHeader, readId, rightSideOf } from '../header.ts'
import { parseResponse, quote, timeOf, type Value } from './response.ts'
import type { Session } from './session.ts'

/**
 * The providers that keep the id that a message had before they gave it another: the field, their servers, and the right sides of their ids.
 * Elsewhere, whoever sends a message could write such a field themselves.
 */
const REPLACING = [
  {
    field: 'x-google-original-message-id',
    hosts: ['imap.gmail.com', 'imap.googlemail.com'],
    rightSide: /^(?:mx\.google|mail\.gmail)\.com$/,
  },
  {
    field: 'x-microsoft-original-message-id',
    hosts: ['outlook.office365.com', 'imap-mail.outlook.com'],
    rightSide: /\.outlook\.com$/,
  },
]
const ID_FIELDS = ['message-id', ...REPLACING.map(({ field }) => field)].join(' ').toUpperCase()

/** Number of the newest messages that each check reads, so that no index of a server is relied on for them. */
const NEWEST = 100
/** Limit of the messages that a search finds: it finds ids that contain the id, in any case of letters. */
const MOST_FOUND = 50
/** Limit of the addresses of all messages whose recipients are compared. */
const MOST_RECIPIENTS = 5000

/** Limit of the mailboxes of sent messages, and of the namespaces, each of which is compared with each. */
const MOST_NAMES = 500

/** A message of the mailbox. */
export interface Copy {
  readonly uid: number
  readonly ids: readonly string[]
  /** The ids that the header names as those of before, whoever wrote that. */
  readonly formerIds: readonly string[]
  /** The id that the provider replaced. */
  readonly replacedId: string | undefined
  /**
   * The time at which it was in this mailbox at the latest, by the server; undefined where the server does not tell. Dovecot with Maildir tells
   * when the message's file was changed last, as by a flag, before anybody asked.
   */
  readonly savedAt: LogTime | undefined
  /** The time that whoever put it there chose, or the server's own where they chose none. */
  readonly internalDate: LogTime | undefined
}

/** The addresses to which a message is sent. */
export interface Recipients {
  readonly named: ReadonlySet<string>
  /** Tells whether all programs read the fields alike. */
  readonly isClear: boolean
  /** Tells whether the copy shows recipients that the message did not. */
  readonly hasBcc: boolean
}

export interface Mailbox {
  readonly uidValidity: number
  /** The number that the next message gets; undefined where the server does not tell, or does not keep its numbers. */
  readonly uidNext: number | undefined
  readonly exists: number
}

export type SentReader = ReturnType<typeof sentReader>

/** Reads what the server offers after the login. */
export async function readCapabilities(session: Session): Promise<ReadonlySet<string>> {
  const lines = await session.ask('CAPABILITY')
  const listed = lines.filter((line) => /^CAPABILITY /i.test(line))
  return new Set(listed.flatMap((line) => line.toUpperCase().split(' ').slice(1)))
}

/**
 * Finds the names of the mailboxes of sent messages of this account, by their special use (RFC 6154).
 * @throws DestinationError `forbidden` where there is none: without that mark no mailbox is known to have what was sent; `too_large` for very many
 */
export async function findSent(session: Session, capabilities: ReadonlySet<string>): Promise<string[]> {
  const canSelect = capabilities.has('SPECIAL-USE') && capabilities.has('LIST-EXTENDED')
  const lines = await session.ask(canSelect ? 'LIST (SPECIAL-USE) "" "*"' : 'LIST "" "*"')
  const found = valuesOf(lines, 'LIST').flatMap(([flags, delimiter, name]) => {
    const uses = listOf(flags).map((flag) => String(flag).toLowerCase())
    const isReadable = !uses.includes('\\noselect') && !uses.includes('\\nonexistent')
    return uses.includes('\\sent') && isReadable && typeof name === 'string' && /^[ -~]+$/.test(name)
      ? [{ name, isBelow: typeof delimiter === 'string' && name.includes(delimiter) }]
      : []
  })
  if (found.length > MOST_NAMES) throw new DestinationError('too_large')
  const isShared = found.some(({ isBelow }) => isBelow) ? await sharedNames(session, capabilities) : () => false
  const own = found.map(({ name }) => name).filter((name) => !isShared(name))
  if (own.length === 0) throw new DestinationError('forbidden')
  return own
}

/** Finds which names are those of other users' and of shared mailboxes (RFC 2342). */
async function sharedNames(session: Session, capabilities: ReadonlySet<string>): Promise<(name: string) => boolean> {
  if (!capabilities.has('NAMESPACE')) return () => false
  const [namespaces = []] = valuesOf(await session.ask('NAMESPACE'), 'NAMESPACE')
  const prefixes = namespaces
    .slice(1, 3)
    .flatMap(listOf)
    .map((namespace) => listOf(namespace)[0])
    .filter((prefix) => typeof prefix === 'string' && prefix !== '') as string[]
  if (prefixes.length > MOST_NAMES) throw new DestinationError('too_large')
  return (name) => prefixes.some((prefix) => name.startsWith(prefix))
}

/** Opens a mailbox to be read. @throws DestinationError `forbidden` where the server does not show it */
export async function openMailbox(session: Session, name: string): Promise<Mailbox> {
  const lines = await session.ask(`EXAMINE ${quote(name)}`, 'forbidden')
  const numberIn = (form: RegExp) => {
    const told = lines.map((line) => form.exec(line)?.[1]).find((digits) => digits !== undefined)
    return told === undefined ? undefined : Number(told)
  }
  const uidValidity = numberIn(/^OK \[UIDVALIDITY ([1-9][0-9]{0,9})\]/i)
  const exists = numberIn(/^([0-9]{1,10}) EXISTS$/i)
  if (uidValidity === undefined || exists === undefined) throw new DestinationError('unexpected_response')
  const isSticky = !lines.some((line) => /^NO \[UIDNOTSTICKY\]/i.test(line))
  return { uidValidity, exists, uidNext: isSticky ? numberIn(/^OK \[UIDNEXT ([1-9][0-9]{0,9})\]/i) : undefined }
}

/** Reads the letters of what the account may do with a mailbox (RFC 4314); undefined where the server does not tell. */
export async function readRights(session: Session, name: string): Promise<string | undefined> {
  const [values] = valuesOf(await session.ask(`MYRIGHTS ${quote(name)}`), 'MYRIGHTS')
  const rights = values?.[1]
  return typeof rights === 'string' && /^[a-z0-9]{1,32}$/.test(rights) ? rights : undefined
}

/** Makes the reader of the mailbox that is open. @param host the name of the server */
export function sentReader(session: Session, capabilities: ReadonlySet<string>, host: string) {
  const times = capabilities.has('SAVEDATE') ? 'INTERNALDATE SAVEDATE' : 'INTERNALDATE'

  async function fetch(command: string, items: string): Promise<{ readonly uid: number; readonly items: Items }[]> {
    const lines = await session.ask(`${command} (UID ${items})`)
    return lines.flatMap((line) => {
      if (!/^[0-9]+ FETCH /i.test(line)) return []
      const listed = listOf(parseResponse(line)?.[2])
      const read = new Map<string, Value>()
      for (let at = 0; at + 1 < listed.length; at += 2) read.set(nameOfItem(listed[at]), listed[at + 1]!)
      const uid = Number(read.get('UID'))
      // News of flags come unasked, and have no section.
      return Number.isSafeInteger(uid) && read.has('BODY') ? [{ uid, items: read }] : []
    })
  }

  async function copies(command: string): Promise<Copy[]> {
    const found = await fetch(command, `${times} BODY.PEEK[HEADER.FIELDS (${ID_FIELDS})]`)
    return found.map(({ uid, items }) => {
      const header = headerIn(items)
      const idsIn = (name: string) => (header.get(name) ?? []).map(readId)
      const ids = idsIn('message-id')
      const formerIds = REPLACING.flatMap(({ field }) => idsIn(field))
      const isReplaced = REPLACING.some(
        ({ field, hosts, rightSide }) =>
          hosts.includes(host) && header.has(field) && ids.length === 1 && rightSide.test(rightSideOf(ids[0]!)),
      )
      return {
        uid,
        ids,
        formerIds,
        // One message had one id before.
        replacedId: isReplaced && formerIds.length === 1 ? formerIds[0] : undefined,
        savedAt: timeOf(items.get('SAVEDATE')),
        internalDate: timeOf(items.get('INTERNALDATE')),
      }
    })
  }

  return {
    /** Reads the newest copies, oldest first. */
    async newest({ exists }: Mailbox): Promise<Copy[]> {
      if (exists === 0) return []
      const found = await copies(`FETCH ${Math.max(1, exists - NEWEST + 1)}:*`)
      // A message that is told twice is one.
      const byNumber = new Map(found.map((copy) => [copy.uid, copy]))
      return [...byNumber.values()].toSorted((one, other) => one.uid - other.uid)
    },

    /** Finds copies by the server's search, which may find others, too. @throws DestinationError `too_large` where it finds very many */
    async search(id: string): Promise<Copy[]> {
      const uids = uidsIn(await session.ask(`UID SEARCH HEADER Message-ID ${quote(`<${id}>`)}`))
      if (uids.length > MOST_FOUND) throw new DestinationError('too_large')
      return uids.length === 0 ? [] : copies(`UID FETCH ${uids.join(',')}`)
    },

    /** Tells whether the server gives ages of messages in seconds (WITHIN, RFC 5032). */
    tellsAges: capabilities.has('WITHIN'),

    /** Tells whether a message is older than some seconds and at most as old as others, by its internal date and the server's clock. */
    async hasAge(uid: number, { over, most }: { readonly over: number; readonly most: number }): Promise<boolean> {
      return uidsIn(await session.ask(`UID SEARCH UID ${uid} YOUNGER ${most} OLDER ${over}`)).length > 0
    },

    /**
     * Reads to whom messages are sent, by the messages' numbers.
     * @throws DestinationError `too_large` for very many addresses, each of which takes a fingerprint
     */
    async recipients(uids: readonly number[]): Promise<ReadonlyMap<number, Recipients>> {
      const found = await fetch(`UID FETCH ${uids.join(',')}`, 'BODY.PEEK[HEADER.FIELDS (TO CC BCC)]')
      const recipients = new Map(found.map(({ uid, items }) => [uid, recipientsIn(headerIn(items))]))
      const count = [...recipients.values()].reduce((sum, { named }) => sum + named.size, 0)
      if (count > MOST_RECIPIENTS) throw new DestinationError('too_large')
      return recipients
    },
  }
}

const RECIPIENT_FIELDS = ['to', 'cc', 'bcc']

/** Reads the recipients of a header. Programs show the first or the last of two fields of a name, so that an address counts which both have. */
function recipientsIn(header: Header): Recipients {
  const fields = RECIPIENT_FIELDS.map((name) => (header.get(name) ?? []).map(addressesIn))
  const common = fields.flatMap(([first, ...others]) =>
    others.reduce<readonly string[]>((named, other) => {
      const also = new Set(other.named)
      return named.filter((address) => also.has(address))
    }, first?.named ?? []),
  )
  return {
    named: new Set(common),
    hasBcc: header.has('bcc'),
    isClear: fields.every((one) => one.length <= 1 && one.every(({ isClear }) => isClear)),
  }
}

/** The numbers that a search found. @throws DestinationError where there is no answer to a search */
function uidsIn(lines: readonly string[]): string[] {
  const results = lines.filter((line) => /^SEARCH(?: |$)/i.test(line))
  if (results.length === 0) throw new DestinationError('unexpected_response')
  return results.flatMap((line) => line.split(' ').slice(1)).filter((uid) => /^[1-9][0-9]{0,9}$/.test(uid))
}

/** The values of the items that were fetched of a message, by their names. */
type Items = ReadonlyMap<string, Value>

/** The name of an item in an answer. Servers write a section as they like, and each command asks for one. */
function nameOfItem(value: Value | undefined): string {
  const name = typeof value === 'string' ? value.toUpperCase() : ''
  return name.startsWith('BODY[') ? 'BODY' : name
}

function headerIn(items: Items): Header {
  const text = items.get('BODY')
  return parseHeader(typeof text === 'string' ? text : '')
}

/** The values of each response of a kind, behind its name. */
function valuesOf(lines: readonly string[], kind: string): (readonly Value[])[] {
  return lines.flatMap((line) => {
    if (line.slice(0, kind.length + 1).toUpperCase() !== `${kind} `) return []
    const values = parseResponse(line)
    if (!values) throw new DestinationError('unexpected_response')
    return [values.slice(1)]
  })
}

function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : []
}
