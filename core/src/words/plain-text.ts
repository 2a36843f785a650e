/** Makes texts of agents and destinations fit for a line of a page or a terminal: what is not seen is written out, as `<U+202E>`. */

/** Viramas, after which a joiner forms letters (RFC 5892, appendix A). */
const VIRAMAS =
  '\\u094D\\u09CD\\u0A4D\\u0ACD\\u0B4D\\u0BCD\\u0C4D\\u0CCD\\u0D3B\\u0D3C\\u0D4D\\u0DCA\\u0E3A\\u0EBA\\u0F84\\u1039\\u103A\\u17D2\\u1B44\\u1BAA'
const JOINED = '\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Nko}'
/** Matches a joiner that its letters need, as in Persian and in Hindi. */
const JOINER = `[\\u200C\\u200D](?<=[${VIRAMAS}].)(?=\\p{L})|\\u200C(?<=[${JOINED}]\\p{M}{0,4}.)(?=[${JOINED}])`
/** Matches an emoji of several characters, some of which are not seen. */
const PICTURE = '\\p{Extended_Pictographic}(?:\\uFE0F|\\p{Emoji_Modifier})?'
const FLAG =
  '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}'
const EMOJI = `${FLAG}|[0-9#*]\\uFE0F\\u20E3|${PICTURE}(?:\\u200D${PICTURE})*`
/** Symbols that fonts leave blank: the empty Braille cell, a null note head, the filler of Khitan, an object that is not there. */
const BLANK = '\\u2800\\u{1D159}\\u{16FE4}\\uFFFC'
const UNSEEN = `[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}${BLANK}]|(?! )\\p{Zs}`
const PARTS = new RegExp(`(?<needed>${EMOJI}|${JOINER})|(?<unseen>(?:${UNSEEN})+)`, 'gu')
const MAY_BE_UNSEEN = new RegExp(UNSEEN, 'u')

interface Unseen {
  readonly character: string
  /** The place of the character in the text, in characters, from 1. */
  readonly position: number
}

/**
 * Finds the first character that is not seen, or that turns the text around it. Those that an emoji or a script needs where they are do not count.
 */
export function firstUnseen(text: string): Unseen | undefined {
  if (!MAY_BE_UNSEEN.test(text)) return undefined
  for (const { index, groups } of text.matchAll(PARTS)) {
    const [character] = groups?.unseen ?? ''
    if (character !== undefined) return { character, position: [...text.slice(0, index)].length + 1 }
  }
  return undefined
}

/** Writes each character that is not seen by its code, as `<U+202E>`. */
export function visible(text: string): string {
  return withUnseen(text, marked)
}

/** Writes a name as `visible` does, and also the blanks that a page or a cell of a table would swallow: around it, and beyond one within it. */
export function visibleName(name: string): string {
  return visible(name).replace(/^ +| +$|(?<= ) +/g, (blanks) => marked(' ').repeat(blanks.length))
}

/** Writes JSON of the same value, in which characters that are not seen are escaped. */
export function visibleJson(json: string): string {
  return withUnseen(json, (character) => (/[\t\n\r]/.test(character) ? character : jsonEscapes(character)))
}

/** Escapes a character for JSON, as `\\u202e`, with one escape for each half of a character beyond the first plane. */
export function jsonEscapes(character: string): string {
  return [...Array(character.length).keys()].map((at) => `\\u${hex(character.charCodeAt(at))}`).join('')
}

/** The code of a character, such as `U+202E`. */
export function codeOf(character: string): string {
  return `U+${hex(character.codePointAt(0)!).toUpperCase()}`
}

function withUnseen(text: string, write: (character: string) => string): string {
  if (!MAY_BE_UNSEEN.test(text)) return text
  return text.replace(PARTS, (part, ...rest) => {
    const { unseen } = rest.at(-1) as { readonly unseen?: string }
    return unseen === undefined ? part : [...unseen].map(write).join('')
  })
}

function marked(character: string): string {
  return `<${codeOf(character)}>`
}

function hex(code: number): string {
  return code.toString(16).padStart(4, '0')
}
