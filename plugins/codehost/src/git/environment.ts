/**
 * The environment in which git runs. Git reads answers from servers that are not trusted, so that everything that an answer could make it
 * do is switched off, and it gets nothing of this machine's own configuration.
 */
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { ResolvedAddress } from '@claimcheck/core/plugin'

/** The variables by which git finds programs, and the certificates that the operator trusts. */
const INHERITED = ['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'] as const

export interface Remote {
  readonly url: string
  /** The server's address that was checked. Git is pinned to it, because the name can resolve to another one later. */
  readonly address: ResolvedAddress
  readonly authorization?: string
}

/** Makes the environment of git in a folder. @param remote the only server that git may connect to; without it, git connects to none */
export function gitEnvironment(folder: string, remote?: Remote): NodeJS.ProcessEnv {
  const inherited = INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(inherited),
    HOME: folder,
    LC_ALL: 'C',
    // Git ignores repositories above the folder, and every configuration but the one below.
    GIT_CEILING_DIRECTORIES: dirname(folder),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Objects that a fetch left out stay missing, and end the walk. Otherwise a server that leaves out objects could make git fetch them one
    // by one, without end.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: remote ? new URL(remote.url).protocol.slice(0, -1) : 'none',
    ...configuration(remote ? [...SAFE, ...connection(remote)] : SAFE),
  }
}

type Setting = readonly [key: string, value: string]

const SAFE: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Every fetch is stored as one pack. Single objects would be files of their own, which the limit on a file's size does not bound.
  ['fetch.unpackLimit', '1'],
  // What a pack inflates to must fit into the limit on memory: git maps little of a pack at a time, and large files in pieces. A commit of
  // this size is read whole, and one that does not fit ends the run.
  ['core.packedGitWindowSize', '16m'],
  ['core.packedGitLimit', '64m'],
  ['core.deltaBaseCacheLimit', '16m'],
  ['core.bigFileThreshold', '1m'],
  // One thread suffices, because each takes memory of its own.
  ['pack.threads', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['transfer.bundleURI', 'false'],
  ['protocol.version', '2'],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
  // If our process dies, git ends by itself when the server sends nothing for 30 seconds.
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '30'],
]

function connection({ address, authorization }: Remote): Setting[] {
  const { hostname, port } = address
  const isLiteral = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  const ip = isIP(address.address) === 6 ? `[${address.address}]` : address.address
  return [
    ...(isLiteral ? [] : [['http.curloptResolve', `${hostname}:${port}:${ip}`] as const]),
    ...(authorization === undefined ? [] : [['http.extraHeader', `Authorization: ${authorization}`] as const]),
  ]
}

/** Writes settings as environment variables, because other users of the machine can see a program's arguments. */
function configuration(settings: readonly Setting[]): Record<string, string> {
  const entries = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(entries) }
}
