/** A mailbox on loopback, of the few commands of IMAP that the plugin writes, whose times are those of the given clock. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface MessageOfTests {
  readonly uid: number
  readonly header: string
  readonly savedAt: number
  /** Defaults to `savedAt`. */
  readonly internalDate?: number
}

export class ImapOfTests {
  messages: readonly MessageOfTests[] = []
  uidValidity = 7
  /** Defaults to the number after the newest message. */
  uidNext: number | undefined
  attributes = '\\Sent'
  capabilities = 'IMAP4rev1 SPECIAL-USE LIST-EXTENDED NAMESPACE ACL SAVEDATE WITHIN'
  rights = 'lr'
  /** Lines of LIST beside the one of the mailbox. */
  others: readonly string[] = []
  /** Tells whether SEARCH finds messages, as an index that is behind does not. */
  isIndexed = true
  /** Milliseconds by which its clock is ahead. */
  aheadMs = 0
  readonly password: string
  readonly now: () => number
  readonly commands: string[] = []

  constructor({ password, now }: { readonly password: string; readonly now: () => number }) {
    this.password = password
    this.now = now
  }

  async start() {
    const open = new Set<Socket>()
    const server = createServer((socket) => {
      open.add(socket.on('close', () => open.delete(socket)).on('error', () => {}))
      socket.write('* OK ready\r\n')
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1')
        for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
          const [tag = '', ...words] = text.slice(0, end).split(' ')
          text = text.slice(end + 2)
          this.commands.push(words.join(' '))
          socket.write(this.#answer(tag, words.join(' ')), 'latin1')
        }
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      for (const socket of open) socket.destroy()
      server.close()
    }
    return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  #answer(tag: string, command: string): string {
    const done = (...lines: string[]) => `${lines.map((line) => `* ${line}\r\n`).join('')}${tag} OK done\r\n`
    const [, login] = /^LOGIN "ann" "(.*)"$/.exec(command) ?? []
    if (login !== undefined)
      return login === this.password ? done() : `${tag} NO [AUTHENTICATIONFAILED] wrong credentials\r\n`
    const next = this.uidNext ?? (this.messages.at(-1)?.uid ?? 0) + 1
    switch (/^(?:UID )?[A-Z]+/.exec(command)?.[0]) {
      case 'CAPABILITY':
        return done(`CAPABILITY ${this.capabilities}`)
      case 'LIST':
        return done(`LIST (\\HasNoChildren ${this.attributes}) "/" "Sent"`, ...this.others)
      case 'NAMESPACE':
        return done('NAMESPACE (("" "/")) (("users/" "/")) (("shared/" "/"))')
      case 'MYRIGHTS':
        return done(`MYRIGHTS "Sent" ${this.rights}`)
      case 'EXAMINE':
        return done(
          'FLAGS ()',
          `${this.messages.length} EXISTS`,
          `OK [UIDVALIDITY ${this.uidValidity}] valid`,
          `OK [UIDNEXT ${next}] next`,
        )
      case 'UID SEARCH': {
        const found = this.messages.filter((message) => this.#isFound(message, command))
        return done(['SEARCH', ...(this.isIndexed ? found.map(({ uid }) => uid) : [])].join(' '))
      }
      default:
        return done(...this.#fetched(command))
    }
  }

  #isFound({ uid, header, savedAt, internalDate = savedAt }: MessageOfTests, command: string): boolean {
    const [, number, most, over] = /UID (\d+) YOUNGER (\d+) OLDER (\d+)/.exec(command)?.map(Number) ?? []
    if (number === undefined) return header.toLowerCase().includes(/"(.*)"/.exec(command)![1]!.toLowerCase())
    const [now, date] = [this.now(), internalDate].map((at) => Math.floor((at + this.aheadMs) / 1000)) as [
      number,
      number,
    ]
    return uid === number && date >= now - most! && date < now - over!
  }

  #fetched(command: string): string[] {
    const [, byUid, set = '', fields = ''] = /^(UID )?FETCH (\S+) .*FIELDS \(([^)]*)\)/.exec(command) ?? []
    const first = Number(set.replace(/:\*$/, ''))
    const uids = set.split(',').map(Number)
    return this.messages.flatMap(({ uid, header, savedAt, internalDate = savedAt }, index) => {
      if (byUid ? !uids.includes(uid) : index + 1 < first) return []
      const wanted = fields.toLowerCase().split(' ')
      const lines = header.split(/\r\n(?![ \t])/).filter((line) => wanted.includes(line.split(':')[0]!.toLowerCase()))
      const text = `${lines.map((line) => `${line}\r\n`).join('')}\r\n`
      const saved = command.includes('SAVEDATE') ? `SAVEDATE "${imapTime(savedAt + this.aheadMs)}" ` : ''
      return [
        `${index + 1} FETCH (UID ${uid} INTERNALDATE "${imapTime(internalDate + this.aheadMs)}" ${saved}BODY[HEADER.FIELDS (${fields})] {${text.length}}\r\n${text})`,
      ]
    })
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function imapTime(at: number): string {
  const time = new Date(at)
  const day = String(time.getUTCDate()).padStart(2, '0')
  return `${day}-${MONTHS[time.getUTCMonth()]}-${time.getUTCFullYear()} ${time.toISOString().slice(11, 19)} +0000`
}

/** A header as mail programs write it, with characters that are bytes. */
export function headerOf(id: string, more = 'To: Bob <bob@acme.example>'): string {
  return `Date: Mon, 02 Mar 2026 09:00:00 +0000\r\nMessage-ID: <${id}>\r\nSubject: hello\r\n${more}`
}
