/** The claims that the benchmark submits: each another one, of an action that is checked without any destination. */
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { createWorkspace, type InstallationOptions, withInstallation, withOpened } from './installation.ts'
import { type Load, load, postText } from './load.ts'
import { type Served, withProcess } from './process.ts'
import type { Side } from './turns.ts'

/** The service that claims go to. */
export interface Target {
  readonly url: string
  readonly key: string
}

const DECIDED = '"state":"decided"'

let claims = 0

export interface Host {
  readonly served: Served
  readonly target: Target
}

/** A host of a new installation, and the key of a workspace. @param prepare works on the installation before */
export async function withHost<T, P = undefined>(
  options: InstallationOptions,
  work: (host: Host, prepared: P) => Promise<T>,
  prepare: (claimcheck: Claimcheck, workspaceId: string) => Promise<P> = async () => undefined as P,
): Promise<T> {
  return withInstallation(options, async (installation) => {
    const [key, prepared] = await withOpened(installation, async (claimcheck) => {
      const { workspaceId, key } = await createWorkspace(claimcheck)
      return [key, await prepare(claimcheck, workspaceId)] as const
    })
    const hosted = (served: Served) => work({ served, target: { url: served.url, key } }, prepared)
    return withProcess('host', installation, hosted)
  })
}

/** Claims that are decided when they are answered. */
export function decidedClaims(target: Target): Pick<Load, 'url' | 'request' | 'expected'> {
  return { ...claimsOf(target, 'test.outcome.reach'), expected: DECIDED }
}

/** A host that decides claims, one after the other on each connection, for a comparison. */
export function decidingSide(
  served: Served,
  key: string,
  { connections, roundMs }: { readonly connections: number; readonly roundMs: number },
): Side {
  const claims = decidedClaims({ url: served.url, key })
  return { served, roundMs, load: (durationMs) => load({ ...claims, connections, durationMs }) }
}

export function claimsOf(
  { url, key }: Target,
  action: string,
  params: object = { see: 'present' },
): Pick<Load, 'url' | 'request'> {
  const headers = { authorization: `Bearer ${key}` }
  const claim = {
    agent_id: 'bench',
    action,
    target: 'somewhere',
    params,
    claimed_at: new Date().toISOString(),
  }
  return {
    url,
    request: () => {
      const body = JSON.stringify({ client_claim_id: `bench-${process.pid}-${++claims}`, ...claim })
      return postText(url, '/v1/claims', body, headers)
    },
  }
}
