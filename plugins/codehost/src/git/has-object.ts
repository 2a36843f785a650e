/** Asks whether a git server has a commit at all. */
import type { CheckContext } from '@claimcheck/core/plugin'
import { gitEnvironment, type Remote } from './environment.ts'
import { fromServer, refusesShallow } from './failure.ts'
import { LISTING } from './listing.ts'
import type { OwnFolder } from './own-folder.ts'
import { type Git, GitFailure } from './program.ts'
import { traced } from './trace.ts'

/** The server does not give it out. Anything else is a failure to read. */
const REFUSED = /remote error: |does not allow request|index-pack/

/**
 * Whether the server has this commit, on whatever branch or none. `undefined`: it does not tell. Only over protocol v2 does
 * "not our ref" mean that the server does not have it: older servers say the same of a commit that no branch has.
 * @throws DestinationError
 */
export async function hasObject(
  remote: Remote,
  sha: string,
  context: CheckContext,
  { git, own }: { readonly git: Git; readonly own: OwnFolder },
): Promise<boolean | undefined> {
  return own.temporary(async (folder) => {
    const { signal, share } = context
    const { run, negotiatedVersion } = await traced({
      ...{ folder, env: gitEnvironment(folder, remote), signal, share, ...LISTING },
    })
    await git(['init', '--quiet', '--bare', '--template=', '.'], { ...run, env: gitEnvironment(folder) })
    const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--depth=1', '--filter=tree:0']
    const asking = git(['fetch', ...options, '--', remote.url, sha], run)
    try {
      await asking
      return true
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      // It gives out more than may be stored, or unpacked, so it has the commit.
      if (error.isOverLimit) return true
      if (refusesShallow(error)) return undefined
      if (!REFUSED.test(error.stderr)) return await fromServer(asking, context).then(() => true)
      const isUnknown = error.stderr.includes(`remote error: upload-pack: not our ref ${sha}`)
      return isUnknown && (await negotiatedVersion()) === '2' ? false : undefined
    }
  })
}
