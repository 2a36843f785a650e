/** Runs and statuses as lives of checks set them: at the claimed commit, at those before it, and at heads that were merged. */
import { BITBUCKET, GITHUB, GITLAB, type Scene } from './forges.ts'
import { at, DAY, HOUR, MINUTE, START } from './life-row.ts'
import { fileOf } from './ran-before.ts'

export const ELSEWHERE = { truth: 'elsewhere' } as const
export const HONEST = { truth: 'in_time' } as const

export type Ended = 'success' | 'failure' | 'skipped' | 'cancelled' | 'action_required'

export interface Run {
  readonly file?: string
  readonly name?: string
  readonly sha?: string
  readonly branch?: string
  readonly source?: string
  readonly pull?: number
  readonly fromRepository?: number
  readonly outcome?: Ended
  readonly by?: string
}

export const RED = { outcome: 'failure' } as const

export function run({ repository, base }: Scene, ms: number, { file = 'ci', ...given }: Run = {}): number {
  return repository.checks.run({
    ...{ sha: base, branch: 'main', name: file, outcome: 'success', workflow: fileOf(file), at: START + ms },
    ...given,
  })
}

export const runs = (scene: Scene, ms: number, given?: Run) => at(ms, 'ci', () => run(scene, ms, given))

/** From one moment to another. */
export function running(
  scene: Scene,
  fromMs: number,
  toMs: number,
  { file = 'ci', outcome = 'success', ...given }: Run = {},
) {
  const { checks } = scene.repository
  let id = 0
  return [
    at(fromMs, 'ci', () => {
      id = checks.queue({ sha: scene.base, branch: 'main', name: file, workflow: fileOf(file), ...given })
      checks.start(id)
    }),
    at(toMs, 'ci', () => checks.end(id, outcome)),
  ]
}

export interface Post {
  readonly sha?: string
  readonly context: string
  readonly by: string
  readonly state?: 'success' | 'failure' | 'pending'
}
export const post = ({ repository, base }: Scene, ms: number, given: Post) =>
  repository.checks.post({ sha: base, state: 'success', at: START + ms, ...given })
export const posts = (scene: Scene, ms: number, given: Post) => at(ms, 'ci', () => post(scene, ms, given))

/** On each of the commits before the claimed one, a day apart. */
export function before(scene: Scene, ...given: readonly Run[]): void {
  for (const [index, sha] of scene.past.entries()) {
    for (const one of given) run(scene, -(index + 1) * DAY, { by: 'maintainer', ...one, sha })
  }
}

export type MergedHow = 'merge' | 'squash'

/** Pull requests that a colleague merged, on whose heads these ran. */
export async function merged(
  scene: Scene,
  ran: (of: { number: number; branch: string; sha: string; ms: number }) => unknown,
  how: MergedHow = 'merge',
  by = 'colleague',
): Promise<void> {
  const { repository, past } = scene
  for (let index = 0; index < 3; index++) {
    const opened = START - (index + 2) * DAY
    const branch = `feature-${index}`
    const sha = await repository.commit({ parents: [past[0]!], message: branch, date: new Date(opened) })
    await repository.push(branch, sha, { at: opened, by })
    const number = await repository.pullRequests.open({ head: branch, by, at: opened })
    ran({ number, branch, sha, ms: opened + HOUR / 2 - START })
    await repository.pullRequests.merge(number, { how, by: 'colleague', at: opened + HOUR })
  }
}

/** A run of a pull request, as the host tells of it. */
export function ofPull({ forge }: Scene, { number, branch }: { number: number; branch: string }): Run {
  if (forge === GITLAB) return { source: 'merge_request_event', branch: `refs/merge-requests/${number}/head` }
  if (forge === BITBUCKET) return { source: 'pull_request', name: 'pull-requests/**', branch }
  if (forge === GITHUB) return { source: 'pull_request', pull: number, branch }
  return { source: 'pull_request', branch: `refs/pull/${number}/head` }
}

export const opensTopic = async ({ repository }: Scene) => ({
  number: await repository.pullRequests.open({ head: 'topic', at: START - 2 * MINUTE }),
  branch: 'topic',
})

export const E2E = { file: 'e2e', source: 'workflow_run' } as const
export const build = { name: 'build' } as const
