/** Checks through a connection with declared credentials, at servers on loopback. */
import {
  type Credential,
  type Manifest,
  type Refreshes,
  type SecretValues,
  secretHandle,
} from '@claimcheck/core/hosting'
import type { CheckGuard, CheckRequests } from '@claimcheck/server/outbound/outbound'
import type { Test } from 'tap'
import { guardOf, outboundTo, type Resolver } from './loopback.ts'

interface Spending {
  /** What the workspace typed as the address. */
  readonly url: string
  readonly credentials: Readonly<Record<string, Credential>>
  /** Other options than the address. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Which of them are secret. */
  readonly secret?: readonly string[]
  readonly tokenHosts?: readonly string[]
  /** `host:port` of other servers that the operator allows. */
  readonly allowed?: readonly string[]
  readonly methods?: Manifest['methods']
  readonly now?: () => number
  readonly ca?: string
  readonly resolver?: Resolver
  readonly refreshes?: Refreshes
}

/** @returns what begins a check, with what the host has kept of earlier ones */
export function spendingAt(t: Test, given: Spending): (over?: Partial<CheckGuard>) => CheckRequests {
  const {
    url,
    credentials,
    options = {},
    secret = [],
    tokenHosts = [],
    allowed = [],
    methods,
    refreshes,
    ...rest
  } = given
  const { now = Date.now, ...outward } = rest
  const outbound = outboundTo(t, [new URL(url).host, ...allowed], outward)
  const typed = { ...options, url }
  const secrets: SecretValues = new Map(secret.map((name) => [secretHandle(name), String(options[name])]))
  return (over = {}) =>
    outbound.forCheck(
      guardOf(new URL(url).origin, {
        baseUrl: url,
        now,
        secrets,
        connected: { id: 'conn_1', options: typed, credentials, tokenHosts, refreshes },
        reach: { hosts: ['connection.url'], mayReveal: false, ...(methods ? { methods } : {}) },
        ...over,
      }),
    )
}

/** All that a plugin can see of an answer. */
export async function seenIn(response: Response): Promise<string> {
  return [response.url, response.statusText, ...[...response.headers].flat(), await response.text()].join('\n')
}
