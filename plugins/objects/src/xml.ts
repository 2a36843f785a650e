/** Reads the XML of S3's answers: elements, texts and references to characters. Document types, comments and CDATA are refused. */
import { DestinationError } from '@claimcheck/core/plugin'

export interface Element {
  readonly name: string
  readonly text: string
  readonly children: readonly Element[]
}

/** Matches the declaration, a tag, or text. No part can match the same characters in two ways, so that the time is linear. */
const TOKEN = /<\?xml\s[^<>?]*\?>|<(\/?)([A-Za-z_][\w.-]*)(\/|\s[^<>]*)?>|([^<]+)/y
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));|&/g
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const MOST_LEVELS = 16

/** Parses a document. @throws DestinationError `unexpected_response` for what is none, or has more than this reader knows */
export function parseXml(text: string): Element {
  const root = { name: '', text: '', children: [] as Element[] }
  const open = [root]
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text) ?? refuse()
    at += token[0].length
    take(token, open)
  }
  const [document, ...others] = root.children
  const isWhole = open.length === 1 && others.length === 0 && root.text.trim() === ''
  return document && isWhole ? document : refuse()
}

/** Takes the next token. @param open the elements that are not closed yet, the innermost last */
function take([, closing, name, rest = '', content]: RegExpExecArray, open: (Element & Building)[]): void {
  const inner = open.at(-1)!
  if (content !== undefined) inner.text += decode(content)
  if (name === undefined) return
  if (closing) {
    if (open.length === 1 || inner.name !== name || rest.trim() !== '') refuse()
    open.pop()
    return
  }
  if (open.length > MOST_LEVELS) refuse()
  const element = { name, text: '', children: [] }
  inner.children.push(element)
  if (!rest.endsWith('/')) open.push(element)
}

interface Building {
  text: string
  children: Element[]
}

/** The text of an element's first child of a name; undefined without one. */
export function textIn({ children }: Element, name: string): string | undefined {
  return children.find((child) => child.name === name)?.text
}

function decode(text: string): string {
  return text.replace(REFERENCE, (_, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name]!
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : refuse()
  })
}

function refuse(): never {
  throw new DestinationError('unexpected_response')
}
