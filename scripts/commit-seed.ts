/** The seed of what differs from run to run: drawn from the commit, so that its tests are the same each time. */
import { execFileSync } from 'node:child_process'

/** A number below 2^32. Outside of a git checkout it is 0. */
export function commitSeed(): number {
  try {
    const id = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return Number.parseInt(id.slice(0, 8), 16)
  } catch {
    return 0
  }
}
