/** Makes one check of a claim at the place itself, in this process, and shows the author of a verifier everything about it. */
import { secretNames } from '../contract/auth.ts'
import { isDestinationError } from '../contract/destination-error.ts'
import { isPlugin, type Plugin } from '../contract/plugin.ts'
import { profileProblems } from '../contract/profile-problems.ts'
import type { Claim, Verifier } from '../contract/verifier.ts'
import { type CheckRecord, type Instant, isRead } from '../evidence.ts'
import { failureWords } from '../hosting/failures.ts'
import { UNHEARD } from '../hosting/observation.ts'
import type { JsonObject } from '../json.ts'
import type { ActionProfile } from '../profile.ts'
import { decide } from '../rules/decide.ts'
import { nextCheck } from '../schedule.ts'
import { type TSchema, Value } from '../typebox.ts'
import { CLOSING, type Decision } from '../verdict.ts'
import type { KitClock } from './clock.ts'
import type { StruckRequest } from './fault-proxy.ts'
import { type Lane, type Outcome, openLane, thrownText } from './host.ts'
import type { ObservationProblem } from './observation.ts'
import type { GivenConnection } from './options.ts'
import { declaredProblems, patternProblems } from './profile-lint.ts'
import { type Exchange, exchangeOf, type Recording } from './recording.ts'
import type { OnSocket } from './transport.ts'
import { TrialError } from './trial-error.ts'
import { recordOf, wrongIn } from './verdict-run.ts'
import { installWatch } from './watch.ts'
import { startWatchdog } from './watchdog.ts'

export interface TrialOptions {
  readonly plugin: Plugin
  /** The plugin's options, as an operator's configuration gives them. */
  readonly options?: JsonObject
  readonly claim: TrialClaim
  /** The options of a connection. */
  readonly connection?: JsonObject
  /** The connection's provider. Needed where the action is read through several. */
  readonly provider?: string
  /** An earlier recording, whose exchanges stay before the new ones. */
  readonly recording?: Recording
}

export interface TrialClaim {
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly deadlineAt?: Instant
}

export interface TrialRequest {
  readonly method: string
  readonly url: string
  /** The status of the answer; undefined if there was none. */
  status?: number
  ms: number
  /** Size of the answer's body. */
  bytes: number
  /** The authentication scheme of the header that carried the credential, such as `bearer`. */
  readonly auth?: string
  /** The reason why there was no answer. */
  problem?: string
}

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface Trial {
  readonly profile: ActionProfile
  /** The claim as the check got it. */
  readonly claim: Claim
  readonly record: CheckRecord
  /** The decision on the claim; undefined if one check decides nothing yet. */
  readonly decision: Decision | undefined
  readonly nextCheckAt: Instant | undefined
  readonly requests: readonly TrialRequest[]
  /** The plugin's log, with what it did that a host refuses, and what it threw. */
  readonly log: readonly LogLine[]
  /** The secrets of the connection, which nothing may print. */
  readonly secrets: readonly string[]
  /** The recorded answers without credentials; undefined if there was none. */
  readonly recording: Recording | undefined
}

/** Makes one check of a claim. @throws TrialError before any request; what the plugin does wrong is in the trial */
export async function tryClaim(given: TrialOptions): Promise<Trial> {
  const { plugin, options = {} } = given
  if (!isPlugin(plugin)) throw new TrialError('no_plugin', 'the module exports no plugin: definePlugin makes one')
  if ((plugin.manifest.programs ?? []).length > 0)
    throw new TrialError('not_here', "the plugin runs programs, which only the server's own command line can try")
  refuseIssues('the options are not those of the plugin', plugin.options, options, 'options')

  const log: LogLine[] = []
  const requests: TrialRequest[] = []
  const note = (name: string, problem: string) => {
    log.push({ level: 'warn', message: `the plugin ${problem}`, fields: { check: name } })
  }
  const removeWatch = installWatch()
  const stopWatchdog = startWatchdog()
  let lane: Lane | undefined
  try {
    lane = await openLane({
      plugin,
      options,
      proxy: { destination: undefined, elsewhere: '', clock: MACHINE, memory: new Map() },
      socketUrl: undefined,
      onSocket: tracedSockets(requests),
      clock: MACHINE,
      note,
    }).catch((error) => {
      throw new TrialError('no_plugin', `setup of the plugin fails: ${thrownText(error)}`)
    })
    return await checkOnce(lane, given, { log, requests })
  } finally {
    await lane?.close().catch((error) => note('close.throws', `fails when it is closed: ${thrownText(error)}`))
    removeWatch()
    await stopWatchdog()
  }
}

/** The machine's clock, which leaves dates as the destination gives them. */
const MACHINE: KitClock = { now: Date.now.bind(Date), set() {}, dated: (answer) => answer }

async function checkOnce(
  lane: Lane,
  given: TrialOptions,
  { log, requests }: { readonly log: LogLine[]; readonly requests: TrialRequest[] },
): Promise<Trial> {
  const verifier = lane.verifierFor(given.claim.action)
  if (!verifier) {
    const offered = (lane.parts.verifiers ?? []).map(({ profile }) => profile.action)
    const list = offered.join(', ') || 'nothing'
    throw new TrialError('unknown_action', `the plugin does not verify ${given.claim.action}; it verifies: ${list}`)
  }
  const { profile } = verifier
  const patterns = patternProblems(given.plugin, lane.parts)
  const ofPlugin = [...patterns.ofPlugin, ...declaredProblems(lane.parts.connections)]
  if (ofPlugin.length > 0) throw new TrialError('no_plugin', `the plugin ${ofPlugin.join('; the plugin ')}`)
  const wrong = [...profileProblems(profile), ...patterns.ofProfile(profile)]
  if (wrong.length > 0) throw new TrialError('no_plugin', `the profile ${wrong.join('; the profile ')}`)
  const claim = claimOf(verifier, given.claim)
  const connection = connectionOf(lane, verifier, given)
  const exchanges: Exchange[] = []
  const strike = { fault: (struck: StruckRequest) => passAndNote(struck, requests, exchanges, lane) }
  const sentAt = MACHINE.now()
  const outcome = await lane.check({ claim, connection, strike, doing: { check: 'try' } }).catch((error) => {
    throw new TrialError('no_connection', (error as Error).message)
  })
  const answeredAt = MACHINE.now()
  const record = withStatus(recordOf(outcome, { profile, claim }, sentAt, answeredAt), outcome)
  const fault = wrongIn(outcome, { profile, claim }, sentAt, answeredAt)
  const decision = decide(profile, claim, [record], answeredAt)
  const origin = requests[0] && new URL(requests[0].url).origin
  const earlier = given.recording
  const recorded = exchanges.map((one) => withoutSecrets(one, outcome.secrets))
  return {
    profile,
    claim,
    record,
    decision,
    nextCheckAt: decision ? undefined : nextCheck(profile, claim, [record], CLOSING).at,
    requests,
    log: [...log, ...outcome.logs.map(logLine), ...problemOf(outcome, fault)],
    secrets: outcome.secrets,
    recording:
      origin === undefined || exchanges.length === 0
        ? earlier
        : { version: 1, origin, exchanges: [...(earlier?.exchanges ?? []), ...recorded] },
  }
}

/** Validates and normalizes a trial's claim. @throws TrialError `invalid` for a claim that its action does not allow */
export function claimOf(verifier: Verifier, { action, target, params, claimedAt, deadlineAt }: TrialClaim): Claim {
  const { profile } = verifier
  const validated = (one: Pick<Claim, 'target' | 'params'>) => {
    const problem = `the claim is not one of ${profile.action}`
    const issues = [
      ...issuesOf(profile.target, one.target, 'target'),
      ...issuesOf(profile.params, one.params, 'params'),
    ]
    if (issues.length > 0) throw new TrialError('invalid', problem, issues)
    return one
  }
  const plain = validated({ target, params })
  const normal = verifier.normalize ? validated(normalized(verifier.normalize, plain)) : plain
  const submittedAt = MACHINE.now()
  return { action, ...normal, claimedAt, deadlineAt: deadlineAt ?? claimedAt + profile.deadlineMs, submittedAt }
}

function normalized<T>(normalize: (claim: never) => unknown, plain: T): T {
  try {
    return normalize(structuredClone(plain) as never) as T
  } catch (error) {
    if (!isDestinationError(error)) throw error
    throw new TrialError('invalid', `the plugin refuses the claim: ${error.code}`)
  }
}

/** Finds the connection that a trial reads through. @throws TrialError where the options fit none */
function connectionOf(
  { parts }: Lane,
  { profile, providers, anonymousSource }: Verifier,
  { connection: options, provider: named }: TrialOptions,
): GivenConnection | null {
  const types = (parts.connections ?? []).filter(({ provider }) => providers.includes(provider))
  if (options === undefined) {
    if (profile.access.anonymous && anonymousSource) return null
    const wanted = types.map((type) => {
      const secrets = secretNames(type)
      const names = Object.keys(type.options.properties)
      return `${type.provider}: ${names.map((name) => (secrets.includes(name) ? `${name} (secret)` : name)).join(', ')}`
    })
    throw new TrialError(
      'no_connection',
      `${profile.action} is read through a connection, with the options of ${wanted.join('; or of ')}`,
    )
  }
  const provider = named ?? (types.length === 1 ? types[0]!.provider : undefined)
  const type = types.find((one) => one.provider === provider)
  if (!type) {
    const list = types.length === 0 ? 'no connection at all' : types.map((one) => one.provider).join(', ')
    throw new TrialError('invalid', `${profile.action} is read through ${list}: name one as the provider`)
  }
  refuseIssues(`the options are not valid for ${type.provider}`, type.options, options, 'options')
  return { provider: type.provider, options }
}

/** Passes a request on to the place itself, and notes it. */
async function passAndNote(
  { asked, real, send }: StruckRequest,
  requests: TrialRequest[],
  exchanges: Exchange[],
  lane: Lane,
): Promise<void> {
  const { method, path, headers } = asked
  const auth = /^\w+(?= )/.exec(headers.authorization ?? '')?.[0].toLowerCase()
  const request: TrialRequest = { method, url: `${lane.origin()}${path}`, ms: 0, bytes: 0, ...(auth && { auth }) }
  requests.push(request)
  const startedAt = performance.now()
  try {
    const answer = await real()
    request.status = answer.status
    request.bytes = answer.body.length
    exchanges.push(exchangeOf(asked, answer))
    send(answer)
  } catch (error) {
    request.problem = (error as Error).message || thrownText(error)
    throw error
  } finally {
    request.ms = Math.round(performance.now() - startedAt)
  }
}

function tracedSockets(requests: TrialRequest[]): OnSocket {
  return (method, { hostname, port, isTls }) => {
    const request: TrialRequest = { method, url: `${isTls ? 'tls' : 'tcp'}://${hostname}:${port}`, ms: 0, bytes: 0 }
    requests.push(request)
    const startedAt = performance.now()
    return (error) => {
      request.ms = Math.round(performance.now() - startedAt)
      if (error !== undefined) request.problem = (error as Error).message || thrownText(error)
    }
  }
}

/** Removes the connection's secrets from an exchange, in every form in which an answer may repeat them. */
function withoutSecrets(exchange: Exchange, secrets: readonly string[]): Exchange {
  const clean = (text: string) => secrets.filter((one) => one !== '').reduce(redact, text)
  const { path, headers, body, encoding } = exchange
  return {
    ...exchange,
    path: clean(path),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(value)])),
    body: encoding === undefined ? clean(body) : body,
  }
}

function redact(text: string, secret: string): string {
  const base64 = Buffer.from(secret).toString('base64')
  const inJson = JSON.stringify(secret).slice(1, -1)
  const forms = [secret, encodeURIComponent(secret), inJson, base64, base64.replace(/=+$/, '')]
  return forms.reduce((rest, form) => rest.replaceAll(form, '[credential]'), text)
}

function withStatus(record: CheckRecord, { error }: Outcome): CheckRecord {
  const { status } = (error ?? {}) as { readonly status?: unknown }
  if (isRead(record) || typeof status !== 'number') return record
  return { ...record, failure: { ...record.failure, status } }
}

/** The plugin's mistakes, as a service logs them. */
function problemOf({ observation, error, answers }: Outcome, wrong: ObservationProblem | undefined): LogLine[] {
  const problem = wrong?.problem ?? (answers === 0 ? UNHEARD : undefined)
  if (observation && problem !== undefined)
    return [{ level: 'error', message: 'the check failed', fields: { problem } }]
  if (observation) return []
  if (isDestinationError(error)) {
    return error.cause instanceof Error
      ? [{ level: 'warn', message: 'the destination was not read', fields: { problem: failureWords(error) } }]
      : []
  }
  const thrown = error instanceof Error ? (error.stack ?? error.message) : thrownText(error)
  return [{ level: 'error', message: 'the check failed', fields: { problem: thrown } }]
}

export function logLine(entry: unknown): LogLine {
  const [fields, message, level] = entry as readonly [unknown, unknown, string]
  const isPlain = typeof fields === 'object' && fields !== null
  return { level, message: String(isPlain ? message : fields), fields: isPlain ? (fields as LogLine['fields']) : {} }
}

/** The mistakes of an input. No value is repeated, because it may be a credential. */
function issuesOf(schema: TSchema, value: unknown, name: string): TrialError['issues'] {
  if (Value.Check(schema, value)) return []
  const known = Object.keys((schema as { readonly properties?: object }).properties ?? {})
  return [...Value.Errors(schema, value)]
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .map(({ keyword, instancePath, message }) => {
      const path = instancePath.split('/').filter(Boolean)
      const others = path.length === 1 ? `; there are: ${known.join(', ') || 'none'}` : ''
      const msg = keyword === 'boolean' ? `there is none of that name${others}` : message
      return { loc: [name, ...path], msg }
    })
}

function refuseIssues(problem: string, schema: TSchema, value: unknown, name: string): void {
  const issues = issuesOf(schema, value, name)
  if (issues.length > 0) throw new TrialError('invalid', problem, issues)
}
