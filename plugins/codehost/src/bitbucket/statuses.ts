/** Reads the statuses of a commit at Bitbucket Cloud, which tell their keys and not who posted them. */
import { PAGE, type StatusAnswer, StatusesAnswer } from './answers.ts'
import { linkedPage } from './api.ts'
import type { Repository } from './repository.ts'

/** Reads the statuses of a commit, of which each replaces the one that had its key; undefined where the repository does not have the commit. */
export async function readStatuses(
  { api, root }: Repository,
  sha: string,
): Promise<readonly StatusAnswer[] | undefined> {
  let statuses: StatusAnswer[] | undefined
  const path = `${root}/commit/${sha}/statuses?pagelen=${PAGE}`
  for await (const { values } of api.pages(path, StatusesAnswer, linkedPage)) {
    statuses = [...(statuses ?? []), ...values]
  }
  return statuses
}

export function statusName({ name, key }: Pick<StatusAnswer, 'name' | 'key'>): string {
  return name || key
}

const RUN = /^https:\/\/bitbucket\.org\/([^/]+\/[^/]+)\/(?:addon\/)?pipelines\//

/**
 * Tells whether a status leads to a run of Pipelines of this repository. A status that leads to another repository may have been posted here, and no
 * run here speaks for it.
 */
export function isOfRun({ url }: StatusAnswer, slug: string): boolean {
  return RUN.exec(url ?? '')?.[1]?.toLowerCase() === slug.toLowerCase()
}
