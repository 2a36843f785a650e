/**
 * What a repository's commits were checked for: runs, which apps and the host's own workflows start and end, and statuses, which
 * accounts post. Runs belong to suites: GitHub's check suites and workflow runs, GitLab's pipelines.
 */
import type { Act, ForgeRepository } from './model.ts'
import { NOW, Timelines } from './timeline.ts'

/** Runs that were started together, for one commit. */
export interface Suite {
  readonly id: number
  readonly sha: string
  /** The app that runs it: the slug of GitHub's own is `github-actions`. */
  readonly app: string
  /** It runs by a definition in the repository, and only the host can say how it ended. */
  readonly isRunByHost: boolean
  /** The file of the workflow: `.github/workflows/ci.yml`. */
  readonly workflow?: string
  /** What started it: `push`, `merge_request_event`, `schedule`, `external`. */
  readonly source: string
  readonly branch?: string
  readonly by: string
  readonly createdAt: number
  /** A pipeline that started this one. */
  readonly parent?: number
  /** The number of the pull request that it is for. */
  readonly pull?: number
  /** The id of a fork from which it comes. */
  readonly fromRepository?: number
}

export interface CheckRun {
  readonly id: number
  readonly name: string
  readonly sha: string
  readonly suite: Suite
  readonly state: 'queued' | 'running' | 'ended'
  /** Of one that ended. */
  readonly outcome?: CheckOutcome
  /** As the host gives them; whoever runs it sends them, but for the host itself. */
  readonly startedAt?: number
  readonly endedAt?: number
  /** When the host made it, and when it last heard of it: by its own clock. */
  readonly createdAt: number
  readonly updatedAt: number
  /** 1 for the first; a re-run has the next number, the same suite and name, and another id. */
  readonly attempt: number
  /** Of a re-run: the id of its first attempt. */
  readonly first?: number
  /** Its failure does not count against its suite. */
  readonly mayFail: boolean
  /** It waits for somebody to start it. */
  readonly isManual: boolean
  /** A job posted it into the suite with its own token, under whatever name: it is no job. */
  readonly isPosted: boolean
}

/** Tells whether one is a later attempt of another. */
export function isLaterAttempt(other: CheckRun, run: CheckRun): boolean {
  return other.id > run.id && (other.first ?? other.id) === (run.first ?? run.id)
}

export type CheckOutcome =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'skipped'
  | 'cancelled'
  | 'timed_out'
  | 'action_required'
  | 'stale'

/** Anybody who can write to the repository can post it. */
export interface PostedStatus {
  readonly id: number
  readonly sha: string
  /** What it is called: of several with the same name, the newest counts. */
  readonly context: string
  readonly state: 'pending' | 'success' | 'failure' | 'error'
  readonly by: string
  readonly createdAt: number
  /** The same entry can be posted again at Bitbucket. */
  readonly updatedAt: number
}

export interface NewSuite extends Act {
  readonly sha: string
  /** `github-actions` where the host runs it, when left out. */
  readonly app?: string
  readonly isRunByHost?: boolean
  readonly workflow?: string
  readonly source?: string
  readonly branch?: string
  readonly parent?: number
  readonly pull?: number
  readonly fromRepository?: number
}

/** Of a suite that there is, or of a new one with this alone. */
export type NewRun = Act & {
  readonly name: string
  readonly mayFail?: boolean
  readonly isManual?: boolean
  readonly isPosted?: boolean
} & ({ readonly suite: number } | (NewSuite & { readonly suite?: undefined }))

export class Checks {
  readonly #repository: ForgeRepository
  readonly #suites = new Timelines<number, Suite>()
  readonly #runs = new Timelines<number, CheckRun>()
  readonly #statuses = new Timelines<number, PostedStatus>()

  constructor(repository: ForgeRepository) {
    this.#repository = repository
  }

  /** Its id. */
  suite(given: NewSuite): number {
    const { at = this.#repository.now(), by = 'agent', isRunByHost = given.app === undefined, ...rest } = given
    const id = this.#repository.host.nextId()
    const { app = 'github-actions', source = 'push' } = given
    this.#suites.set(id, at, { ...rest, id, app, source, by, isRunByHost, createdAt: at })
    return id
  }

  /** Waits to be started. Its id. */
  queue(given: NewRun): number {
    const { at = this.#repository.now(), name, mayFail = false, isManual = false, isPosted = false } = given
    const suite = this.#suites.get(given.suite ?? this.suite({ ...given, at } as NewSuite), NOW)!
    const id = this.#repository.host.nextId()
    this.#runs.set(id, at, {
      ...{ id, name, sha: suite.sha, suite, state: 'queued', createdAt: at, updatedAt: at },
      ...{ attempt: 1, mayFail, isManual, isPosted },
    })
    return id
  }

  /** @param shownAt the time that whoever runs it sends */
  start(id: number, { at = this.#repository.now(), shownAt = at }: Act & { shownAt?: number } = {}): void {
    this.#change(id, { state: 'running', startedAt: shownAt }, at)
  }

  /** Also of one that had ended, whose outcome an app corrects. @param shownAt the time that whoever runs it sends */
  end(
    id: number,
    outcome: CheckOutcome,
    { at = this.#repository.now(), shownAt = at }: Act & { shownAt?: number } = {},
  ): void {
    const { startedAt = shownAt } = this.#latest(id)
    this.#change(id, { state: 'ended', outcome, startedAt, endedAt: shownAt }, at)
  }

  /** Started and ended at once. Its id. */
  run(
    given: NewRun & { readonly outcome?: CheckOutcome; readonly startedAt?: number; readonly endedAt?: number },
  ): number {
    const { outcome = 'success', at = this.#repository.now() } = given
    const { startedAt = at, endedAt = at } = given
    const id = this.queue({ ...given, at })
    this.start(id, { at, shownAt: startedAt })
    this.end(id, outcome, { at, shownAt: endedAt })
    return id
  }

  /** Queued once more. The id of the new attempt. */
  rerun(id: number, { at = this.#repository.now() }: Act = {}): number {
    const { outcome: _, startedAt: __, endedAt: ___, ...rest } = this.#latest(id)
    const again = this.#repository.host.nextId()
    const attempt = rest.attempt + 1
    const first = rest.first ?? rest.id
    this.#runs.set(again, at, { ...rest, id: again, attempt, first, state: 'queued', createdAt: at, updatedAt: at })
    return again
  }

  /** Whoever may write deletes a workflow run, with all its jobs. */
  deleteSuite(id: number, { at = this.#repository.now() }: Act = {}): void {
    for (const [run, { suite }] of this.#runs.all(NOW)) if (suite.id === id) this.#runs.set(run, at, undefined)
    this.#suites.set(id, at, undefined)
  }

  /** Its id. */
  post(given: Act & { sha: string; context: string; state: PostedStatus['state'] }): number {
    const { sha, context, state, at = this.#repository.now(), by = 'agent' } = given
    const id = this.#repository.host.nextId()
    this.#statuses.set(id, at, { id, sha, context, state, by, createdAt: at, updatedAt: at })
    return id
  }

  get(id: number, until: number): CheckRun | undefined {
    return this.#runs.get(id, until)
  }

  /** Oldest first. */
  runs(until: number): CheckRun[] {
    return this.#runs.all(until).map(([, run]) => run)
  }

  /** Oldest first. */
  suites(until: number): Suite[] {
    return this.#suites.all(until).map(([, suite]) => suite)
  }

  /** Oldest first. */
  statuses(until: number): PostedStatus[] {
    return this.#statuses.all(until).map(([, status]) => status)
  }

  #latest(id: number): CheckRun {
    const found = this.#runs.get(id, NOW)
    if (!found) throw new Error(`no such run: ${id}`)
    return found
  }

  #change(id: number, change: Partial<CheckRun>, at: number): void {
    this.#runs.set(id, at, { ...this.#latest(id), ...change, updatedAt: at })
  }
}
