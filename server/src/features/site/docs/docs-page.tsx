/** A page of the documentation, with links to all others. */
import type { ComponentChildren } from 'preact'
import { publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'
import type { DocsPage, Documentation } from './documentation.ts'
import { LANGUAGES, type Language } from './markdown.tsx'

interface FrameProps extends Pick<Documentation, 'chapters'> {
  readonly title: string
  readonly current?: DocsPage
  readonly isOverview?: boolean
  readonly children: ComponentChildren
}

function Frame({ title, chapters, current, isOverview, children }: FrameProps) {
  const side = (
    <div class="docs-side">
      <Search />
      <details class="docs-menu">
        <summary>{current?.title ?? 'All pages'}</summary>
        <Menu chapters={chapters} current={current} isOverview={isOverview} />
      </details>
    </div>
  )
  return (
    <PublicPage section="docs" title={title} scripts={['docs-search']} side={side}>
      {children}
    </PublicPage>
  )
}

/** The search field, hidden until its script shows it. */
function Search() {
  return (
    <search class="docs-search" data-index={`${publicPaths.docs}/search.json`} hidden>
      <label class="spoken" for="docs-search">
        Search the documentation
      </label>
      <input id="docs-search" type="search" placeholder="Search" autocomplete="off" />
      <p class="spoken" role="status" />
      <ul class="docs-found" hidden />
    </search>
  )
}

function Menu({ chapters, current, isOverview }: Omit<FrameProps, 'title' | 'children'>) {
  return (
    <nav aria-label="Documentation">
      <a href={publicPaths.docs} aria-current={isOverview ? 'page' : undefined}>
        Overview
      </a>
      {chapters.map(({ title, pages }) => (
        <>
          <p>{title}</p>
          <ul>
            {pages.map((page) => (
              <li>
                <a href={page.href} aria-current={page === current ? 'page' : undefined}>
                  {page.title}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </nav>
  )
}

/**
 * A page of the documentation.
 * @param contact where to report a weakness
 */
export function ReadPage({
  documentation,
  page,
  contact,
}: {
  documentation: Documentation
  page: DocsPage
  contact: string | undefined
}) {
  const all = [...documentation.pages.values()]
  const at = all.indexOf(page)
  const parts = page.sections.filter(({ heading }) => heading.level === 2)
  return (
    <Frame title={page.title} chapters={documentation.chapters} current={page}>
      <div class="docs">
        <article class="docs-text">
          {page.heading}
          {page.path === 'security' && <SecurityContact contact={contact} />}
          {page.languages.length > 0 && <LanguageChoice languages={page.languages} />}
          {page.body}
          <Neighbours previous={all[at - 1]} next={all[at + 1]} />
        </article>
        {parts.length > 2 && (
          <nav class="docs-parts" aria-label="On this page">
            <p>On this page</p>
            <ul>
              {parts.map(({ heading }) => (
                <li>
                  <a href={`#${heading.id}`}>{heading.text}</a>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </div>
    </Frame>
  )
}

function SecurityContact({ contact }: { contact: string | undefined }) {
  if (contact === undefined) return <p>The operator of this service names no address for reports of weaknesses.</p>
  return (
    <p>
      To report a weakness of this service: <a href={contact}>{contact.replace(/^(mailto|tel):/, '')}</a>.
    </p>
  )
}

/** The choice of a language for examples. It works by style alone, without scripts. */
function LanguageChoice({ languages }: { languages: readonly Language[] }) {
  return (
    <fieldset class="docs-languages">
      <legend>Examples in</legend>
      {languages.map((name, index) => (
        <label>
          <input type="radio" name="language" id={`language-${name}`} checked={index === 0} /> {LANGUAGES[name]}
        </label>
      ))}
    </fieldset>
  )
}

function Neighbours({ previous, next }: Readonly<Record<'previous' | 'next', DocsPage | undefined>>) {
  return (
    <nav class="docs-neighbours" aria-label="Previous and next page">
      {previous && (
        <a href={previous.href} rel="prev">
          <small>Previous</small> {previous.title}
        </a>
      )}
      {next && (
        <a href={next.href} rel="next" class="next">
          <small>Next</small> {next.title}
        </a>
      )}
    </nav>
  )
}

/** The first page of the documentation, which leads to all chapters. */
export function OverviewPage({ chapters }: Pick<Documentation, 'chapters'>) {
  return (
    <Frame title="Documentation" chapters={chapters} isOverview>
      <div class="docs-text">
        <h1>Documentation</h1>
        <p>
          Agents say what they did. Claimcheck looks for itself, decides, and signs a receipt that anyone can check. The{' '}
          <a href={`${publicPaths.docs}/quickstart`}>quickstart</a> takes you to your first receipt.
        </p>
        <div class="cards">
          {chapters.map(({ title, about, pages }) => (
            <section class="card">
              <h2>{title}</h2>
              <p>{about}</p>
              <ul>
                {pages.map(({ href, title }) => (
                  <li>
                    <a href={href}>{title}</a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </Frame>
  )
}

export function MissingPage({ chapters }: Pick<Documentation, 'chapters'>) {
  return (
    <Frame title="Page not found" chapters={chapters}>
      <div class="docs-text">
        <h1>Page not found</h1>
        <p>
          The documentation has no page at this address. Search for what you need, choose a page from the list, or begin
          with the <a href={publicPaths.docs}>overview</a>.
        </p>
      </div>
    </Frame>
  )
}
