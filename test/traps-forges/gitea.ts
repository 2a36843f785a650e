/** Gitea and Forgejo, and the traps that are set at them alone. */
import { startGitea } from '../destinations/forge/gitea.ts'
import type { Trap } from '../traps/trap.ts'
import { giteaCheckTraps, giteaReleaseTraps } from './gitea-outcomes.ts'
import { giteaPullRequestTraps } from './gitea-pull-requests.ts'
import { giteaPushTraps } from './gitea-pushes.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const gitea: HostKind = {
  name: 'gitea',
  start: (options) => startGitea(options, 'gitea'),
  connection: ({ origin }, token) => ({ base_url: origin, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass', 'release.publish', 'issue.close']),
  dates: new Set(['open']),
  merges: ['merge', 'squash', 'fast-forward', 'rebase'],
  runsChecks: false,
  runBy: 'gitea-actions',
  tellsEarlierRuns: true,
  isPrompt: true,
  tellsReopening: true,
  datesLogs: false,
  hasReasons: false,
  tellsDrafts: true,
  hasRights: true,
}

/** Reached by a path in front, too. */
export const forgejo: HostKind = {
  ...gitea,
  start: (options) => startGitea({ ...options, prefix: '/forge' }, 'forgejo'),
  runBy: 'forgejo-actions',
}

export const giteaTraps: readonly Trap<ForgeWorld>[] = [
  ...giteaPushTraps,
  ...giteaPullRequestTraps,
  ...giteaCheckTraps,
  ...giteaReleaseTraps,
]

/** Some of each action: what is different at Forgejo is the shapes, and what it calls a success. */
export const forgejoTraps: readonly Trap<ForgeWorld>[] = [
  ...giteaPushTraps.slice(0, 5),
  ...giteaPullRequestTraps.slice(0, 2),
  ...giteaCheckTraps.filter(({ name }) => /named|skipped|took/.test(name)),
  ...giteaReleaseTraps.slice(0, 1),
]
