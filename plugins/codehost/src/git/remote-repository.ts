/** Reads a repository over smart HTTP, with the git program in a temporary folder that is removed afterwards. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../http-failure.ts'
import { isBranchName } from '../profile.ts'
import { gitEnvironment, type Remote } from './environment.ts'
import { GitFailure, type GitRun, runGit } from './program.ts'

export interface Limits {
  /** The size of the largest history that is fetched. */
  readonly maxPackBytes: number
}

/** The commit at the tip of each branch, by the branch's name. @throws DestinationError */
export async function listBranches(remote: Remote, context: CheckContext): Promise<ReadonlyMap<string, string>> {
  const refs = await listRefs(remote, context, ['--heads', '--', remote.url])
  const branches = refs.map((line) => /^([0-9a-f]{40})\trefs\/heads\/(.+)$/.exec(line))
  if (branches.includes(null)) throw new DestinationError('unexpected_response')
  const named = branches.map((match) => [match![2]!, match![1]!] as const)
  return new Map(
    named.flatMap(([bytes, tip]) => {
      const name = readName(bytes)
      return name !== undefined && isBranchName(name) ? [[name, tip] as const] : []
    }),
  )
}

/** A name that is not UTF-8 must not become another name that is: it cannot be claimed. @param bytes one character a byte */
function readName(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return undefined
  }
}

/**
 * Whether the server has this commit, on whatever branch or none. `undefined`: it does not tell. Only over protocol v2 does
 * "not our ref" mean that the server does not have it: older servers say the same of a commit that no branch has.
 * @throws DestinationError
 */
export async function hasObject(remote: Remote, sha: string, context: CheckContext): Promise<boolean | undefined> {
  return inFolder(async (folder) => {
    const trace = join(folder, 'trace')
    const run = remoteRun(folder, remote, context, LISTING)
    await runGit(['init', '--quiet', '--bare', '--template=', '.'], run)
    const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--depth=1', '--filter=tree:0']
    const asking = runGit(['fetch', ...options, '--', remote.url, sha], {
      ...run,
      env: { ...run.env, GIT_TRACE2_EVENT: trace },
    })
    try {
      await asking
      return true
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      if (!REFUSED.test(error.stderr)) return await fromServer(asking, context).then(() => true)
      const isUnknown = error.stderr.includes(`remote error: upload-pack: not our ref ${sha}`)
      return isUnknown && (await readFile(trace, 'utf8')).includes(PROTOCOL_2) ? false : undefined
    }
  })
}

const PROTOCOL_2 = '"key":"negotiated-version","value":"2"'
/** The server does not give it out, or gives out more than may be stored. Anything else is a failure to read. */
const REFUSED = /remote error: |does not allow request|index-pack|signal 25/
const HTTP_STATUS = /requested URL returned error: (\d{3})/

/** The name of the default branch; `undefined` when the server does not say. @throws DestinationError */
export async function defaultBranch(remote: Remote, context: CheckContext): Promise<string | undefined> {
  const refs = await listRefs(remote, context, ['--symref', '--', remote.url, 'HEAD'])
  const name = refs.map((line) => /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line)?.[1]).find((bytes) => bytes !== undefined)
  return name === undefined ? undefined : readName(name)
}

async function listRefs(remote: Remote, context: CheckContext, args: readonly string[]): Promise<string[]> {
  return inFolder(async (folder) => {
    const trace = join(folder, 'trace')
    const run = remoteRun(folder, remote, context, LISTING)
    const listing = runGit(['ls-remote', '--quiet', ...args], { ...run, env: { ...run.env, GIT_TRACE2_EVENT: trace } })
    const refs = await fromServer(listing, context)
    // Git takes any web page for an old static repository without branches. Only a server that has negotiated a version of the
    // protocol has really listed its branches.
    const events = await readFile(trace, 'utf8')
    if (!events.includes('"key":"negotiated-version"')) throw new DestinationError('unexpected_response')
    // One character a byte: names are decoded one by one, strictly.
    return refs.toString('latin1').split('\n').filter(Boolean)
  })
}

/**
 * The ids of `tip` and all its ancestors.
 *
 * The branch is fetched, and its history is then walked without a network. The claim's commit is never named to git: servers give out any
 * object by its id, also one that is on no branch, and a partial clone fetches missing objects by their ids.
 *
 * @throws DestinationError `unavailable` when the branch was rewritten in between
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
    const walking: GitRun = { ...fetching, env: gitEnvironment(folder), maxOutputBytes: MAX_HISTORY_BYTES }
    return await fromServer(runGit(['rev-list', tip], walking), context)
  })
  // Each line is 40 characters and a line feed, so that a match is always a whole line.
  return { has: (sha) => ids.includes(`${sha}\n`) }
}

export interface History {
  has(sha: string): boolean
}

const LISTING = { maxOutputBytes: 16 * 1024 * 1024, maxFileBytes: 1024 * 1024 }
/** One and a half million commits. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024

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

/** Turns git's failure into the reason why the server could not be read. */
async function fromServer(running: Promise<Buffer>, { now }: CheckContext): Promise<Buffer> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    const status = Number(HTTP_STATUS.exec(error.stderr)?.[1])
    if (status) throw httpFailure(new Response(null, { status }), now())
    throw new DestinationError('unavailable', { cause: error })
  }
}
