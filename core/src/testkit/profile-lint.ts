/** Finds mistakes of a plugin before it makes a check, in its form, its manifest and its profiles. */
import { secretNames } from '../contract/auth.ts'
import { CEILING } from '../contract/fetch.ts'
import { apiProblem, isPlugin, type Plugin, type PluginParts } from '../contract/plugin.ts'
import { profileProblems, profileWarnings } from '../contract/profile-problems.ts'
import { keywordProblems } from '../contract/schema-keywords.ts'
import type { Verifier } from '../contract/verifier.ts'
import { credentialProblems, hostOptionProblems } from '../hosting/credentials.ts'
import { createSchemaBudget, markLinear } from '../patterns/linear.ts'
import { ACTION_PATTERN, type ActionProfile } from '../profile.ts'
import { knowsRules } from '../rules/decide.ts'
import { type TSchema, Value } from '../typebox.ts'
import type { Findings } from './findings.ts'

export function lintPlugin(plugin: Plugin, parts: PluginParts, { tell, untested }: Findings): void {
  const problems = (name: string, found: readonly string[], where = 'the plugin') => {
    if (found.length === 0) tell(name, undefined)
    for (const problem of found) tell(name, `${where} ${problem}`)
  }
  const patterns = patternProblems(plugin, parts)
  problems('plugin.form', [...pluginProblems(plugin, parts), ...patterns.ofPlugin])
  for (const verifier of parts.verifiers ?? []) {
    const { action, version } = verifier.profile
    const where = `the profile ${action} ${version}`
    problems('profile.lint', [...lintProfile(verifier.profile), ...patterns.ofProfile(verifier.profile)], where)
    problems('profile.aliases', aliasProblems(verifier, parts), where)
    problems('profile.examples', exampleProblems(verifier.profile), where)
    problems('profile.access', accessProblems(verifier), where)
    for (const warning of profileWarnings(verifier.profile)) untested(`${where} ${warning}`)
  }
}

/** Finds patterns that a host cannot match in linear time. It counts all schemas of a plugin together, in this order. */
export function patternProblems({ options, manifest }: Plugin, { verifiers = [], connections = [] }: PluginParts) {
  const budget = createSchemaBudget()
  // A plugin that starts programs runs only where the operator trusts it, so its patterns are not counted.
  const isTrusted = (manifest?.programs ?? []).length > 0
  const problemsIn = (name: string, schema: unknown) =>
    !isTrusted && typeof schema === 'object' && schema !== null
      ? markLinear(schema as TSchema, budget).map((problem) => `is refused by the service: ${name}: ${problem}`)
      : []
  const ofOptions = problemsIn('options', options)
  const ofProfiles = new Map(
    verifiers.map(({ profile }) => [
      profile,
      (['target', 'params', 'facts'] as const).flatMap((name) => problemsIn(name, profile[name])),
    ]),
  )
  const ofConnections = connections.flatMap((type) => problemsIn(`the options of ${type.provider}`, type.options))
  return {
    /** Problems of the options' patterns, as phrases that follow "the plugin". */
    ofPlugin: [...ofOptions, ...ofConnections],
    /** Lists problems of a profile's patterns, as phrases that follow "the profile". */
    ofProfile: (profile: ActionProfile) => ofProfiles.get(profile) ?? [],
  }
}

/** Mistakes of the credentials that connection types declare, as phrases that follow "the plugin". */
export function declaredProblems(connections: PluginParts['connections'] = []): string[] {
  return connections.flatMap((type) =>
    credentialProblems(type).map((problem) => `has in the credentials of ${type.provider} ${problem}`),
  )
}

function pluginProblems(plugin: Plugin, { verifiers = [], connections = [] }: PluginParts): string[] {
  const { hosts } = plugin.manifest ?? {}
  return [
    ...(isPlugin(plugin) ? [] : ['is not made by definePlugin']),
    ...[apiProblem(plugin.api)].filter((problem) => problem !== undefined),
    ...(Array.isArray(hosts) && hosts.length > 0 ? [] : ['has no manifest.hosts: it could ask nothing']),
    ...(verifiers.length > 0 ? [] : ['has no verifiers']),
    ...keywordProblems(plugin.options, 'options'),
    ...connections.flatMap(({ provider, options }) => keywordProblems(options, `the options of ${provider}`)),
    ...connections.flatMap((type) =>
      secretNames(type).length > 0 || Object.keys(type.options.properties).length > 0
        ? []
        : [`has the connection type ${type.provider} without options`],
    ),
    ...(Array.isArray(hosts) ? hostOptionProblems(plugin.manifest, connections) : []).map(
      (problem) => `has in manifest.hosts ${problem}`,
    ),
    ...declaredProblems(connections),
    ...verifiers.flatMap(({ limits = {} }) =>
      Object.entries(limits)
        .filter(([name, value]) => value > CEILING[name as keyof typeof CEILING])
        .map(([name]) => `has a limit ${name} above the ceiling of ${CEILING[name as keyof typeof CEILING]}`),
    ),
  ]
}

function lintProfile(profile: ActionProfile): string[] {
  try {
    const { action, version, toleranceMs, deadlineMs, maxDeadlineMs, rulesVersion } = profile
    return [
      ...profileProblems(profile),
      ...(new RegExp(ACTION_PATTERN).test(action)
        ? []
        : [
            'has an action that is not three names with dots between them: lower-case letters and digits, and no underscore before the first dot',
          ]),
      ...(/^\d+$/.test(version) ? [] : ['has a version that is not digits']),
      ...(knowsRules(rulesVersion) ? [] : [`has rulesVersion ${rulesVersion}, which nobody knows`]),
      ...(deadlineMs > toleranceMs ? [] : ['has a deadline that is not after the tolerance']),
      ...(maxDeadlineMs >= deadlineMs ? [] : ['has a maxDeadlineMs below its deadlineMs']),
    ]
  } catch (error) {
    return [`has not the form of a profile: ${(error as Error).message}`]
  }
}

function aliasProblems({ profile, providers }: Verifier, { connections = [] }: PluginParts): string[] {
  const offered = connections.map(({ provider }) => provider)
  return [
    ...Object.entries(profile.aliases ?? {}).flatMap(([alias, { providers: named }]) =>
      named
        .filter((provider) => !providers.includes(provider))
        .map((provider) => `has the alias ${alias} for ${provider}, through which its verifier does not read`),
    ),
    ...providers
      .filter((provider) => !offered.includes(provider))
      .map((provider) => `is read through ${provider}, which the plugin does not offer`),
  ]
}

function exampleProblems({ target, params }: ActionProfile): string[] {
  const schemas = { target, ...(params as { properties?: Record<string, object> }).properties }
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const { examples = [] } = schema as { examples?: readonly unknown[] }
    return examples
      .filter((example) => !Value.Check(schema as never, example))
      .map((example) => `has the example ${JSON.stringify(example)} for ${name}, which ${name} does not allow`)
  })
}

function accessProblems({ profile, anonymousSource, providers }: Verifier): string[] {
  return [
    ...(profile.access.anonymous && !anonymousSource ? ['is anonymous, and its verifier has no anonymousSource'] : []),
    ...(!profile.access.anonymous && providers.length === 0 ? ['is not anonymous, and has no providers'] : []),
  ]
}
