/** Reads host and repository from the address of a git remote, and drops its credentials. */

export interface Repository {
  /** The host, with its port if the address is http or https. */
  readonly host: string
  /** The repository's path, `owner/repo`, with groups between them where the host nests them. */
  readonly slug: string
  /** Tells that the address is one of ssh, which may know the host by another name. */
  readonly isSsh: boolean
}

/** Names under which code hosts take ssh on port 443. */
const SECOND_NAMES: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
}

/** Matches `user@host:path`, as ssh takes it, without a slash before the colon. */
const SCP_LIKE = /^(?:([^@/\s]+)@)?(\[[0-9a-f:.]+\]|[^:/\s[\]]+):(?!\/\/)(.+)$/i
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
/** Matches the names that the configuration of ssh may have for hosts, and those of users. */
const SSH_NAME = /^[a-z0-9_][\w.-]*$/i
const PART = /^[A-Za-z0-9_][A-Za-z0-9._-]*$|^\.[A-Za-z0-9_][A-Za-z0-9._-]*$/
const SCHEMES: ReadonlySet<string> = new Set(['https:', 'http:', 'ssh:', 'git:', 'git+ssh:', 'ssh+git:'])

/** Reads a remote's address; undefined for a folder, and for an address that names no repository of a host. */
export function repositoryOf(remote: string): Repository | undefined {
  const found = ofUrl(remote) ?? ofScp(remote)
  if (!found || !(HOST.test(found.host) || (found.isSsh && SSH_NAME.test(found.host)))) return undefined
  const parts = found.path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/')
  // A path that begins with `~user/` is in a home folder at a host that ssh leads to.
  if (parts.length < 2 || !parts.every((part) => PART.test(part))) return undefined
  return { host: firstName(found.host), slug: parts.join('/'), isSsh: found.isSsh }
}

/**
 * Reads the user and the host of a remote's address as it writes them, as ssh is given them: its configuration tells both apart by case and user.
 * @returns undefined for the address of another protocol, and for names that only a program would choose
 */
export function sshNameOf(remote: string): string | undefined {
  const found = ofUrl(remote) ?? ofScp(remote)
  if (!found?.isSsh || !SSH_NAME.test(found.host)) return undefined
  return SSH_NAME.test(found.user ?? '') ? `${found.user}@${found.host}` : found.host
}

/** The first of a code host's names, by which the host is known. */
export function firstName(host: string): string {
  const name = host.toLowerCase()
  return Object.hasOwn(SECOND_NAMES, name) ? SECOND_NAMES[name]! : name
}

function ofUrl(text: string) {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url || !SCHEMES.has(url.protocol)) return undefined
  // The port of ssh is dropped, because the web address of the host is at another one.
  const host = /^https?:$/.test(url.protocol) ? url.host : url.hostname
  return { user: url.username, host, path: url.pathname, isSsh: url.protocol.includes('ssh') }
}

function ofScp(text: string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined
  const [, user, host, path] = SCP_LIKE.exec(text) ?? []
  return host === undefined || path === undefined ? undefined : { user, host, path, isSsh: true }
}
