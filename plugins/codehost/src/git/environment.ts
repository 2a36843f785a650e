/**
 * What git is allowed to be. It runs on answers that a stranger's server wrote, so everything it could be talked into
 * is off, and nothing of the machine it runs on reaches it.
 */
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { ResolvedAddress } from '@claimcheck/core/plugin'

/** Where to find programs and the certificates that the operator trusts. */
const INHERITED = ['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'] as const

export interface Remote {
  readonly url: string
  /** Checked and pinned: git must not resolve the name again, and get another answer. */
  readonly address: ResolvedAddress
  readonly authorization?: string
}

/** @param remote the only server that may be talked to; none at all when left out */
export function gitEnvironment(folder: string, remote?: Remote): NodeJS.ProcessEnv {
  const inherited = INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(inherited),
    HOME: folder,
    LC_ALL: 'C',
    // No repository around the folder, and no configuration but ours.
    GIT_CEILING_DIRECTORIES: dirname(folder),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // What a fetch did not bring stays missing, and stops the walk. A server that leaves gaps could otherwise have git fetch
    // them one by one, each fetch starting the next, without end.
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
  // A few objects would be written loose, where the limit on a file's size bounds nothing.
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['transfer.bundleURI', 'false'],
  ['protocol.version', '2'],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
  // Should our own process die, git ends by itself when the server stalls.
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

/** By the environment: arguments can be seen by every user of the machine. */
function configuration(settings: readonly Setting[]): Record<string, string> {
  const entries = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(entries) }
}
