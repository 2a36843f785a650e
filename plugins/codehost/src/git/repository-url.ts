/** Finds a repository's URL before git is started: whether it is on a git server, and whether we may read it. */

import { type Auth, type CheckContext, DestinationError, Value } from '@claimcheck/core/plugin'
import { RepositoryPath } from '../actions/fields.ts'
import { httpFailure, unexpectedAnswer } from '../rest.ts'

const DISCOVERY = '/info/refs?service=git-upload-pack'
/** The statuses by which a server does not answer now, or not to us: another address would get the same answer. */
const MEANS_REFUSED: ReadonlySet<number> = new Set([401, 429, 500, 502, 503, 504])
const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement'

/**
 * Finds the URL for git, and the repository's name by it, which is another one after a redirect. Most servers have a repository with `.git` at its
 * end; Azure Repos, CodeCommit and cgit have it without. A renamed repository's new URL is found here, because git does not follow redirects.
 *
 * @throws DestinationError with the HTTP status and the time to wait, which git does not report
 */
export async function discover(
  baseUrl: string,
  slug: string,
  auth: Auth | undefined,
  { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>,
): Promise<{ readonly url: string; readonly name: string }> {
  const suffixed = await ask(`${baseUrl}/${slug}.git`)
  const plain =
    suffixed.isGit || MEANS_REFUSED.has(suffixed.response.status) ? undefined : await ask(`${baseUrl}/${slug}`)
  // The answer at the usual address says more of why there is no repository.
  const { asked, response, isGit } = plain?.isGit ? plain : suffixed
  if (response.status !== 200) throw httpFailure(response, now())
  if (!isGit) throw unexpectedAnswer()

  const answered = response.url || asked
  const isRepository = new URL(answered).origin === new URL(asked).origin && answered.endsWith(DISCOVERY)
  if (!isRepository) throw unexpectedAnswer()
  const found = answered.slice(0, -DISCOVERY.length)
  if (answered === asked) return { url: found, name: slug }
  const root = new URL(`${baseUrl}/`).href
  const name = found.startsWith(root) ? decodeURIComponent(found.slice(root.length)).replace(/\.git$/, '') : ''
  // A repository whose redirect leads to a place that no claim can name is not the claimed one.
  if (!Value.Check(RepositoryPath, name)) throw new DestinationError('ambiguous_claim')
  return { url: found, name }

  async function ask(url: string) {
    const asked = url + DISCOVERY
    const response = await fetch(asked, { headers: { 'git-protocol': 'version=2' }, auth })
    await response.body?.cancel()
    // Some servers add a charset to the content type.
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
    return { asked, response, isGit: response.status === 200 && type.trim().toLowerCase() === ADVERTISEMENT }
  }
}
