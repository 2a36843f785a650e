/** Puts the names of a table and of its columns into a declared statement, quoted, once the catalogue has shown them. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Query, Statement, StatementGrant } from '../../contract/socket.ts'
import { BreachError } from '../failures.ts'

export const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`/g
const QUOTED_OR_PLACE = new RegExp(`${QUOTED.source}|\\{([a-z][a-z0-9_]*)\\}`, 'g')

/** Writes names into the places of a statement, which are in braces and not within quotations. */
export function fillPlaces(text: string, nameOf: (place: string) => string): string {
  return text.replace(QUOTED_OR_PLACE, (part, place?: string) => (place === undefined ? part : nameOf(place)))
}

/** The reason the places of a statement are not those of its identifiers, as the end of a sentence. */
export function placesProblem({ text, identifiers = {} }: Statement): string | undefined {
  const places = new Set<string>()
  fillPlaces(text, (place) => {
    places.add(place)
    return ''
  })
  const kinds = Object.values(identifiers)
  if (kinds.length > 0 && kinds.filter((kind) => kind === 'table').length !== 1)
    return 'needs one identifier that is a table'
  const extra = [...places].find((place) => !Object.hasOwn(identifiers, place))
  if (extra !== undefined) return `has a place {${extra}} without an identifier`
  const missing = Object.keys(identifiers).find((name) => !places.has(name))
  return missing === undefined ? undefined : `has no place {${missing}}`
}

/** A base table and some of its columns, which the catalogue has to show before a statement is run. */
export interface NamedTable {
  readonly schema: string
  readonly table: string
  readonly columns: readonly string[]
}

/** Matches names without a quotation mark, dot, backslash or control character, so that no quoting and no reader takes them apart. */
const PLAIN = /^[\p{L}\p{M}\p{N}_$ -]{1,64}$/u
const MOST_COLUMNS = 64

/**
 * Reads the names that a check gives for a statement's identifiers.
 * @returns the statement with the names in it; no table where it has no identifiers
 * @throws BreachError for others than the declared ones
 * @throws DestinationError `unsupported_target` for a text that is no plain name
 */
export function nameIdentifiers(
  { text, identifiers: kinds = {} }: Statement,
  given: NonNullable<Query['identifiers']>,
  protocol: StatementGrant['protocol'],
): { readonly text: string; readonly named: NamedTable | undefined } {
  const names = Object.keys(kinds)
  if (Object.keys(given).length !== names.length || !names.every((name) => Object.hasOwn(given, name)))
    throw new BreachError('query gives other identifiers than the statement declares')
  if (names.length === 0) return { text, named: undefined }
  const parts = new Map(names.map((name) => [name, plainNames(name, kinds[name]!, given[name])]))
  const [schema, table] = parts.get(names.find((name) => kinds[name] === 'table')!) as [string, string]
  const columns = names.filter((name) => kinds[name] !== 'table').flatMap((name) => parts.get(name)!)
  const mark = protocol === 'mysql' ? '`' : '"'
  const quoted = (place: string) =>
    parts
      .get(place)!
      .map((name) => mark + name + mark)
      .join(kinds[place] === 'table' ? '.' : ', ')
  return { text: fillPlaces(text, quoted), named: { schema, table, columns } }
}

function plainNames(name: string, kind: string, given: unknown): readonly string[] {
  const isList = Array.isArray(given) && given.length > 0 && given.length <= MOST_COLUMNS
  if (kind === 'columns' ? !isList : typeof given !== 'string')
    throw new BreachError(`query gives for ${name} what is no identifier of the kind ${kind}`)
  const names: readonly unknown[] = kind === 'table' ? (given as string).split('.') : [given].flat()
  const isPlain = names.every((one) => typeof one === 'string' && PLAIN.test(one))
  if (!isPlain || (kind === 'table' && names.length !== 2))
    throw unsupported(`what is given for ${name} is no plain name`)
  return names as readonly string[]
}

/**
 * Holds a statement's names against the catalogue. They have to be equal to the letter: a database may fold or cut what it compares.
 * @param shown the schema, table and name of each column of such a base table
 * @throws DestinationError `unsupported_target` for what it does not show
 */
export function requireNamed({ schema, table, columns }: NamedTable, shown: readonly (readonly unknown[])[]): void {
  const own = new Set(shown.flatMap(([inSchema, of, column]) => (inSchema === schema && of === table ? [column] : [])))
  if (own.size === 0) throw unsupported('the catalogue shows no such base table')
  if (!columns.every((column) => own.has(column))) throw unsupported('the table has no such column')
}

function unsupported(reason: string): DestinationError {
  return new DestinationError('unsupported_target', { cause: new Error(reason) })
}
