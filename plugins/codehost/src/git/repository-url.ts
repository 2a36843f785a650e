/** Finds a repository's URL before git is started: whether it is on a git server, and whether we may read it. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../http-failure.ts'

const DISCOVERY = '/info/refs?service=git-upload-pack'
const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement'

/**
 * The URL for git. A renamed repository's new URL is found here, because git does not follow redirects.
 *
 * @throws DestinationError with the HTTP status and the time to wait, which git does not report
 */
export async function discover(
  url: string,
  authorization: string | undefined,
  { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>,
): Promise<string> {
  const asked = url + DISCOVERY
  const response = await fetch(asked, {
    headers: { 'git-protocol': 'version=2', ...(authorization === undefined ? {} : { authorization }) },
  })
  const isGit = response.headers.get('content-type') === ADVERTISEMENT
  await response.body?.cancel()
  if (response.status !== 200) throw httpFailure(response, now())
  if (!isGit) throw new DestinationError('unexpected_response', { status: 200 })

  const answered = response.url || asked
  const isRepository = new URL(answered).origin === new URL(asked).origin && answered.endsWith(DISCOVERY)
  if (!isRepository) throw new DestinationError('unexpected_response', { status: 200 })
  return answered.slice(0, -DISCOVERY.length)
}
