/**
 * A copy of one branch's history in a folder. It is fetched step by step from the tip backwards, kept between checks, and searched with the
 * network off.
 *
 * The claim's commit is never named to git: servers give out any object by its id, also one that is on no branch, and a partial clone
 * fetches missing objects by their ids.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckContext, DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import { gitEnvironment, type Remote } from './environment.ts'
import type { FolderContent } from './folders.ts'
import { fromServer, type Git, GitFailure, type GitRun, inLines, refusesShallow, traceRun } from './program.ts'
import { createSearches } from './search.ts'

export interface BranchCopyOptions {
  readonly folder: string
  readonly branch: string
  /** Limit of the copy's size on the disk. */
  readonly maxBytes: number
  readonly git: Git
}

type CopySituation = Pick<CheckContext, 'signal' | 'share' | 'now'>

const FIRST_DEPTH = 64
const FIRST_STEP = 7 * FIRST_DEPTH
const MAX_STEP = 1_000_000_000
/** The factor by which a step grows while each one is done in time. */
const GROWTH = 8
const SLOW_GROWTH = 2
const SHRINKING = 4
/** Limit of the packs of a copy: every fetch that brings something is one, and git opens all of them. */
const MAX_PACKS = 100
/** Limit of a walk's output: the ids of one and a half million commits. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024
const MAX_OUTPUT_BYTES = 1024 * 1024

export class BranchCopy implements FolderContent {
  sizeBytes = 0
  isSpoiled = false
  readonly #options: BranchCopyOptions
  readonly #searches = createSearches()
  #lastTurn: Promise<unknown> = Promise.resolve()
  #isMade = false
  #hasHistory = false
  #step = FIRST_STEP
  #growth = GROWTH
  /** The number of failures in a row of each kind of work. */
  readonly #setbacks = { update: 0, walk: 0, deepen: 0 }

  constructor(options: BranchCopyOptions) {
    this.#options = options
  }

  /**
   * Brings the copy up to date. Returns the tip; `undefined` where the server has no such branch.
   * @throws DestinationError where the server cannot be read
   */
  update(remote: Remote, situation: CopySituation): Promise<string | undefined> {
    return this.#takeTurn(() => this.#judge('update', this.#update(remote, situation), situation))
  }

  /**
   * Tells whether the commit is `tip`, which an update returned, or an ancestor of it.
   * @throws DestinationError `timeout` when the check's time is over; what was fetched until then is kept
   */
  has(sha: string, tip: string, remote: Remote, { signal, share, now }: CopySituation): Promise<boolean> {
    const until = (signal: AbortSignal): CopySituation => ({ signal, share, now })
    return this.#searches.find(sha, tip, signal, {
      walk: (onIds, signal) => this.#judge('walk', this.#walk(tip, onIds, until(signal)), until(signal)),
      deepen: (signal) =>
        this.#takeTurn(() => this.#judge('deepen', this.#deepen(remote, until(signal)), until(signal))),
    })
  }

  /** Makes one fetch follow the other, because git locks its files. */
  #takeTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work)
    this.#lastTurn = turn.catch(() => {})
    return turn
  }

  #runOf({ signal, share }: CopySituation, remote?: Remote): GitRun {
    const { folder, maxBytes } = this.#options
    const env = gitEnvironment(folder, remote)
    return { folder, env, signal, share, maxOutputBytes: MAX_OUTPUT_BYTES, maxFileBytes: maxBytes }
  }

  async #make(situation: CopySituation): Promise<void> {
    if (this.#isMade) return
    const { folder, git } = this.#options
    await mkdir(folder, { recursive: true })
    await git(['init', '--quiet', '--bare', '--template=', '.'], this.#runOf(situation))
    this.#isMade = true
  }

  /** Fetches, and returns the tip of the branch; `undefined` where there is no such branch. */
  async #fetch(how: readonly string[], remote: Remote, situation: CopySituation, onStart?: () => void) {
    const { folder, branch, git } = this.#options
    const { run, negotiatedVersion } = await traceRun(this.#runOf(situation, remote))
    const options = ['--quiet', '--no-tags', ...how, '--filter=tree:0']
    const refspec = `+refs/heads/${branch}:refs/claimcheck/fetched`
    try {
      await git(['fetch', ...options, '--', remote.url, refspec], onStart ? { ...run, onStart } : run)
    } catch (error) {
      await removeLeftovers(folder)
      if (isMissing(error, branch) && (await negotiatedVersion()) !== undefined) return undefined
      throw error
    } finally {
      await this.#measure()
    }
    if ((await negotiatedVersion()) === undefined) throw new DestinationError('unexpected_response')
    return tipIn(await readFile(join(folder, 'FETCH_HEAD'), 'utf8'), branch)
  }

  /** Fetches all of a history, without depth, from a server that gives out nothing less. */
  #fetchOrAll(
    how: string,
    all: readonly string[],
    remote: Remote,
    situation: CopySituation,
    onStart?: () => void,
  ): Promise<string | undefined> {
    return this.#fetch([how], remote, situation, onStart).catch((error: unknown) => {
      if (!refusesShallow(error)) throw error
      return this.#fetch(all, remote, situation, onStart)
    })
  }

  async #measure(): Promise<void> {
    const sizes = await packSizes(this.#options.folder)
    this.sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
    if (this.sizeBytes > this.#options.maxBytes) throw new DestinationError('unexpected_response')
    if (sizes.length > MAX_PACKS) this.isSpoiled = true
  }

  async #update(remote: Remote, situation: CopySituation): Promise<string | undefined> {
    await this.#make(situation)
    if (!this.#hasHistory) {
      const tip = await this.#fetchOrAll(`--depth=${FIRST_DEPTH}`, [], remote, situation)
      this.#hasHistory = tip !== undefined
      return tip
    }
    // The fetch has no depth, which would cut off what was fetched before. New commits can bring in a long history of their own.
    return whenTooSlow(
      (onStart) => this.#fetch([], remote, situation, onStart),
      () => this.#setBack('update'),
    )
  }

  async #deepen(remote: Remote, situation: CopySituation): Promise<void> {
    const { folder } = this.#options
    const before = await shallowIds(folder)
    await whenTooSlow(
      (onStart) => this.#fetchOrAll(`--deepen=${this.#step}`, ['--unshallow'], remote, situation, onStart),
      () => {
        this.#growth = SLOW_GROWTH
        this.#step = Math.max(1, Math.floor(this.#step / SHRINKING))
      },
    )
    this.#step = Math.min(this.#step * this.#growth, MAX_STEP)
    const after = await shallowIds(folder)
    // The server has no more of the history itself, or gives out no more.
    if (after.size === before.size && [...after].every((id) => before.has(id))) {
      throw new DestinationError('unavailable')
    }
  }

  /** Walks the history. @returns whether the ids are all that there are: none of them is one whose parents are missing */
  async #walk(tip: string, onIds: (ids: Buffer) => boolean, situation: CopySituation): Promise<boolean> {
    const { folder, git } = this.#options
    const shallow = await shallowIds(folder)
    const enough = new AbortController()
    let isWhole = true
    const onOutput = inLines((ids) => {
      if (enough.signal.aborted) return
      if (isWhole && shallow.size > 0) isWhole = !hasAny(ids, shallow)
      if (!onIds(ids)) enough.abort()
    })
    const signal = AbortSignal.any([situation.signal, enough.signal])
    try {
      const run = { ...this.#runOf(situation), signal, maxOutputBytes: MAX_HISTORY_BYTES, onOutput }
      await git(['rev-list', tip], run)
    } catch (error) {
      if (!enough.signal.aborted) throw error
    }
    return isWhole
  }

  /** Counts a failure: two in a row mean that this copy will not do. */
  #setBack(work: Work): void {
    if (++this.#setbacks[work] > 1) this.isSpoiled = true
  }

  /** Turns failures into those of the server, and counts them where they are this copy's. */
  async #judge<T>(work: Work, running: Promise<T>, situation: CopySituation): Promise<T> {
    try {
      const result = await fromServer(running, situation)
      this.#setbacks[work] = 0
      return result
    } catch (error) {
      const { code, status } = isDestinationError(error) ? error : { code: undefined, status: undefined }
      if (code === 'unexpected_response') this.isSpoiled = true
      else if (code !== 'timeout' && status === undefined) this.#setBack(work)
      throw error
    }
  }
}

type Work = 'update' | 'walk' | 'deepen'

/** Fetches, and tells of a fetch that takes too long. @param tooSlow is called if the time was over after the fetch began to bring something */
async function whenTooSlow<T>(fetch: (onStart: () => void) => Promise<T>, tooSlow: () => void): Promise<T> {
  let isStarted = false
  try {
    return await fetch(() => {
      isStarted = true
    })
  } catch (error) {
    if (isStarted && isDestinationError(error) && error.code === 'timeout') tooSlow()
    throw error
  }
}

function hasAny(lines: Buffer, ids: ReadonlySet<string>): boolean {
  for (let at = 0; at < lines.length; at += ID_LINE) {
    if (ids.has(lines.toString('latin1', at, at + ID_LINE - 1))) return true
  }
  return false
}

/** The length of a line with an id and its line feed. */
const ID_LINE = 41

/** Tells whether the branch is missing, by git's own last word alone: everything else is a failure to read. */
function isMissing(error: unknown, branch: string): boolean {
  if (!(error instanceof GitFailure)) return false
  const said = `fatal: couldn't find remote ref refs/heads/${branch}\n`
  return error.stderr === Buffer.from(said).toString('latin1')
}

/** Reads the sizes of the files in which the objects are. Bytes. */
async function packSizes(folder: string): Promise<number[]> {
  const packs = join(folder, 'objects', 'pack')
  const names = await readdir(packs).catch(() => [])
  const objects = names.filter((name) => !name.endsWith('.promisor'))
  return Promise.all(objects.map(async (name) => (await stat(join(packs, name))).size))
}

/** Reads the ids of the commits whose parents were not fetched. */
async function shallowIds(folder: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(folder, 'shallow'), 'latin1').catch((error: NodeJS.ErrnoException) => {
    // Without the file of shallow ids, all parents are here. An error is no sign of that.
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return new Set(text.split('\n').filter(Boolean))
}

/**
 * The tip of the branch that was fetched. Where there is no branch of this name, git may fetch a tag, or a branch with a longer name: their
 * names can contain `refs/heads/`.
 * @param fetched the text of FETCH_HEAD
 */
function tipIn(fetched: string, branch: string): string | undefined {
  const [, tip, what] = /^([0-9a-f]{40})\t(?:not-for-merge)?\t(.*)\n$/.exec(fetched) ?? []
  return what?.startsWith(`branch '${branch}' of `) ? tip : undefined
}

/** Removes the locks and unfinished packs of a git that was killed. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const leftovers = names.filter((name) => name.endsWith('.lock') || /(?:^|\/)tmp_/.test(name))
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true })))
}
