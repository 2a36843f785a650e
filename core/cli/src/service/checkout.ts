/** Reads the last push of a git checkout: repository, branch and commit. Runs nothing that the checkout names. */
import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { CommandError } from '@claimcheck/command-line/errors'
import { typed } from '@claimcheck/command-line/typed'
import { visible } from '@claimcheck/core/words/plain-text'
import { firstName, type Repository, repositoryOf, sshNameOf } from './remote-url.ts'

export interface PushOptions {
  readonly remote?: string
  /** The branch at the remote. */
  readonly branch?: string
  /** The pushed commit, by any name under which git knows it. */
  readonly commit?: string
  /** Claims the push even if this checkout does not know that the remote has the commit. */
  readonly unchecked?: boolean
  /** Replaces the repository that the remote's address names. */
  readonly target?: string
  readonly host?: string
}

export interface Push {
  readonly host: string
  readonly slug: string
  readonly branch: string
  readonly sha: string
  /** The time of the push, by this checkout; undefined where it does not know it. */
  readonly pushedAt: number | undefined
}

const run = promisify(execFile)
const TIMEOUT_MS = 20_000
/** Options with which git starts no program, opens no connection and waits for nobody. */
const SAFELY = [
  '--no-pager',
  '--no-optional-locks',
  ...['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'],
]
const ENV = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  // An empty GIT_ALLOW_PROTOCOL wins over the checkout's `protocol.ext.allow`, by which a git that does not know the line above would run a command
  // to fetch.
  GIT_ALLOW_PROTOCOL: '',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
}

/** Reads the last push. @throws CommandError `no_push`, which says what to do */
export async function lastPush(folder: string, options: PushOptions): Promise<Push> {
  const git = gitIn(folder)
  if ((await git('rev-parse', '--git-dir')) === undefined) {
    throw noPush(`This is no git checkout. Go to one, or name what you claim with ${typed('claim --action')}.`)
  }
  const { commit = 'HEAD' } = options
  const sha = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`)
  if (sha === undefined) throw noPush(`There is no commit ${quoted(commit)} here.`)
  const local = await git('symbolic-ref', '--quiet', '--short', 'HEAD')
  if (local === undefined && options.branch === undefined) {
    throw noPush('HEAD is detached, so it has no branch: name the one that you pushed to with --branch.')
  }
  const remote = options.remote ?? (await pushRemote(git, local))
  const branch = options.branch ?? (await pushBranch(git, local!, remote, sha))
  const isName = !branch.startsWith('-') && (await git('check-ref-format', `refs/heads/${branch}`)) !== undefined
  if (!isName) throw noPush(`${quoted(branch)} is no name of a branch.`)
  const repository = await repositoryAt(git, remote, options)
  if (!options.unchecked && !(await isPushed(git, sha, remote, branch))) throw notPushed(sha, remote, [branch])
  return { ...repository, branch, sha, pushedAt: await timeOfPush(git, sha, `refs/remotes/${remote}/${branch}`) }
}

type Git = (...args: readonly string[]) => Promise<string | undefined>

/** Resolves to the output of git; undefined if git fails. */
function gitIn(folder: string): Git {
  return async (...args) => {
    try {
      const options = { cwd: folder, env: { ...process.env, ...ENV }, timeout: TIMEOUT_MS, encoding: 'utf8' } as const
      const { stdout } = await run('git', [...SAFELY, ...args], options)
      return stdout.trimEnd()
    } catch (error) {
      const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string }
      if (code === 'ENOENT') throw noPush('git is not installed, or not on the PATH.')
      const [, path] =
        /(?:dubious ownership in repository at|unsafe repository \()\s*'([^'\n]*)'/.exec(stderr ?? '') ?? []
      // The owner of such a checkout could have git run programs as its reader.
      if (path === undefined) return undefined
      const trust = `git config --global --add safe.directory ${quoted(path)}`
      throw noPush(`git reads no checkout of another user. If you trust whoever owns it, run ${trust}.`)
    }
  }
}

/** Chooses the remote as `git push` does. */
async function pushRemote(git: Git, local: string | undefined): Promise<string> {
  const own = local === undefined ? [] : [`branch.${local}.pushRemote`, 'remote.pushDefault', `branch.${local}.remote`]
  for (const name of own.length > 0 ? own : ['remote.pushDefault']) {
    const value = await git('config', '--get', name)
    // `.` is this checkout itself, as of a branch that began at another one here.
    if (value && value !== '.') return value
  }
  const remotes = ((await git('remote')) ?? '').split('\n').filter(Boolean)
  if (remotes.length === 0) throw noPush('This checkout has no remote: add one with git remote add, and push.')
  if (remotes.length === 1) return remotes[0]!
  if (remotes.includes('origin')) return 'origin'
  throw noPush(`Which remote was pushed to? Name it with --remote: ${visible(remotes.join(', '))}.`)
}

async function pushBranch(git: Git, local: string, remote: string, sha: string): Promise<string> {
  const format = '--format=%(push:remoteref)'
  const byRefspec = await git('for-each-ref', format, `refs/heads/${local}`)
  if (byRefspec) return byRefspec.replace(/^refs\/heads\//, '')
  const byName = ['current', 'matching'].includes((await git('config', '--get', 'push.default')) ?? '')
  const isUpstream = (await git('config', '--get', `branch.${local}.remote`)) === remote
  const merge = isUpstream && !byName ? await git('config', '--get', `branch.${local}.merge`) : undefined
  const upstream = merge?.startsWith('refs/heads/') ? merge.slice('refs/heads/'.length) : local
  if (upstream === local) return local
  // A branch that began at another one has that as its upstream, whichever of the two it was pushed to.
  for (const branch of [local, upstream]) if (await isPushed(git, sha, remote, branch)) return branch
  throw notPushed(sha, remote, [local, upstream])
}

async function repositoryAt(
  git: Git,
  remote: string,
  { target, host }: PushOptions,
): Promise<Pick<Push, 'host' | 'slug'>> {
  if (target !== undefined && host !== undefined) return { host, slug: target }
  const { host: written, slug, sshName } = await repositoryOfRemote(git, remote)
  const found = host ?? (sshName === undefined ? written : await hostOfSsh(written, sshName))
  if (host === undefined && !/[.:]|^localhost$/.test(found)) {
    throw noPush(`${quoted(found)} is a name for ssh on this machine: name the code host itself with --host.`)
  }
  return { host: found, slug: target ?? slug }
}

/** Asks the person's own configuration of ssh which host the name in an address stands for, and connects to nothing. */
async function hostOfSsh(name: string, sshName: string): Promise<string> {
  try {
    const asked = ['-G', '-o', 'CanonicalizeHostname=no', '--', sshName]
    const { stdout } = await run('ssh', asked, { timeout: TIMEOUT_MS, encoding: 'utf8' })
    const host = firstName(/^hostname (\S+)$/m.exec(stdout)?.[1] ?? name)
    // A name says more than the address that it is reached by.
    return isIP(host) && name.includes('.') ? name : host
  } catch {
    return name
  }
}

async function repositoryOfRemote(
  git: Git,
  remote: string,
): Promise<Repository & { readonly sshName: string | undefined }> {
  // A remote that is configured by its address alone has no name that git could look up.
  const isAddress = /[:/\\]/.test(remote)
  const listed = isAddress ? remote : await git('remote', 'get-url', '--push', '--all', '--', remote)
  if (listed === undefined) throw noPush(`There is no remote ${quoted(remote)}.`)
  const addresses = listed.split('\n')
  const found = addresses.map(repositoryOf)
  const names = new Set(found.map((repository) => repository && `${repository.host} ${repository.slug}`))
  if (names.size > 1)
    throw noPush(`The remote ${quoted(remote)} is several repositories: claim each with --target and --host.`)
  const [repository] = found
  if (repository) return { ...repository, sshName: sshNameOf(addresses[0]!) }
  // The message does not repeat the remote's address, which may hold a password.
  throw noPush(`The remote ${quoted(remote)} leads to no repository of a code host: name it with --target and --host.`)
}

/** Tells whether the remote has the commit, by what this checkout last heard from the remote: `git push` writes that down. */
async function isPushed(git: Git, sha: string, remote: string, branch: string): Promise<boolean> {
  return (await git('merge-base', '--is-ancestor', sha, `refs/remotes/${remote}/${branch}`)) !== undefined
}

/**
 * Reads when this checkout last pushed the commit, by the reflog of the remote's branch; undefined where that does not tell. It has whole seconds, of
 * which the last moment counts.
 */
async function timeOfPush(git: Git, sha: string, ref: string): Promise<number | undefined> {
  // A checkout may name the program that shows signatures.
  const options = ['-g', '--no-show-signature', '--date=unix', '--grep-reflog=^update by push$', '--format=%H %gd']
  const pushes = await git('log', ...options, '--end-of-options', ref, '--')
  const [, seconds] = new RegExp(`^${sha} .*@\\{(\\d+)\\}$`, 'm').exec(pushes ?? '') ?? []
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000 + 999, Date.now())
}

function notPushed(sha: string, remote: string, branches: readonly string[]): CommandError {
  const where = branches.map((branch) => `${visible(remote)}/${visible(branch)}`).join(' or ')
  const name = branches.length > 1 ? '--branch and --unchecked' : '--unchecked'
  return noPush(
    `${sha.slice(0, 12)} is not on ${where}, as far as this checkout knows: push it first. If it is there all the same, pass ${name}.`,
  )
}

function quoted(name: string): string {
  return visible(JSON.stringify(name))
}

function noPush(detail: string): CommandError {
  return new CommandError('no_push', detail)
}
