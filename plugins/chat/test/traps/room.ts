/** What was said in the channels of a scripted chat, and how it reads at each moment: posts, edits and deletions in their order. */

export interface Message {
  readonly id: string
  readonly channel: string
  /** The moment at which it was posted. */
  readonly at: number
  readonly text: string
  readonly author: string
  /** The first message of its thread; undefined outside of threads. */
  readonly thread: string | undefined
  /** Fields of the platform that differ from the usual ones. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly editedAt: number | undefined
  /** The last moment at which anything of it changed, such as a reaction. */
  readonly touchedAt: number
  readonly isDeleted: boolean
}

export interface Post {
  /** Defaults to the id that the platform gives at that moment. */
  readonly id?: string
  readonly channel?: string
  readonly text?: string
  readonly author?: string
  readonly thread?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface Platform {
  readonly start: number
  readonly channel: string
  readonly author: string
  readonly text: string
  idAt(moment: number): string
}

type Step = (messages: Map<string, Message>) => void

export class Room {
  readonly #platform: Platform
  readonly #steps: { readonly at: number; readonly apply: Step }[] = []

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Everything that was ever said until a moment, oldest first, deleted messages included. */
  at(now: number): readonly Message[] {
    const messages = new Map<string, Message>()
    for (const { at, apply } of this.#steps) if (at <= now) apply(messages)
    return [...messages.values()].toSorted((one, other) => one.at - other.at)
  }

  post(afterMs: number, { id, thread, extra = {}, ...given }: Post = {}): this {
    const { start, channel, author, text, idAt } = this.#platform
    const at = start + afterMs
    const message = { id: id ?? idAt(at), at, channel, author, text, ...given, thread, extra }
    return this.#then(afterMs, (messages) => {
      if (messages.has(message.id)) throw new Error(`${message.id} was given out already`)
      messages.set(message.id, { ...message, editedAt: undefined, touchedAt: at, isDeleted: false })
    })
  }

  /** Changes the text, and with it the time of the last edit. */
  edit(afterMs: number, id: string, text: string, extra: Message['extra'] = {}): this {
    return this.#change(afterMs, id, (message, at) => ({
      text,
      editedAt: at,
      extra: { ...message.extra, ...extra },
    }))
  }

  /** Changes what is no text, such as reactions and pins. */
  touch(afterMs: number, id: string, extra: Message['extra'] = {}): this {
    return this.#change(afterMs, id, (message) => ({ extra: { ...message.extra, ...extra } }))
  }

  remove(afterMs: number, id: string): this {
    return this.#change(afterMs, id, () => ({ isDeleted: true }))
  }

  #change(afterMs: number, id: string, change: (message: Message, at: number) => Partial<Message>): this {
    const at = this.#platform.start + afterMs
    return this.#then(afterMs, (messages) => {
      const message = messages.get(id)
      if (!message || message.isDeleted) throw new Error(`there is no ${id}`)
      messages.set(id, { ...message, touchedAt: at, ...change(message, at) })
    })
  }

  #then(afterMs: number, apply: Step): this {
    const at = this.#platform.start + afterMs
    if (at < (this.#steps.at(-1)?.at ?? at)) throw new Error('events come in their order')
    this.#steps.push({ at, apply })
    this.at(at)
    return this
  }
}
