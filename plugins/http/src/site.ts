/** A connection to a site: for ports and private addresses that claims cannot name by themselves. */
import { DestinationError, defineConnectionType, parseUrl, statusError, Type } from '@claimcheck/core/plugin'
import { readAddress } from './address.ts'

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https://[A-Za-z0-9\\[][A-Za-z0-9.:\\]-]*/?$',
      'x-pattern-help': 'enter https://, the name of the site and its port, without a path',
      maxLength: 512,
      description:
        'The address of the site, without a path: `https://` and its name, and its port where that is not 443.',
      examples: ['https://staging.example.com:8443'],
    }),
  },
  { additionalProperties: false },
)

export const site = defineConnectionType({
  provider: 'site',
  title: 'Site',
  options: Options,
  help: 'Sites at their usual port need no connection. Connect one that has another port, or a private address that the operator allows.',
  baseUrl: ({ base_url }) => base_url,
  fits({ base_url }, { target }) {
    const origin = parseUrl(base_url)?.origin
    return origin !== undefined && origin === readAddress(target)?.origin
  },
  trial: {
    title: 'Page',
    description: 'The address of a page of this site. When left out, its first page.',
    example: 'https://staging.example.com:8443/health',
  },
  async probe({ base_url }, { fetch, now, target }) {
    if (target !== undefined && readAddress(target)?.origin !== parseUrl(base_url)?.origin)
      throw new DestinationError('unsupported_target')
    const response = await fetch(target ?? base_url)
    await response.body?.cancel()
    // A site need not have a page at its root.
    const isMissing = response.status === 404 && target === undefined
    if (!response.ok && !isMissing) throw statusError(response, now())
    return { proves: isMissing ? 'reached' : 'works', scopes: [], warnings: [] }
  },
})
