/** An IMAP server over a scripted account, as RFC 3501 and its extensions describe it, in the dialects of real servers. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Account, Mailbox, Mailboxes, Message } from './account.ts'
import type { Dialect } from './dialects.ts'
import { type Argument, BadCommand, fieldsOf, numbersIn, readArguments, readSearch, textOf } from './syntax.ts'

/** An answer in place of the server's own: lines, and the end of the connection behind them. */
export interface Instead {
  /** `TAG` in a line stands for the tag of the command. */
  readonly lines: readonly string[]
  readonly ends?: boolean
}

export interface Troubles {
  /** Answers in place of the server. The name of a command is in upper case, without `UID`. */
  readonly instead?: (command: { readonly name: string; readonly text: string }, at: number) => Instead | undefined
  /** The moment of which the server shows the account: a copy that lags, or an older one. */
  readonly shows?: (at: number) => number
  /** Tells whether the index behind SEARCH has a message. */
  readonly indexes?: (message: Message, at: number) => boolean
  /** Untagged lines before the completion of each command after the login. */
  readonly noise?: readonly string[]
  /** By how much the server's clock is ahead. */
  readonly aheadMs?: number
  /** Announces SAVEDATE, and tells NIL, as of a mailbox that keeps no times. */
  readonly hasNoTimes?: boolean
  /** Writes the words of the protocol in small letters, which mean the same. */
  readonly isSmall?: boolean
  /** Writes the names of mailboxes as literals. */
  readonly hasLiteralNames?: boolean
  /** Writes NIL for a section that has nothing. */
  readonly isNilEmpty?: boolean
  /** Predicts no UID. */
  readonly isWithoutNext?: boolean
  /** Mailboxes that the account may list, and not read. */
  readonly unreadable?: readonly string[]
  /** Mailboxes that LIST does not show. */
  readonly hidden?: readonly string[]
  /** The namespaces that NAMESPACE tells. */
  readonly namespaces?: string
}

export interface ImapPlace {
  readonly account: Account
  readonly dialect: Dialect
  readonly user: string
  /** The password at a moment. */
  readonly password: (at: number) => string
  readonly now: () => number
  readonly troubles?: Troubles | undefined
}

interface AskedLine {
  readonly at: number
  readonly key: string
  readonly status: undefined
}

export interface RunningImap {
  /** `tcp://127.0.0.1:port`. */
  readonly url: string
  readonly asked: readonly AskedLine[]
  /** Commands that the server's capabilities do not allow, or that could change something. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

const CHANGING = /^(?:SELECT|STORE|COPY|MOVE|APPEND|EXPUNGE|CREATE|DELETE|RENAME|SUBSCRIBE|UNSUBSCRIBE|CLOSE|SETACL)$/
const AUTHENTICATED = new Set([
  'EXAMINE',
  'LIST',
  'LSUB',
  'STATUS',
  'NAMESPACE',
  'SEARCH',
  'FETCH',
  'UNSELECT',
  'MYRIGHTS',
])

interface Command {
  readonly tag: string
  readonly name: string
  readonly isUid: boolean
  readonly given: readonly Argument[]
}

class Refusal extends Error {}

export async function startImap(place: ImapPlace): Promise<RunningImap> {
  const asked: AskedLine[] = []
  const faults: string[] = []
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => {}))
    new Session(place, socket, asked, faults)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    faults,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

class Session {
  readonly #place: ImapPlace
  readonly #socket: Socket
  readonly #asked: AskedLine[]
  readonly #faults: string[]
  readonly #tags = new Set<string>()
  #buffer = ''
  #isIn = false
  #box: Mailbox | undefined
  /** Takes the next line, which is no command. */
  #continued: ((line: string) => void) | undefined

  constructor(place: ImapPlace, socket: Socket, asked: AskedLine[], faults: string[]) {
    this.#place = place
    this.#socket = socket
    this.#asked = asked
    this.#faults = faults
    socket.on('data', (bytes) => this.#receive(bytes.toString('latin1')))
    const instead = place.troubles?.instead?.({ name: 'GREETING', text: '' }, place.now())
    if (instead) this.#answerInstead('*', instead)
    else this.#say(`* OK ${place.dialect.greeting}`)
  }

  #say(...lines: readonly string[]): void {
    const written = this.#place.troubles?.isSmall ? lines.map(inSmallLetters) : lines
    if (lines.length > 0) this.#socket.write(written.map((line) => `${line}\r\n`).join(''), 'latin1')
  }

  #receive(text: string): void {
    this.#buffer += text
    for (;;) {
      const end = this.#buffer.indexOf('\r\n')
      if (end < 0) return
      const line = this.#buffer.slice(0, end)
      this.#buffer = this.#buffer.slice(end + 2)
      this.#takeLine(line)
    }
  }

  #takeLine(line: string): void {
    const continued = this.#continued
    this.#continued = undefined
    if (continued) continued(line)
    else this.#takeCommand(line)
  }

  #takeCommand(line: string): void {
    const [, tag = '*', uid, name = '', rest = ''] =
      /^([^\s*+(){"\\%]+) (UID )?([A-Za-z0-9-]+)(?: (.*))?$/i.exec(line) ?? []
    const upper = name.toUpperCase()
    const isLogin = upper === 'LOGIN' || upper === 'AUTHENTICATE'
    const { now, troubles, dialect } = this.#place
    this.#asked.push({ at: now(), key: isLogin ? upper : line.slice(tag.length + 1), status: undefined })
    this.#judge(line, tag, upper)
    const instead = troubles?.instead?.({ name: upper, text: isLogin ? '' : rest }, now())
    if (instead) {
      this.#answerInstead(tag, instead)
      return
    }
    try {
      const given = upper === 'AUTHENTICATE' ? [] : readArguments(rest)
      const completion = this.#run({ tag, name: upper, isUid: uid !== undefined, given }, rest)
      if (completion === undefined) return
      if (this.#isIn && !isLogin) this.#say(...(troubles?.noise ?? []))
      this.#say(`${tag} ${completion}`)
      if (upper === 'LOGOUT') this.#socket.end()
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof BadCommand)) throw error
      const isBad = error instanceof BadCommand
      if (isBad) this.#faults.push(`${line}: ${error.message}`)
      this.#say(`${tag} ${isBad ? dialect.unknown : error.message}`)
    }
  }

  /** Notes what a careful reader never writes. */
  #judge(line: string, tag: string, name: string): void {
    if (tag !== 'claimcheck' && this.#tags.has(tag)) this.#faults.push(`the tag ${tag} is used twice`)
    this.#tags.add(tag)
    if (CHANGING.test(name)) this.#faults.push(`${line} may change something`)
    if (/BODY\[|RFC822(?: |\)|$)|RFC822\.TEXT/i.test(line.replaceAll(/BODY\.PEEK\[/gi, '')))
      this.#faults.push(`${line} marks what it reads`)
    if (!/^[\x20-\x7e]*$/.test(line) || /\{\d+\+?\}$/.test(line)) this.#faults.push(`${line} is no plain line`)
    if (line.length > 8000) this.#faults.push('a line is longer than servers take')
  }

  #answerInstead(tag: string, { lines, ends = false }: Instead): void {
    this.#say(...lines.map((line) => line.replace(/^TAG/, tag)))
    if (ends) this.#socket.end()
  }

  /** Carries a command out. @returns its completion; undefined for one that is not complete */
  #run(command: Command, rest: string): string | undefined {
    const { dialect } = this.#place
    const { name, given } = command
    if (AUTHENTICATED.has(name) && !this.#isIn) throw new BadCommand('Not logged in')
    switch (name) {
      case 'CAPABILITY':
        this.#say(`* CAPABILITY ${this.#isIn ? dialect.after : dialect.before}`)
        break
      case 'NOOP':
      case 'UNSELECT':
        break
      case 'LOGOUT':
        this.#say('* BYE Logging out')
        break
      case 'LOGIN':
        return this.#logIn(textOf(given[0]), textOf(given[1]))
      case 'AUTHENTICATE':
        return this.#authenticate(command.tag, rest)
      case 'NAMESPACE':
        this.#say(`* NAMESPACE ${this.#place.troubles?.namespaces ?? `(("" "${dialect.delimiter}")) NIL NIL`}`)
        break
      case 'LIST':
        this.#list(given)
        break
      case 'STATUS':
        this.#status(given)
        break
      case 'EXAMINE':
        return this.#examine(textOf(given[0]))
      case 'SEARCH':
        this.#search(command)
        break
      case 'FETCH':
        this.#fetch(command)
        break
      case 'MYRIGHTS':
        if (!this.#has('ACL')) throw new BadCommand('Unknown command')
        this.#say(`* MYRIGHTS ${textOf(given[0])} ${this.#isReadable(textOf(given[0])) ? 'lr' : 'l'}`)
        break
      default:
        throw new BadCommand('Unknown command')
    }
    return `OK ${dialect.done(name)}`
  }

  #has(capability: string): boolean {
    return this.#place.dialect.after.split(' ').includes(capability)
  }

  #logIn(user: string, password: string): string {
    const { dialect, now } = this.#place
    if (user !== this.#place.user || password !== this.#place.password(now()))
      throw new Refusal('NO [AUTHENTICATIONFAILED] Authentication failed.')
    this.#isIn = true
    return dialect.tellsAfterLogin ? `OK [CAPABILITY ${dialect.after}] Logged in` : `OK ${dialect.done('LOGIN')}`
  }

  #authenticate(tag: string, rest: string): undefined {
    const [mechanism = '', initial] = rest.split(' ')
    if (!this.#place.dialect.before.split(' ').includes(`AUTH=${mechanism.toUpperCase()}`))
      throw new BadCommand('Unsupported mechanism')
    const complete = (user: string, password: string) => {
      try {
        this.#say(`${tag} ${this.#logIn(user, password)}`)
      } catch (error) {
        this.#say(`${tag} ${(error as Error).message}`)
      }
    }
    const decoded = (line: string) => Buffer.from(line, 'base64').toString('utf8')
    const plain = (line: string) => complete(decoded(line).split('\0')[1] ?? '', decoded(line).split('\0')[2] ?? '')
    switch (mechanism.toUpperCase()) {
      case 'PLAIN':
        if (initial !== undefined) plain(initial)
        else this.#ask('', plain)
        return
      case 'LOGIN':
        this.#ask(Buffer.from('Username:').toString('base64'), (user) =>
          this.#ask(Buffer.from('Password:').toString('base64'), (password) =>
            complete(decoded(user), decoded(password)),
          ),
        )
        return
      default:
        throw new BadCommand('No token is valid here')
    }
  }

  #ask(challenge: string, then: (line: string) => void): void {
    this.#continued = then
    this.#say(`+ ${challenge}`)
  }

  #boxes(): Mailboxes {
    const { account, now, troubles } = this.#place
    return account.at(troubles?.shows?.(now()) ?? now())
  }

  #isReadable(name: string): boolean {
    return !this.#place.troubles?.unreadable?.includes(name)
  }

  #list(given: readonly Argument[]): void {
    const { dialect, troubles } = this.#place
    const { selects, pattern, returns } = this.#readList(given)
    if (pattern === '') this.#say(`* LIST (\\Noselect) "${dialect.delimiter}" ""`)
    const showsUse = dialect.showsUse === 'always' || (dialect.showsUse === 'asked' && (selects || returns))
    const matches = pattern === '' ? () => false : matcherOf(pattern, dialect.delimiter)
    const shown = [...this.#boxes().values()].filter(({ name }) => matches(name) && !troubles?.hidden?.includes(name))
    for (const { name, attributes } of shown) {
      const isUsed = attributes.some((one) => /^\\(?:Sent|Drafts|Trash|Junk|All|Archive|Flagged)$/.test(one))
      if (selects && !isUsed) continue
      const own = attributes.filter((one) => showsUse || /^\\No/.test(one))
      this.#say(`* LIST (${['\\HasNoChildren', ...own].join(' ')}) "${dialect.delimiter}" ${this.#nameText(name)}`)
    }
  }

  #readList(given: readonly Argument[]) {
    const isExtended = given.length !== 2 || given.some((one) => 'list' in one)
    if (isExtended && !this.#has('LIST-EXTENDED')) throw new BadCommand('LIST takes two texts here')
    const [first, ...others] = given
    const hasSelection = first !== undefined && 'list' in first
    const selects = hasSelection && first.list.some((one) => textOf(one).toUpperCase() === 'SPECIAL-USE')
    const [, pattern, word, options] = hasSelection ? others : given
    if (word !== undefined && textOf(word).toUpperCase() !== 'RETURN') throw new BadCommand('Expected RETURN')
    const returns =
      options !== undefined &&
      'list' in options &&
      options.list.some((one) => 'text' in one && one.text.toUpperCase() === 'SPECIAL-USE')
    if ((selects || returns) && !this.#has('SPECIAL-USE')) throw new BadCommand('SPECIAL-USE is unknown')
    return { selects, returns, pattern: textOf(pattern) }
  }

  #nameText(name: string): string {
    if (this.#place.troubles?.hasLiteralNames) return literal(name)
    const isPlain = /^[A-Za-z0-9.&/|+[-]+$/.test(name) && !this.#place.dialect.quotesNames
    return isPlain ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`
  }

  #opened(name: string): Mailbox {
    const box = this.#boxes().get(name)
    const isThere = box && !box.attributes.some((one) => /^\\No(?:select|nExistent)$/i.test(one))
    if (!isThere) throw new Refusal(this.#place.dialect.missing(name))
    if (!this.#isReadable(name)) throw new Refusal('NO [NOPERM] Permission denied')
    return box
  }

  #tellsNext(): boolean {
    const { dialect, troubles } = this.#place
    return dialect.tellsNext !== false && !troubles?.isWithoutNext
  }

  #status([name, items]: readonly Argument[]): void {
    const box = this.#opened(textOf(name))
    if (items === undefined || !('list' in items)) throw new BadCommand('Expected a list')
    const values: Readonly<Record<string, number>> = {
      MESSAGES: box.messages.length,
      RECENT: 0,
      UNSEEN: 0,
      UIDNEXT: box.uidNext,
      UIDVALIDITY: box.uidValidity,
    }
    const told = items.list.map((item) => {
      const key = textOf(item).toUpperCase()
      if (!Object.hasOwn(values, key)) throw new BadCommand('Unknown status item')
      return `${key} ${values[key]}`
    })
    this.#say(`* STATUS ${this.#nameText(box.name)} (${told.join(' ')})`)
  }

  #examine(name: string): string {
    const { dialect } = this.#place
    this.#box = undefined
    const box = this.#opened(name)
    this.#box = box
    const { validity, next, flags } = dialect.opened
    this.#say(
      '* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)',
      `* OK [PERMANENTFLAGS ()] ${flags}`,
      `* ${box.messages.length} EXISTS`,
      '* 0 RECENT',
      `* OK [UIDVALIDITY ${box.uidValidity}] ${validity}`,
      ...(this.#tellsNext() ? [`* OK [UIDNEXT ${box.uidNext}] ${next}`] : []),
    )
    return `OK [READ-ONLY] ${dialect.done('EXAMINE', name)}`
  }

  #selected(): Mailbox {
    if (!this.#box) throw new BadCommand('No mailbox is selected')
    return this.#box
  }

  #search({ isUid, given }: Command): void {
    const { messages } = this.#selected()
    const { dialect, troubles, now } = this.#place
    const [charset, , ...others] = given
    const hasCharset = charset !== undefined && 'text' in charset && charset.text.toUpperCase() === 'CHARSET'
    if (charset !== undefined && 'text' in charset && charset.text.toUpperCase() === 'RETURN')
      throw new BadCommand('ESEARCH is not scripted')
    const matches = readSearch(hasCharset ? others : given, {
      style: dialect.search,
      hasSaveDates: this.#has('SAVEDATE'),
      now: this.#has('WITHIN') ? now() + this.#aheadMs : undefined,
      internalDate: (message) => this.#internalDate(message),
    })
    const largest = { uid: messages.at(-1)?.uid ?? 0, sequence: messages.length }
    const ids = messages.flatMap((message, index) => {
      const isIndexed = troubles?.indexes?.(message, now()) ?? true
      return isIndexed && matches({ message, sequence: index + 1, largest }) ? [isUid ? message.uid : index + 1] : []
    })
    if (ids.length > 0) this.#say(`* SEARCH ${ids.join(' ')}`)
    else if (dialect.nothing !== '') this.#say(dialect.nothing)
  }

  #fetch({ isUid, given }: Command): void {
    const { messages } = this.#selected()
    const [set, ...items] = given
    const largest = isUid ? (messages.at(-1)?.uid ?? 0) : messages.length
    const isAsked = numbersIn(textOf(set), largest)
    const [first] = items
    const names = (first !== undefined && 'list' in first ? first.list : items).map(textOf)
    messages.forEach((message, index) => {
      if (!isAsked(isUid ? message.uid : index + 1)) return
      const all = isUid && !names.some((name) => name.toUpperCase() === 'UID') ? ['UID', ...names] : names
      this.#say(`* ${index + 1} FETCH (${all.map((name) => this.#itemOf(message, name)).join(' ')})`)
    })
  }

  get #aheadMs(): number {
    return this.#place.troubles?.aheadMs ?? 0
  }

  /** A time that nobody gave is of the server's clock. */
  #internalDate({ internalDate, isDated }: Message): number {
    return internalDate + (isDated ? 0 : this.#aheadMs)
  }

  #itemOf(message: Message, given: string): string {
    const item = given.toUpperCase()
    const { zone = '+0000', padding = '0' } = this.#place.dialect
    const { hasNoTimes = false, isNilEmpty = false } = this.#place.troubles ?? {}
    const [, section, from] = /^BODY\.PEEK\[(.*)\](?:<(\d+)\.\d+>)?$/.exec(item) ?? []
    if (section !== undefined) {
      const name = this.#place.dialect.section?.(section) ?? section
      const part = partOf(sectionOf(message, section), item)
      const text = isNilEmpty && part === '\r\n' ? 'NIL' : literal(part)
      return `BODY[${name}]${from === undefined ? '' : `<${from}>`} ${text}`
    }
    switch (item) {
      case 'UID':
        return `UID ${message.uid}`
      case 'FLAGS':
        return `FLAGS (${message.flags.join(' ')})`
      case 'INTERNALDATE':
        return `INTERNALDATE "${dateText(this.#internalDate(message), zone, padding)}"`
      case 'RFC822.SIZE':
        return `RFC822.SIZE ${message.header.length + 2 + message.body.length}`
      case 'RFC822.HEADER':
        return `RFC822.HEADER ${literal(`${message.header}\r\n`)}`
      case 'SAVEDATE':
        if (!this.#has('SAVEDATE')) throw new BadCommand('SAVEDATE is unknown')
        return hasNoTimes ? 'SAVEDATE NIL' : `SAVEDATE "${dateText(message.savedAt + this.#aheadMs, zone, padding)}"`
      default:
        throw new BadCommand(`${item} is not scripted`)
    }
  }
}

/** Writes the words of a line in small letters that no case distinguishes. */
function inSmallLetters(line: string): string {
  return line
    .replace(/^\S+ (?:OK|NO|BAD|BYE)\b/, (words) => words.replace(/(?:OK|NO|BAD|BYE)$/, (word) => word.toLowerCase()))
    .replace(/^\* (?:CAPABILITY|SEARCH|LIST|NAMESPACE|STATUS)\b|^\* \d+ (?:EXISTS|RECENT|FETCH)\b/, (words) =>
      words.toLowerCase(),
    )
}

const literal = (text: string) => `{${Buffer.byteLength(text, 'latin1')}}\r\n${text}`

function partOf(text: string, item: string): string {
  const [, from, count] = /<(\d+)\.(\d+)>$/.exec(item) ?? []
  return from === undefined ? text : text.slice(Number(from), Number(from) + Number(count))
}

function sectionOf({ header, body }: Message, section: string): string {
  if (section === 'HEADER') return `${header}\r\n`
  if (section === '') return `${header}\r\n${body}`
  const [, not, names] = /^HEADER\.FIELDS(\.NOT)? \(([^()]+)\)$/.exec(section) ?? []
  if (names === undefined) throw new BadCommand(`the section ${section} is not scripted`)
  const asked = new Set(names.toLowerCase().replaceAll('"', '').split(' '))
  const lines = fieldsOf(header).flatMap(([name, , raw]) => (asked.has(name) === (not === undefined) ? [raw] : []))
  return `${lines.map((raw) => raw.replace(/(?:\r\n)?$/, '\r\n')).join('')}\r\n`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Writes `date-time` of RFC 3501. Before a day of one digit stands a space, as in its grammar, or the zero that Dovecot writes. */
function dateText(at: number, zone: string, padding: string): string {
  const minutes = (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3)))
  const local = new Date(at + minutes * 60_000)
  const day = String(local.getUTCDate()).padStart(2, padding)
  return `${day}-${MONTHS[local.getUTCMonth()]}-${local.getUTCFullYear()} ${local.toISOString().slice(11, 19)} ${zone}`
}

function matcherOf(pattern: string, delimiter: string): (name: string) => boolean {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  const other = `[^${delimiter.replaceAll(/[|\]\\^]/g, '\\$&')}]*`
  const matching = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('%', other)}$`, 'i')
  return (name) => matching.test(name)
}
