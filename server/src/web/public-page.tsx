/** A page for everybody, without a session: the way to the documentation, the log and the console stands at the top. */
import { Document, type DocumentProps } from './document.tsx'
import { Logo } from './parts/icons.tsx'
import { publicPaths } from './paths.ts'

export type PublicSection = 'docs' | 'log'

const SECTIONS: readonly (readonly [PublicSection, string])[] = [
  ['docs', 'Documentation'],
  ['log', 'Log'],
]

export interface PublicPageProps extends DocumentProps {
  /** The one that the page belongs to. */
  readonly section?: PublicSection
}

export function PublicPage({ section, children, ...document }: PublicPageProps) {
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
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </Document>
  )
}
