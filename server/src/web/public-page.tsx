/** A public page, without a session: links to the documentation, the log and the console are at the top. */
import type { ComponentChildren } from 'preact'
import { Document, type DocumentProps } from './document.tsx'
import { Logo } from './parts/icons.tsx'
import { publicPaths } from './paths.ts'

export type PublicSection = 'docs' | 'log'

const SECTIONS: readonly (readonly [PublicSection, string])[] = [
  ['docs', 'Documentation'],
  ['log', 'Log'],
]

export interface PublicPageProps extends DocumentProps {
  /** The section of the navigation that the page belongs to. */
  readonly section?: PublicSection
  /** Markup that stands beside the content. */
  readonly side?: ComponentChildren
}

export function PublicPage({ section, side, children, ...document }: PublicPageProps) {
  const main = (
    <main id="main" tabIndex={-1}>
      {children}
    </main>
  )
  return (
    <Document {...document}>
      <header class="bar">
        <a class="brand" href={publicPaths.home}>
          <Logo /> Claimcheck
        </a>
        <nav class="sections" aria-label="Public pages">
          {SECTIONS.map(([name, label]) => (
            <a href={publicPaths[name]} aria-current={name === section ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      </header>
      {side ? <div class="with-side">{[side, main]}</div> : main}
    </Document>
  )
}
