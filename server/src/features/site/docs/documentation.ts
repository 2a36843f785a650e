/** The documentation of one installation: every page, rendered once, with its neighbours and what a search finds in it. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import type { VNode } from 'preact'
import type { HostConfig } from '../../../config/config.ts'
import type { Page } from '../../../host/feature.ts'
import { actionIndex, actionPage, type Readable } from '../../../plugins/action-page.ts'
import { inCommandLineOf } from '../../../web/command-line.ts'
import { publicPaths } from '../../../web/paths.ts'
import { apiPages, type OpenApi } from './api/api-pages.ts'
import { CHAPTERS } from './contents.ts'
import type { Language } from './languages.ts'
import { type LinkOf, renderMarkdown, type Section } from './markdown.tsx'
import { type SearchIndex, searchIndex } from './search-index.ts'

export interface DocsPage {
  /** Below the documentation: `concepts`. */
  readonly path: string
  readonly href: string
  readonly title: string
  readonly heading: VNode
  readonly body: VNode
  readonly sections: readonly Section[]
  readonly languages: readonly Language[]
  readonly chapter: string
}

export interface ReadChapter {
  readonly title: string
  readonly about: string
  readonly pages: readonly DocsPage[]
}

export interface Documentation {
  readonly chapters: readonly ReadChapter[]
  /** By path. */
  readonly pages: ReadonlyMap<string, DocsPage>
  readonly search: SearchIndex
}

export interface DocsSources {
  readonly actions: readonly Readable[]
  readonly openApi: OpenApi
  readonly config: Pick<HostConfig, 'verifierPackage'>
  /** Those of features, after the chapters' own. */
  readonly pages?: readonly Page[]
}

/** A page as Markdown. Its links are relative to `file`, which exists in the repository or nowhere. */
export interface Source {
  readonly path: string
  readonly file: string
  readonly text: string
  /** Written by the authors of plugins: no link in it leads elsewhere. */
  readonly isForeign?: boolean
}

const ACTIONS = 'server/docs/actions'

export function readDocumentation({ actions, openApi, config, pages: more = [] }: DocsSources): Documentation {
  const made = {
    actions: (): Source[] => [
      { path: 'actions', file: `${ACTIONS}/README.md`, text: actionIndex(actions), isForeign: true },
      ...actions.map((one) => {
        const { action } = one.profile
        return { path: `actions/${action}`, file: `${ACTIONS}/${action}.md`, text: actionPage(one), isForeign: true }
      }),
    ],
    api: () => apiPages(openApi),
  }
  const read = ({ path, file, url }: Omit<Page, 'chapter'>): Source => {
    return { path, file, text: inCommandLineOf(readFileSync(url, 'utf8'), config) }
  }
  const sources = CHAPTERS.map(({ title, about, pages }) => ({
    title,
    about,
    pages: [
      ...pages.flatMap((page) => (typeof page === 'string' ? made[page]() : read({ ...page, url: urlOf(page.file) }))),
      ...more.filter(({ chapter }) => chapter === title).map(read),
    ],
  }))
  const paths = new Map(sources.flatMap(({ pages }) => pages.map(({ path, file }) => [file, path] as const)))
  const chapters = sources.map((chapter) => ({
    ...chapter,
    pages: chapter.pages.map((source) => toPage(source, chapter.title, paths)),
  }))
  const pages = chapters.flatMap((chapter) => chapter.pages)
  return {
    chapters,
    pages: new Map(pages.map((page) => [page.path, page])),
    search: searchIndex(explainedFirst(pages)),
  }
}

/** The reference repeats every name: among equal finds, what explains a name comes before it. */
function explainedFirst(pages: readonly DocsPage[]): DocsPage[] {
  const isReference = ({ path }: DocsPage) => path.startsWith('api/')
  return [...pages.filter((page) => !isReference(page)), ...pages.filter(isReference)]
}

function toPage(source: Source, chapter: string, paths: ReadonlyMap<string, string>): DocsPage {
  const { path } = source
  return { path, href: docsHref(path), chapter, ...renderMarkdown(source.text, linkOf(source, paths)) }
}

export function docsHref(path: string): string {
  return path === '' ? publicPaths.docs : `${publicPaths.docs}/${path}`
}

const OWN_FOLDER = 'server/docs/'

/** Pages of the server are next to its code; the build copies the others. */
function urlOf(file: string): URL {
  return file.startsWith(OWN_FOLDER)
    ? new URL(`../../../../docs/${file.slice(OWN_FOLDER.length)}`, import.meta.url)
    : new URL(`../../../docs/${file}`, import.meta.url)
}

/** The README of the repository leads to everything, as the first page does here. */
const README = 'README.md'

/** Links between pages lead to the pages here. Links to other files of the repository lead nowhere on a server. */
function linkOf({ file, isForeign }: Source, paths: ReadonlyMap<string, string>): LinkOf {
  return (href) => {
    if (/^https?:\/\//.test(href)) return isForeign ? undefined : href
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return undefined
    const [target = '', anchor] = href.split('#')
    const found = target === '' ? file : normalize(join(dirname(file), target))
    const path = found === README ? '' : paths.get(found)
    if (path === undefined) return undefined
    return anchor === undefined || path === '' ? docsHref(path) : `${target === '' ? '' : docsHref(path)}#${anchor}`
  }
}
