/** The Markdown page of an action, made from its profile: what a claim of it says and names, when it is judged, and what a receipt can say. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { code, fenced, listed, oneLine, page, table } from '../base/markdown.ts'
import { choicesOf, isRequired, type Property, propertiesOf } from '../base/schema-properties.ts'
import type { Registry } from './registry.ts'

/** An action, and the ways in which its claims can be read. */
export interface Readable {
  readonly profile: ActionProfile
  /** Titles of the connections through which the action can be read, such as `GitHub`. */
  readonly through: readonly string[]
  readonly withoutConnection: boolean
}

/** Lists the newest version of each action, in the order of the registry. */
export function readableActions(registry: Registry): Readable[] {
  const isPublic = new Set(registry.publicActions())
  return registry.profiles().map((profile) => ({
    profile,
    through: registry
      .connectionTypes()
      .filter(({ provider }) => registry.actionsFor(provider).includes(profile.action))
      .map(({ title }) => title),
    withoutConnection: isPublic.has(profile.action),
  }))
}

export function actionPage({ profile, through, withoutConnection }: Readable): string {
  const { action, version, words, summary, target, params, facts, required, access, aliases = {} } = profile
  const names = Object.keys(aliases).map(code)
  return page([
    `# ${oneLine(words.title)}`,
    `\`${action}\`, version ${version}${names.length > 0 ? `. Also called ${listed(names)}` : ''}`,
    oneLine(summary),
    '## The claim',
    oneLine(`**Target: ${lower(words.target)}.** ${(target as Property).description ?? ''}`),
    table(
      ['param', '', 'what it is'],
      propertiesOf(params).map(([name, property]) => [
        code(name),
        isRequired(params, name) ? 'required' : defaultOf(property),
        meaningOf(property),
      ]),
    ),
    fenced('json', JSON.stringify(exampleOf(profile), null, 2)),
    '## How it is judged',
    `In time: up to ${duration(profile.toleranceMs)} after \`claimed_at\`. Decided: at the latest after ${duration(profile.deadlineMs)}, with \`deadline_at\` after ${duration(profile.maxDeadlineMs)}.${differencesOf(required)}`,
    'Where the destination keeps no record of it, nobody is blamed if it was there in time for longer than the [gap that the receipt names](../evidence.md#what-failed-and-mismatch-prove).',
    `Connection: ${connectionOf(through, withoutConnection)}. Permission: ${access.permission}`,
    '## What a receipt can record',
    table(
      ['fact', 'form', 'what it says'],
      propertiesOf(facts).map(([name, property]) => [code(name), formOf(property), meaningOf(property)]),
    ),
  ])
}

/** Makes the page that leads to those of the actions. */
export function actionIndex(actions: readonly Readable[]): string {
  return page([
    '# What can be claimed',
    '`./claimcheck action` lists the actions of an installation, those of other plugins too.',
    table(
      ['action', 'what a claim says'],
      actions.map(({ profile: { action, summary } }) => [`[\`${action}\`](${action}.md)`, summary]),
    ),
  ])
}

/** Makes an example of a claim as it is sent to the API. */
export function exampleOf({ action, target, params }: ActionProfile): JsonObject {
  const given = propertiesOf(params).flatMap(([name, property]) => {
    const value = property.examples?.[0] ?? property.default ?? choicesOf(property)?.[0]
    return value !== undefined && (isRequired(params, name) || property.examples) ? [[name, value] as const] : []
  })
  return {
    client_claim_id: 'run-1',
    agent_id: 'my-agent',
    action,
    target: (target as Property).examples?.[0] ?? '',
    params: Object.fromEntries(given),
    claimed_at: '2026-01-31T12:00:00Z',
  }
}

function defaultOf({ default: value }: Property): string {
  return value === undefined ? 'optional' : `optional, ${code(JSON.stringify(value))}`
}

/** Describes a property in words: by its description, as titles are for forms. */
function meaningOf({ title = '', description = `${title}.`, items }: Property): string {
  const members = Object.entries(items?.properties ?? {}).map(
    ([name, member]) => `${code(name)}: ${lower(member.description ?? member.title ?? '')}`,
  )
  return [description, ...members].join(' ')
}

/** Lists the fields that must match, by the reason that the receipt gives where one differs. */
function differencesOf(required: ActionProfile['required']): string {
  const fields = Object.entries(required)
  const roles = [...new Set(fields.map(([, role]) => role))]
  const byRole = roles.map((role) => {
    const names = fields.filter(([, other]) => other === role).map(([name]) => code(name))
    return `${listed(names)} (\`${role}_mismatch\`)`
  })
  return roles.length === 0 ? '' : ` A \`mismatch\` if it differs: ${byRole.join('; ')}.`
}

function connectionOf(through: readonly string[], withoutConnection: boolean): string {
  if (through.length === 0) return 'none'
  return `${through.join(', ')}${withoutConnection ? '; none for what is public' : ''}`
}

function formOf(property: Property): string {
  const choices = choicesOf(property)
  if (choices) return choices.map((choice) => code(JSON.stringify(choice))).join(', ')
  if (property.format === 'date-time') return 'time'
  return property.type === 'string' ? 'text' : (property.type ?? 'value')
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** Writes a time in the largest unit that fits without a rest: `90 minutes`. */
function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ['millisecond', 1]
  const count = ms / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
