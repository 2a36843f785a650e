/** The comparison of the claimed and the found values, field by field: from a claim or from a receipt alone. */

import type { FieldRole } from '@claimcheck/core/hosting'
import type { ActionProfile } from '@claimcheck/core/plugin'
import type { JsonObject, JsonValue, ReasonCode, VerdictValue } from '@claimcheck/core/rules'
import { propertiesOf } from '../../base/schema-properties.ts'

/** The titles and roles of fields, from a profile or a service that publishes it. Fields without a title show their names. */
export interface Titles {
  readonly target?: string
  readonly params?: Readonly<Record<string, string>>
  readonly facts?: Readonly<Record<string, string>>
  /** The facts that show a claimed field under another name than its own. */
  readonly found?: Readonly<Record<string, string>>
  /** The roles of the fields that must match. */
  readonly required?: Readonly<Record<string, FieldRole>>
}

export interface Compared {
  readonly claim: { readonly target: string; readonly params: JsonObject }
  readonly facts: JsonObject
  /** The verdict; null while the claim is queued. */
  readonly verdict: VerdictValue | null
  readonly reason?: ReasonCode
  /** The fields in which the check found a difference, where known. A receipt does not hold them: they follow from the values, or from the reason. */
  readonly differs?: readonly string[]
  readonly titles?: Titles
}

export interface ComparedField {
  /** The field's name: a param, `target`, or a fact that shows no claimed field. */
  readonly name: string
  readonly title: string
  /** The name of the fact that shows the field, if that has a value. */
  readonly fact?: string
  /** The fact's own title, if its name is not the field's. */
  readonly factTitle?: string
  readonly claimed?: JsonValue
  readonly found?: JsonValue
  readonly differs: boolean
}

export function titlesOf({
  words,
  params,
  facts,
  required,
}: Pick<ActionProfile, 'words' | 'params' | 'facts' | 'required'>): Titles {
  const { target, found } = words
  return { target, params: titlesIn(params), facts: titlesIn(facts), required, ...(found ? { found } : {}) }
}

function titlesIn(schema: ActionProfile['params']): Record<string, string> {
  return Object.fromEntries(propertiesOf(schema).flatMap(([name, { title }]) => (title ? [[name, title]] : [])))
}

/**
 * Lists the fields of a comparison: the target, the params, the required fields that differ though the claim leaves them out, and the facts that none
 * of them shows.
 */
export function comparisonOf(compared: Compared): readonly ComparedField[] {
  const { claim, facts, titles = {} } = compared
  const differing = differingOf(compared)
  const unclaimed = differing.filter((name) => name !== 'target' && !Object.hasOwn(claim.params, name))
  const names = ['target', ...Object.keys(claim.params), ...unclaimed]
  const shown = new Set(names.map((name) => factOf(name, compared)))
  return [
    ...names.map((name) => fieldOf(name, differing, compared)),
    ...Object.entries(facts)
      .filter(([name]) => !shown.has(name))
      .map(([name, found]) => ({ name, title: own(titles.facts, name) ?? name, found, differs: false })),
  ]
}

function fieldOf(name: string, differing: readonly string[], compared: Compared): ComparedField {
  const { facts, titles = {} } = compared
  const claimed = claimedOf(name, compared)
  const fact = factOf(name, compared)
  const factTitle = fact === undefined || fact === name ? undefined : (own(titles.facts, fact) ?? fact)
  return {
    name,
    title: name === 'target' ? (titles.target ?? 'Target') : (own(titles.params, name) ?? name),
    fact,
    factTitle,
    claimed,
    found: fact === undefined && isMatched(name, differing, compared) ? claimed : fact && facts[fact],
    differs: differing.includes(name),
  }
}

/** Judges a field that no fact shows: it must match, and a found outcome says nothing against it. */
function isMatched(name: string, differing: readonly string[], { verdict, differs, titles }: Compared): boolean {
  const isFound = verdict === 'verified' || verdict === 'late' || differs !== undefined
  const mustMatch = name === 'target' || own(titles?.required, name) !== undefined
  return mustMatch && (isFound || (verdict === 'mismatch' && differing.length > 0)) && !differing.includes(name)
}

/** Lists the names of the fields that are not as claimed. */
function differingOf(compared: Compared): readonly string[] {
  const { claim, verdict, differs, titles } = compared
  if (verdict === 'verified' || verdict === 'late') return []
  if (differs) return differs
  if (verdict !== 'mismatch' && verdict !== 'failed') return []
  const named = Object.keys(titles?.required ?? claim.params)
  const unequal = named.filter((name) => {
    const [claimed, fact] = [claimedOf(name, compared), factOf(name, compared)]
    return claimed !== undefined && fact !== undefined && !isSame(claimed, compared.facts[fact]!)
  })
  return unequal.length > 0 || verdict === 'failed' ? unequal : byReason(named, compared)
}

/** Finds the only claimed field of the role that the reason names, where no value tells which field differs. */
function byReason(named: readonly string[], compared: Compared): readonly string[] {
  const { reason, titles } = compared
  const role = reason === 'target_mismatch' ? 'target' : 'content'
  const could = named.filter(
    (name) =>
      own(titles?.required, name) === role &&
      claimedOf(name, compared) !== undefined &&
      factOf(name, compared) === undefined,
  )
  return reason !== undefined && could.length === 1 ? could : []
}

function claimedOf(name: string, { claim: { target, params } }: Compared): JsonValue | undefined {
  return name === 'target' ? target : own(params, name)
}

/** Finds the fact that shows a field: the one that the profile names, or the one of the same name. */
function factOf(name: string, { facts, titles }: Compared): string | undefined {
  return [own(titles?.found, name), name].find((fact) => fact !== undefined && own(facts, fact) !== undefined)
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Reads an own member of a record. Names of facts and params are the texts of others: one could be the name of a member that every object inherits.
 */
function own<V>(record: Readonly<Record<string, V>> | undefined, name: string): V | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}
