/** The grants of owners for reports on commits: at which host, in which repositories, and by which credentials. */
import { ServiceError } from '../../base/errors.ts'
import type { ReportFormat, ReportGrant } from '../../storage/webhooks.ts'
import type { ConnectionRow } from '../../storage/workspaces.ts'

/** The settings of a target that reports on commits. */
export interface ReportSettings {
  readonly format: ReportFormat
  /** The id of the connection whose claims are reported. */
  readonly connection: string
  readonly repositories: readonly string[]
  /** The token; of an app, its private key. */
  readonly credential: string
  readonly app: { readonly id: string; readonly installation: string }
  readonly comments: boolean
}

interface HostApi {
  /** The provider of the connections that read there. */
  readonly provider: string
  /** The address of the host if a connection names none. */
  readonly usual: string
  readonly path: string
}

const GITHUB: HostApi = { provider: 'github', usual: 'https://api.github.com', path: '' }

const APIS: Readonly<Record<ReportFormat, HostApi>> = {
  github: GITHUB,
  github_app: GITHUB,
  gitlab: { provider: 'gitlab', usual: 'https://gitlab.com', path: '/api/v4' },
  gitea: { provider: 'gitea', usual: '', path: '/api/v1' },
}

const REPOSITORY = /^(?!\.)[A-Za-z0-9_.-]+(?:\/(?!\.)[A-Za-z0-9_.-]+)+$/
const MOST_REPOSITORIES = 100
const LONGEST_REPOSITORY = 400
const LONGEST_CREDENTIAL = 8192

/** Finds the address of the API at the host of a connection. @throws ServiceError `bad_request` for a connection of another provider */
export function apiOf(
  format: ReportFormat,
  { provider, options }: Pick<ConnectionRow, 'provider' | 'options'>,
): string {
  const api = APIS[format]
  if (provider !== api.provider)
    throw new ServiceError('bad_request', `choose a connection to ${api.provider}, whose host gets the reports`)
  const base = typeof options.base_url === 'string' ? options.base_url : api.usual
  return base.replace(/\/+$/, '') + api.path
}

/** Reads what an owner typed. @throws ServiceError `bad_request` */
export function readGrant({ format, ...given }: ReportSettings): Omit<ReportGrant, 'reporter'> & {
  readonly credential: string
} {
  const byPath = new Map(given.repositories.map((one) => [one.toLowerCase(), one]))
  const repositories = [...byPath.values()]
  const isPath = (one: string) => REPOSITORY.test(one) && one.length <= LONGEST_REPOSITORY
  const isPlain = (one: string) => format === 'gitlab' || one.split('/').length === 2
  if (repositories.length === 0 || repositories.length > MOST_REPOSITORIES)
    throw new ServiceError('bad_request', `name the repositories, one to ${MOST_REPOSITORIES}, as owner/name`)
  const wrong = repositories.find((one) => !isPath(one) || !isPlain(one))
  if (wrong !== undefined)
    throw new ServiceError('bad_request', `${JSON.stringify(wrong.slice(0, 100))} is no repository: write owner/name`)
  const credential = given.credential.trim()
  const isApp = format === 'github_app'
  // A token becomes a header; a key has lines.
  const isUsable = isApp ? credential.includes('PRIVATE KEY') : /^[\x21-\x7e]+$/.test(credential)
  if (!isUsable || credential.length > LONGEST_CREDENTIAL)
    throw new ServiceError('bad_request', isApp ? 'give a private key of the app, in PEM' : 'give a token')
  const { id, installation } = given.app
  if (isApp && !(/^[0-9A-Za-z.]{1,64}$/.test(id) && /^[0-9]{1,20}$/.test(installation)))
    throw new ServiceError('bad_request', 'give the id of the app, and the number of its installation')
  const hasComments = isApp || format === 'gitlab'
  return { repositories, credential, comments: hasComments && given.comments, app: isApp ? { id, installation } : null }
}
