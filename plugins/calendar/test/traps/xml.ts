/** A small reader of XML with namespaces, for the bodies of WebDAV requests and answers, and the escapes that a writer needs. */

export interface XmlElement {
  readonly namespace: string
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: XmlElement[]
  /** The text directly in the element. */
  text: string
}

const TOKEN =
  /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([\w.:-]+)((?:"[^"]*"|'[^']*'|[^"'>])*?)(\/?)>|([^<]+)/y

/** @throws SyntaxError where the text is no document of one element */
export function parseXml(text: string): XmlElement {
  const top: XmlElement = { namespace: '', name: '', attributes: {}, children: [], text: '' }
  const open: { readonly element: XmlElement; readonly prefixes: ReadonlyMap<string, string>; readonly tag: string }[] =
    [{ element: top, prefixes: new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]), tag: '' }]
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)
    if (!token) throw new SyntaxError(`no XML at ${at}`)
    const [, verbatim, closes, tag, given = '', isEmpty, plain] = token
    const { element, prefixes, tag: within } = open.at(-1)!
    if (verbatim !== undefined) element.text += verbatim
    else if (plain !== undefined) element.text += unescaped(plain)
    else if (tag !== undefined && closes) {
      if (within !== tag) throw new SyntaxError(`</${tag}> ends <${within}>`)
      open.pop()
    } else if (tag !== undefined) {
      const attributes = attributesOf(given)
      const inner = new Map(prefixes)
      for (const [name, value] of Object.entries(attributes)) {
        if (name === 'xmlns') inner.set('', value)
        else if (name.startsWith('xmlns:')) inner.set(name.slice(6), value)
      }
      const [, prefix = '', name = ''] = /^(?:([^:]*):)?(.*)$/.exec(tag)!
      if (prefix && !inner.has(prefix)) throw new SyntaxError(`the prefix ${prefix} is not declared`)
      const child = { namespace: inner.get(prefix) ?? '', name, attributes, children: [], text: '' }
      element.children.push(child)
      if (!isEmpty) open.push({ element: child, prefixes: inner, tag })
    }
  }
  const [root] = top.children
  if (open.length !== 1 || !root || top.children.length !== 1 || top.text.trim()) throw new SyntaxError('no document')
  return root
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name)
}

/** Lists all elements of a name, at any depth. */
export function allOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...allOf(child, name)])
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;')
}

function attributesOf(given: string): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [, name, quoted, single] of given.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
    attributes[name!] = unescaped(quoted ?? single ?? '')
  return attributes
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(\w+));/g, (whole, hexadecimal, decimal, name) => {
    if (hexadecimal) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
    if (decimal) return String.fromCodePoint(Number(decimal))
    return ENTITIES[name] ?? whole
  })
}
