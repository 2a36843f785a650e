/** Writes the XML of WebDAV answers as servers do: with one namespace for all, with prefixes, or with objects verbatim. */
import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { escaped } from './xml.ts'

/** The form of a server's XML. */
export type Form = 'radicale' | 'sabre' | 'apple'

const DAV = 'DAV:'
export const CALDAV = 'urn:ietf:params:xml:ns:caldav'
export const CALENDARSERVER = 'http://calendarserver.org/ns/'
const PREFIXES: Readonly<Record<string, string>> = { [DAV]: 'd', [CALDAV]: 'cal', [CALENDARSERVER]: 'cs' }

export interface Node {
  readonly namespace: string
  readonly name: string
  readonly content?: readonly Node[] | string
}

export const dav = (name: string, content?: Node['content']): Node => ({
  namespace: DAV,
  name,
  ...(content && { content }),
})
export const cal = (name: string, content?: Node['content']): Node => ({
  namespace: CALDAV,
  name,
  ...(content && { content }),
})
export const hrefs = (path: string) => [dav('href', path)]

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  507: 'Insufficient Storage',
}

export function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${REASONS[status]}`
}

export function multistatus(kind: Form, responses: readonly Node[]): Answer {
  const names = Object.entries(PREFIXES)
    .map(([namespace, prefix]) => (kind === 'sabre' ? ` xmlns:${prefix}="${namespace}"` : ''))
    .join('')
  const root = kind === 'sabre' ? `d:multistatus${names}` : `multistatus xmlns="${DAV}"`
  const body = responses.map((node) => written(node, kind, DAV)).join('')
  return {
    status: 207,
    body: `<?xml version="1.0" encoding="utf-8"?>\n<${root}>${body}</${root.split(' ')[0]}>`,
    headers: {
      'content-type': kind === 'radicale' ? 'text/xml; charset=utf-8' : 'application/xml; charset=utf-8',
      dav: '1, 2, 3, calendar-access, addressbook, extended-mkcol',
    },
  }
}

/** Writes an element: with prefixes as sabre/dav does, or with a namespace of its own where it is another one. */
function written({ namespace, name, content = [] }: Node, kind: Form, within: string): string {
  const prefix = kind === 'sabre' ? PREFIXES[namespace] : undefined
  const tag = prefix ? `${prefix}:${name}` : name
  const start = prefix || namespace === within ? tag : `${tag} xmlns="${namespace}"`
  if (typeof content !== 'string') {
    const inner = content.map((node) => written(node, kind, prefix ? within : namespace)).join('')
    return inner ? `<${start}>${inner}</${tag}>` : `<${start}/>`
  }
  // Apple's server gives objects verbatim; a text that ends such a part is split.
  const isVerbatim = kind === 'apple' && name === 'calendar-data'
  const text = isVerbatim ? `<![CDATA[${content.replaceAll(']]>', ']]]]><![CDATA[>')}]]>` : escaped(content)
  return `<${start}>${text}</${tag}>`
}
