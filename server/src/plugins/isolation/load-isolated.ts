/** Loads a plugin into a process of its own: starts it, has it say what it is, sets it up, and reads what it offers. */
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Manifest } from '@claimcheck/core/hosting'
import { createSchemaBudget, markLinear, type SchemaBudget } from '@claimcheck/core/patterns/linear'
import { type ConnectionType, type Logger, type TSchema, Value } from '@claimcheck/core/plugin'
import { canonicalize } from '@claimcheck/core/receipts'
import type { Instant, JsonObject, JsonValue } from '@claimcheck/core/rules'
import type { Isolation, ReadableSet } from '@claimcheck/core/sandbox/command'
import { dependenciesOf } from '@claimcheck/core/sandbox/package-dependencies'
import { isolationProblem, readingProblem } from '@claimcheck/core/sandbox/problems'
import { startSandboxed, together } from '@claimcheck/core/sandbox/sandbox'
import { withinTime } from '../../base/time-limit.ts'
import type { HostedParts } from '../hosted.ts'
import type { ConnectionTypes } from '../in-process.ts'
import type { PluginPackage } from '../package.ts'
import { PluginError, refuse } from '../plugin-error.ts'
import { createPluginLogger } from '../plugin-logger.ts'
import { definitionProblems, optionsProblems, partsProblems } from '../problems.ts'
import { reachOf } from '../reach.ts'
import { type CellLimits, Cells } from './cells.ts'
import { type CodeCopy, copyCode } from './code-copy.ts'
import { createFloods } from './flood.ts'
import { type Description, type KeptDescription, keptDescription } from './kept-description.ts'
import { type Described, type DescribedPart, DescribedParts, PluginFailure } from './messages.ts'
import { PluginProcess, type ProcessOptions, type SetupCall, startAnotherProcess } from './plugin-process.ts'
import { remoteParts } from './remote-parts.ts'

const RUNTIME = fileURLToPath(new URL('./runtime.js', import.meta.url))
/** The service's modules that run in the process, beside packages. */
const RUNTIME_FILES = ['./frames.js', './messages.js', './runs.js', '../check-cache.js', '../../../package.json']
const RUNTIME_PACKAGES = { '@claimcheck/core': '*', 'lru-cache': '*', typebox: '*' }
const SERVER = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')

interface IsolatedOptions {
  /** The options for the plugin that the operator configured. */
  readonly given: Readonly<Record<string, unknown>>
  readonly isolation: Isolation
  /** The folder in which the plugin's description is kept. */
  readonly dataDir: string
  readonly memoryMib?: number | undefined
  readonly cells: CellLimits
  readonly logger: Logger
  readonly now: () => Instant
  readonly types: ConnectionTypes
}

interface IsolatedPlugin {
  readonly name: string
  /** The digest of all code of the plugin that runs, except for what the service brings. */
  readonly codeHash: string
  readonly parts: HostedParts
}

/**
 * Loads a plugin into a process of its own.
 * @throws PluginError; Error with the plugin's own
 */
export async function loadIsolated(located: PluginPackage, options: IsolatedOptions): Promise<IsolatedPlugin> {
  const runtime = await runtimeReadable()
  const problem = (await isolationProblem(options.isolation)) ?? (await readingProblem(runtime, options.isolation))
  if (problem !== undefined) throw new Error(problem)
  const code = await copyCode(located, runtime.packages)
  try {
    return await startCopy(located, code, together(code.readable, runtime), options)
  } catch (error) {
    await code.remove()
    throw error
  }
}

async function startCopy(
  located: PluginPackage,
  code: CodeCopy,
  readable: ReadableSet,
  options: IsolatedOptions,
): Promise<IsolatedPlugin> {
  const { given, isolation, dataDir, memoryMib, cells: limits, logger, now, types } = options
  let loaded: { readonly definition: Definition; readonly parts: DescribedParts; readonly offers: string } | undefined
  let description: Description | undefined

  async function prepare(plugin: Described, setup: SetupCall): Promise<string> {
    const definition = readDefinition(plugin)
    const budget = createSchemaBudget()
    if (!loaded) refuseDefinition(definition, given, budget)
    const made = await setup(given)
    const parts = readParts(made)
    if (!loaded) refuseParts(parts, budget)
    description = { plugin, made }
    const offers = canonicalize({
      definition: definition as unknown as JsonObject,
      parts: parts as unknown as JsonObject,
    })
    loaded ??= { definition, parts, offers }
    return offers
  }

  const args = [code.entry]
  const launch = () =>
    startSandboxed({ entry: RUNTIME, readable, args, isolation, ...(memoryMib ? { memoryMib } : {}) })
  const pluginLogger = createPluginLogger({ logger, now })
  const process = { launch, floods: createFloods(), logger, pluginLogger, now, prepare }
  const kept = keptDescription(dataDir, { ...located, codeHash: code.codeHash }, given)
  const first = await startFirst(process, {
    kept,
    said: () => description!,
    recall: async (known) => known && prepare(known.plugin, async () => known.made).catch(() => undefined),
    textOf: (error) => code.original(failureText(error)),
  })
  const { definition, parts, offers } = loaded!
  const start = () => startAnotherProcess({ ...process, offers })
  const cells = new Cells({ ...limits, first, start, isShared: !getsCredentials(parts) })
  const reach = reachOf(definition.manifest, given, false)
  const remote = remoteParts(parts, { cells, manifest: definition.manifest, reach, types, logger: pluginLogger })
  return {
    name: definition.name,
    codeHash: code.codeHash,
    parts: {
      ...remote,
      async close() {
        await remote.close()
        await code.remove()
      },
    },
  }
}

/** The longest wait for a plugin that is known from an earlier start: its process goes on to start while the service runs. */
const KNOWN_START_MS = 20_000
const FIRST_TRIES = 3
const RETRY_MS = 500

/**
 * Starts the plugin, or goes by its description from its last start. A plugin of which nothing is known has to start: the service would answer for
 * its actions that it does not support them.
 * @throws PluginError; Error
 */
async function startFirst(
  options: ProcessOptions,
  {
    kept,
    said,
    recall,
    textOf,
  }: {
    readonly kept: KeptDescription
    /** Returns the description that the plugin gave as it started. */
    readonly said: () => Description
    /** Uses an earlier description of the plugin, if it still can be used; returns its offer then. */
    readonly recall: (description: Description | undefined) => Promise<string | undefined>
    /** Tells the operator why the plugin did not start. */
    readonly textOf: (error: unknown) => string
  },
): Promise<PluginProcess> {
  const { logger } = options
  const known = kept.read()
  for (let tries = 1; ; tries++) {
    const first = new PluginProcess(options)
    try {
      await (known ? withinTime(first.start(), KNOWN_START_MS, slowStart) : first.start())
      keep(kept, said(), logger)
      return first
    } catch (error) {
      await first.close()
      // A plugin that describes itself wrongly would do so each time.
      if (error instanceof PluginError) throw error
      const offers = await recall(known)
      if (offers !== undefined) {
        logger.warn({ problem: textOf(error) }, 'the plugin does not start: it is tried again, and its claims wait')
        return startAnotherProcess({ ...options, offers, lastEnd: 'it did not start' })
      }
      if (tries === FIRST_TRIES || error instanceof PluginFailure) throw new Error(textOf(error))
      logger.warn({ problem: textOf(error) }, 'the plugin did not start: it is tried again')
      await setTimeout(RETRY_MS * 2 ** tries)
    }
  }
}

function slowStart(): Error {
  return new Error(`it takes longer than ${KNOWN_START_MS} ms to start`)
}

function keep(kept: KeptDescription, description: Description, logger: Logger): void {
  try {
    kept.write(description)
  } catch (error) {
    const problem = (error as Error).message
    logger.warn(
      { problem },
      'cannot keep what the plugin offers: the service needs it to start while the plugin does not',
    )
  }
}

// Schemas are compiled once: a process that is started again has to offer the same, and compiling holds up the service.
function refuseDefinition(definition: Definition, given: IsolatedOptions['given'], budget: SchemaBudget): void {
  refuse(linearProblems('options', definition.options, budget))
  refuse(definitionProblems(definition))
  refuse(optionsProblems(definition, given))
  refuse(isolationLimits(definition.manifest))
}

function refuseParts(parts: DescribedParts, budget: SchemaBudget): void {
  refuse(parts.verifiers.flatMap(({ data }, index) => profileLinearProblems(data.profile, index, budget)))
  refuse(
    parts.connections.flatMap(({ data }, index) =>
      linearProblems(`connections.${index}.options`, data.options, budget),
    ),
  )
  refuse(partsProblems(shapeOf(parts)))
  if (parts.data.anchorer !== undefined) refuse(['it offers an anchorer, which the operator has to trust'])
  if (parts.data.signingBackend !== undefined) {
    refuse(['it has a signing backend: name it under signer, and not under plugins'])
  }
}

/** Tells whether a plugin gets credentials through connections, its own or those of other plugins. */
function getsCredentials({ verifiers, connections }: DescribedParts): boolean {
  const reads = verifiers.some(({ data }) => (data as { readonly providers?: readonly string[] }).providers?.length)
  return connections.length > 0 || reads
}

const TOLD_LENGTH = 500
/** Matches a line of a stack that names the plugin's own code. */
const OWN_FRAME = /^\s+at .*file:.*/

/** Tells the operator why the plugin did not load: its message, and the first place in its files. The text is the plugin's own choice. */
function failureText(error: unknown): string {
  if (!(error instanceof PluginFailure)) return (error as Error).message
  const lines = error.stack.split('\n')
  const end = lines.findIndex((line) => /^\s+at /.test(line))
  const message = lines.slice(0, end < 0 ? undefined : end).join(' ')
  const frame = lines.find((line) => OWN_FRAME.test(line) && !line.includes(SERVER))
  const text = `${message} ${frame?.trim() ?? ''}`.trim().slice(0, TOLD_LENGTH)
  return `it failed as it was loaded: ${text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')}`
}

/** Finds patterns of strangers that do not match in linear time, so that a claimant's text cannot hold up the service. */
function profileLinearProblems(profile: JsonValue | undefined, index: number, budget: SchemaBudget): string[] {
  const { target, params, facts } = (profile ?? {}) as JsonObject
  return Object.entries({ target, params, facts }).flatMap(([name, schema]) =>
    linearProblems(`verifiers.${index}.profile.${name}`, schema, budget),
  )
}

function linearProblems(place: string, schema: unknown, budget: SchemaBudget): string[] {
  // Other rules refuse a value that is no schema.
  if (typeof schema !== 'object' || schema === null) return []
  return markLinear(schema as TSchema, budget).map((problem) => `${place}: ${problem}`)
}

async function runtimeReadable(): Promise<ReadableSet> {
  const files = RUNTIME_FILES.map((file) => fileURLToPath(new URL(file, import.meta.url)))
  return { ...(await dependenciesOf(SERVER, { dependencies: RUNTIME_PACKAGES })), files }
}

interface Definition {
  readonly name: string
  readonly api: unknown
  readonly manifest: Manifest
  readonly options: ConnectionType['options']
  readonly setup?: unknown
}

/**
 * Reads the definition of a plugin.
 * @throws PluginError
 */
function readDefinition(plugin: Described): Definition {
  const { isPlugin, data, functions } = plugin ?? {}
  if (isPlugin !== true || !Array.isArray(functions)) {
    throw new PluginError(['its default export is not the result of definePlugin'])
  }
  return { ...data, ...stubs(functions) } as unknown as Definition
}

function isolationLimits({ programs = [] }: Manifest): string[] {
  return programs.length === 0 ? [] : [`it starts programs (${programs.join(', ')}), which the operator has to trust`]
}

/**
 * Reads the result of a plugin's setup.
 * @throws PluginError
 */
function readParts(made: JsonValue): DescribedParts {
  if (!Value.Check(DescribedParts, made)) throw new PluginError(['its setup does not return what a setup returns'])
  return made
}

/** Gives described parts the form that a plugin of this process has, so that the same rules examine both. */
function shapeOf({ data, functions, verifiers, connections }: DescribedParts): object {
  const whole = ({ data, functions }: DescribedPart) => ({ ...data, ...stubs(functions) })
  const { anchorer, signingBackend, ...rest } = data
  return { ...rest, ...stubs(functions), verifiers: verifiers.map(whole), connections: connections.map(whole) }
}

function stubs(functions: readonly string[]): Readonly<Record<string, () => void>> {
  return Object.fromEntries(functions.map((name) => [name, () => {}]))
}
