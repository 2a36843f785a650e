/** Where the links that commands print lead. */
import { isIPv6 } from 'node:net'
import type { Config } from '../config.ts'

/** PUBLIC_URL, or where the service listens. */
export function publicAddress({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}
