/** What ran on the commits of main before the claimed one, so that there is something to compare it with. */
import type { ForgeLife, ForgePlace, livesOf } from './forges.ts'
import { livesOf as livesOfAction, type Scene } from './forges.ts'
import { DAY, START } from './life-row.ts'

export const fileOf = (name: string) => `.github/workflows/${name}.yml`

/** Runs of these workflows, each with a job of its name, on each of the commits before `base`: a day apart. */
export function ranBefore({ repository, past }: ForgePlace, names: readonly string[] = ['build', 'lint']): void {
  for (const [index, sha] of past.entries()) {
    const at = START - (index + 1) * DAY
    for (const name of names) {
      repository.checks.run({ sha, name, workflow: fileOf(name), branch: 'main', by: 'maintainer', at })
    }
  }
}

/** Lives after the usual ones. */
export function checkingAfter(...given: Parameters<typeof livesOf>): ReturnType<typeof livesOf> {
  const checking = livesOfAction(...given)
  return (name, right, set, more): ForgeLife =>
    checking(
      name,
      right,
      (scene: Scene) => {
        ranBefore(scene)
        return set(scene)
      },
      more,
    )
}
