/** Reads the lines of iCalendar (RFC 5545 3.1): a name, parameters, and a value. */

export interface Property {
  /** The name in capitals. */
  readonly name: string
  readonly params: readonly (readonly [name: string, value: string])[]
  /** Undefined for a line whose parameters do not end. */
  readonly value: string | undefined
}

/** Joins lines that are folded. */
export function unfold(text: string): string {
  return text.replace(/\r?\n[ \t]/g, '')
}

/** Matches a name of ASCII letters: others, such as the long s, have capitals among them. */
const NAME = /^[A-Za-z0-9-]+(?=[;:])/
const MOST_PARAMS = 64

/** Reads a line, `NAME;PARAM=value;OTHER="a:b":value`; undefined for one without a name. */
export function parseLine(line: string): Property | undefined {
  const name = NAME.exec(line)?.[0]
  if (name === undefined) return undefined
  const params: (readonly [string, string])[] = []
  let isQuoted = false
  let from = name.length
  for (let at = from; at < line.length && params.length <= MOST_PARAMS; at++) {
    const letter = line[at]!
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted || (letter !== ';' && letter !== ':')) continue
    if (at > from) params.push(readParam(line.slice(from, at)))
    from = at + 1
    if (letter === ':') return { name: name.toUpperCase(), params, value: line.slice(from).trim() }
  }
  return { name: name.toUpperCase(), params: [], value: undefined }
}

function readParam(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at).toUpperCase(), text.slice(at + 1).replace(/^"(.*)"$/, '$1')]
}
