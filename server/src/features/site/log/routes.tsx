/** Serves the log explorer. The API serves everything that it shows as well: positions, hashes, times and proofs. */

import type { SignedTreeHead } from '@claimcheck/core/log'
import { ServiceError } from '../../../base/errors.ts'
import { prepareRefusal } from '../../../http/errors.ts'
import { cachePublicly } from '../../../http/hooks.ts'
import type { App } from '../../../http/instance.ts'
import type { CommandLine } from '../../../web/command-line.ts'
import { sendPage } from '../../../web/document.tsx'
import { Now } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { createLogGrowth } from '../../log/growth.ts'
import type { EntriesPage, LogService } from '../../log/log.ts'
import type { SiteDependencies } from '../dependencies.ts'
import { answerErrorsWithPages } from '../error-page.tsx'
import { FailedPage, LogPage, ProofPage, RefusedPage } from './pages.tsx'
import { logPaths } from './parts.tsx'
import { proofOf, type Typed, wholeNumber } from './question.ts'

const OF_LOG = { config: { cost: 'log_page' } } as const
const SHOWN_ENTRIES = 20
const SHOWN_ANCHORS = 10
const SHOWN_DAYS = 30

type Query = Readonly<Record<string, unknown>>

export function logRoutes(app: App, services: SiteDependencies, commandLine: CommandLine): void {
  const { log, now, ownAddress } = services
  const growth = createLogGrowth(services)
  const commands = () => ({ origin: ownAddress.origin(), commandLine })

  app.addHook('onRequest', cachePublicly)
  answerErrorsWithPages(app, FailedPage, { 400: 'This cannot be shown', 404: 'Page not found' })

  app.get<{ Querystring: Query }>(publicPaths.log, OF_LOG, async ({ query }, reply) => {
    const [days, entries, anchors] = await Promise.all([
      growth.days(SHOWN_DAYS),
      entriesBefore(log, numberIn(query, 'before')),
      log.anchors(SHOWN_ANCHORS, numberIn(query, 'anchors')),
    ])
    // The head is read last, so that its tree is at least as large as everything else that the page shows.
    const head = JSON.parse((await log.head()).treeHead) as SignedTreeHead
    return sendPage(
      reply,
      <Now.Provider value={now()}>
        <LogPage head={head} days={days} entries={entries} anchors={anchors} />
      </Now.Provider>,
    )
  })

  app.get<{ Querystring: Query }>(logPaths.proof, OF_LOG, async (request, reply) => {
    const typed = typedIn(request.query)
    if (typed.leaf === undefined && typed.first === undefined) return reply.redirect(`${publicPaths.log}#proofs`, 302)
    const { treeSize } = await log.entries(undefined, 1)
    try {
      const proof = await proofOf(log, typed, treeSize)
      const title = proof.kind === 'inclusion' ? `Entry ${proof.proof.leaf_index} is in the log` : 'The log only grew'
      return sendPage(reply, <ProofPage {...{ title, proof, typed, treeSize }} {...commands()} />)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { status, detail } = prepareRefusal(error, request, reply)
      return sendPage(reply, <RefusedPage problem={detail} typed={typed} treeSize={treeSize} />, status)
    }
  })

  app.get<{ Params: { index: string } }>(`${publicPaths.log}/:index`, OF_LOG, async (request, reply) => {
    const index = wholeNumber(request.params.index)
    const { treeSize } = await log.entries(undefined, 1)
    if (index === undefined || index >= treeSize) {
      const known = treeSize === 0 ? 'The log has no entries yet.' : `Its entries are 0 to ${treeSize - 1}.`
      throw new ServiceError('not_found', `The log has no such entry. ${known}`)
    }
    const typed = { leaf: String(index) }
    const proof = await proofOf(log, typed, treeSize)
    const [entry] = (await log.entries(index, 1)).entries
    return sendPage(
      reply,
      <ProofPage title={`Entry ${index}`} {...{ proof, entry, typed, treeSize }} {...commands()} />,
    )
  })
}

/** Reads the page of entries that ends below this index; the newest page without one. */
async function entriesBefore(log: LogService, before: number | undefined): Promise<EntriesPage> {
  if (before === undefined) return log.entries(undefined, SHOWN_ENTRIES)
  const start = Math.max(0, before - SHOWN_ENTRIES)
  return log.entries(start, Math.max(1, before - start))
}

/** Reads a whole number, if there is one. @throws ServiceError for any other text */
function numberIn(query: Query, name: string): number | undefined {
  const text = query[name]
  if (text === undefined) return undefined
  const number = typeof text === 'string' ? wholeNumber(text) : undefined
  if (number === undefined) throw new ServiceError('bad_request', `${name} must be a whole number`)
  return number
}

/** Reads the fields as they were typed. A name that is there twice counts as missing. */
function typedIn(query: Query): Typed {
  const text = (name: keyof Typed) => (typeof query[name] === 'string' ? query[name] : undefined)
  return { leaf: text('leaf'), size: text('size'), first: text('first'), second: text('second') }
}
