/** The connection of a workspace to a CalDAV server, and a first read that tells whether its account works. */
import {
  DestinationError,
  defineConnectionType,
  isRefused,
  parseUrl,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { normalizePath, placeOf } from '../target.ts'
import { openCaldav } from './api.ts'

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
      'x-pattern-help': 'enter an address that begins with https://',
      maxLength: 300,
      description: 'The address of the CalDAV server, of an account at it, or of one calendar.',
      examples: ['https://dav.example.com/calendars/ann'],
    }),
    username: Type.String({
      title: 'User',
      pattern: '^[^:]+$',
      maxLength: 255,
      'x-pattern-help': 'enter the name of the account, without a colon',
      description: 'The name of the account.',
      examples: ['ann'],
    }),
    password: secret({ title: 'Password', description: 'The password of the account, or an app password.' }),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Any CalDAV server that takes a password (Basic), such as Nextcloud, Radicale, Baïkal with Basic, Fastmail and iCloud with an app password.
An account to which the calendar is shared for reading is enough to find events; only the account that owns the calendar is believed that one is
missing, because servers hide private events from others.`

const MAY_WRITE =
  'The account can also change the calendar: this plugin only reads, but make sure who else has the password.'
const NOT_OWNER =
  'The account does not own the calendar, and servers hide private events from others: nobody is blamed for a missing event.'
const OPEN = 'Anybody can read the calendar that was tried, so that it shows nothing of this account.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'caldav',
  title: 'CalDAV',
  options: Options,
  help: HELP,
  baseUrl({ base_url }) {
    const address = addressOf(base_url)
    return address ? address.origin + address.path : base_url
  },
  fits({ base_url }, { target }) {
    const place = placeOf(target)
    const address = addressOf(base_url)
    return place.kind === 'caldav' && place.host === address?.host && isWithin(place.path, address.path)
  },
  trial: {
    title: 'Calendar',
    description: 'One that is to be read through this connection, by its path.',
    example: '/calendars/ann/work',
  },
  async probe(options, context) {
    const { target } = context
    const base = addressOf(options.base_url)?.path
    if (base === undefined) throw new DestinationError('misconfigured')
    const path = target === undefined ? base : normalizePath(target)
    if (path === undefined || !isWithin(path, base)) throw new DestinationError('unsupported_target')
    const found = await openCaldav(options, context).properties(`${path}/`)
    if (target !== undefined && !found.isCalendar) throw new DestinationError('unsupported_target')
    const anybody = openCaldav(options, context, false)
    const isOpen = !(await isRefused(() => anybody.properties(`${path}/`)))
    const { rights = [], user, owner } = found
    const isOthers = user !== undefined && owner !== undefined && user !== owner
    const mayWrite = rights.some((right) => /^(?:all|write|write-content|bind|unbind)$/.test(right))
    const isTried = target !== undefined
    return {
      proves: isTried && !isOpen ? 'works' : 'reached',
      scopes: rights,
      warnings: [
        ...(isTried && isOpen ? [OPEN] : []),
        ...(isTried && isOthers ? [NOT_OWNER] : []),
        ...(mayWrite ? [MAY_WRITE] : []),
      ],
    }
  },
})

/** The origin, the host as targets name it, and the path of an address, without a slash at its end; undefined for a text that is none. */
function addressOf(base_url: string) {
  const url = parseUrl(base_url)
  const path = url && normalizePath(url.pathname)
  return url && path !== undefined ? { origin: url.origin, host: url.host, path } : undefined
}

function isWithin(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}
