/** Traps that are the same at every code host: each is told once, over the neutral model, and is set at each host that has the action. */
import { shareOf } from '../support/extent.ts'
import type { Trap } from '../traps/trap.ts'
import { checkTraps } from './checks.ts'
import type { CommonTrap } from './common-trap.ts'
import { issueTraps } from './issues.ts'
import { pullRequestMergeTraps } from './pull-request-merge.ts'
import { pullRequestOpenTraps } from './pull-request-open.ts'
import { releaseTraps } from './releases.ts'
import type { CommonAction, ForgeWorld, HostKind } from './world.ts'

const TRAPS: Readonly<Record<CommonAction, readonly CommonTrap[]>> = {
  'pull_request.open': pullRequestOpenTraps,
  'pull_request.merge': pullRequestMergeTraps,
  'checks.pass': checkTraps,
  'release.publish': releaseTraps,
  'issue.close': issueTraps,
}

/** Of these hosts `npm test` plays an eighth of the rows at each, another one at each. */
const SHARING = ['gitlab', 'gitea', 'bitbucket', 'bitbucket-server']

/** The rows of one host, named by their action. `npm test` plays all of them at GitHub, and every second one at another host, too; `test:thorough` all at all. */
export function commonTraps(kind: HostKind): Trap<ForgeWorld>[] {
  const rows = Object.entries(TRAPS).flatMap(([action, traps]) =>
    kind.actions.has(action as CommonAction)
      ? traps.filter(({ at }) => at?.(kind) ?? true).map((trap) => settled(trap, kind, action))
      : [],
  )
  const place = SHARING.indexOf(kind.name)
  return place === -1 ? rows : shareOf(rows, place, 2 * SHARING.length)
}

function settled({ at: _, ...trap }: CommonTrap, kind: HostKind, action: string): Trap<ForgeWorld> {
  const { verdict, forgets } = trap
  return {
    ...trap,
    name: `${action}: ${trap.name}`,
    verdict: typeof verdict === 'string' ? verdict : verdict(kind),
    forgets: typeof forgets === 'function' ? forgets(kind) : (forgets ?? false),
  }
}
