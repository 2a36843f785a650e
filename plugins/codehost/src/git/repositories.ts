/** The repositories at git servers, as this host reads them: within its limits, and from what it kept of them. */
import { createHash } from 'node:crypto'
import type { CheckContext } from '@claimcheck/core/plugin'
import { type BranchCopy, createBranchCopy } from './branch-copy.ts'
import type { Remote } from './environment.ts'
import { hasObject } from './has-object.ts'
import { createKeptFolders } from './kept.ts'
import { type Branches, createLister } from './listing.ts'
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

export interface Repositories {
  /** Works with the copy of a branch. @param reader the connection, with its credentials: only equal ones share a copy */
  withCopy<T>(
    reader: readonly unknown[],
    slug: string,
    branch: string,
    work: (copy: BranchCopy) => Promise<T>,
  ): Promise<T>
  /** @throws DestinationError */
  branches(remote: Remote, context: CheckContext): Promise<Branches>
  /** @throws DestinationError */
  defaultBranch(remote: Remote, context: CheckContext): Promise<string | undefined>
  /** What a ref leads to; undefined where the server lists none. @throws DestinationError */
  target(remote: Remote, ref: string, context: CheckContext): Promise<string | undefined>
  /** Whether the server has this commit; `undefined`: it does not tell. @throws DestinationError */
  hasObject(remote: Remote, sha: string, context: CheckContext): Promise<boolean | undefined>
  close(): Promise<void>
}

export function createRepositories({ maxPackBytes, memoryBytes, processes, keptBytes }: Limits): Repositories {
  const git = createGit({ memoryBytes, places: createPlaces(processes) })
  const own = createOwnFolder()
  const kept = createKeptFolders<BranchCopy>(own, keptBytes)
  const lister = createLister(git, own)

  return {
    withCopy(reader, slug, branch, work) {
      // A digest, because it has secrets.
      const key = createHash('sha256')
        .update(JSON.stringify([reader, slug, branch]))
        .digest('base64url')
      return kept.use(key, (folder) => createBranchCopy({ folder, branch, maxBytes: maxPackBytes, git }), work)
    },
    branches: lister.branches,
    defaultBranch: lister.defaultBranch,
    target: lister.target,
    hasObject: (remote, sha, context) => hasObject(remote, sha, context, { git, own }),
    close: own.close,
  }
}
