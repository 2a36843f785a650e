/** The routes of the page of a receipt, of its badge, and of the file to take along. Nothing lists receipts: who has the id may read. */
import type { Bundle } from '@claimcheck/core/receipts'
import { bundleText } from '@claimcheck/core/words/document'
import { visible } from '@claimcheck/core/words/plain-text'
import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import type { OwnAddress } from '../../../base/own-address.ts'
import type { App } from '../../../http/instance.ts'
import { isId, JSON_TYPE } from '../../../http/route.ts'
import type { CommandLine } from '../../../web/command-line.ts'
import { sendPage } from '../../../web/document.tsx'
import { assetPath, publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'
import { uncheckedSteps } from '../../../web/receipt-view/steps.ts'
import type { ReceiptView } from '../../../web/receipt-view/view.ts'
import { ErasedError } from '../../receipts/erased.ts'
import { toErasedReceipt } from '../../receipts/erased-receipt.ts'
import { badgeOf, iconOf } from './badge.ts'
import type { BundleSources } from './bundles.ts'
import { createCheckedReceipts } from './checked.ts'
import { ErasedPage } from './erased-page.tsx'
import { rawDocuments } from './raw.ts'
import { issuedAt, ReceiptArticle, type ReceiptLinks, titleOf } from './receipt-page.tsx'

export interface ReceiptPageServices extends BundleSources {
  /** The origin of this service, as the reader's browser names it. */
  readonly ownAddress: OwnAddress
  readonly commandLine: CommandLine
}

interface ReceiptPath {
  readonly Params: { readonly file: string }
}

const SVG_TYPE = 'image/svg+xml; charset=utf-8'
const HEADERS = { 'x-robots-tag': 'noindex', 'cache-control': 'public, max-age=5' }
const BADGE_CACHE = 'public, max-age=300'

export function receiptPageRoutes(app: App, services: ReceiptPageServices): void {
  const checked = createCheckedReceipts(services)

  app.get<ReceiptPath>('/r/:file', { config: { cost: 'receipt_page' } }, async (request, reply) => {
    const [, id = '', form = ''] = /^([^.]+)(?:\.(svg|json|icon\.svg))?$/.exec(request.params.file) ?? []
    // No badge, icon or preview is better than the documents: a key may be revoked, a row of the database changed.
    const found = isId(id) ? await checked.find(id).catch(orErased) : undefined
    // An unknown id answers like one that can be none.
    if (!found)
      throw new ServiceError('not_found', 'there is no such receipt: look whether the whole address was copied')
    reply.headers(HEADERS)
    if (form === 'svg' || form === 'icon.svg') {
      // Programs that show images from elsewhere show none with an error status: those of an erased receipt have none.
      const tone = found instanceof ErasedError ? 'erased' : found.view.tone
      const image = form === 'svg' ? badgeOf(tone) : iconOf(tone)
      return reply.type(SVG_TYPE).header('cache-control', BADGE_CACHE).send(image)
    }
    if (found instanceof ErasedError) return sendErased(reply, form, found, services.commandLine)
    const { bundle, view } = found
    if (form === 'json') return reply.type(JSON_TYPE).send(bundleText(bundle))
    return sendReceipt(reply, bundle, view, linksOf(id, services))
  })
}

/** @throws any other error */
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

function linksOf(receiptId: string, { ownAddress, commandLine }: ReceiptPageServices): ReceiptLinks {
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
  }
}

function sendReceipt(reply: FastifyReply, bundle: Bundle, view: ReceiptView, links: ReceiptLinks): FastifyReply {
  const title = titleOf(view)
  const description = visible(`${view.when} ${view.destination.chosenBy}`)
  return sendPage(
    reply,
    <PublicPage
      title={title}
      scripts={['receipt']}
      styles={['receipt']}
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
          <meta property="article:published_time" content={issuedAt(view)} />
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
