/** Counts everything that one check asks and reads, and holds it to its limits. */
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, MAX_CHECK_BYTES, USUAL_ANSWER_BYTES } from '../contract/fetch.ts'
import type { DestinationErrorCode } from '../evidence.ts'
import type { RequestGuard, RequestRule } from './check-guard.ts'
import { BreachError, refusal } from './failures.ts'
import { type Grant, grantOf } from './grants.ts'
import { type AnswerRecord, joinAnswers, mergeReadings, NO_READINGS, type Readings, readAnswer } from './readings.ts'

/** Tells bodies that are read from those that are only digested. */
export type Use = 'body' | 'digest'

const NOTHING_MADE = { requests: 0, sockets: 0, names: 0 }

/** The result of a request, with what tells the destination's clock: the headers of its answer, or the readings of another protocol. */
type CountedResult<T> = { readonly result: T } & (
  | { readonly headers: Headers; readonly readings?: undefined }
  | {
      readonly headers?: undefined
      readonly readings: Readings
      /** Marks content that another origin gave, which is no answer of the destination. */
      readonly isSilent?: boolean
    }
)

/** Number of requests that all checks of this process have begun. */
let begun = 0

export class CheckUsage {
  #readings: Readings = NO_READINGS
  /** The answers, apart from the readings, which are merged at each answer. */
  readonly #answers = new Map<number, AnswerRecord>()
  readonly most: { readonly requests: number; readonly bodyBytes: number; readonly allBytes: number }
  #made: Readonly<typeof NOTHING_MADE> = NOTHING_MADE
  /** Number at the check's begin. An answer to an earlier request is not the check's, even if a plugin or another check shares it. */
  #since = this.begin()
  readonly #guard: RequestGuard
  readonly #left: Record<Use, number>

  constructor(guard: RequestGuard) {
    this.#guard = guard
    const { requests = CEILING.requests, bodyBytes = USUAL_ANSWER_BYTES } = guard.limits ?? {}
    this.most = { requests, bodyBytes, allBytes: Math.max(MAX_CHECK_BYTES, 2 * bodyBytes) }
    this.#left = { body: this.most.allBytes, digest: guard.maxDigestBytes }
  }

  get hasRequestsLeft(): boolean {
    return this.#made.requests < this.most.requests
  }

  /** Begins the check again, without answers. The other readings and the count of bytes stay. */
  again(): void {
    this.#made = NOTHING_MADE
    this.#since = this.begin()
  }

  /** Numbers a request. @returns its number, in the order in which requests of the process begin */
  begin(): number {
    return ++begun
  }

  /** Notes that a request was answered. @param asked the number of the request for the answer's last part */
  answered(id: number, asked = id): void {
    joinAnswers(this.#answers, new Map([[id, { origin: this.#guard.origin, asked }]]))
  }

  /** Number of answers of the check's source: its own, and those of the reads that it joined. */
  get answers(): number {
    let count = 0
    for (const { origin, asked } of this.#answers.values()) {
      if (origin === this.#guard.origin && asked > this.#since) count++
    }
    return count
  }

  /** Finds the reason the check may read an origin. @throws BreachError where the manifest allows no check there */
  grant(origin: string): Grant {
    const { connected, secrets, manifest } = this.#guard
    const given = grantOf(manifest, { origin, typed: connected?.options, hasSecrets: secrets.size > 0 })
    if (given !== undefined) return given
    throw new BreachError(
      `the manifest of this plugin does not declare ${origin}: add its host to manifest.hosts, or 'connection.<option>' for the address that a workspace typed`,
    )
  }

  count(what: keyof typeof NOTHING_MADE): number {
    this.#made = { ...this.#made, [what]: this.#made[what] + 1 }
    return this.#made[what]
  }

  refuse(rule: RequestRule, problem: string, code?: DestinationErrorCode): DestinationError {
    this.#guard.refused(rule, problem)
    return refusal(problem, code)
  }

  /** Runs a function that throws a BreachError where the rule is broken. */
  under<T>(rule: RequestRule, run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.refused(rule, error)
    }
  }

  refused(rule: RequestRule, error: unknown): unknown {
    if (error instanceof BreachError) this.#guard.refused(rule, error.message, error)
    return error
  }

  /** Notes an access token that is sent, because a destination may repeat it in its answer. */
  noteToken(token: string | undefined): void {
    if (token !== undefined) this.read({ ...NO_READINGS, tokens: [token] })
  }

  get readings(): Readings {
    return this.#answers.size === 0 ? this.#readings : { ...this.#readings, answers: new Map(this.#answers) }
  }

  read({ answers, ...readings }: Readings): void {
    this.#readings = mergeReadings(this.#readings, readings)
    if (answers) joinAnswers(this.#answers, answers)
  }

  #spend(): (headers?: Headers) => void {
    const { requests: most } = this.most
    if (this.count('requests') > most) throw this.refuse('limits', `sends more than ${most} requests in a check`)
    return this.#guard.spend?.() ?? (() => {})
  }

  /** Counts bytes of a body. @throws DestinationError `too_large` where the check may read no more */
  received(bytes: number, use: Use): Promise<void> | undefined {
    this.#left[use] -= bytes
    if (this.#left[use] >= 0) return this.#guard.pace?.(bytes)
    const most = use === 'digest' ? this.#guard.maxDigestBytes : this.most.allBytes
    this.#guard.refused('limits', `reads more than ${most} bytes in a check`)
    throw new DestinationError('too_large')
  }

  /** Sends a request, counts it and its answer, and reads the answer's clock. */
  async counted<T>(send: (sentAgain: () => void, id: number) => Promise<CountedResult<T>>): Promise<T> {
    const { now } = this.#guard
    const id = this.begin()
    let answered = this.#spend()
    const sentAgain = () => {
      const next = this.#spend()
      answered()
      answered = next
    }
    const sentAt = now()
    let headers: Headers | undefined
    try {
      const sent = await send(sentAgain, id)
      headers = sent.headers
      this.read(sent.readings ?? readAnswer(sent.headers, sentAt, now()))
      if (sent.headers || !sent.isSilent) this.answered(id)
      return sent.result
    } finally {
      answered(headers)
    }
  }
}
