/** GitHub, and the traps that are set at GitHub alone. */
import { startGitHub } from '../destinations/forge/github.ts'
import type { Trap } from '../traps/trap.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const github: HostKind = {
  name: 'github',
  start: startGitHub,
  connection: ({ url }, token) => ({ base_url: url, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass', 'release.publish', 'issue.close']),
  dates: new Set(['open', 'merge', 'release', 'close']),
  merges: ['merge', 'squash', 'rebase'],
  runsChecks: true,
  runBy: 'github-actions',
  tellsEarlierRuns: true,
  tellsReopening: true,
  hasReasons: true,
  tellsDrafts: true,
  hasRights: true,
}

export const githubTraps: readonly Trap<ForgeWorld>[] = []
