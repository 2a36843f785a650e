/** Where people find the console, for links that the command line prints. */
import { isIPv6 } from 'node:net'
import type { Config } from '../config/config.ts'

/** On this machine it is called by name: browsers know passkeys for names alone. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1'])

export function publicAddress({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  if (publicUrl !== undefined) return publicUrl
  if (LOOPBACK.has(host)) return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}
