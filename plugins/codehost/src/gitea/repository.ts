/** Opens a repository at Gitea or Forgejo: tells whether it can be seen, under which id, and how its other parts are read. */

import { type Auth, basic, type CheckContext, clockBehindMs, header } from '@claimcheck/core/plugin'
import { ownerAndName } from '../connection-options.ts'
import { keepParts } from '../lately.ts'
import { createRest, escapePath, type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime } from '../times.ts'
import { BranchAnswer, BranchesAnswer, NumbersAnswer, RepositoryAnswer } from './answers.ts'

export const API_PATH = '/api/v1'
/** The age that answers may have: a server of one's own has one database, and nothing lags but what it queues. Milliseconds. */
const AGE_MS = 2000

export type Repository = ReturnType<typeof openRepository>

/** A repository as the host describes it. Checks share it, so it holds nothing of the check that read it. */
type ShownRepository = Awaited<ReturnType<typeof readRepository>>

/**
 * Reads a repository, and a part of it, once for all checks that wait for them.
 * @param part names what `read` reads
 * @param isWaiting what was read lately is as good
 * @throws DestinationError `forbidden` when we cannot see the repository: it is private, missing, or the permission is
 */
export async function readShared<T>(
  access: RestAccess,
  { slug, part, isWaiting = false }: { readonly slug: string; readonly part: string; readonly isWaiting?: boolean },
  context: CheckContext,
  read: (repository: Repository) => Promise<T>,
): Promise<{ readonly repository: Repository; readonly value: T }> {
  const { shown, value } = await keepParts(context, isWaiting).long(`gitea ${slug} ${part}`, async () => {
    const shown = await readRepository(access, slug, context)
    return { shown, value: await read(openRepository(access, shown, context)) }
  })
  return { repository: openRepository(access, shown, context), value }
}

async function readRepository(access: RestAccess, slug: string, { http, now }: CheckContext) {
  const [owner, name] = ownerAndName(slug)
  const url = `${rootOf(access)}/${owner}/${name}`
  const { value: answer, headers } = await http.json(url, { schema: RepositoryAnswer, auth: tokenOf(access) })
  ownerAndName(answer.full_name)
  return { answer, clockBehindMs: clockBehindMs(headers, now()) }
}

/** Opens a repository. The paths of requests are from the repository's own on: `/branches`. */
function openRepository(access: RestAccess, { answer, clockBehindMs }: ShownRepository, context: CheckContext) {
  const { id, full_name, created_at, original_url, allow_manual_merge, default_branch: defaultBranch } = answer
  const createdAt = logTime(created_at).notAfter + (clockBehindMs ?? 0)
  // The path has the new name after a rename, so that the other requests are not redirected.
  const rest = createRest(`${rootOf(access)}/${full_name}`, tokenOf(access), context)
  return {
    ...rest,
    /** The facts of the repository that every answer has. */
    found: {
      ageMs: AGE_MS,
      clockBehindMs,
      repositoryId: String(id),
      repositoryName: full_name,
      repositoryCreatedAt: createdAt,
    },
    id,
    /** The repository's path, `<owner>/<repo>`, as the host has it now. */
    name: full_name,
    /** The identifiers of who posts our own reports. */
    reporters: access.reporters,
    defaultBranch,
    /** The time when the repository was made, at the latest, by our clock. */
    createdAt,
    /** Tells whether the times of its pull requests, issues and releases are this host's own. */
    hasOwnTimes: original_url === '',
    /**
     * Tells whether accounts that may write can say of a pull request that it was merged, as any commit on its base. Undefined where the host does
     * not tell: Forgejo, and Gitea before the middle of 2025.
     */
    allowsManualMerge: allow_manual_merge,
    /**
     * Tells whether administrators of the repository may have chosen when an issue was closed or opened again. Gitea before the middle of 2025 is not
     * told from Forgejo.
     */
    letsChooseTimes: allow_manual_merge === undefined,
    git: { baseUrl: access.baseUrl, auth: passwordOf(access) },
  }
}

function rootOf({ baseUrl }: RestAccess): string {
  return `${baseUrl}${API_PATH}/repos`
}

export function tokenOf({ token }: RestAccess): Auth | undefined {
  return token === undefined ? undefined : header('Authorization', token, 'token ')
}

/** The credentials for git, where a token is the password, and whose it is does not matter. */
function passwordOf({ token }: RestAccess): Auth | undefined {
  return token === undefined ? undefined : basic('token', token)
}

/** Reads the tip of a branch; undefined where the host shows no such branch. @throws DestinationError where the host cannot be read */
export async function readTip({ find }: Repository, branch: string): Promise<string | undefined> {
  const { value } = await find(`/branches/${escapePath(branch)}`, BranchAnswer)
  if (value !== undefined && value.name !== branch) throw unexpectedAnswer()
  return value?.commit.id
}

/** Requires the right to read code, before absence of what is shown with it counts. @throws DestinationError `forbidden` without that right */
export async function requireCode({ get }: Repository): Promise<void> {
  await get('/branches?limit=1', BranchesAnswer)
}

/**
 * Reads the number of the newest pull request or issue, which are counted together; 0 where there is none; undefined where the list is refused with
 * one of these statuses.
 */
export async function readNewestNumber(
  { find }: Pick<Repository, 'find'>,
  list: 'pulls' | 'issues',
  refusals: readonly number[] = [],
): Promise<number | undefined> {
  const path = list === 'pulls' ? '/pulls?state=all&limit=1' : '/issues?state=all&type=issues&limit=1'
  const { value } = await find(path, NumbersAnswer, refusals)
  return value && (value[0]?.number ?? 0)
}
