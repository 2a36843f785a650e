/** Pages for errors of public pages. */
import type { FastifyError } from 'fastify'
import type { VNode } from 'preact'
import { type NotFoundPage, prepareRefusal } from '../../http/errors.ts'
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

const missing = renderedOnce((title: string, detail: string) => <ErrorPage title={title} detail={detail} />)

/** Makes the page of an address that does not exist. */
export function notFoundPage(): NotFoundPage {
  const detail = 'There is no page at this address: look whether the whole address was copied.'
  return { headers: pageHeaders(), html: missing(TITLES[404]!, detail) }
}

type ErrorPageProps = Readonly<Record<'title' | 'detail', string>>

/**
 * Answers errors with pages.
 * @param titles titles by status, where they differ from the usual ones
 */
export function answerErrorsWithPages(
  pages: App,
  Page: (props: ErrorPageProps) => VNode = ErrorPage,
  titles: Readonly<Record<number, string>> = {},
): void {
  // Error pages are rendered once: anyone asks for them as often as they like.
  const page = renderedOnce((title: string, detail: string) => <Page title={title} detail={detail} />)
  pages.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, detail } = prepareRefusal(error, request, reply)
    // A request that is refused at the gate reaches no hook of these pages.
    reply.headers(pageHeaders())
    const title = titles[status] ?? TITLES[status] ?? 'Something went wrong'
    return sendHtml(reply, page(title, sentence(detail)), status)
  })
}

function ErrorPage({ title, detail }: ErrorPageProps) {
  return (
    <PublicPage title={title}>
      <h1>{title}</h1>
      <p class="notice problem" role="alert">
        {detail}
      </p>
      <p>
        <a href={publicPaths.docs}>Read the documentation</a>, or <a href={publicPaths.home}>begin at the home page</a>.
      </p>
    </PublicPage>
  )
}
