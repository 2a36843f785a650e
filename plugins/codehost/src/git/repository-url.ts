/** Smart HTTP, looked at before git is let near it: is there a git server, and will it show us this repository? */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../http-failure.ts'

const DISCOVERY = '/info/refs?service=git-upload-pack'
const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement'

/**
 * The address that git is to use. It follows no redirects itself, so a renamed repository's new address is found here.
 *
 * @throws DestinationError with the status and the waiting time that git would not tell
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
