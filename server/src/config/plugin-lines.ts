/** Changes the list of plugins in the text of a configuration file, and leaves the rest of the text as its author wrote it. */
import { isDeepStrictEqual } from 'node:util'

interface Entry {
  readonly use: string
}

/** The content of a configuration file, as far as its plugins are changed. */
type File = Readonly<Record<string, unknown>> & { readonly plugins?: readonly Entry[] }

/** A part of a text. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Adds a plugin at the end of the list. @param text valid JSON with an object */
export function withPlugin(text: string, entry: Entry): string {
  const file = JSON.parse(text) as File
  return agreed(
    insert(
      text,
      JSON.stringify(entry)
        .replace(/^\{(.*)\}$/, '{ $1 }')
        .replace('":', '": '),
    ),
    {
      ...file,
      plugins: [...(file.plugins ?? []), entry],
    },
  )
}

/** Removes the first entry of a plugin from the list. */
export function withoutPlugin(text: string, name: string): string {
  const file = JSON.parse(text) as File
  const index = (file.plugins ?? []).findIndex(({ use }) => use === name)
  if (index < 0) return text
  return agreed(cut(text, index), { ...file, plugins: file.plugins!.filter((_, at) => at !== index) })
}

/** Returns the changed text, or the wanted content in a form of its own if the text came to mean something else. */
function agreed(text: string, wanted: File): string {
  try {
    if (isDeepStrictEqual(JSON.parse(text), wanted)) return text
  } catch {
    // The text is no JSON any more.
  }
  return `${JSON.stringify(wanted, undefined, 2)}\n`
}

function insert(text: string, written: string): string {
  const { members, list } = pluginsIn(text)
  if (list === undefined) {
    const open = text.indexOf('{') + 1
    const before = members[0] === undefined ? '\n  ' : text.slice(open, members[0].start)
    return `${text.slice(0, open)}${before}"plugins": [${written}]${members[0] ? ',' : '\n'}${text.slice(open)}`
  }
  const open = text.indexOf('[', list.start)
  const entries = childrenAt(text, open)
  const last = entries.at(-1)
  if (last === undefined) return `${text.slice(0, open + 1)}${written}${text.slice(list.end - 1)}`
  // A list in lines gets another line, indented as its last entry.
  const [indent = ' '] = /\n[ \t]*$/.exec(text.slice(open + 1, last.start)) ?? []
  return `${text.slice(0, last.end)},${indent}${written}${text.slice(last.end)}`
}

function cut(text: string, index: number): string {
  const { list } = pluginsIn(text)
  if (list === undefined) return text
  const entries = childrenAt(text, text.indexOf('[', list.start))
  const { start, end } = entries[index]!
  const [before, after] = [entries[index - 1], entries[index + 1]]
  if (before) return text.slice(0, before.end) + text.slice(end)
  return text.slice(0, start) + text.slice(after ? after.start : end)
}

function pluginsIn(text: string): { readonly members: readonly Span[]; readonly list: Span | undefined } {
  const members = childrenAt(text, text.indexOf('{'))
  return { members, list: members.find(({ start, end }) => /^"plugins"\s*:/.test(text.slice(start, end))) }
}

const STEPS: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }

/** Finds the members of an object, or the items of an array, which opens at this place of the text. */
function childrenAt(text: string, open: number): readonly Span[] {
  const found: Span[] = []
  const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g
  tokens.lastIndex = open + 1
  let depth = 0
  let child: Span | undefined
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const next = depth + (STEPS[token] ?? 0)
    const isEnd = next < 0
    if (isEnd || (depth === 0 && token === ',')) {
      if (child) found.push(child)
      child = undefined
    } else child = { start: child?.start ?? index, end: index + token.length }
    if (isEnd) break
    depth = next
  }
  return found
}
