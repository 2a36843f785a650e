/** The repositories at git servers, as this host reads them: within its limits, and from what it kept of them. */
import { createHash } from 'node:crypto'
import { BranchCopy } from './branch-copy.ts'
import { createKeptFolders, createOwnFolder } from './folders.ts'
import { createLister } from './listing.ts'
import { createPlaces } from './places.ts'
import { createGit } from './program.ts'

export type Repositories = ReturnType<typeof createRepositories>

/**
 * Creates the access to repositories. @param maxPackBytes the size of the largest history that is fetched
 * @param memoryBytes the address space of each process of git
 * @param processes the number of runs of git that work at a time
 * @param keptBytes the size on the disk of all histories together that are kept between checks
 */
export function createRepositories({
  maxPackBytes,
  memoryBytes,
  processes,
  keptBytes,
}: {
  readonly maxPackBytes: number
  readonly memoryBytes: number
  readonly processes: number
  readonly keptBytes: number
}) {
  const git = createGit({ memoryBytes, places: createPlaces(processes) })
  const own = createOwnFolder()
  const kept = createKeptFolders<BranchCopy>(own, keptBytes)

  return {
    ...createLister(git, own),
    /** Works with the copy of a branch. @param reader the connection, with its credentials: only equal ones share a copy */
    withCopy<T>(
      reader: readonly unknown[],
      slug: string,
      branch: string,
      work: (copy: BranchCopy) => Promise<T>,
    ): Promise<T> {
      // The key is a digest, because it is made of secrets.
      const key = createHash('sha256')
        .update(JSON.stringify([reader, slug, branch]))
        .digest('base64url')
      return kept.use(key, (folder) => new BranchCopy({ folder, branch, maxBytes: maxPackBytes, git }), work)
    },
    close: own.close,
  }
}
