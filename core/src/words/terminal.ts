/** What a command writes, as it reaches a terminal. */
import { jsonEscapes, visible } from './plain-text.ts'

/** What commands use. */
const COLOUR = /(\p{Cc}\[(?:1|22|31|32|33|39|90)m)/u
const RISKY_IN_JSON = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu

/** One line that a terminal shows, and does not act on. @param colours leaves those that commands use */
export function terminalLine(line: string, colours = false): string {
  return line
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 && colours && part.startsWith('\u001b') ? part : visible(part)))
    .join('')
}

/** The same for a text of many lines. */
export function terminalText(text: string, colours = false): string {
  return text
    .split('\n')
    .map((line) => terminalLine(line, colours))
    .join('\n')
}

/** The same JSON, in characters that a terminal shows. */
export function terminalJson(json: string): string {
  return json.replace(RISKY_IN_JSON, jsonEscapes)
}
