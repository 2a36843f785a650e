/** The tour's stops at code hosts. No code host can be started here: each is a stand-in over real repositories, in the host's published form. */
import { HOST_KINDS } from '../../test/traps-forges/hosts.ts'
import type { CommonAction, HostKind } from '../../test/traps-forges/world.ts'
import type { Stop, TourClaim } from './stop.ts'

const TARGET = 'acme/api'
const TOKEN = 'token-of-the-tour'
const ASSET = 'api.tar.gz'

export async function codeHostStops(): Promise<Stop[]> {
  const stops: Stop[] = []
  for (const kind of HOST_KINDS) stops.push(await stopAt(kind))
  return stops
}

export async function stopAt(kind: HostKind): Promise<Stop> {
  const { checkName = 'build' } = kind
  const standIn = await kind.start({})
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
  const params: Readonly<Record<CommonAction, TourClaim['params']>> = {
    'pull_request.open': { number, base: 'main', head_sha: sha },
    'pull_request.merge': { number, base: 'main', head_sha: sha, merge_commit },
    'checks.pass': { sha, checks: [{ name: checkName, by: kind.runBy }] },
    'release.publish': { tag: 'v1.0.0', assets: [ASSET] },
    'issue.close': { number: issue },
  }
  const options = Object.entries(kind.connection(standIn, TOKEN)).map(([name, value]) => `${name}=${value}`)
  return {
    place: `${standIn.kind.name}, by a stand-in`,
    allowPrivate: new URL(standIn.url).host,
    connect: [kind.name, '--set', ...options],
    claims: [
      claim('commit.push', { sha, branch: 'topic' }),
      ...[...kind.actions]
        // Where nobody can know who ran a check, a claim of it is not verified.
        .filter((action) => action !== 'checks.pass' || kind.runsChecks)
        .map((action) => claim(action, params[action])),
    ],
    requests: standIn.requests,
    close: () => standIn.close(),
  }
}
