/** A repository behind smart HTTP, read with the git program in a private folder that is gone afterwards. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../http-failure.ts'
import { isBranchName } from '../profile.ts'
import { gitEnvironment, type Remote } from './environment.ts'
import { GitFailure, type GitRun, runGit } from './program.ts'

export interface Limits {
  /** The largest history that is fetched. */
  readonly maxPackBytes: number
}

/** The branches by name, with their tips. @throws DestinationError */
export async function listBranches(remote: Remote, context: CheckContext): Promise<ReadonlyMap<string, string>> {
  const refs = await listRefs(remote, context, ['--heads', '--', remote.url])
  const branches = refs.map((line) => /^([0-9a-f]{40})\trefs\/heads\/(.+)$/.exec(line))
  if (branches.includes(null)) throw new DestinationError('unexpected_response')
  const named = branches.map((match) => [match![2]!, match![1]!] as const)
  return new Map(named.filter(([name]) => isBranchName(name)))
}

/** The name of the default branch; `undefined` when the server does not say. @throws DestinationError */
export async function defaultBranch(remote: Remote, context: CheckContext): Promise<string | undefined> {
  const refs = await listRefs(remote, context, ['--symref', '--', remote.url, 'HEAD'])
  return refs.map((line) => /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line)?.[1]).find((name) => name !== undefined)
}

async function listRefs(remote: Remote, context: CheckContext, args: readonly string[]): Promise<string[]> {
  return inFolder(async (folder) => {
    const trace = join(folder, 'trace')
    const run = remoteRun(folder, remote, context, LISTING)
    const listing = runGit(['ls-remote', '--quiet', ...args], { ...run, env: { ...run.env, GIT_TRACE2_EVENT: trace } })
    const refs = await fromServer(listing, context)
    // Any web page is to git an old static repository, and an empty one at that. Only a server that has said which
    // version of the protocol it speaks has listed anything.
    const events = await readFile(trace, 'utf8')
    if (!events.includes('"key":"negotiated-version"')) throw new DestinationError('unexpected_response')
    return refs.toString('utf8').split('\n').filter(Boolean)
  })
}

/**
 * The ids of `tip` and all its ancestors.
 *
 * Servers hand out any object by its id, also one that no ref holds, and a partial clone fetches what it misses. So the
 * commit that a claim is about is never named to git: what counts is the walk from the branch's tip, over what the fetch
 * of that branch brought, with the network off.
 *
 * @throws DestinationError `unavailable` when the branch was rewritten meanwhile
 */
export async function historyOf(
  branch: string,
  tip: string,
  remote: Remote,
  context: CheckContext,
  { maxPackBytes }: Limits,
): Promise<History> {
  const ids = await inFolder(async (folder) => {
    const fetching = remoteRun(folder, remote, context, {
      maxOutputBytes: LISTING.maxOutputBytes,
      maxFileBytes: maxPackBytes,
    })
    await runGit(['init', '--quiet', '--bare', '--template=', '.'], fetching)
    const refspec = `+refs/heads/${branch}:refs/heads/fetched`
    const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--filter=tree:0']
    await fromServer(runGit(['fetch', ...options, '--', remote.url, refspec], fetching), context)
    const walking: GitRun = { ...fetching, env: gitEnvironment(folder), maxOutputBytes: MOST_HISTORY_BYTES }
    return await fromServer(runGit(['rev-list', tip], walking), context)
  })
  // Lines of 40 characters and a line feed, so that a match cannot begin within one.
  return { has: (sha) => ids.includes(`${sha}\n`) }
}

export interface History {
  has(sha: string): boolean
}

const LISTING = { maxOutputBytes: 16 * 1024 * 1024, maxFileBytes: 1024 * 1024 }
/** A million and a half commits. */
const MOST_HISTORY_BYTES = 64 * 1024 * 1024

function remoteRun(
  folder: string,
  remote: Remote,
  { signal }: CheckContext,
  limits: Pick<GitRun, 'maxOutputBytes' | 'maxFileBytes'>,
): GitRun {
  return { folder, env: gitEnvironment(folder, remote), signal, ...limits }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-git-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What git's giving up says about the server. */
async function fromServer(running: Promise<Buffer>, { now }: CheckContext): Promise<Buffer> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    const status = Number(/requested URL returned error: (\d{3})/.exec(error.stderr)?.[1])
    if (status) throw httpFailure(new Response(null, { status }), now())
    throw new DestinationError('unavailable', { cause: error })
  }
}
