/** METRICS_LISTEN and METRICS_TOKEN: who may read the metrics. */
import type { Report } from './report.ts'

export interface MetricsSettings {
  /** An address of their own; undefined: they are at the service's. */
  readonly listen: { readonly host: string; readonly port: number } | undefined
  /** What a reader must show. */
  readonly token: string | undefined
}

export function readMetrics(listen: string | undefined, token: string | undefined, report: Report): MetricsSettings {
  return {
    listen: listen ? readListen(listen, report) : undefined,
    token: token ? readToken(token, report) : undefined,
  }
}

function readListen(text: string, report: Report): MetricsSettings['listen'] {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    report(`METRICS_LISTEN: must be host:port, such as 127.0.0.1:9464 or [::1]:9464, not ${text}`)
    return undefined
  }
  return { host, port: Number(port) }
}

/** Its text is not repeated. */
function readToken(text: string, report: Report): string {
  if (!/^[!-~]{16,256}$/.test(text)) {
    report(
      'METRICS_TOKEN: must be 16 to 256 characters of ASCII without spaces, such as the output of `openssl rand -hex 32`',
    )
  }
  return text
}
