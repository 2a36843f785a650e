/** Reads what reports on a commit at Bitbucket Cloud: statuses, which tell their keys and not who posted them, and runs of Pipelines, which no account can post. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { BITBUCKET_JOBS, workflow } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import { notAfter } from '../times.ts'
import { PAGE, type Pipeline, PipelinesAnswer, type StatusAnswer, StatusesAnswer } from './answers.ts'
import { linkedPage, type Repository } from './repository.ts'

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

/** The identifiers of Pipelines in claims. */
export const PIPELINES: readonly string[] = [BITBUCKET_JOBS, workflow('bitbucket-pipelines.yml')]

/** Reads all runs for a commit. @throws DestinationError `forbidden` without the right to read pipelines */
export async function readPipelines(repository: Repository, sha: string): Promise<readonly Pipeline[]> {
  const { api, root } = repository
  const path = `${root}/pipelines`
  const queryOf = (page: number) =>
    new URLSearchParams({ 'target.commit.hash': sha, sort: '-created_on', pagelen: String(PAGE), page: String(page) })
  const runs: Pipeline[] = []
  let pages = 0
  let seen = 0
  for await (const { values } of api.pages(`${path}?${queryOf(1)}`, PipelinesAnswer, (page) => {
    // Links to the next page do not always have what was asked for.
    seen += page.values.length
    const isLast =
      page.size === undefined ? page.next === undefined && page.values.length < page.pagelen : seen >= page.size
    if (!isLast && page.values.length === 0) throw unexpectedAnswer()
    return isLast ? undefined : queryOf(pages + 1).toString()
  })) {
    pages++
    for (const run of values) {
      if (await isOf(sha, run, repository)) runs.push(run)
    }
  }
  if (pages === 0) throw new DestinationError('forbidden', { status: 404 })
  return runs
}

/** The latest run of each definition on each branch, tag or pull request. */
export function checksOf(runs: readonly Pipeline[]): Check[] {
  return [...groupsOf(runs).values()].flatMap(toChecks)
}

function groupsOf(runs: readonly Pipeline[]): ReadonlyMap<string, readonly Pipeline[]> {
  const groups = new Map<string, Pipeline[]>()
  for (const run of [...runs].sort((one, other) => other.build_number - one.build_number)) {
    const { ref_name, source, destination } = run.target
    const group = JSON.stringify([nameOf(run), ref_name, source, destination])
    groups.set(group, [...(groups.get(group) ?? []), run])
  }
  return groups
}

/** Tells whether a person started a run, maybe with variables of their own. */
export function isByHand({ trigger, target, variables }: Pipeline): boolean {
  if (variables?.length === 0) return false
  return /manual/i.test(`${trigger?.type} ${trigger?.name}`) || target.selector?.type === 'custom'
}

/** Tells whether a run is for the commit: the host may have left out what was asked for. */
async function isOf(sha: string, { target }: Pipeline, repository: Repository): Promise<boolean> {
  const hash = target.commit?.hash
  return hash !== undefined && sha.startsWith(hash) && (await repository.expand(hash)) === sha
}

/** The name of a definition in `bitbucket-pipelines.yml`: `default`, `branches/main`, `pull-requests/**`, `custom/deploy`. */
function nameOf({ target: { selector } }: Pipeline): string {
  if (!selector) return 'default'
  return selector.pattern ? `${selector.type}/${selector.pattern}` : selector.type
}

/**
 * The checks of one definition: the newest run counts. One by hand, with variables of its own, replaces none: what is red before it spoils the commit, and is blamed on
 * nobody.
 *
 * @param runs all runs of the definition and ref, the newest first
 */
function toChecks(runs: readonly Pipeline[]): Check[] {
  const counting = runs.slice(0, runs.findIndex((run) => !isByHand(run)) + 1 || runs.length)
  const [latest, ...others] = counting as [Pipeline, ...Pipeline[]]
  const earlier = runs.filter((run) => run !== latest)
  const passedBefore = earlier.some((run) => outcomeOf(run) === 'passed')
  const spoiling = others.filter((run) => outcomeOf(run) !== 'passed')
  return [toCheck(latest, passedBefore), ...spoiling.map((run) => toCheck(run, true, false))]
}

function toCheck(run: Pipeline, passedBefore: boolean, isDated = true): Check {
  const end = notAfter(run.completed_on)
  return {
    name: nameOf(run),
    by: PIPELINES,
    isRunByHost: true,
    isByHand: isByHand(run),
    outcome: outcomeOf(run),
    // Nothing is told of a run that may have been made again under its number.
    passedBefore: passedBefore || run.run_number === 1 ? passedBefore : undefined,
    begunAt: notAfter(run.created_on),
    endedAt: end,
    changedAt: isDated ? end : undefined,
  }
}

const RESULTS: ReadonlyMap<string | undefined, Check['outcome']> = new Map([
  ['SUCCESSFUL', 'passed'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['STOPPED', 'skipped'],
  ['EXPIRED', 'skipped'],
])
const UNDER_WAY: ReadonlySet<string> = new Set(['PENDING', 'PARSING', 'BUILDING', 'IN_PROGRESS', 'PAUSED', 'HALTED'])

function outcomeOf({ state: { name, result } }: Pipeline): Check['outcome'] {
  if (UNDER_WAY.has(name)) return 'pending'
  const outcome = name === 'COMPLETED' ? RESULTS.get(result?.name) : undefined
  if (outcome === undefined) throw unexpectedAnswer()
  return outcome
}
