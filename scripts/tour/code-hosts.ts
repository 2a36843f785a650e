/** The tour's stops at code hosts. No code host can be started here: each is a stand-in over real repositories, in the host's published form. */
import { FORGES, type Forge } from '../../test/traps/lives/forges.ts'
import type { Stop, TourClaim } from './stop.ts'

const TARGET = 'acme/api'
const TOKEN = 'token-of-the-tour'
const ASSET = 'api.tar.gz'

export async function codeHostStops(): Promise<Stop[]> {
  const stops: Stop[] = []
  for (const forge of FORGES) stops.push(await stopAt(forge))
  return stops
}

export async function stopAt(forge: Forge): Promise<Stop> {
  const standIn = await forge.start({})
  standIn.addToken({ token: TOKEN })
  const repository = await standIn.createRepository(TARGET)
  const base = await repository.commit({ message: 'Begin' })
  await repository.push('main', base)
  const sha = await repository.commit({ message: 'Add the endpoint', parents: [base] })
  await repository.push('topic', sha)

  const number = await repository.pullRequests.open({ head: 'topic' })
  const merge_commit = await repository.pullRequests.merge(number)
  repository.checks.run({ sha, name: 'build' })
  const issue = repository.issues.open()
  repository.issues.close(issue)
  const release = await repository.releases.create({ tag: 'v1.0.0' })
  repository.releases.addAsset(release, ASSET)

  const claim = (action: string, params: TourClaim['params']) => ({
    action: `codehost.${action}`,
    target: TARGET,
    params,
  })
  // A claim of a check is not verified where the host does not say who ran it.
  const checks = forge.runBy === undefined ? [] : [{ name: forge.buildName!, by: forge.runBy }]
  const options = Object.entries({ base_url: forge.baseUrl(standIn), token: TOKEN }).map((pair) => pair.join('='))
  return {
    place: `${standIn.kind.name}, by a stand-in`,
    allowPrivate: new URL(standIn.url).host,
    connect: [forge.provider, '--set', ...options],
    claims: [
      claim('commit.push', { sha, branch: 'topic' }),
      claim('pull_request.open', { number, base: 'main', head_sha: sha }),
      claim('pull_request.merge', { number, base: 'main', head_sha: sha, merge_commit }),
      ...(checks.length > 0 ? [claim('checks.pass', { sha, checks })] : []),
      ...(forge.hasReleases ? [claim('release.publish', { tag: 'v1.0.0', assets: [ASSET] })] : []),
      ...(forge.hasIssues ? [claim('issue.close', { number: issue })] : []),
    ],
    requests: standIn.requests,
    close: () => standIn.close(),
  }
}
