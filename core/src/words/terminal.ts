/** Writes texts so that a terminal shows them and does not act on them. */
import { jsonEscapes, visible } from './plain-text.ts'

/** The codes of colours that commands use. */
const COLOUR = /(\p{Cc}\[(?:1|22|31|32|33|39|90)m)/u
const RISKY_IN_JSON = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu

/** Writes one line. @param colours true to leave the colours that commands use */
export function terminalLine(line: string, colours = false): string {
  return line
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 && colours && part.startsWith('\u001b') ? part : visible(part)))
    .join('')
}

/** Writes a text of many lines. */
export function terminalText(text: string, colours = false): string {
  return text
    .split('\n')
    .map((line) => terminalLine(line, colours))
    .join('\n')
}

/** Writes JSON of the same value, in characters that a terminal shows. */
export function terminalJson(json: string): string {
  return json.replace(RISKY_IN_JSON, jsonEscapes)
}
