/** The configuration of monitoring: METRICS_LISTEN and METRICS_TOKEN say who may read the metrics, `security_contact` where to report a weakness. */
import { Type } from '@claimcheck/core/plugin'
import { configSection, type MembersOf, type Report } from '../../config/section.ts'

function readListen(text: string, report: Report) {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    report(`METRICS_LISTEN: must be host:port, such as 127.0.0.1:9464 or [::1]:9464, not ${text}`)
    return undefined
  }
  return { host, port: Number(port) }
}

/** Reads the token, and never repeats its text. */
function readToken(text: string, report: Report): string {
  if (!/^[!-~]{16,256}$/.test(text)) {
    report(
      'METRICS_TOKEN: must be 16 to 256 characters of ASCII without spaces, such as the output of `openssl rand -hex 32`',
    )
  }
  return text
}

const contactUri = Type.String({
  // Only characters that fit in a line of a text file are allowed. RFC 9116 2.5.3
  pattern: '^(?:mailto:[!-~]+@[!-~]+|https://[!-~]+|tel:\\+?[0-9.-]+)$',
  'x-pattern-help': 'write an address that begins with mailto:, https:// or tel:',
  examples: ['mailto:security@example.com'],
  maxLength: 1024,
})

export const monitoringConfig = configSection(
  { security_contact: Type.Optional(contactUri) },
  ({ security_contact: securityContact }, { env, report }) => ({
    metrics: {
      /** The separate address of the metrics; undefined when it is that of the service. */
      listen: env.METRICS_LISTEN ? readListen(env.METRICS_LISTEN, report) : undefined,
      /** The token that a reader must show. */
      token: env.METRICS_TOKEN ? readToken(env.METRICS_TOKEN, report) : undefined,
    },
    /** A URI by which to report a weakness of this installation. */
    securityContact,
  }),
)

export type MonitoringConfig = MembersOf<typeof monitoringConfig>
export type MetricsSettings = MonitoringConfig['metrics']
