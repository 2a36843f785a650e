/** Reads server-sent events out of the text of an answer (HTML, 9.2.6). */
import { UnexpectedAnswerError } from './errors.ts'

export interface Message {
  /** The last id so far, also where the message is nothing but an id. */
  readonly id: string | undefined
  /** The pause before the next connection, where the service named one. */
  readonly retryMs: number | undefined
  /** Undefined for a message without data. */
  readonly event: { readonly type: string; readonly data: string } | undefined
}

/** The longest line: events are shorter by far. */
const LONGEST_LINE = 4 * 1024 * 1024

/** Makes a reader. Each call takes the next piece of text, and returns the messages that it ends. @throws UnexpectedAnswerError for a line without end */
export function createEventReader(): (piece: string) => Message[] {
  let rest = ''
  let id: string | undefined
  let retryMs: number | undefined
  let type = ''
  let data: string[] = []
  const fields: Readonly<Record<string, (value: string) => void>> = {
    id(value) {
      if (!value.includes('\0')) id = value
    },
    event(value) {
      type = value
    },
    data: (value) => void data.push(value),
    retry(value) {
      if (/^\d{1,9}$/.test(value)) retryMs = Number(value)
    },
  }

  function take(line: string): Message[] {
    if (line === '') {
      const event = data.length === 0 ? undefined : { type: type || 'message', data: data.join('\n') }
      type = ''
      data = []
      return [{ id, retryMs, event }]
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (Object.hasOwn(fields, name)) fields[name]!(value)
    return []
  }

  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    if (rest.length > LONGEST_LINE) throw new UnexpectedAnswerError('the service sent a line without end')
    return lines.flatMap(take)
  }
}
