/**
 * Reads the builds of a commit at Bitbucket Data Center. It runs none itself. Whoever may read the repository can post them, under any key,
 * with any date, and nothing tells who did: what is found says no more than that.
 */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks, WantedCheck } from '../code-host.ts'
import { missingCommitMark } from '../forgetting.ts'
import { isBy, isNamed, key as keyed, nameOf as nameIn } from '../reporters.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { BuildAnswer, BuildsAnswer } from './answers.ts'
import { AGE_MS, openRepository, type Repository } from './repository.ts'

export async function findChecks(access: RestAccess, query: ChecksQuery, context: CheckContext): Promise<FoundChecks> {
  const { repository: slug, sha, checks: wanted } = query
  // A claim has to name a key: without one, a server lists only what was posted about the commit in all its repositories together.
  if (!wanted) throw new DestinationError('unsupported_target')
  const repository = openRepository(access, slug, context)
  const found = { ...(await repository.show()), ageMs: AGE_MS }
  const checks: Check[] = []
  for (const key of new Set(wanted.flatMap(({ by }) => nameIn(by, 'key') ?? []))) {
    const build = await context.cache.share(`bitbucket-server ${slug} build ${sha} ${key}`, () =>
      readBuild(repository, sha, key),
    )
    if (build) checks.push(toCheck(build))
  }
  const missing = wanted.filter((one) => !checks.some((check) => isNamed(check, one)))
  // A build with the claimed key and another name has replaced what was there.
  if (missing.some((one) => checks.some((check) => isBy(check, one)))) {
    throw new DestinationError('forbidden')
  }
  // Builds are posted about any commit, whether the repository has it or not.
  if (!(await repository.isKnown(sha))) {
    return { ...found, checks: undefined, mark: missingCommitMark(query, context.now(), undefined) }
  }
  if (missing.length === 0) return { ...found, checks }
  await refuseUntold(missing, sha, repository)
  return { ...found, checks, canBeDeleted: true }
}

async function readBuild({ api, root }: Repository, sha: string, key: string): Promise<BuildAnswer | undefined> {
  const query = new URLSearchParams({ key })
  const { value: build } = await api.find(`${root}/commits/${sha}/builds?${query}`, BuildAnswer)
  if (build && build.key !== key) throw unexpectedAnswer()
  return build
}

/**
 * Refuses claims that no build answers. A build of the claimed name under another key may be of the account that the claim names, and nothing tells
 * whose it is.
 */
async function refuseUntold(missing: readonly WantedCheck[], sha: string, { api }: Repository): Promise<void> {
  for await (const builds of api.pages(`/build-status/latest/commits/${sha}`, BuildsAnswer)) {
    const isThere = ({ name }: WantedCheck) => builds.some((build) => nameOf(build) === name)
    if (missing.some(isThere)) throw new DestinationError('forbidden')
  }
}

const OUTCOMES = { SUCCESSFUL: 'passed', FAILED: 'failed', INPROGRESS: 'pending', CANCELLED: 'skipped' } as const

function toCheck(build: BuildAnswer): Check {
  if (build.state === 'UNKNOWN') throw unexpectedAnswer()
  return { name: nameOf(build), by: [keyed(build.key)], isRunByHost: false, outcome: OUTCOMES[build.state] }
}

function nameOf({ name, key }: BuildAnswer): string {
  return name || key
}
