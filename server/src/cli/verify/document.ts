/** What a document is that `verify` is given, as far as its members tell. Whether it holds is for the checker of its kind. */
import { isJsonObject, JsonError, type JsonErrorCode, type JsonValue, parseStrictJson } from '@claimcheck/core'

/** An entry is a receipt or a change entry. */
export type DocumentKind = 'entry' | 'tree_head' | 'inclusion' | 'consistency'

export interface CheckedText {
  readonly kind: DocumentKind
  /** As the checker of this kind takes it. */
  readonly text: string
}

/** What is none of the others is taken for an entry, and refused as one. */
export function recognise(text: string): CheckedText {
  const value = looseJson(text)
  if (!isJsonObject(value)) return { kind: 'entry', text }
  // `/v1/log/head` answers with the tree head beside its anchor.
  if ('tree_head' in value) return { kind: 'tree_head', text: memberText(text, 'tree_head') ?? text }
  if ('first' in value && 'second' in value) return { kind: 'consistency', text }
  if ('leaf_hash' in value && 'inclusion' in value) return { kind: 'inclusion', text }
  const { body } = value
  const isHead = isJsonObject(body) && 'tree_size' in body && !('spec_version' in body)
  return { kind: isHead ? 'tree_head' : 'entry', text }
}

/** Undefined where the text is not one that a checker may accept: it is left whole then, and refused. */
function memberText(text: string, name: string): string | undefined {
  try {
    const { value, integersOnly } = parseStrictJson(text)
    return integersOnly && isJsonObject(value) ? JSON.stringify(value[name]) : undefined
  } catch {
    return undefined
  }
}

/** As most readers take it. Only the checkers are strict. */
function looseJson(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const JSON_PROBLEMS: Readonly<Record<JsonErrorCode, string>> = {
  not_json: 'this is not JSON',
  duplicate_member: 'two members of one object have the same name',
  lone_surrogate: 'a text holds half a character (a lone surrogate)',
  number_out_of_range: 'a number is too large',
  too_deep: 'objects or lists are nested too deeply',
}

/** Why the text is nothing that can be checked; undefined when it is. */
export function documentProblem(text: string): string | undefined {
  try {
    const { value } = parseStrictJson(text)
    if (isJsonObject(value) && ('body' in value || recognise(text).kind !== 'entry')) return undefined
    return 'this is not a receipt, a change entry, a tree head, an inclusion document or a consistency document'
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
