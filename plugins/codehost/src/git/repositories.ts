/** The repositories at git servers, as this host reads them: within its limits, and from what it kept of them. */
import { createHash } from 'node:crypto'
import type { CheckContext } from '@claimcheck/core/plugin'
import { BranchCopy } from './branch-copy.ts'
import type { Remote } from './environment.ts'
import { hasObject } from './has-object.ts'
import { createKeptFolders } from './kept.ts'
import { createLister, type Lister } from './listing.ts'
import { createOwnFolder } from './own-folder.ts'
import { createPlaces } from './places.ts'
import { createGit } from './program.ts'

export interface Limits {
  /** The size of the largest history that is fetched. */
  readonly maxPackBytes: number
  /** Of the address space of each process of git. */
  readonly memoryBytes: number
  /** How many runs of git work at a time. */
  readonly processes: number
  /** What the histories that are kept between checks may take on the disk together. */
  readonly keptBytes: number
}

export interface Repositories extends Lister {
  /** Works with the copy of a branch. @param reader the connection, with its credentials: only equal ones share a copy */
  withCopy<T>(
    reader: readonly unknown[],
    slug: string,
    branch: string,
    work: (copy: BranchCopy) => Promise<T>,
  ): Promise<T>
  /** Whether the server has this commit; `undefined`: it does not tell. @throws DestinationError */
  hasObject(remote: Remote, sha: string, context: CheckContext): Promise<boolean | undefined>
  close(): Promise<void>
}

export function createRepositories({ maxPackBytes, memoryBytes, processes, keptBytes }: Limits): Repositories {
  const git = createGit({ memoryBytes, places: createPlaces(processes) })
  const own = createOwnFolder()
  const kept = createKeptFolders<BranchCopy>(own, keptBytes)

  return {
    ...createLister(git, own),
    withCopy(reader, slug, branch, work) {
      // A digest, because it has secrets.
      const key = createHash('sha256')
        .update(JSON.stringify([reader, slug, branch]))
        .digest('base64url')
      return kept.use(key, (folder) => new BranchCopy({ folder, branch, maxBytes: maxPackBytes, git }), work)
    },
    hasObject: (remote, sha, context) => hasObject(remote, sha, context, { git, own }),
    close: own.close,
  }
}
