/** Reads the configuration from the environment and the file, and reports all mistakes at once. */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import { JsonError, parseStrictJson } from '@claimcheck/core/receipts'
import type { TObject } from 'typebox'
import { memoryLimit } from '../base/memory.ts'
import { validator } from '../base/validation.ts'
import { HOSTS, readHosts } from './allow-private.ts'
import { fileUrl, isSharedDatabase, readDatabases } from './database-url.ts'
import { limitsSection } from './limits.ts'
import { readSecretFiles } from './secret-files.ts'
import { type ConfigContext, type ConfigSection, closed, type Env, type Report } from './section.ts'
import { readTrustProxy } from './trust-proxy.ts'

const use = Type.String({ minLength: 1 })
const pluginOptions = Type.Optional(Type.Record(Type.String(), Type.Unknown()))

const PluginInFile = closed({
  /** The plugin's package name or path, resolved from the folder of the configuration file. */
  use,
  with: pluginOptions,
  /** True for a plugin that runs in the service's own process, and sees all that the service sees. */
  trusted: Type.Optional(Type.Boolean()),
  /** `open` for a plugin whose process runs without a sandbox, because the system allows none. */
  isolation: Type.Optional(Type.Literal('open')),
  /** The limit in MiB of the heap of one process of the plugin. */
  memory_mib: Type.Optional(Type.Integer({ minimum: 32, maximum: 4096 })),
  /** The limits of the plugin's processes, unless it runs in the service's own. */
  processes: Type.Optional(
    closed({
      /** The most workspaces that a plugin works for at a time. */
      most: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      /** The limit in MiB of all processes of one plugin together. */
      memory_mib: Type.Optional(Type.Integer({ minimum: 64, maximum: 1024 * 1024 })),
    }),
  ),
})

export type PluginEntry = Static<typeof PluginInFile> & { readonly with: Readonly<Record<string, unknown>> }

const LEAST_MEMORY_MIB = 1024
/** The memory to plan for a plugin's process; an idle one takes some 20 MiB. */
const PROCESS_MIB = 32
const MOST_PROCESSES = 256

/**
 * Returns the limits of a plugin's processes: those given, else a quarter of the memory, or its part of half of it.
 * @param isolated the number of plugins with processes
 * @param here the memory of this machine, in MiB
 */
export function pluginProcesses(
  { most, memory_mib }: PluginEntry['processes'] = {},
  isolated = 1,
  here = memoryLimit() / 1024 ** 2,
) {
  const memoryMib = memory_mib ?? Math.max(LEAST_MEMORY_MIB, Math.floor(here / Math.max(4, 2 * isolated)))
  return { most: most ?? Math.min(MOST_PROCESSES, Math.ceil(memoryMib / PROCESS_MIB)), memoryMib }
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'invalid_config'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration is not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const SECRET_KEY_FORM = 'must be 32 bytes in hex or base64, such as the output of `openssl rand -hex 32`'
const SECRET_KEY_FOR_HOSTS =
  'SECRET_KEY: missing; a database that several hosts share needs it. Set it to the output of `openssl rand -hex 32`, or to the content of DATA_DIR/secret.key, and to the same value on every host'
export const DEFAULT_FILE = 'claimcheck.config.json'

// Pages show the package in commands for a shell. Only one exact version is accepted: a range would run whatever is published next.
const packageSpec = Type.String({
  pattern: '^(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(?:@[0-9]+\\.[0-9]+\\.[0-9]+(?:-[0-9A-Za-z.-]+)?)?$',
  'x-pattern-help': 'write the name of an npm package, with an exact version or without one',
  examples: ['@example/claimcheck-cli@1.0.0'],
  maxLength: 256,
})

const HOST_FILE = {
  allow_private: Type.Optional(HOSTS),
  plugins: Type.Optional(Type.Array(PluginInFile)),
  disabled_features: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 64 })),
  signer: Type.Optional(closed({ use, with: pluginOptions })),
  verifier_package: Type.Optional(packageSpec),
}
type HostFile = Static<TObject<typeof HOST_FILE>>

export function dataDirOf(env: Env, cwd: string): string {
  return resolve(cwd, env.DATA_DIR || 'data')
}

/**
 * Reads the configuration. @typeParam C the host's own members and those of the sections
 * @throws ConfigError with every mistake
 */
export function readConfig<C extends HostConfig>(sections: readonly ConfigSection[], given: Env, cwd: string): C {
  const problems: string[] = []
  const report: Report = (problem) => problems.push(problem)
  const env = readSecretFiles(given, cwd, report)
  const path = resolve(cwd, env.CONFIG || DEFAULT_FILE)
  const members = Object.assign({}, HOST_FILE, limitsSection.file, ...sections.map((section) => section.file))
  const file = readFile(path, Boolean(env.CONFIG), validator(closed(members)), report)
  const own = readHost(env, file, path, cwd, report)
  const { allowPrivate, pluginDir: folder } = own
  const reportInFile: Report = (problem) => report(`${path}: ${problem}`)
  const context: ConfigContext = { env, folder, allowPrivate, report, reportInFile }
  const config = Object.assign(own, ...sections.map((section) => section.read(file, context)))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** The host's own configuration. Features add their sections. */
export type HostConfig = Readonly<ReturnType<typeof readHost>>

function readHost(env: Env, file: HostFile, path: string, cwd: string, report: Report) {
  const dataDir = dataDirOf(env, cwd)
  const databases = readDatabases(env, fileUrl(join(dataDir, 'claimcheck.db')), cwd, report)
  const allowPrivate = [
    ...readHosts((env.ALLOW_PRIVATE ?? '').split(','), 'ALLOW_PRIVATE', report),
    ...readHosts(file.allow_private ?? [], `${path}: allow_private`, report),
  ]
  const plugins: readonly PluginEntry[] = (file.plugins ?? []).map((entry) => ({ with: {}, ...entry }))
  const signer: PluginEntry | undefined = file.signer && { with: {}, ...file.signer, trusted: true }
  const { rateLimits, connections } = limitsSection.read(file)
  const { signIn: signInLimit, ...requestLimits } = rateLimits
  return {
    host: env.HOST || '127.0.0.1',
    port: readPort(env.PORT, report),
    /** The address at which clients reach the service; undefined when it is the address that the service listens on. */
    publicUrl: readPublicUrl(env.PUBLIC_URL, report),
    ...databases,
    dataDir,
    ...readSecretKeys(env, databases.databaseUrl, report),
    trustProxy: readTrustProxy(env.TRUST_PROXY, report),
    logLevel: readLogLevel(env.LOG_LEVEL, report),
    /** True if the environment names a place to send traces to, which OpenTelemetry reads by itself. */
    sendsTraces: Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT),
    /** `host[:port]` entries that outgoing requests may reach although they are private or use plain http. */
    allowPrivate,
    /** The path of the configuration file, which need not be there. */
    configFile: path,
    /** The folder from which plugins are resolved. */
    pluginDir: dirname(path),
    plugins,
    /** Names of the features that run without routes and workers. */
    disabledFeatures: file.disabled_features ?? [],
    rateLimits: requestLimits,
    connections,
    /** The most sign-in attempts a minute, from one address and for one account; 0 is no limit. */
    signInLimit,
    /** The plugin with the signing backend, which is trusted; undefined where the signing key is stored. */
    signer,
    /** The npm package of the command line that pages name, if the operator published one. */
    verifierPackage: file.verifier_package,
  }
}

/** Reads the configuration file. A missing file is a mistake only when CONFIG names it; without the default file there are no plugins. */
function readFile(path: string, isNamed: boolean, validate: ReturnType<typeof validator>, report: Report): HostFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isNamed || !isMissing)
      report(`CONFIG: cannot read ${path}: ${isMissing ? 'the file does not exist' : (error as Error).message}`)
    return {}
  }
  let value: unknown
  try {
    value = parseStrictJson(text).value
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    // Names the line but not its text, which may contain a credential in a plugin's options.
    report(`${path}: is not JSON: ${error.code} in line ${text.slice(0, error.position).split('\n').length}`)
    return {}
  }
  const issues = validate(value, [])
  for (const { loc, msg } of issues) report(`${path}: ${loc.join('.') || 'the file'}: ${msg}`)
  return issues.length > 0 ? {} : (value as HostFile)
}

function readPort(given: string | undefined, report: Report): number {
  const text = given || '8080'
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) report(`PORT: must be a number from 0 to 65535, not ${text}`)
  return port
}

function readPublicUrl(text: string | undefined, report: Report): string | undefined {
  if (!text) return undefined
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== '') {
    report('PUBLIC_URL: must be an http or https address without user, query or fragment')
  }
  return text.replace(/\/+$/, '')
}

function readSecretKeys({ SECRET_KEY, SECRET_KEY_ALSO = '' }: Env, databaseUrl: string, report: Report) {
  const secretKey = readSecretKey(SECRET_KEY)
  if (!SECRET_KEY && isSharedDatabase(databaseUrl)) report(SECRET_KEY_FOR_HOSTS)
  if (SECRET_KEY && !secretKey) report(`SECRET_KEY: ${SECRET_KEY_FORM}`)
  const others = SECRET_KEY_ALSO.split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  if (others.length > 0 && !SECRET_KEY) {
    report('SECRET_KEY_ALSO: needs SECRET_KEY, the key that encrypts; these keys only decrypt')
  }
  const secretKeysAlso = others.flatMap((text, index) => {
    const entry = `SECRET_KEY_ALSO: entry ${index + 1}`
    const key = readSecretKey(text)
    if (!key) report(`${entry} ${SECRET_KEY_FORM}; separate keys by commas`)
    else if (secretKey?.equals(key)) report(`${entry} is SECRET_KEY itself; leave it out`)
    return key ?? []
  })
  return {
    /** The secret key, 32 bytes. Undefined, with SQLite only: the service generates the key and stores it in `dataDir`. */
    secretKey,
    /** Other secret keys, which open what is sealed under them, and seal nothing: the one before a rotation, or the next. */
    secretKeysAlso,
  }
}

function readSecretKey(text = ''): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  // Buffer skips characters that are not base64, so a mistyped key would silently become another key.
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

function readLogLevel(given: string | undefined, report: Report): string {
  const text = given || 'info'
  if (!LOG_LEVELS.includes(text)) report(`LOG_LEVEL: must be one of ${LOG_LEVELS.join(', ')}, not ${text}`)
  return text
}
