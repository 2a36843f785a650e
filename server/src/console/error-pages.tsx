/** Pages for errors. */
import type { FastifyError } from 'fastify'
import { prepareRefusal } from '../http/errors.ts'
import type { App } from '../http/instance.ts'
import { sendPage } from '../web/document.tsx'
import { PlainPage } from './page.tsx'
import { paths } from './paths.ts'

export function answerErrorsWithPages(pages: App): void {
  pages.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, detail } = prepareRefusal(error, request, reply)
    const page = (
      <PlainPage title={TITLES[status] ?? 'Something went wrong'} problem={detail}>
        <p>
          <a href={paths.home}>Go to the console</a>
        </p>
      </PlainPage>
    )
    return sendPage(reply, page, status)
  })
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Page not found',
  429: 'Too many attempts',
  503: 'Not available now',
}
