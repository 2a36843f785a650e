/** The documentation of one installation: every page, rendered once, with its neighbours. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import type { HostConfig } from '../../../config/config.ts'
import type { Page } from '../../../host/feature.ts'
import { actionIndex, actionPage, type Readable } from '../../../plugins/action-page.ts'
import { inCommandLineOf } from '../../../web/command-line.ts'
import { publicPaths } from '../../../web/paths.ts'
import { apiPages, type OpenApi } from './api/api-pages.ts'
import { CHAPTERS } from './contents.ts'
import { type Rendered, renderMarkdown } from './markdown.tsx'

export interface DocsPage extends Rendered {
  /** The page's path below the documentation, such as `concepts`. */
  readonly path: string
  readonly href: string
  /** Words by which people search for the page, and which are not its title's. */
  readonly keywords: string
}

export type Documentation = ReturnType<typeof readDocumentation>

/** A page as Markdown. Its links are relative to `file`, which exists in the repository or nowhere. */
interface Source {
  readonly path: string
  readonly file: string
  readonly text: string
  readonly keywords?: string
  /** True if the authors of plugins wrote the page, whose links then lead nowhere else. */
  readonly isForeign?: boolean
}

/** The address of the service in the files of the repository. */
const EXAMPLE_ADDRESS = 'http://localhost:8080'

const ACTIONS = 'server/docs/actions'

/**
 * Reads the documentation.
 * @param pages the pages of features, after the chapters' own
 */
export function readDocumentation({
  actions,
  openApi,
  config,
  pages: more,
  address,
}: {
  readonly actions: readonly Readable[]
  readonly openApi: OpenApi
  readonly config: Pick<HostConfig, 'verifierPackage'>
  readonly pages: readonly Page[]
  /** The address of this service, which stands in examples. */
  readonly address: string
}) {
  const made = {
    actions: (): Source[] => [
      { path: 'actions', file: `${ACTIONS}/README.md`, text: actionIndex(actions), isForeign: true },
      ...actions.map((one) => {
        const { action } = one.profile
        return { path: `actions/${action}`, file: `${ACTIONS}/${action}.md`, text: actionPage(one), isForeign: true }
      }),
    ],
    api: (): Source[] => apiPages(openApi, address),
  }
  const read = ({ path, file, url, keywords = '' }: Omit<Page, 'chapter'> & Pick<Source, 'keywords'>): Source => {
    const text = readFileSync(url, 'utf8').replaceAll(EXAMPLE_ADDRESS, address)
    return { path, file, keywords, text: inCommandLineOf(text, config) }
  }
  const sources = CHAPTERS.map(({ title, about, pages }) => ({
    title,
    about,
    pages: [
      ...pages.flatMap((page) => (typeof page === 'string' ? made[page]() : read({ ...page, url: urlOf(page.file) }))),
      ...more.filter(({ chapter }) => chapter === title).map(read),
    ],
  }))
  const files = sources.flatMap(({ pages }) => pages.map(({ path, file }) => [file, path] as const))
  // The README of the repository leads to everything, as the first page does here.
  const paths = new Map([['README.md', ''], ...files])
  const chapters = sources.map((chapter) => ({
    ...chapter,
    pages: chapter.pages.map(
      (source): DocsPage => ({
        path: source.path,
        href: docsHref(source.path),
        keywords: source.keywords ?? '',
        ...renderMarkdown(source.text, (link) => hrefOf(source, link, paths)),
      }),
    ),
  }))
  const pages = chapters.flatMap((chapter) => chapter.pages)
  return {
    chapters,
    /** The pages by their path. */
    pages: new Map(pages.map((page) => [page.path, page])),
  }
}

function docsHref(path: string): string {
  return path === '' ? publicPaths.docs : `${publicPaths.docs}/${path}`
}

const OWN_FOLDER = 'server/docs/'

/** Finds the file of a page. Pages of the server are next to its code; the build copies the others. */
function urlOf(file: string): URL {
  return file.startsWith(OWN_FOLDER)
    ? new URL(`../../../../docs/${file.slice(OWN_FOLDER.length)}`, import.meta.url)
    : new URL(`../../../docs/${file}`, import.meta.url)
}

/**
 * Returns the address of a link on a page. Links between pages lead to the pages here; undefined for other files of the repository, which a
 * server does not have.
 */
function hrefOf({ file, isForeign }: Source, link: string, paths: ReadonlyMap<string, string>): string | undefined {
  if (/^https?:\/\//.test(link)) return isForeign ? undefined : link
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(link)) return undefined
  const [target = '', anchor] = link.split('#')
  const path = paths.get(target === '' ? file : normalize(join(dirname(file), target)))
  if (path === undefined) return undefined
  if (anchor === undefined || path === '') return docsHref(path)
  return target === '' ? `#${anchor}` : `${docsHref(path)}#${anchor}`
}
