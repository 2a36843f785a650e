/** Tells the kind of a document by its members. The checker of its kind tells whether it holds. */
import { isJsonObject, type JsonValue, jsonIn } from '../json.ts'
import type { Bundle } from '../receipt/bundle-checker.ts'
import { integerJson, JsonError, type JsonErrorCode, parseStrictJson } from '../receipt/strict-json.ts'

/** The kinds of documents, of which an entry is a receipt or a change entry. */
export type DocumentKind =
  | 'entry'
  | 'tree_head'
  | 'inclusion'
  | 'consistency'
  | 'contradiction'
  | 'bundle'
  | 'evidence'
  | 'keys'
  | 'profiles'

/** Signs of each kind of document; the first that fits counts. A document that fits none is taken for an entry, and refused as one. */
const SIGNS: readonly (readonly [DocumentKind, (document: Readonly<Record<string, JsonValue>>) => boolean])[] = [
  ['bundle', ({ bundle }) => bundle === BUNDLE_FORMAT],
  ['contradiction', ({ tree_head_of_client }) => tree_head_of_client !== undefined],
  // `/v1/log/head` answers with the tree head and its anchor.
  ['tree_head', ({ tree_head }) => tree_head !== undefined],
  ['inclusion', ({ leaf_hash, inclusion }) => leaf_hash !== undefined && inclusion !== undefined],
  ['consistency', ({ first, second }) => first !== undefined && second !== undefined],
  ['tree_head', ({ body }) => isJsonObject(body) && 'tree_size' in body && !('spec_version' in body)],
  ['evidence', ({ evidence_version }) => evidence_version !== undefined],
  ['keys', ({ keys }) => Array.isArray(keys)],
  ['profiles', ({ profiles }) => Array.isArray(profiles)],
]

/** The value of the member `bundle` of a file that holds a receipt with what it is checked with. */
const BUNDLE_FORMAT = 'claimcheck/1'

export function kindOf(text: string): DocumentKind {
  const value = jsonIn(text)
  if (!isJsonObject(value)) return 'entry'
  return SIGNS.find(([, fits]) => fits(value))?.[0] ?? 'entry'
}

/** Writes a bundle as a file. Each document is a text within it, so that not a byte of it changes. */
export function bundleText(bundle: Bundle): string {
  return JSON.stringify({ bundle: BUNDLE_FORMAT, ...bundle }, null, 1)
}

/** Reads a bundle from a file; undefined for a text that is no bundle with a receipt. Members that are no texts are left out. */
export function readBundle(text: string): Bundle | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value) || value.bundle !== BUNDLE_FORMAT || typeof value.receipt !== 'string') return undefined
  const { receipt, keys, evidence, tree_head, consistency, profiles } = value
  const texts = Object.entries({ keys, evidence, tree_head, consistency, profiles }).filter(
    ([, member]) => typeof member === 'string',
  )
  return { receipt, ...Object.fromEntries(texts) }
}

/** The tree head in the answer of `/v1/log/head`. A text that no checker may accept stays whole, and is refused as it is. */
export function treeHeadText(text: string): string {
  const value = integerJson(text)
  return isJsonObject(value) && value.tree_head !== undefined ? JSON.stringify(value.tree_head) : text
}

const JSON_PROBLEMS: Readonly<Record<JsonErrorCode, string>> = {
  not_json: 'this is not JSON',
  duplicate_member: 'two members of one object have the same name',
  lone_surrogate: 'a text holds half a character (a lone surrogate)',
  number_out_of_range: 'a number is too large',
  too_deep: 'objects or lists are nested too deeply',
  too_many: 'it has too many members and items',
}

const OTHER_FILE =
  'this is not a receipt, a change entry, a tree head, an inclusion or consistency document, or the file in which a log contradicts itself'

/** The kinds of documents besides entries that a checker reads by themselves. */
const CHECKED: ReadonlySet<DocumentKind> = new Set(['tree_head', 'inclusion', 'consistency', 'contradiction'])

/** Says why the text tells nothing of whether a document is valid: it is another file, or a part of one. Undefined for a document, valid or not. */
export function notADocument(text: string): string | undefined {
  const value = jsonIn(text)
  if (isJsonObject(value) && ('body' in value || CHECKED.has(kindOf(text)))) return undefined
  return documentProblem(text) ?? OTHER_FILE
}

/** Says why the text is nothing that can be checked; undefined when it can be. */
export function documentProblem(text: string): string | undefined {
  try {
    const { value } = parseStrictJson(text)
    if (isJsonObject(value) && ('body' in value || kindOf(text) !== 'entry')) return undefined
    return OTHER_FILE
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { code, position } = error
    const isCutOff = code === 'not_json' && position >= text.length && text.trim() !== ''
    const problem = isCutOff ? 'this is not JSON: the text is cut off' : JSON_PROBLEMS[code]
    return `${problem}, at ${placeIn(text, position)}`
  }
}

function placeIn(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n')
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
}
