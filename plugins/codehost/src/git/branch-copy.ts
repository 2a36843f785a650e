/**
 * A copy of one branch's history in a folder. It is fetched step by step from the tip backwards, kept between checks, and searched with the
 * network off.
 *
 * The claim's commit is never named to git: servers give out any object by its id, also one that is on no branch, and a partial clone
 * fetches missing objects by their ids.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckContext, DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import { gitEnvironment, type Remote } from './environment.ts'
import { fromServer, refusesShallow } from './failure.ts'
import type { Kept } from './kept.ts'
import { inLines } from './lines.ts'
import { type Git, GitFailure, type GitRun } from './program.ts'
import { packSizes, removeLeftovers, shallowIds, tipIn } from './repository-files.ts'
import { createSearches } from './search.ts'
import { traced } from './trace.ts'

export interface BranchCopy extends Kept {
  /** Brings the copy up to date. Returns the tip; `undefined` where the server has no such branch. @throws DestinationError */
  update(remote: Remote, context: CheckContext): Promise<string | undefined>
  /**
   * Whether the commit is `tip`, which an update returned, or an ancestor of it.
   * @throws DestinationError `timeout` when the check's time is over; what was fetched until then is kept
   */
  has(sha: string, tip: string, remote: Remote, context: CheckContext): Promise<boolean>
}

export interface BranchCopyOptions {
  readonly folder: string
  readonly branch: string
  /** What all of it may take on the disk. */
  readonly maxBytes: number
  readonly git: Git
}

type Situation = Pick<CheckContext, 'signal' | 'share' | 'now'>

const FIRST_DEPTH = 64
const FIRST_STEP = 7 * FIRST_DEPTH
const MAX_STEP = 1_000_000_000
/** By which a step grows when the one before was done in time: at first, and when one was not. */
const GROWTH = 8
const SLOW_GROWTH = 2
const SHRINKING = 4
/** Every fetch that brings something is a pack, and git opens all of them. */
const MAX_PACKS = 100
/** One and a half million commits. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024
const MAX_OUTPUT_BYTES = 1024 * 1024

export function createBranchCopy({ folder, branch, maxBytes, git }: BranchCopyOptions): BranchCopy {
  const searches = createSearches()
  let lastTurn: Promise<unknown> = Promise.resolve()
  let isMade = false
  let hasHistory = false
  let isSpoiled = false
  let sizeBytes = 0
  let step = FIRST_STEP
  let growth = GROWTH
  const setbacks = { update: 0, walk: 0, deepen: 0 }

  /** One fetch after the other: git locks its files. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = lastTurn.then(work)
    lastTurn = turn.catch(() => {})
    return turn
  }

  function runOf(env: NodeJS.ProcessEnv, { signal, share }: Situation): GitRun {
    return { folder, env, signal, share, maxOutputBytes: MAX_OUTPUT_BYTES, maxFileBytes: maxBytes }
  }

  async function make(situation: Situation): Promise<void> {
    if (isMade) return
    await mkdir(folder, { recursive: true })
    await git(['init', '--quiet', '--bare', '--template=', '.'], runOf(gitEnvironment(folder), situation))
    isMade = true
  }

  /** The tip of the branch; `undefined` where there is no such branch. */
  async function fetch(how: readonly string[], remote: Remote, situation: Situation, onStart?: () => void) {
    const { run, negotiatedVersion } = await traced(runOf(gitEnvironment(folder, remote), situation))
    const options = ['--quiet', '--no-tags', ...how, '--filter=tree:0']
    const refspec = `+refs/heads/${branch}:refs/claimcheck/fetched`
    try {
      await git(['fetch', ...options, '--', remote.url, refspec], onStart ? { ...run, onStart } : run)
    } catch (error) {
      await removeLeftovers(folder)
      if (isMissing(error, branch) && (await negotiatedVersion()) !== undefined) return undefined
      throw error
    } finally {
      await measure()
    }
    if ((await negotiatedVersion()) === undefined) throw new DestinationError('unexpected_response')
    return tipIn(await readFile(join(folder, 'FETCH_HEAD'), 'utf8'), branch)
  }

  async function measure(): Promise<void> {
    const sizes = await packSizes(folder)
    sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
    if (sizeBytes > maxBytes) throw new DestinationError('unexpected_response')
    if (sizes.length > MAX_PACKS) isSpoiled = true
  }

  /** The newest commits; all of them from a server that gives out only all. */
  async function begin(remote: Remote, situation: Situation): Promise<string | undefined> {
    const tip = await fetch([`--depth=${FIRST_DEPTH}`], remote, situation).catch((error: unknown) => {
      if (!refusesShallow(error)) throw error
      return fetch([], remote, situation)
    })
    hasHistory = tip !== undefined
    return tip
  }

  async function update(remote: Remote, situation: Situation): Promise<string | undefined> {
    await make(situation)
    if (!hasHistory) return begin(remote, situation)
    let isStarted = false
    const onStart = () => {
      isStarted = true
    }
    try {
      // Without a depth, which would cut off what was fetched before.
      return await fetch([], remote, situation, onStart)
    } catch (error) {
      // New commits can bring in a long history of their own.
      if (isTimeout(error) && isStarted) setBack('update')
      throw error
    }
  }

  async function deepen(remote: Remote, situation: Situation): Promise<void> {
    const before = await shallowIds(folder)
    let isStarted = false
    const onStart = () => {
      isStarted = true
    }
    try {
      await fetch([`--deepen=${step}`], remote, situation, onStart).catch((error: unknown) => {
        if (!refusesShallow(error)) throw error
        return fetch(['--unshallow'], remote, situation, onStart)
      })
    } catch (error) {
      if (isTimeout(error) && isStarted) {
        growth = SLOW_GROWTH
        step = Math.max(1, Math.floor(step / SHRINKING))
      }
      throw error
    }
    step = Math.min(step * growth, MAX_STEP)
    const after = await shallowIds(folder)
    // The server has no more itself, or gives out no more.
    if (after.size === before.size && [...after].every((id) => before.has(id))) {
      throw new DestinationError('unavailable')
    }
  }

  /** Whether the ids are all that there are: none of them is one whose parents are missing. */
  async function walk(tip: string, onIds: (ids: Buffer) => boolean, situation: Situation): Promise<boolean> {
    const shallow = await shallowIds(folder)
    const enough = new AbortController()
    let isWhole = true
    const onOutput = inLines((ids) => {
      if (enough.signal.aborted) return
      if (isWhole && shallow.size > 0) isWhole = !hasAny(ids, shallow)
      if (!onIds(ids)) enough.abort()
    })
    const run = runOf(gitEnvironment(folder), situation)
    const signal = AbortSignal.any([situation.signal, enough.signal])
    try {
      await git(['rev-list', tip], { ...run, signal, maxOutputBytes: MAX_HISTORY_BYTES, onOutput })
    } catch (error) {
      if (!enough.signal.aborted) throw error
    }
    return isWhole
  }

  /** Twice in a row means that this copy will not do. */
  function setBack(work: keyof typeof setbacks): void {
    if (++setbacks[work] > 1) isSpoiled = true
  }

  /** Turns failures into those of the server, and sees whether they are this copy's. */
  async function judged<T>(work: keyof typeof setbacks, running: Promise<T>, situation: Situation): Promise<T> {
    try {
      const result = await fromServer(running, situation)
      setbacks[work] = 0
      return result
    } catch (error) {
      const { code, status } = isDestinationError(error) ? error : { code: undefined, status: undefined }
      if (code === 'unexpected_response') isSpoiled = true
      else if (code !== 'timeout' && status === undefined) setBack(work)
      throw error
    }
  }

  return {
    get sizeBytes() {
      return sizeBytes
    },
    get isSpoiled() {
      return isSpoiled
    },
    update: (remote, context) => inTurn(() => judged('update', update(remote, context), context)),
    has(sha, tip, remote, { signal, share, now }) {
      return searches.find(sha, tip, signal, {
        walk: (onIds, signal) => judged('walk', walk(tip, onIds, { signal, share, now }), { signal, share, now }),
        deepen: (signal) =>
          inTurn(() => judged('deepen', deepen(remote, { signal, share, now }), { signal, share, now })),
      })
    },
  }
}

function hasAny(lines: Buffer, ids: ReadonlySet<string>): boolean {
  for (let at = 0; at < lines.length; at += ID_LINE) {
    if (ids.has(lines.toString('latin1', at, at + ID_LINE - 1))) return true
  }
  return false
}

/** An id and a line feed. */
const ID_LINE = 41

/** Only git's own last word counts. Everything else is a failure to read. */
function isMissing(error: unknown, branch: string): boolean {
  if (!(error instanceof GitFailure)) return false
  const said = `fatal: couldn't find remote ref refs/heads/${branch}\n`
  return error.stderr === Buffer.from(said).toString('latin1')
}

function isTimeout(error: unknown): boolean {
  return isDestinationError(error) && error.code === 'timeout'
}
