/** Serves the home for strangers, and leads from a receipt that somebody types to its page. */
import type { SignedTreeHead } from '@claimcheck/core/log'
import { cachePublicly } from '../../../http/hooks.ts'
import type { App } from '../../../http/instance.ts'
import { sendPage } from '../../../web/document.tsx'
import { publicPaths } from '../../../web/paths.ts'
import type { SiteDependencies } from '../dependencies.ts'
import { HomePage } from './page.tsx'

export function homeRoutes(app: App, { log, ownAddress, config, isActive }: SiteDependencies): void {
  app.addHook('onRequest', cachePublicly)

  app.get<{ Querystring: { readonly receipt?: unknown } }>(
    publicPaths.home,
    { config: { cost: 'log' } },
    async ({ query: { receipt } }, reply) => {
      const typed = typeof receipt === 'string' ? receipt.trim().slice(0, 500) : undefined
      const id = typed && receiptIn(typed)
      if (id) return reply.redirect(publicPaths.receipt(id), 303)
      const { anchors } = await log.anchors(1, undefined)
      const { treeHead } = await log.head()
      return sendPage(
        reply,
        <HomePage
          head={JSON.parse(treeHead) as SignedTreeHead}
          anchored={anchors[0]?.treeSize}
          issuer={config.issuerName}
          contact={config.securityContact}
          address={ownAddress.url()}
          hasConsole={isActive('console')}
          typed={typed}
        />,
        typed === undefined ? 200 : 422,
      )
    },
  )
}

/** Finds the id of a receipt in what somebody typed: the id itself, or a link of any service that has it. */
export function receiptIn(typed: string): string | undefined {
  return /(?:^|[/=\s])(rcpt_[0-9A-Z]{26})(?=$|[/.?#\s])/.exec(typed)?.[1]
}
