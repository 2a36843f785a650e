/** The page for an error of a public page. */
import type { FastifyError } from 'fastify'
import { prepareRefusal } from '../../http/errors.ts'
import type { App } from '../../http/instance.ts'
import { renderedOnce, sendHtml } from '../../web/document.tsx'
import { pageHeaders } from '../../web/headers.ts'
import { publicPaths } from '../../web/paths.ts'
import { PublicPage } from '../../web/public-page.tsx'
import { sentence } from '../../web/words.tsx'

const TITLES: Readonly<Record<number, string>> = {
  404: 'Not found',
  429: 'Too many requests',
  503: 'Not available now',
}

export function answerErrorsWithPages(pages: App): void {
  pages.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, detail } = prepareRefusal(error, request, reply)
    // What is refused at the gate reaches no hook of these pages.
    reply.headers(pageHeaders())
    return sendHtml(reply, errorPage(TITLES[status] ?? 'Something went wrong', detail), status)
  })
}

/** Rendered once: anyone asks for them as often as they like. */
const errorPage = renderedOnce((title: string, detail: string) => (
  <PublicPage title={title}>
    <h1>{title}</h1>
    <p class="notice problem" role="alert">
      {sentence(detail)}
    </p>
    <p>
      <a href={publicPaths.docs}>Read the documentation</a>, or <a href={publicPaths.home}>go to the console</a>.
    </p>
  </PublicPage>
))
