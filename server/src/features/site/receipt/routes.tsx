/** The routes of a receipt's page, its badge, and the file to take along. Nothing lists receipts: everybody who has the id may read. */
import { formatInstant } from '@claimcheck/core/rules'
import { bundleText } from '@claimcheck/core/words/document'
import { visible } from '@claimcheck/core/words/plain-text'
import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { isId, JSON_TYPE } from '../../../http/route.ts'
import type { ShownRevisit } from '../../../storage/revisits.ts'
import type { CommandLine } from '../../../web/command-line.ts'
import { sendPage } from '../../../web/document.tsx'
import { assetPath, publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'
import { hasChangedSince, sinceWords } from '../../../web/receipt-view/since.ts'
import { uncheckedSteps } from '../../../web/receipt-view/steps.ts'
import { ErasedError } from '../../receipts/erased.ts'
import { toErasedReceipt } from '../../receipts/erased-receipt.ts'
import type { SiteDependencies } from '../dependencies.ts'
import { type BadgeTone, badgeOf, iconOf } from './badge.ts'
import { type CheckedReceipt, createCheckedReceipts } from './checked.ts'
import { ErasedPage } from './erased-page.tsx'
import { ReceiptArticle, type ReceiptLinks, rawDocuments, titleOf } from './receipt-page.tsx'

const SVG_TYPE = 'image/svg+xml; charset=utf-8'
const HEADERS = { 'x-robots-tag': 'noindex', 'cache-control': 'public, max-age=5' }
const BADGE_CACHE = 'public, max-age=300'

const IMAGES: Readonly<Record<string, (tone: BadgeTone, hasChanged: boolean) => string>> = {
  svg: badgeOf,
  'icon.svg': iconOf,
}

export function receiptPageRoutes(app: App, services: SiteDependencies, commandLine: CommandLine): void {
  const checked = createCheckedReceipts(services)

  app.get<{ Params: { file: string } }>('/r/:file', { config: { cost: 'receipt_page' } }, async (request, reply) => {
    const [, id = '', form = ''] = /^([^.]+)(?:\.(svg|json|icon\.svg))?$/.exec(request.params.file) ?? []
    // Badges, icons and previews are no better than the documents: a key may be revoked, a row of the database changed.
    const found = isId(id) ? await checked.find(id).catch(orErased) : undefined
    // An unknown id gets the same answer as a text that can be no id.
    if (!found)
      throw new ServiceError('not_found', 'there is no such receipt: look whether the whole address was copied')
    reply.headers(HEADERS)
    const revisits = found instanceof ErasedError ? [] : await services.storage.read.revisits.ofReceipt(id)
    const image = IMAGES[form]
    // Programs that show images from elsewhere show none with an error status, so those of an erased receipt have none.
    if (image)
      return reply
        .type(SVG_TYPE)
        .header('cache-control', BADGE_CACHE)
        .send(image(toneOf(found), hasChangedSince(revisits)))
    if (found instanceof ErasedError) return sendErased(reply, form, found, commandLine)
    if (form === 'json') return reply.type(JSON_TYPE).send(bundleText(found.bundle))
    return sendReceipt(reply, found, linksOf(id, revisits, services, commandLine))
  })
}

function toneOf(found: CheckedReceipt | ErasedError): BadgeTone {
  return found instanceof ErasedError ? 'erased' : found.view.tone
}

/** Returns the error that tells that a receipt is erased. @throws any other error */
function orErased(error: unknown): ErasedError {
  if (error instanceof ErasedError) return error
  throw error
}

function sendErased(
  reply: FastifyReply,
  form: string,
  { message, receipt }: ErasedError,
  commandLine: CommandLine,
): FastifyReply {
  if (form !== 'json') return sendPage(reply, <ErasedPage receipt={receipt} commandLine={commandLine} />, 410)
  const document = { detail: message, erased: toErasedReceipt(receipt) }
  return reply.code(410).type(JSON_TYPE).send(document)
}

function linksOf(
  receiptId: string,
  revisits: readonly ShownRevisit[],
  { ownAddress }: SiteDependencies,
  commandLine: CommandLine,
): ReceiptLinks {
  const origin = ownAddress.origin()
  const document = `${origin}/v1/receipts/${receiptId}`
  return {
    page: origin + publicPaths.receipt(receiptId),
    bundle: publicPaths.bundle(receiptId),
    badge: publicPaths.badge(receiptId),
    checker: publicPaths.checker,
    plainIcon: assetPath('icon.svg'),
    document,
    verify: `${commandLine.program} verify ${document}`,
    verifyWhere: commandLine.where,
    since: revisits.flatMap((revisit) => {
      const words = sinceWords(revisit)
      const { findingId } = revisit
      return words === undefined
        ? []
        : [{ words, finding: findingId === null ? undefined : `/v1/findings/${findingId}` }]
    }),
  }
}

function sendReceipt(reply: FastifyReply, { bundle, view }: CheckedReceipt, links: ReceiptLinks): FastifyReply {
  const title = titleOf(view)
  const description = visible(`${view.when} ${view.destination.chosenBy}`)
  return sendPage(
    reply,
    <PublicPage
      title={title}
      scripts={['receipt']}
      icon={`${publicPaths.receipt(view.receiptId)}.icon.svg`}
      head={
        <>
          <meta name="robots" content="noindex" />
          <meta name="description" content={description} />
          <meta property="og:type" content="article" />
          <meta property="og:site_name" content="Claimcheck" />
          <meta property="og:title" content={title} />
          <meta property="og:description" content={description} />
          <meta property="og:url" content={links.page} />
          <meta property="article:published_time" content={formatInstant(view.timeline.issuedAt)} />
          <meta name="twitter:card" content="summary" />
        </>
      }
    >
      <div id="receipt" data-bundle={links.bundle} data-links={JSON.stringify(links)}>
        <ReceiptArticle
          view={view}
          steps={uncheckedSteps()}
          checkedBy={undefined}
          links={links}
          raw={rawDocuments(bundle)}
        />
      </div>
    </PublicPage>,
  )
}
