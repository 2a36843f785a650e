/** The console as a person sees it: every page that a link leads to, and every form that stands there. */
import type { Visitor } from '../support/visitor.ts'
import type { Pairs } from './change.ts'

export interface Form {
  readonly method: string
  readonly action: string
  /** As a browser would send them, where nothing is typed. */
  readonly fields: Pairs
}

export interface Site {
  readonly pages: readonly string[]
  readonly forms: readonly Form[]
}

const MOST_PAGES = 60

/** From `start`, through the console alone. Of addresses that differ in their query one or two are seen. */
export async function crawl(visitor: Visitor, start: string): Promise<Site> {
  const waiting = [start]
  const pages = new Set<string>()
  const seen = new Map<string, number>()
  const forms = new Map<string, Form>()
  for (let path = waiting.shift(); path !== undefined && pages.size < MOST_PAGES; path = waiting.shift()) {
    const { html, path: reached } = await visitor.get(path)
    pages.add(path)
    for (const form of formsOf(html, reached)) {
      const names = form.fields.map(([name]) => name).join()
      forms.set(`${form.method} ${form.action} ${names}`, form)
    }
    for (const link of linksOf(html, reached)) {
      const [pathname = ''] = link.split('?')
      const times = seen.get(pathname) ?? 0
      if (pages.has(link) || waiting.includes(link) || times >= 2) continue
      seen.set(pathname, times + 1)
      waiting.push(link)
    }
  }
  return { pages: [...pages], forms: [...forms.values()] }
}

function linksOf(html: string, page: string): string[] {
  return [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)]
    .map(([, href]) => pathOf(href!, page))
    .filter((path) => path.startsWith('/console'))
}

/** Address and query; empty for what is elsewhere. */
function pathOf(href: string, page: string): string {
  const { origin, pathname, search } = new URL(plain(href), new URL(page, 'http://here.invalid'))
  return origin === 'http://here.invalid' ? pathname + search : ''
}

export function formsOf(html: string, page: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', inside = '']) => ({
    method: (attribute(attributes, 'method') ?? 'get').toUpperCase(),
    action: pathOf(attribute(attributes, 'action') ?? '', page),
    fields: fieldsOf(inside),
  }))
}

function fieldsOf(html: string): Pairs {
  const fields: [string, string][] = []
  const elements = /<input\b([^>]*)>|<(button|textarea|select)\b([^>]*)>(.*?)<\/\2>/gs
  for (const [, input, tag, rest, inside = ''] of html.matchAll(elements)) {
    const attributes = input ?? rest ?? ''
    const name = attribute(attributes, 'name')
    if (name === undefined) continue
    if (tag === 'textarea') fields.push([name, plain(inside)])
    else if (tag === 'select') fields.push([name, chosenOf(inside)])
    else fields.push([name, attribute(attributes, 'value') ?? ''])
  }
  return fields
}

function chosenOf(html: string): string {
  const options = [...html.matchAll(/<option\b([^>]*)>/g)].map(([, attributes]) => attributes!)
  const chosen = options.find((attributes) => /\bselected\b/.test(attributes)) ?? options[0] ?? ''
  return attribute(chosen, 'value') ?? ''
}

function attribute(attributes: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1]
  return value === undefined ? undefined : plain(value)
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
