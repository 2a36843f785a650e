/**
 * Names those who report checks, as claims name them and as hosts tell them. Each identifier begins with its kind, so that an account that took the
 * name of an app, or an app's number, never stands for it. Identifiers without a kind are the hosts' own runners, for what they ran by the
 * repository's definition.
 */
import type { Check, WantedCheck } from './code-host.ts'

/** Identifiers of the hosts' own runners. */
export const GITHUB_JOBS = 'github-actions'
export const GITLAB_JOBS = 'gitlab-ci'
export const GITEA_JOBS = 'gitea-actions'
export const FORGEJO_JOBS = 'forgejo-actions'
export const BITBUCKET_JOBS = 'bitbucket-pipelines'

export const app = (slug: string) => `app:${slug}`
export const appId = (id: number) => `app-id:${id}`
export const account = (login: string) => `account:${login}`
export const accountId = (id: number) => `account-id:${id}`
/** The identifier of a workflow. @param file the file's path in the repository */
export const workflow = (file: string) => `workflow:${file}`
/** The identifier of the key under which a status is posted, at hosts that do not tell who posted it. */
export const key = (name: string) => `key:${name}`

/** The name behind the kind in an identifier; undefined for an identifier of another kind. */
export function nameOf(by: string, kind: 'app' | 'app-id' | 'account' | 'account-id' | 'workflow' | 'key') {
  return by.startsWith(`${kind}:`) ? by.slice(kind.length + 1) : undefined
}

export function isOfAccount({ by }: Pick<WantedCheck, 'by'>): boolean {
  return nameOf(by, 'account') !== undefined || nameOf(by, 'account-id') !== undefined
}

/** Compares identifiers: hosts accept names in any case, but two keys, or two files, can differ in that alone. */
export function isSame(one: string, other: string): boolean {
  const isExact = nameOf(one, 'key') !== undefined || nameOf(one, 'workflow') !== undefined
  return one === other || (!isExact && one.toLowerCase() === other.toLowerCase())
}

/** Matches the names under which Claimcheck reports: `claimcheck`, and all that begin with `claimcheck/`. */
const OWN_NAME = /^claimcheck(?:\/|$)/i

/** Tells whether a check may be one of our own reports, which are no evidence: anybody can take such a name. */
export function hasOwnName({ name }: Pick<Check, 'name'>): boolean {
  return OWN_NAME.test(name)
}

/**
 * Tells whether a check is one of our own reports, by its name and by who posted it.
 * @param reporters the identifiers, as numbers, of who posts our reports: an account can take another one's login, and not its number
 */
export function isOwnReport(check: Pick<Check, 'name' | 'by'>, reporters: readonly string[] = []): boolean {
  return hasOwnName(check) && reporters.some((by) => isBy(check, { by }))
}

export function isBy({ by }: Pick<Check, 'by'>, wanted: Pick<WantedCheck, 'by'>): boolean {
  return by.some((one) => isSame(one, wanted.by))
}

export function isNamed(check: Pick<Check, 'name' | 'by'>, wanted: WantedCheck): boolean {
  return check.name === wanted.name && isBy(check, wanted)
}
