/** A scripted mail account: its mailboxes and messages at each moment, by the steps that IMAP allows. */

export interface Message {
  readonly uid: number
  /** The header as it is stored, each line with CR LF, without the empty line behind it. */
  readonly header: string
  readonly body: string
  /** The time that whoever stored the message gave it: the author's. */
  readonly internalDate: number
  /** Tells whether whoever stored it gave that time. */
  readonly isDated: boolean
  /** The time at which the message came into this mailbox (RFC 8514). */
  readonly savedAt: number
  readonly flags: readonly string[]
}

export interface Mailbox {
  readonly name: string
  readonly attributes: readonly string[]
  readonly uidValidity: number
  readonly uidNext: number
  readonly messages: readonly Message[]
}

export type Mailboxes = ReadonlyMap<string, Mailbox>

export interface Letter {
  readonly header: string
  readonly body?: string
  /** Defaults to the moment at which it is stored. */
  readonly internalDate?: number
  readonly flags?: readonly string[]
}

interface GivenMailbox {
  readonly attributes?: readonly string[]
  readonly uidValidity?: number
  readonly uidNext?: number
}

interface LetterFields {
  /** The id without brackets. */
  readonly id: string
  /** The lines of the header that tell the id. */
  readonly idLines?: string
  readonly to?: string
  readonly more?: readonly string[]
  readonly date?: string
  readonly body?: string
}

export const AGENT = 'agent@acme.example'
export const CLIENT = 'client@customer.example'
/** Texts that no fact and no log may have. */
export const PRIVATE = { subject: 'Your offer 4711', body: 'Dear Sir or Madam', name: 'Jo Customer' }
const UID_VALIDITY = 1_773_000_000

/** Writes a message as a mail program does. */
export function letter({ id, idLines = `Message-ID: <${id}>`, to, more = [], date, body }: LetterFields): Letter {
  const lines = [
    `From: "The agent" <${AGENT}>`,
    to ?? `To: "${PRIVATE.name}" <${CLIENT}>`,
    `Subject: ${PRIVATE.subject}`,
    `Date: ${date ?? 'Wed, 11 Mar 2026 09:30:00 +0000'}`,
    idLines,
    ...more,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ].filter((line) => line !== '')
  return { header: lines.map((line) => `${line}\r\n`).join(''), body: `${body ?? PRIVATE.body}\r\n` }
}

/** Tells whether a message has a text in its header: the handle by which rows name it. */
export const hasText = (text: string) => (message: Message) => message.header.includes(text)

export class Account {
  readonly #start: number
  readonly #steps: { readonly at: number; readonly apply: (boxes: Map<string, Mailbox>) => void }[] = []

  constructor(start: number) {
    this.#start = start
  }

  at(now: number): Mailboxes {
    const boxes = new Map<string, Mailbox>()
    for (const { at, apply } of this.#steps) if (at <= now) apply(boxes)
    return boxes
  }

  create(
    afterMs: number,
    name: string,
    { attributes = [], uidValidity = UID_VALIDITY, uidNext = 1 }: GivenMailbox = {},
  ) {
    return this.#then(afterMs, (boxes) => {
      boxes.set(name, { name, attributes, uidValidity, uidNext, messages: [] })
    })
  }

  /** Stores a message as the newest of a mailbox. */
  file(afterMs: number, name: string, { body = '', flags = ['\\Seen'], internalDate, header }: Letter): this {
    return this.#change(afterMs, name, (box, at) => {
      const isDated = internalDate !== undefined
      const message = { uid: box.uidNext, header, body, internalDate: internalDate ?? at, isDated, savedAt: at, flags }
      return { uidNext: box.uidNext + 1, messages: [...box.messages, message] }
    })
  }

  /** Removes messages for good; all of them when none is named. Their numbers are never given again. */
  expunge(afterMs: number, name: string, text = ''): this {
    return this.#change(afterMs, name, ({ messages }) => ({ messages: messages.filter((one) => !hasText(text)(one)) }))
  }

  /** Moves a message. At its new place it has a new number and a new time. */
  move(afterMs: number, text: string, from: string, to: string): this {
    return this.#then(afterMs, (boxes, at) => {
      const message = found(boxes, from).messages.find(hasText(text))
      if (!message) throw new Error(`${text} is not in ${from}`)
      const target = found(boxes, to)
      change(boxes, from, ({ messages }) => ({ messages: messages.filter((one) => one !== message) }))
      change(boxes, to, ({ uidNext, messages }) => ({
        uidNext: uidNext + 1,
        messages: [...messages, { ...message, uid: target.uidNext, savedAt: at }],
      }))
    })
  }

  flag(afterMs: number, name: string, text: string, flags: readonly string[]): this {
    return this.#change(afterMs, name, ({ messages }) => ({
      messages: messages.map((one) => (hasText(text)(one) ? { ...one, flags } : one)),
    }))
  }

  /** Gives numbers to nobody, as servers do that give them in blocks. */
  skip(afterMs: number, name: string, numbers: number): this {
    return this.#change(afterMs, name, ({ uidNext }) => ({ uidNext: uidNext + numbers }))
  }

  /** Gives the messages of a mailbox other times of saving, as a restored or converted mailbox has them. */
  saveAgain(afterMs: number, name: string): this {
    return this.#change(afterMs, name, ({ messages }, at) => ({
      messages: messages.map((one) => ({ ...one, savedAt: at })),
    }))
  }

  /** Numbers a mailbox anew, with another UIDVALIDITY; an empty one where its messages are lost. */
  renumber(afterMs: number, name: string, { keeps }: { readonly keeps: boolean }): this {
    return this.#change(afterMs, name, ({ messages, uidValidity }, at) => {
      const kept = keeps ? messages : []
      const renumbered = kept.map((one, index) => ({ ...one, uid: index + 1, savedAt: at }))
      return { uidValidity: uidValidity + 7, uidNext: kept.length + 1, messages: renumbered }
    })
  }

  delete(afterMs: number, name: string): this {
    return this.#then(afterMs, (boxes) => void boxes.delete(name))
  }

  mark(afterMs: number, name: string, attributes: readonly string[]): this {
    return this.#change(afterMs, name, () => ({ attributes }))
  }

  #change(afterMs: number, name: string, to: (box: Mailbox, at: number) => Partial<Mailbox>): this {
    return this.#then(afterMs, (boxes, at) => change(boxes, name, (box) => to(box, at)))
  }

  #then(afterMs: number, apply: (boxes: Map<string, Mailbox>, at: number) => void): this {
    const at = this.#start + afterMs
    if (at < (this.#steps.at(-1)?.at ?? at)) throw new Error('steps come in their order')
    this.#steps.push({ at, apply: (boxes) => apply(boxes, at) })
    this.at(at)
    return this
  }
}

function change(boxes: Map<string, Mailbox>, name: string, to: (box: Mailbox) => Partial<Mailbox>): void {
  const box = found(boxes, name)
  boxes.set(name, { ...box, ...to(box) })
}

function found(boxes: Mailboxes, name: string): Mailbox {
  const box = boxes.get(name)
  if (!box) throw new Error(`there is no mailbox ${name}`)
  return box
}
