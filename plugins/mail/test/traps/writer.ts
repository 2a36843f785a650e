/** A mail program that writes: it stores, copies and removes messages at a real IMAP server. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Letter } from './account.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export class Writer {
  readonly #socket: Socket
  #text = ''
  #count = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.#text += String(bytes)
    })
  }

  static async open(port: number, user: string, password: string): Promise<Writer> {
    const socket = connect(port, '127.0.0.1')
    const writer = new Writer(socket)
    await writer.#until(/^\* OK /m)
    await writer.say(`LOGIN ${user} ${password}`)
    return writer
  }

  /** Says commands, one after another. @throws Error for one that is refused */
  async say(...commands: readonly string[]): Promise<void> {
    for (const command of commands) {
      const tag = `w${++this.#count}`
      this.#text = ''
      this.#socket.write(`${tag} ${command}\r\n`, 'latin1')
      await this.#until(new RegExp(`^${tag} `, 'm'))
      if (!new RegExp(`^${tag} OK`, 'm').test(this.#text)) throw new Error(`${command}: ${this.#text}`)
    }
  }

  async append(name: string, { header, body = '', internalDate, flags = ['\\Seen'] }: Letter): Promise<void> {
    const text = `${header}\r\n${body}`
    const at = internalDate === undefined ? '' : `"${dateText(new Date(internalDate))}" `
    await this.say(`APPEND "${name}" (${flags.join(' ')}) ${at}{${Buffer.byteLength(text, 'latin1')}+}\r\n${text}`)
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close')
    this.#socket.end('z LOGOUT\r\n')
    await closed
  }

  async #until(line: RegExp): Promise<void> {
    while (!line.test(this.#text)) await once(this.#socket, 'data')
  }
}

function dateText(date: Date): string {
  const day = String(date.getUTCDate()).padStart(2, '0')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`
}
