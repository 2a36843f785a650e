/** Renders a page within its document to text. Preact escapes all texts in its markup. */
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ComponentChildren, VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { assetPath } from './paths.ts'

export const HTML_TYPE = 'text/html; charset=utf-8'

export function sendPage(reply: FastifyReply, page: VNode, status = 200): FastifyReply {
  return sendHtml(reply, renderPage(page), status)
}

export function sendHtml(reply: FastifyReply, html: string, status: number): FastifyReply {
  return reply.code(status).type(HTML_TYPE).send(html)
}

const MOST_RENDERED = 100

/** Makes a renderer of a page that depends on these values alone, and keeps the text of the latest ones. */
export function renderedOnce<A extends readonly (string | number)[]>(make: (...given: A) => VNode) {
  const rendered = new LRUCache<string, string>({ max: MOST_RENDERED })
  return (...given: A): string => {
    const name = JSON.stringify(given)
    const html = rendered.get(name) ?? renderPage(make(...given))
    rendered.set(name, html)
    return html
  }
}

export function renderPage(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`
}

export interface DocumentProps {
  readonly title: string
  /** Browser scripts that the page loads. */
  readonly scripts?: readonly Script[]
  /** The path of the icon in the page's tab. */
  readonly icon?: string
  /** Further elements of the document's head. */
  readonly head?: ComponentChildren
  readonly children: ComponentChildren
}

export type Script = 'copy' | 'docs-search' | 'live' | 'log-check' | 'once' | 'passkeys' | 'receipt'

const ON_EVERY_PAGE: readonly Script[] = ['copy', 'once']

export function Document({ title, scripts = [], icon = assetPath('icon.svg'), head, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · Claimcheck`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={icon} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath('pages.css')} />
        {[...ON_EVERY_PAGE, ...scripts].map((name) => (
          <script type="module" src={assetPath(`${name}.js`)} />
        ))}
        {head}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        {children}
      </body>
    </html>
  )
}
