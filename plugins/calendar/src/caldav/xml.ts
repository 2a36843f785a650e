/** Reads the XML of WebDAV's answers: elements with their namespaces, texts, CDATA and comments. Document types are refused. */
import { DestinationError } from '@claimcheck/core/plugin'

export interface Element {
  /** The namespace in braces and the local name: `{DAV:}href`. */
  readonly name: string
  readonly text: string
  readonly children: readonly Element[]
}

/** Matches the declaration, CDATA, a comment, a tag, or text. No part can match the same characters in two ways, so that the time is linear. */
const TOKEN =
  /<\?xml\s[^<>?]*\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<(\/?)([A-Za-z_][\w.:-]*)(\/|\s[^<>]*)?>|([^<]+)/y
const NAMESPACE = /\sxmlns(?::([\w.-]+))?\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));|&/g
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const MOST_LEVELS = 32
const MOST_NAMESPACES = 64

interface OpenElement {
  readonly name: string
  /** The name as the tag writes it. */
  readonly tag: string
  /** Namespaces by their prefixes; the empty prefix is that of names without one. */
  readonly namespaces: ReadonlyMap<string, string>
  text: string
  children: Element[]
}

/** Parses a document. @throws DestinationError `unexpected_response` for what is none, or has more than this reader knows */
export function parseXml(document: string): Element {
  const root: OpenElement = { name: '', tag: '', namespaces: new Map(), text: '', children: [] }
  const open = [root]
  let at = document.startsWith('\uFEFF') ? 1 : 0
  while (at < document.length) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(document) ?? refuse()
    at += token[0].length
    take(token, open)
  }
  const [first, ...others] = root.children
  const isWhole = open.length === 1 && others.length === 0 && root.text.trim() === ''
  return first && isWhole ? first : refuse()
}

/** Takes the next token. @param open the elements that are not closed yet, the innermost last */
function take([, data, closing, tag, rest = '', content]: RegExpExecArray, open: OpenElement[]): void {
  const inner = open.at(-1)!
  if (data !== undefined) inner.text += withLineEnds(data)
  if (content !== undefined) inner.text += decode(withLineEnds(content))
  if (tag === undefined) return
  if (closing) {
    if (open.length === 1 || inner.tag !== tag || rest.trim() !== '') refuse()
    open.pop()
    return
  }
  if (open.length > MOST_LEVELS) refuse()
  const namespaces = namespacesIn(rest, inner.namespaces)
  const element = { name: nameOf(tag, namespaces), tag, namespaces, text: '', children: [] }
  inner.children.push(element)
  if (!rest.endsWith('/')) open.push(element)
}

/** Adds the namespaces of a tag to those around it. Few are copied for each tag, so that the time is linear. */
function namespacesIn(attributes: string, around: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const namespaces = new Map(around)
  for (const [, prefix = '', one, other] of attributes.matchAll(NAMESPACE))
    namespaces.set(prefix, decode(one ?? other ?? ''))
  return namespaces.size > MOST_NAMESPACES ? refuse() : namespaces
}

/** Writes the ends of lines as XML reads them (XML 1.0 2.11): a carriage return stays only as a reference. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

function nameOf(tag: string, namespaces: ReadonlyMap<string, string>): string {
  const [, prefix = '', local = ''] = /^(?:([^:]*):)?([^:]+)$/.exec(tag) ?? refuse()
  return `{${namespaces.get(prefix) ?? (prefix === '' ? '' : refuse())}}${local}`
}

function decode(text: string): string {
  return text.replace(REFERENCE, (_, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name]!
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : refuse()
  })
}

export function childOf({ children }: Element, name: string): Element | undefined {
  return children.find((child) => child.name === name)
}

function refuse(): never {
  throw new DestinationError('unexpected_response')
}
