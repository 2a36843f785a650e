/** Tries a connection type: the base address and the claims that fit, both without secrets, and a probe that tells what is wrong. */
import { secretNames } from '../contract/auth.ts'
import type { ConnectionType, ProbeResult } from '../contract/connection.ts'
import { isDestinationError } from '../contract/destination-error.ts'
import type { Claim } from '../contract/verifier.ts'
import { originOf } from '../hosting/base-address.ts'
import { isIdentity } from '../hosting/identity.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { Value } from '../typebox.ts'
import type { CallResult } from './call.ts'
import { echo, echoingFailure } from './echoes.ts'
import { headerOf } from './exchange.ts'
import { type ExpectedError, FAULTS } from './faults.ts'
import { errorCode, type ProbeRequest, thrownText, valueAt } from './host.ts'
import type { CheckedCase } from './prepared.ts'
import { NOT_RECORDED } from './recording.ts'
import { inLanes, type Run, searchSecrets } from './run.ts'
import { echoWritten, SOCKET_FAULTS } from './socket-faults.ts'

/** Tries the plugin's connection types, with the claims of all cases. */
export async function runConnection(run: Run, checked: readonly CheckedCase[]): Promise<void> {
  const { connection, before, cases } = run.options
  if (connection === undefined) return
  const { type, options } = run.lanes[0]!.given(connection)
  const rows = oddOptions(type, options)
  const urlProblem = firstProblem(rows, (row) => baseUrlProblem(type, row, options))
  run.findings.tell('connection.base-url', urlProblem)
  const fitProblem = firstProblem(checked, ({ claim }) =>
    firstProblem(rows, (row) => fitsProblem(type, row, options, claim)),
  )
  run.findings.tell('connection.fits', fitProblem)
  if (!run.wants(...PROBE_CHECKS)) return
  await run.set(before ?? cases[0]?.situation)
  await runProbe(
    run,
    connection,
    checked.flatMap(({ outcome }) => outcome.observation?.identity ?? []),
  )
}

interface OddOptions {
  readonly options: JsonObject
  /** The options as a phrase: `no base_url`. */
  readonly says: string
  /** Tells whether the options name the same place as the given ones, so that the plugin must say the same of them. */
  readonly isSame: boolean
}

const ODD_TEXTS = ['x', ' ', '-', '..', 'https://', 'http://[', '\u{1f600}', 'x'.repeat(4096)]

/** Variants of the options that the schema allows, and that a workspace may give. */
function oddOptions(type: ConnectionType, options: JsonObject): OddOptions[] {
  const secrets = secretNames(type)
  const others = Object.keys(type.options.properties).filter((name) => !secrets.includes(name))
  const without = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name))) as JsonObject
  const replaced = (name: string, value: JsonValue) => ({ ...options, [name]: value })
  return [
    { options, says: 'the given options', isSame: true },
    ...secrets.map((name) => ({ options: replaced(name, 'secret:another'), says: `another ${name}`, isSame: true })),
    // A host asks for the base address of options that have no secrets yet.
    { options: without(secrets), says: 'the options without their secrets', isSame: true },
    ...[
      ...others.map((name) => ({ options: without([name]), says: `no ${name}`, isSame: false })),
      { options: without(others), says: 'the secrets alone', isSame: false },
      ...others.flatMap((name) =>
        ODD_TEXTS.map((text) => ({
          options: replaced(name, text),
          says: `${name} ${JSON.stringify(text.slice(0, 20))}`,
          isSame: false,
        })),
      ),
    ].filter((one) => Value.Check(type.options, one.options)),
  ]
}

function firstProblem<T>(rows: readonly T[], problemOf: (row: T) => string | undefined): string | undefined {
  for (const row of rows) {
    const problem = problemOf(row)
    if (problem !== undefined) return problem
  }
  return undefined
}

function baseUrlProblem(
  type: ConnectionType,
  { options, says, isSame }: OddOptions,
  given: JsonObject,
): string | undefined {
  try {
    const [one, again] = [type.baseUrl(copy(options)), type.baseUrl(copy(options))] as readonly unknown[]
    if (typeof one !== 'string') return `baseUrl gives no text for ${says}`
    if (one !== again) return `baseUrl gives another address each time for ${says}`
    if (!isSame) return undefined
    if (originOf(one) === undefined) return `baseUrl gives ${one}, which is no address, for ${says}`
    return one === type.baseUrl(copy(given)) ? undefined : `baseUrl gives another address for ${says}`
  } catch (error) {
    return `baseUrl throws ${thrownText(error)} for ${says}, which the schema of the options allows`
  }
}

function fitsProblem(
  type: ConnectionType,
  { options, says, isSame }: OddOptions,
  given: JsonObject,
  claim: Claim,
): string | undefined {
  const fits = (one: JsonObject) => type.fits(copy(one), structuredClone(claim)) as unknown
  try {
    const [one, again] = [fits(options), fits(options)]
    if (typeof one !== 'boolean') return `fits gives no boolean for ${says}`
    if (one !== again) return `fits says something else each time for ${says}`
    return !isSame || one === fits(given) ? undefined : `fits says something else for ${says}`
  } catch (error) {
    return `fits throws ${thrownText(error)} for ${says}, which the schema of the options allows`
  }
}

function copy(options: JsonObject): never {
  return structuredClone(options) as never
}

async function runProbe(
  { findings, lanes, memory, options: { destination } }: Run,
  connection: ProbeRequest['connection'],
  told: readonly string[],
): Promise<void> {
  const { tell } = findings
  const probe = async (check: string, more: Partial<ProbeRequest> = {}, lane = lanes[0]!) => {
    const called = await lane.probe({ connection, doing: { check }, ...more })
    searchSecrets(called, called.value, (_, problem) => tell('probe.secrets', problem))
    return called
  }
  memory.clear()
  const plain = await probe('probe.result')
  if (plain.routes.some(({ answer }) => headerOf(answer, NOT_RECORDED) !== undefined)) {
    findings.untested('probe: record what the probe asks, too')
    return
  }
  const problem = resultProblem(plain)
  tell('probe.result', problem)
  const hasAsked = plain.routes.length + plain.socketRoutes.length > 0
  tell('probe.asks', hasAsked ? undefined : 'returns without asking the destination whether the options work')
  if (problem !== undefined || !hasAsked) return
  const { type, options, target } = lanes[0]!.given(connection)
  const { identity } = plain.value!
  if (type.identified || identity !== undefined) tell('probe.identity', identityProblem(type, identity, told))
  if (type.trial && target === undefined)
    findings.untested('probe.works: name something to try as `target` of the connection')
  else tell('probe.works', plain.value!.proves === 'works' ? undefined : 'says `reached` of credentials that work')
  await tellRefused()
  const faults: readonly (ExpectedError & Partial<ProbeRequest>)[] =
    plain.routes.length > 0
      ? FAULTS.filter(({ name }) => PROBED.has(name)).map((one) => ({ ...one, strike: { fault: one.answer } }))
      : SOCKET_FAULTS.map((one) => ({ ...one, socketStrike: { fault: one.answer } }))
  await inLanes(lanes, faults, async (lane, { name, says, right, endAfterMs, strike, socketStrike }) => {
    const check = CHECK_NAMES.get(name) ?? 'probe.errors'
    const called = await probe(check, { strike, socketStrike, endAfterStrikeMs: endAfterMs }, lane)
    if (endAfterMs !== undefined) {
      tell('probe.abort', called.ignoredAbort ? 'goes on for 100 ms after its signal was aborted' : undefined)
    }
    tell(check, errorProblem(called, says, right))
  })
  const echoes = [echo, ...[401, 403, 500].map(echoingFailure)]
  await inLanes(lanes, echoes, async (lane, fault) => {
    await probe('probe.secrets', { strike: { fault }, socketStrike: { fault: echoWritten } }, lane)
  })
  tell('probe.secrets', undefined)

  async function tellRefused(): Promise<void> {
    const names = secretNames(type).filter((name) => Object.hasOwn(options, name))
    if (names.length === 0) return
    if (destination.ignoresCredentials) {
      findings.untested('probe.refused: a recording answers the same whatever the credentials are')
      return
    }
    const unknown = Object.fromEntries(names.map((name) => [name, UNKNOWN_SECRET]))
    const { value } = await probe('probe.refused', {
      connection: (url) => {
        const given = valueAt(connection, url)
        return { ...given, options: { ...given.options, ...unknown } }
      },
    })
    const problem =
      'says `works` of credentials that the destination does not know: read what shows who asks, or what is refused without credentials'
    tell('probe.refused', value?.proves === 'works' ? problem : undefined)
  }
}

/** A secret that no destination knows. */
const UNKNOWN_SECRET = 'a-secret-that-no-destination-knows'

const PROBE_CHECKS = [
  'probe.result',
  'probe.asks',
  'probe.identity',
  'probe.works',
  'probe.refused',
  'probe.unauthorized',
  'probe.forbidden',
  'probe.errors',
  'probe.abort',
  'probe.secrets',
]
/** Faults that strike everything that a probe asks. */
const PROBED: ReadonlySet<string> = new Set([
  'fault.401',
  'fault.403',
  'fault.429-without-retry-after',
  'fault.500',
  'fault.502',
  'fault.reset',
  'fault.silence',
])
const CHECK_NAMES: ReadonlyMap<string, string> = new Map([
  ['fault.401', 'probe.unauthorized'],
  ['fault.403', 'probe.forbidden'],
])

function resultProblem({ value, error }: CallResult<ProbeResult>): string | undefined {
  if (error !== undefined) return `throws ${thrownText(error)} for credentials that work`
  const { proves, scopes, warnings, expiresAt, identity } = (value ?? {}) as Partial<ProbeResult>
  if (proves !== 'works' && proves !== 'reached') return 'says neither `works` nor `reached`'
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) return 'gives no time in milliseconds as expiresAt'
  if (identity !== undefined && !isIdentity(identity))
    return 'gives an identity that is not 1 to 200 printable ASCII characters without spaces'
  const isRight = [scopes, warnings].every(
    (list) => Array.isArray(list) && list.every((one) => typeof one === 'string'),
  )
  return isRight ? undefined : 'returns no lists of texts as scopes and warnings'
}

/** @param told the identities that checks told */
function identityProblem(
  { identified }: ConnectionType,
  identity: string | undefined,
  told: readonly string[],
): string | undefined {
  if (!identified) return 'tells an identity, which its connection type does not promise: say `identified: true` there'
  if (identity === undefined) return 'tells no identity, which its connection type promises'
  if (told.length === 0 || told.includes(identity)) return undefined
  return `tells the identity ${identity}, and a check of the same destination tells ${told[0]}`
}

function errorProblem(
  called: CallResult<ProbeResult>,
  says: string,
  right: ExpectedError['right'],
): string | undefined {
  if (!('error' in called)) return `says that the options work, where the destination gave ${says}`
  const code = errorCode(called.error)
  if (!isDestinationError(called.error)) {
    return `throws ${thrownText(called.error)}, which is no DestinationError, for ${says}`
  }
  return code !== undefined && right.includes(code)
    ? undefined
    : `throws \`${code}\` for ${says}, which is \`${right[0]}\``
}
