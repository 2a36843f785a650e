/** Reads commits and their statuses at Gitea and Forgejo, and whose they are. */

import { DestinationError, Value } from '@claimcheck/core/plugin'
import { account, accountId, FORGEJO_JOBS, GITEA_JOBS, isOwnReport } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import { AccountAnswer, CommitAnswer, type StatusAnswer, StatusesAnswer } from './answers.ts'
import { type Repository, requireCode } from './repository.ts'

const PAGE = 50
const MAX_PAGES = 20

/** The identifiers of the host's runners in claims. Their account cannot be looked up, so their statuses have no creator. */
export const RUNNERS: readonly string[] = [GITEA_JOBS, FORGEJO_JOBS]

/** Reads a commit, and the accounts that have the addresses of its author and committer; undefined where there is no such commit. */
export async function readCommit(repository: Repository, sha: string) {
  const path = `/git/commits/${sha}?stat=false&verification=false&files=false`
  const { value } = await repository.find(path, CommitAnswer)
  if (value && value.sha !== sha) throw unexpectedAnswer()
  if (!value) await requireCode(repository)
  return value && { owners: ownersOf(value) }
}

export function ownersOf({ author, committer }: { readonly author?: unknown; readonly committer?: unknown }): string[] {
  const accounts = [author, committer].filter((one) => Value.Check(AccountAnswer, one))
  return [...new Set(accounts.flatMap((one) => (one ? accountId(one.id) : [])))]
}

/**
 * Reads all statuses of a commit but our own reports, the newest first. The request names the commit by its id alone: the endpoint that takes names, too, would take a
 * branch that is called like the id. Pages are counted here, because the links in answers lead to the address that the server believes to have.
 */
export async function readStatuses({ get, reporters }: Repository, sha: string): Promise<readonly StatusAnswer[]> {
  const byId = new Map<number, StatusAnswer>()
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `/statuses/${sha}?sort=highestindex&page=${page}&limit=${PAGE}`
    const { value, headers } = await get(path, StatusesAnswer)
    if (value.length > PAGE || value.some(({ url }) => !url.endsWith(`/statuses/${sha}`))) throw unexpectedAnswer()
    const before = byId.size
    for (const status of value) byId.set(status.id, status)
    const total = Number(headers.get('x-total-count') ?? Number.POSITIVE_INFINITY)
    if (value.length === 0 || byId.size >= total) {
      const others = [...byId.values()].filter(
        (one) => !isOwnReport({ name: one.context, by: namesOf(one) }, reporters),
      )
      return others.sort((one, other) => other.id - one.id)
    }
    if (byId.size === before) throw unexpectedAnswer()
  }
  throw new DestinationError('too_large')
}

/**
 * Tells whether a status may be a runner's: without a creator, or by the host's own account, or by the one that stands for accounts that are gone.
 */
export function isRunner({ creator }: Pick<StatusAnswer, 'creator'>): boolean {
  return !creator || creator.id <= 0
}

export function namesOf(status: StatusAnswer): readonly string[] {
  const { creator } = status
  return !creator || isRunner(status) ? RUNNERS : [accountId(creator.id), account(creator.login)]
}
