/** Reads the files of a bare repository, and removes what a killed git leaves among them. */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads the sizes of the files in which the objects are. Bytes. */
export async function packSizes(folder: string): Promise<number[]> {
  const packs = join(folder, 'objects', 'pack')
  const names = await readdir(packs).catch(() => [])
  const objects = names.filter((name) => !name.endsWith('.promisor'))
  return Promise.all(objects.map(async (name) => (await stat(join(packs, name))).size))
}

/** Reads the ids of the commits whose parents were not fetched. */
export async function shallowIds(folder: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(folder, 'shallow'), 'latin1').catch((error: NodeJS.ErrnoException) => {
    // Without the file of shallow ids, all parents are here. An error is no sign of that.
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return new Set(text.split('\n').filter(Boolean))
}

/**
 * The tip of the branch that was fetched. Where there is no branch of this name, git may fetch a tag, or a branch with a longer name: their
 * names can contain `refs/heads/`.
 * @param fetched the text of FETCH_HEAD
 */
export function tipIn(fetched: string, branch: string): string | undefined {
  const [, tip, what] = /^([0-9a-f]{40})\t(?:not-for-merge)?\t(.*)\n$/.exec(fetched) ?? []
  return what?.startsWith(`branch '${branch}' of `) ? tip : undefined
}

/** Removes the locks and unfinished packs of a git that was killed. */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const leftovers = names.filter((name) => name.endsWith('.lock') || /(?:^|\/)tmp_/.test(name))
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true })))
}
