/** Serves the documentation. It is read and rendered when it is first asked for, and each page once. */
import type { VNode } from 'preact'
import { cachePublicly } from '../../../http/hooks.ts'
import type { App } from '../../../http/instance.ts'
import { readableActions } from '../../../plugins/action-page.ts'
import { HTML_TYPE, renderPage } from '../../../web/document.tsx'
import { publicPaths } from '../../../web/paths.ts'
import type { SiteDependencies } from '../dependencies.ts'
import type { OpenApi } from './api/api-pages.ts'
import { MissingPage, OverviewPage, ReadPage } from './docs-page.tsx'
import { type Documentation, readDocumentation } from './documentation.ts'
import { searchIndex } from './search-index.ts'

export function docsRoutes(
  app: App,
  { registry, config, features, ownAddress }: Pick<SiteDependencies, 'registry' | 'config' | 'features' | 'ownAddress'>,
): void {
  const documentation = once(() =>
    readDocumentation({
      actions: readableActions(registry),
      openApi: app.swagger() as unknown as OpenApi,
      config,
      pages: features.flatMap(({ pages = [] }) => pages),
      address: ownAddress.url(),
    }),
  )
  const search = once(() => searchIndex([...documentation().pages.values()]))
  const rendered = new Map<string, string>()

  /**
   * Renders a page once.
   * @param make makes the page, if it is not rendered yet
   */
  function render(path: string, make: (documentation: Documentation) => VNode): string {
    const html = rendered.get(path) ?? renderPage(make(documentation()))
    rendered.set(path, html)
    return html
  }

  app.addHook('onRequest', cachePublicly)

  app.get(publicPaths.docs, async (_request, reply) =>
    reply.type(HTML_TYPE).send(render('', (all) => <OverviewPage chapters={all.chapters} />)),
  )
  app.get(`${publicPaths.docs}/search.json`, { config: { cost: 'search_index' } }, async (_request, reply) =>
    reply.type('application/json').send(search()),
  )
  app.get<{ Params: { '*': string } }>(`${publicPaths.docs}/*`, async ({ params }, reply) => {
    const path = params['*']
    if (path === '') return reply.redirect(publicPaths.docs, 301)
    const page = documentation().pages.get(path)
    // One text serves all unknown addresses, because readers choose them.
    if (!page) {
      const html = render('?', (all) => <MissingPage chapters={all.chapters} />)
      return reply.code(404).header('cache-control', 'no-store').type(HTML_TYPE).send(html)
    }
    return reply
      .type(HTML_TYPE)
      .send(render(path, (all) => <ReadPage documentation={all} page={page} contact={config.securityContact} />))
  })
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
